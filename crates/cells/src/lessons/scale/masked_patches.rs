//! Masked patch prediction, trained in the tab: a small Vision Transformer paints the hidden patches of
//! drawn digits, beside the mean digit, which looks at nothing.

use explain::few_digits::Digits;
use explain::masked_patches::{
    HIDDEN, MaskedRun, PATCHES, STEPS, error_of, hidden_of_test, masked, mean_digit,
};
use ndarray::{Array2, Array3, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::model_cache::ModelCache;
use crate::parts::published;
use crate::parts::training::{Steps, Training};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// Digits that the network learns.
const LEARNED: usize = 500;

/// Digits that its error is measured on.
const TEST: usize = 100;

/// Steps from one measurement to the next.
const LOOK: u64 = 50;

/// The test digits that are shown.
pub const SHOWN: [usize; 4] = [3, 4, 15, 28];

/// The side of a digit in pixels.
const SIDE: usize = 28;

/// The cell `masked-patches`.
pub const SPEC: CellSpec = CellSpec {
    name: "masked-patches",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: no_files,
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("steps", "Steps", (0.0, STEPS as f64, 1.0), 0.0),
        InputSpec::seed(1),
    ]
}

/// The run, and what was noted on the way.
struct Course {
    run: MaskedRun,
    test: Digits,
    /// The mean of the digits to learn, and its error.
    mean: (Array3<f32>, f64),
    losses: Vec<f64>,
    /// The error on test digits, at step 0, [`LOOK`], 2 · [`LOOK`], …
    errors: Vec<f64>,
    calls: Vec<Call>,
}

impl Course {
    fn look(&mut self) -> Result<(), CellError> {
        self.errors.push(f64::from(self.run.error(&self.test)?));
        Ok(())
    }
}

impl Steps for Course {
    fn steps(&self) -> u64 {
        self.run.steps()
    }

    /// The first step is noted for "Show the Rust"; all others repeat its calls.
    fn step(&mut self) -> Result<(), CellError> {
        let run = &mut self.run;
        let loss = if self.losses.is_empty() {
            let mut record = Record::new();
            let loss = shown!(record, explain::masked_patches::MaskedRun::step, run)?;
            self.calls.extend(record.finish().calls);
            loss
        } else {
            run.step()?
        };
        self.losses.push(f64::from(loss));
        if self.steps().is_multiple_of(LOOK) {
            self.look()?;
        }
        Ok(())
    }
}

/// Begins to compute.
///
/// # Errors
/// None for the digits here.
fn start(inputs: &Inputs, _: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let seed = inputs.seed()?;
    let (learned, test) = (Digits::to_learn(LEARNED, seed)?, Digits::drawn(0..TEST)?);
    let mean = mean_digit(&learned)?;
    let error = f64::from(error_of(mean.view(), &test)?);
    let mut course = Course {
        run: MaskedRun::new(learned, seed)?,
        test,
        mean: (mean, error),
        losses: Vec::new(),
        errors: Vec::new(),
        calls: Vec::new(),
    };
    course.look()?;
    Ok(Box::new(Training::new(inputs, vec![course], show)?))
}

fn show(courses: &[Course], inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    for course in courses {
        record.calls(&course.calls);
        record.numbers("loss", course.losses.clone());
        record.numbers("error", course.errors.clone());
        let now = course.errors.last().copied().unwrap_or_default();
        record.number("error.now", now);
        record.number("error.mean", course.mean.1);
        record.numbers("error.mean.line", vec![course.mean.1; course.errors.len()]);
        let looks = (0..course.errors.len()).map(|n| (n as u64 * LOOK) as f64);
        record.numbers("looks", looks.collect());
        mosaic(&mut record, course)?;
        record.tensor("mean", &course.mean.0);
        record.number("parameters", course.run.count()? as f64);
    }
    gains(&mut record);
    record.number("hidden", HIDDEN as f64);
    record.number("patches", PATCHES as f64);
    record.number("learned", LEARNED as f64);
    record.number("test", TEST as f64);
    record.number("steps", inputs.number("steps")?);
    record.number("most", STEPS as f64);
    Ok(record.finish())
}

/// Notes what was published of ViT-B/16 on ImageNet after masked patch prediction, from scratch and after
/// pre-training with labels, and what the first gains over each of the others, in points.
fn gains(record: &mut Record) {
    let [scratch, _, labels] = published::BASE;
    let others = [scratch, labels];
    record.numbers("published", vec![published::MASKED, scratch, labels]);
    let gains = others.map(|other| 100.0 * (published::MASKED - other));
    record.numbers("gains", gains.to_vec());
    record.numbers("gains.size", gains.map(f64::abs).to_vec());
}

/// Notes a picture of the shown digits, a column each: as the network sees them, as it paints them, and as
/// they are.
fn mosaic(record: &mut Record, course: &Course) -> Result<(), CellError> {
    let mut all = Array2::<f32>::zeros((3 * SIDE, SHOWN.len() * SIDE));
    for (column, n) in SHOWN.into_iter().enumerate() {
        let (run, hidden) = (&course.run, &hidden_of_test(n)[..]);
        let digit = course.test.pictures.index_axis(Axis(0), n);
        // The calls of the first digit stand for those of the others.
        let (seen, painted) = if column == 0 {
            (
                shown!(record, explain::masked_patches::masked, digit, hidden)?,
                shown!(
                    record,
                    explain::masked_patches::MaskedRun::completed,
                    run,
                    digit,
                    hidden
                )?,
            )
        } else {
            (masked(digit, hidden)?, run.completed(digit, hidden)?)
        };
        for (row, picture) in [seen.view(), painted.view(), digit].into_iter().enumerate() {
            for ((_, y, x), &ink) in picture.indexed_iter() {
                all[[row * SIDE + y, column * SIDE + x]] = ink;
            }
        }
    }
    record.tensor("mosaic", &all);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, number};

    fn at(steps: f64) -> Computation {
        let given = Inputs::defaults(&inputs()).with("steps", number(steps));
        computed(&SPEC, &given).unwrap()
    }

    /// What is shown of a digit: grey patches, then painted ones, and all others as they are.
    #[test]
    fn hidden_patches_are_grey_and_then_painted() {
        let c = at(1.0);
        let at = |row: usize, y: usize, x: usize| c.at("mosaic", &[SIDE * row + y, x]).unwrap();
        for n in 0..PATCHES {
            let (y, x) = (4 * (n / 7), 4 * (n % 7));
            let is_hidden = hidden_of_test(SHOWN[0]).contains(&n);
            let same = |row: usize| {
                (0..16).all(|p| at(row, y + p / 4, x + p % 4) == at(2, y + p / 4, x + p % 4))
            };
            assert_eq!(same(0), !is_hidden, "{n}");
            assert_eq!(same(1), !is_hidden, "{n}");
        }
        let labels = SHOWN.map(|n| explain::drawn_digits::digit(n).unwrap().label);
        assert_eq!(labels, [3, 4, 5, 8]);
    }

    /// What the paper says in words of its published accuracies: two points over training from scratch, and
    /// four behind pre-training with labels.
    #[test]
    fn published_gains_are_differences() {
        let c = at(0.0);
        let number = |name: &str, n: usize| c.at(name, &[n]).unwrap();
        for n in 0..2 {
            let apart = number("published", 0) - number("published", n + 1);
            assert!((number("gains", n) - 100.0 * apart).abs() < 1e-9);
        }
        let whole = [0, 1].map(|n| number("gains", n).round());
        assert_eq!(whole, [2.0, -4.0]);
    }

    /// What the lesson says of its run: it starts from the mean digit, and ends better.
    #[test]
    fn the_network_learns_to_paint() {
        let c = at(STEPS as f64);
        let number = |name: &str, n: &[usize]| c.at(name, n).unwrap();
        let (mean, now) = (number("error.mean", &[]), number("error.now", &[]));
        assert_eq!(number("error", &[0]), mean);
        assert!(
            (now - 0.0409).abs() < 5e-4 && now < 0.88 * mean,
            "{now} {mean}"
        );
    }
}
