//! Two small networks that teach themselves from digits without labels, one of them with a part left out;
//! and the same of our logged runs.

use std::sync::Arc;

use explain::dino::{DinoRun, KNOWN, SEEN, STEPS, TEST, Without, moved_digits, right_by_pixels};
use explain::few_digits::Digits;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::drawn_runs;
use crate::parts::training::{Steps, Training};
use crate::parts::unlabelled_runs::{self, LOG};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// Steps from one vote of neighbours to the next.
const LOOK: u64 = 50;

/// The parts that the second network may lack, as the reader chooses them.
const PARTS: [(&str, Without); 2] = [
    ("centring", Without::Centring),
    ("sharpening", Without::Sharpening),
];

/// The cell `dino`.
pub const SPEC: CellSpec = CellSpec {
    name: "dino",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| vec![LOG, drawn_runs::LOG],
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("steps", "Steps", (0.0, STEPS as f64, 1.0), 0.0),
        InputSpec::choice(
            "without",
            "The second pair lacks",
            &["centring", "sharpening"],
        ),
        InputSpec::seed(1),
    ]
}

/// The digits of all networks, and the log.
struct Shared {
    known: Digits,
    test: Digits,
    moved: Digits,
    log: Arc<String>,
    drawn: Arc<String>,
}

/// One of the two networks, and what was noted on the way.
struct Course {
    name: &'static str,
    run: DinoRun,
    shared: Arc<Shared>,
    losses: Vec<f64>,
    /// Shares of test digits read right, in place and moved, at step 0, [`LOOK`], 2 · [`LOOK`], …
    right: [Vec<f64>; 2],
    /// The two entropies of each step.
    entropies: [Vec<f64>; 2],
    calls: Vec<Call>,
}

impl Course {
    fn look(&mut self) -> Result<(), CellError> {
        let (run, known) = (&self.run, &self.shared.known);
        for (n, test) in [&self.shared.test, &self.shared.moved]
            .into_iter()
            .enumerate()
        {
            let right = if n == 0 && self.right[0].is_empty() {
                let mut record = Record::new();
                let found = shown!(record, explain::dino::DinoRun::right, run, known, test)?;
                self.calls.extend(record.finish().calls);
                found
            } else {
                run.right(known, test)?
            };
            self.right[n].push(right as f64 / TEST as f64);
        }
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
            let loss = shown!(record, explain::dino::DinoRun::step, run)?;
            self.calls.extend(record.finish().calls);
            loss
        } else {
            run.step()?
        };
        self.losses.push(f64::from(loss));
        let entropies = self.run.entropies().unwrap_or_default();
        for (all, nats) in self.entropies.iter_mut().zip(entropies) {
            all.push(f64::from(nats));
        }
        if self.steps().is_multiple_of(LOOK) {
            self.look()?;
        }
        Ok(())
    }
}

/// What the second network lacks.
fn lacks(inputs: &Inputs) -> Result<Without, CellError> {
    let chosen = inputs.choice("without")?;
    let part = PARTS.iter().find(|(name, _)| *name == chosen);
    Ok(part.map_or(Without::Centring, |&(_, without)| without))
}

/// Begins to compute.
///
/// # Errors
/// A log that is not one.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let without = lacks(inputs)?;
    let test = Digits::drawn(0..TEST)?;
    let shared = Arc::new(Shared {
        known: Digits::drawn(TEST..TEST + KNOWN)?,
        moved: moved_digits(&test),
        test,
        log: cache.opened::<String>(LOG)?,
        drawn: cache.opened::<String>(drawn_runs::LOG)?,
    });
    let seen = Digits::drawn(TEST..TEST + SEEN)?;
    let mut courses = Vec::new();
    for (name, without) in [("both", Without::Nothing), ("lacking", without)] {
        let mut course = Course {
            name,
            run: DinoRun::new(seen.clone(), without, inputs.seed()?)?,
            shared: Arc::clone(&shared),
            losses: Vec::new(),
            right: Default::default(),
            entropies: Default::default(),
            calls: Vec::new(),
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
        for (what, all) in ["right", "moved"].iter().zip(&course.right) {
            record.numbers(&of(what), all.clone());
            record.number(
                &of(&format!("{what}.now")),
                all.last().copied().unwrap_or_default(),
            );
        }
        for (what, all) in ["all", "each"].iter().zip(&course.entropies) {
            record.numbers(&of(what), all.clone());
            if let Some(last) = all.last() {
                record.number(&of(&format!("{what}.now")), *last);
            }
        }
    }
    if let Some(course) = courses.first() {
        let Shared {
            known,
            test,
            moved,
            log,
            drawn,
        } = &*course.shared;
        let looks = course.right[0].len();
        record.numbers(
            "looks",
            (0..looks).map(|n| (n as u64 * LOOK) as f64).collect(),
        );
        let share = |right: usize| right as f64 / TEST as f64;
        record.number("pixels.right", share(right_by_pixels(known, test)?));
        let moved = share(right_by_pixels(known, moved)?);
        record.number("pixels.moved", moved);
        record.numbers("pixels.line", vec![moved; looks]);
        record.number("parameters", course.run.teacher.count()? as f64);
        unlabelled_runs::distilled(&mut record, log)?;
        let lacks = lacks(inputs)?;
        let both = Without::ALL
            .iter()
            .filter(|(_, without)| *without == Without::Nothing || *without == lacks);
        let schemes: Vec<String> = both.map(|(name, _)| format!("dino-{name}")).collect();
        let setting = [inputs.choice("without")?];
        drawn_runs::note(&mut record, drawn, (&setting, inputs.seed()?), &schemes)?;
    }
    record.number("steps", inputs.number("steps")?);
    record.number("most", STEPS as f64);
    record.number("test", TEST as f64);
    record.number("known", KNOWN as f64);
    record.number("seen", SEEN as f64);
    let even = engine::math::ln(explain::dino::OUTPUTS as f32);
    record.number("even", f64::from(even));
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, number};

    fn at(without: &str, seed: f64, steps: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("without", choice(without))
            .with("seed", number(seed))
            .with("steps", number(steps));
        computed(&SPEC, &given).unwrap()
    }

    /// What the lesson says of seed 1: DINO reads two thirds of the moved digits, more than pixels; without
    /// centring half, with both entropies near 0, and nearly as many in place; without sharpening fewer than
    /// at the start, with both entropies near the highest.
    #[test]
    fn what_each_part_is_for() {
        let c = at("centring", 1.0, STEPS as f64);
        let now = |c: &Computation, name: &str| c.at(name, &[]).unwrap();
        let start = c.at("both.moved", &[0]).unwrap();
        let full = now(&c, "both.moved.now");
        assert!((0.62..0.72).contains(&full), "{full}");
        assert!(full > now(&c, "pixels.moved") && full > start + 0.15);
        let lacking = now(&c, "lacking.moved.now");
        assert!((0.43..0.56).contains(&lacking), "{lacking}");
        assert!(now(&c, "lacking.all.now") < 0.01 && now(&c, "lacking.each.now") < 0.01);
        let place = now(&c, "both.right.now") - now(&c, "lacking.right.now");
        assert!(place.abs() < 0.03 && now(&c, "both.right.now") > 0.87);
        let c = at("sharpening", 1.0, STEPS as f64);
        assert!(now(&c, "lacking.moved.now") < start);
        let even = now(&c, "even") - 0.01;
        assert!(now(&c, "lacking.all.now") > even && now(&c, "lacking.each.now") > even);
    }

    /// What the lesson says of the log: DINO gains on moved digits, most of all kinds, and pixels stay ahead.
    #[test]
    fn what_the_log_says() {
        let c = at("centring", 1.0, 0.0);
        let moved = |kind: &str| c.at(&format!("log.{kind}.mean"), &[1]).unwrap();
        assert!(moved("both") > moved("random") + 0.1);
        assert!(
            moved("both") > moved("not-centred") && moved("not-centred") > moved("not-sharpened")
        );
        assert!(moved("pixels") > moved("both"));
    }

    /// What the lesson says of the logged runs on drawn digits: the worst of DINO reads a digit of the two
    /// hundred more than the best without centring.
    #[test]
    fn what_the_log_of_drawn_digits_says() {
        let c = at("centring", 1.0, 0.0);
        let ahead = c.at("logged.low", &[0]).unwrap() - c.at("logged.high", &[1]).unwrap();
        assert!((ahead - 0.005).abs() < 1e-6, "{ahead}");
        let c = at("sharpening", 1.0, 0.0);
        assert!(c.at("logged.high", &[1]) < c.at("logged.low", &[0]));
    }

    /// More steps of a run are the same run, and another seed is another one.
    #[test]
    fn a_run_is_a_function_of_its_inputs() {
        let (few, more) = (at("centring", 2.0, 2.0), at("centring", 2.0, 3.0));
        let other = at("centring", 3.0, 2.0);
        for name in ["both.loss", "lacking.loss"] {
            assert_eq!(few.at(name, &[1]), more.at(name, &[1]));
            assert_ne!(few.at(name, &[0]), other.at(name, &[0]));
        }
    }
}
