//! Distillation: the same small Vision Transformer learns five hundred drawn digits from their labels
//! alone, and with digit-cnn as a teacher, whose answers or probabilities it learns, too.

use std::sync::Arc;

use engine::model::cnn::Cnn;
use explain::distillation::{Distilled, LEARNED, Teaching};
use explain::few_digits::{Digits, STEPS};
use ndarray::ArrayView2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::drawn_runs;
use crate::parts::trained::{self, CNN};
use crate::parts::training::{Steps, Training};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// Steps from one count of right answers to the next.
const LOOK: u64 = 25;

/// The cell `distil`.
pub const SPEC: CellSpec = CellSpec {
    name: "distil",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| {
        trained::file(CNN)
            .into_iter()
            .chain([drawn_runs::LOG])
            .collect()
    },
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("steps", "Steps", (0.0, STEPS as f64, 1.0), 0.0),
        InputSpec::seed(1),
    ]
}

/// What the teacher reads right, of the digits to learn and of those to test, and the mean probability
/// that it gives the label of a digit to learn.
#[derive(Clone, Copy)]
struct Teacher {
    learned: f64,
    test: f64,
    sure: f64,
}

/// A student, and what was noted on the way.
struct Course {
    name: &'static str,
    student: Distilled,
    teacher: Teacher,
    test: Arc<Digits>,
    losses: Vec<f64>,
    /// The share of test digits that are read right, at step 0, [`LOOK`], 2 · [`LOOK`], …
    right: Vec<f64>,
    calls: Vec<Call>,
    log: Arc<String>,
}

impl Course {
    fn look(&mut self) -> Result<(), CellError> {
        let right = self.student.run.right(&self.test)?;
        self.right.push(right as f64 / self.test.len() as f64);
        Ok(())
    }
}

impl Steps for Course {
    fn steps(&self) -> u64 {
        self.student.run.steps()
    }

    /// The first step is noted for "Show the Rust"; all others repeat its calls.
    fn step(&mut self) -> Result<(), CellError> {
        let student = &mut self.student;
        let loss = if self.losses.is_empty() {
            let mut record = Record::new();
            let loss = shown!(record, explain::distillation::Distilled::step, student)?;
            self.calls.extend(record.finish().calls);
            loss
        } else {
            student.step()?
        };
        self.losses.push(f64::from(loss));
        if self.steps().is_multiple_of(LOOK) {
            self.look()?;
        }
        Ok(())
    }
}

/// The mean probability of the labels.
fn sure(logits: ArrayView2<'_, f32>, labels: &[usize]) -> f64 {
    let both = logits.outer_iter().zip(labels);
    let given = both.map(|(row, &label)| f64::from(engine::nn::softmax::softmax(row)[label]));
    given.sum::<f64>() / labels.len().max(1) as f64
}

/// Begins to compute: the teacher reads all digits once.
///
/// # Errors
/// A file that is not the teacher's.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let teacher = &*cache.opened::<Cnn>(trained::file(CNN).unwrap_or_default())?;
    let log = cache.opened::<String>(drawn_runs::LOG)?;
    let seed = inputs.seed()?;
    let (learned, test) = (&Digits::to_learn(LEARNED, seed)?, Digits::to_test()?);
    let mut record = Record::new();
    let (logits, right) = shown!(record, explain::distillation::taught, teacher, learned)?;
    let (_, right_of_test) = explain::distillation::taught(teacher, &test)?;
    let shares = Teacher {
        learned: right as f64 / learned.len() as f64,
        test: right_of_test as f64 / test.len() as f64,
        sure: sure(logits.view(), &learned.labels),
    };
    let (test, mut calls) = (Arc::new(test), record.finish().calls);
    let mut courses = Vec::new();
    for (name, teaching) in Teaching::ALL {
        let mut course = Course {
            name,
            student: Distilled::new(learned.clone(), Some(&logits), teaching, seed)?,
            teacher: shares,
            test: Arc::clone(&test),
            losses: Vec::new(),
            right: Vec::new(),
            calls: std::mem::take(&mut calls),
            log: Arc::clone(&log),
        };
        course.look()?;
        courses.push(course);
    }
    Ok(Box::new(Training::new(inputs, courses, show)?))
}

fn show(courses: &[Course], inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    for course in courses {
        record.calls(&course.calls);
        let of = |what: &str| format!("{}.{what}", course.name);
        record.numbers(&of("loss"), course.losses.clone());
        if let Some(last) = course.losses.last() {
            record.number(&of("loss.now"), *last);
        }
        record.numbers(&of("right"), course.right.clone());
        let now = course.right.last().copied().unwrap_or_default();
        record.number(&of("right.now"), now);
        record.number("teacher.learned", course.teacher.learned);
        record.number("teacher.test", course.teacher.test);
        record.number("teacher.sure", course.teacher.sure);
        record.number("test", course.test.len() as f64);
        let looks = (0..course.right.len()).map(|n| (n as u64 * LOOK) as f64);
        record.numbers("looks", looks.collect());
    }
    if let Some(course) = courses.first() {
        let schemes = Teaching::ALL.map(|(name, _)| format!("distil-{name}"));
        let which: (&[&str], _) = (&[], inputs.seed()?);
        drawn_runs::note(&mut record, &course.log, which, &schemes)?;
    }
    record.number("learned", LEARNED as f64);
    record.number("steps", inputs.number("steps")?);
    record.number("most", STEPS as f64);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{cache, computed, number};

    fn at(seed: f64, steps: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("seed", number(seed))
            .with("steps", number(steps));
        computed(&SPEC, &given).unwrap()
    }

    /// All students start from the same parameters, and more steps of a run are the same run.
    #[test]
    fn students_start_alike() {
        let (few, more) = (at(2.0, 1.0), at(2.0, 3.0));
        for name in ["alone", "hard", "soft"] {
            let right = |c: &Computation| c.at(&format!("{name}.right"), &[0]).unwrap();
            assert_eq!(right(&few), few.at("alone.right", &[0]).unwrap());
            let loss = |c: &Computation| c.at(&format!("{name}.loss"), &[0]).unwrap();
            assert_eq!(loss(&few), loss(&more));
        }
    }

    /// What the lesson says of its run: the teacher says what the labels say, and no student gains.
    #[test]
    fn a_teacher_that_repeats_the_labels() {
        let c = at(1.0, STEPS as f64);
        let number = |name: &str| c.at(name, &[]).unwrap();
        println!(
            "{:?}",
            ["teacher.learned", "teacher.test", "teacher.sure"].map(number)
        );
        let right = ["alone", "hard", "soft"].map(|name| number(&format!("{name}.right.now")));
        assert!(
            right.iter().all(|share| (0.94..0.98).contains(share)),
            "{right:?}"
        );
        assert!((right[1] - right[0]).abs() < 0.011 && (right[2] - right[0]).abs() < 0.011);
        assert_eq!(number("teacher.learned"), 0.998);
        assert!(number("teacher.test") > 0.99 && number("teacher.sure") > 0.95);
    }

    /// What the lesson says of the logged runs: the means of the three students differ by less than a digit
    /// of the two hundred.
    #[test]
    fn logged_students_are_alike() {
        let c = at(1.0, 0.0);
        let means = [0, 1, 2].map(|n| c.at("logged.mean", &[n]).unwrap());
        let (low, high) = (
            means.iter().copied().fold(1.0, f64::min),
            means.iter().copied().fold(0.0, f64::max),
        );
        assert!(high - low < 0.005 && low > 0.96, "{means:?}");
    }

    /// With sixty digits, all of which the teacher reads, hard answers change nothing.
    #[test]
    fn answers_that_are_the_labels_change_nothing() {
        let cnn = cache().opened::<Cnn>(trained::file(CNN).unwrap()).unwrap();
        let (digits, test) = (Digits::to_learn(60, 1).unwrap(), Digits::to_test().unwrap());
        let (logits, right) = explain::distillation::taught(&cnn, &digits).unwrap();
        assert_eq!(right, 60);
        let answers = [Teaching::Alone, Teaching::Hard].map(|teaching| {
            let mut student = Distilled::new(digits.clone(), Some(&logits), teaching, 1).unwrap();
            for _ in 0..STEPS {
                student.step().unwrap();
            }
            student.run.answers(&test).unwrap()
        });
        assert_eq!(answers[0], answers[1]);
    }
}
