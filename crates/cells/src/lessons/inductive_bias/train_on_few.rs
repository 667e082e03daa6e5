//! Two small networks of as many parameters, one with convolutions and one a Vision Transformer, that
//! learn a few digits side by side; and the same of our logged runs. The Vision Transformer may lack its
//! table of positions, or take the mean of its patches in place of the class token.

use std::sync::Arc;

use explain::few_digits::{Digits, FewRun, Kind, SIZES, STEPS};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::bias_runs::{self, LOG};
use crate::parts::drawn_runs;
use crate::parts::training::{Steps, Training};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// Steps from one count of right answers to the next.
const LOOK: u64 = 25;

/// The sizes of the training sets, as the reader chooses them.
const NAMES: [&str; 3] = ["100", "300", "1000"];

/// The Vision Transformers, as the reader chooses them, in the order of [`Kind::VITS`].
const VARIANTS: [&str; 3] = ["class token", "no positions", "mean of patches"];

/// The cell `train-on-few`.
pub const SPEC: CellSpec = CellSpec {
    name: "train-on-few",
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
        InputSpec::choice("size", "Training digits", &NAMES),
        InputSpec::choice("variant", "Vision Transformer", &VARIANTS),
        InputSpec::seed(1),
    ]
}

/// One of the two networks, and what was noted on the way.
struct Course {
    name: &'static str,
    run: FewRun,
    test: Arc<Digits>,
    losses: Vec<f64>,
    /// The share of test digits that are read right, at step 0, [`LOOK`], 2 · [`LOOK`], …
    right: Vec<f64>,
    calls: Vec<Call>,
    logs: [Arc<String>; 2],
}

impl Course {
    fn look(&mut self) -> Result<(), CellError> {
        let right = if self.right.is_empty() {
            let mut record = Record::new();
            let (run, test) = (&self.run, &*self.test);
            let found = shown!(record, explain::few_digits::FewRun::right, run, test)?;
            self.calls.extend(record.finish().calls);
            found
        } else {
            self.run.right(&self.test)?
        };
        self.right.push(right as f64 / self.test.len() as f64);
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
            let loss = shown!(record, explain::few_digits::FewRun::step, run)?;
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

/// The position of a choice among its names.
fn chosen(inputs: &Inputs, input: &str, names: &[&str]) -> Result<usize, CellError> {
    let chosen = inputs.choice(input)?;
    let place = names.iter().position(|&name| name == chosen);
    Ok(place.unwrap_or_default())
}

/// Begins to compute.
///
/// # Errors
/// A log that is not one.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let logs = [cache.opened(LOG)?, cache.opened(drawn_runs::LOG)?];
    let size = SIZES[chosen(inputs, "size", &NAMES)?];
    let (_, vit) = Kind::VITS[chosen(inputs, "variant", &VARIANTS)?];
    let seed = inputs.seed()?;
    let (learned, test) = (Digits::to_learn(size, seed)?, Arc::new(Digits::to_test()?));
    let mut courses = Vec::new();
    for (name, kind) in [("cnn", Kind::Cnn), ("vit", vit)] {
        let mut course = Course {
            name,
            run: FewRun::new(kind, learned.clone(), seed)?,
            test: Arc::clone(&test),
            losses: Vec::new(),
            right: Vec::new(),
            calls: Vec::new(),
            logs: logs.clone(),
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
        record.number(&of("parameters"), course.run.network.count()? as f64);
        record.number("test", course.test.len() as f64);
        let looks = (0..course.right.len()).map(|n| (n as u64 * LOOK) as f64);
        record.numbers("looks", looks.collect());
    }
    record.number("steps", inputs.number("steps")?);
    record.number("most", STEPS as f64);
    let size = SIZES[chosen(inputs, "size", &NAMES)?];
    record.number("size.now", size as f64);
    record.numbers("sizes", SIZES.iter().map(|&size| size as f64).collect());
    if let Some(course) = courses.first() {
        let [log, drawn] = &course.logs;
        bias_runs::learned(&mut record, log)?;
        let setting = [inputs.choice("size")?, inputs.choice("variant")?];
        let (vit, _) = Kind::VITS[chosen(inputs, "variant", &VARIANTS)?];
        let schemes = ["cnn", vit].map(|name| format!("few-{name}-{size}"));
        drawn_runs::note(&mut record, drawn, (&setting, inputs.seed()?), &schemes)?;
        let variants = Kind::VITS.map(|(name, _)| format!("few-{name}-{size}"));
        drawn_runs::means(&mut record, drawn, "variants.mean", &variants)?;
    }
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, number};

    fn at(size: &str, seed: f64, steps: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("size", choice(size))
            .with("seed", number(seed))
            .with("steps", number(steps));
        computed(&SPEC, &given).unwrap()
    }

    /// What the lesson says of a run on the page: from a hundred drawn digits the network with convolutions
    /// reads more of the others.
    #[test]
    fn a_run_on_the_page() {
        let c = at("100", 1.0, STEPS as f64);
        let now = |name: &str| c.at(&format!("{name}.right.now"), &[]).unwrap();
        assert!(
            now("cnn") > now("vit") + 0.02 && now("vit") > 0.8,
            "{} {}",
            now("cnn"),
            now("vit")
        );
        let looks = c.tensor("looks").unwrap().shape()[0];
        assert_eq!(looks as u64, STEPS / LOOK + 1);
        assert_eq!(c.at("cnn.parameters", &[]), Some(19_334.0));
    }

    /// As many digits are learned as were chosen: the first losses are those of a run on so many, and
    /// each size has others.
    #[test]
    fn as_many_digits_are_learned_as_were_chosen() {
        let mut firsts = Vec::new();
        for (chosen, size) in NAMES.into_iter().zip(SIZES) {
            let c = at(chosen, 1.0, 2.0);
            assert_eq!(c.at("size.now", &[]), Some(size as f64));
            let digits = Digits::to_learn(size, 1).unwrap();
            assert_eq!((digits.len(), digits.pictures.shape()[0]), (size, size));
            for (name, kind) in Kind::ALL {
                let mut run = FewRun::new(kind, digits.clone(), 1).unwrap();
                let losses = [0, 1].map(|_| Some(f64::from(run.step().unwrap())));
                let found = [0, 1].map(|n| c.at(&format!("{name}.loss"), &[n]));
                assert_eq!(found, losses, "{name}, {size}");
                firsts.push((name, found[0]));
            }
        }
        for (n, one) in firsts.iter().enumerate() {
            assert!(!firsts[..n].contains(one), "{firsts:?}");
        }
    }

    /// More steps of a run are the same run, and another seed is another one.
    #[test]
    fn a_run_is_a_function_of_its_inputs() {
        let (few, more, other) = (
            at("300", 2.0, 2.0),
            at("300", 2.0, 4.0),
            at("300", 3.0, 2.0),
        );
        for (name, _) in Kind::ALL {
            let loss = |c: &Computation, n: usize| c.at(&format!("{name}.loss"), &[n]).unwrap();
            assert_eq!(loss(&few, 1), loss(&more, 1));
            assert_ne!(loss(&few, 0), loss(&other, 0));
        }
    }

    /// Each Vision Transformer is the one that was chosen: it has its parameters and its losses.
    #[test]
    fn the_variant_that_was_chosen_is_trained() {
        let parameters = [19_658.0, 18_058.0, 19_594.0];
        for ((chosen, (_, kind)), expected) in VARIANTS.iter().zip(Kind::VITS).zip(parameters) {
            let given = Inputs::defaults(&inputs())
                .with("variant", choice(chosen))
                .with("steps", number(2.0));
            let c = computed(&SPEC, &given).unwrap();
            assert_eq!(c.at("vit.parameters", &[]), Some(expected), "{chosen}");
            assert_eq!(c.words("setting"), ["100", *chosen]);
            let digits = Digits::to_learn(100, 1).unwrap();
            let mut run = FewRun::new(kind, digits, 1).unwrap();
            for n in 0..2 {
                let loss = f64::from(run.step().unwrap());
                assert_eq!(c.at("vit.loss", &[n]), Some(loss), "{chosen}");
            }
            assert!(c.at("logged.low", &[1]).unwrap() > 0.5, "{chosen}");
        }
    }

    /// What the lesson says of the variants on drawn digits, from the log: without positions, the best run
    /// reads less than the worst with them; with a class token and with the mean, the spreads overlap.
    #[test]
    fn what_the_log_says_of_the_variants() {
        for size in NAMES {
            let of = |variant: &str| {
                let given = Inputs::defaults(&inputs())
                    .with("variant", choice(variant))
                    .with("size", choice(size));
                computed(&SPEC, &given).unwrap()
            };
            let all = VARIANTS.map(of);
            let at = |n: usize, what: &str| all[n].at(&format!("logged.{what}"), &[1]).unwrap();
            assert!(at(1, "high") < at(0, "low"), "{size}");
            assert!(
                at(2, "low") < at(0, "high") && at(0, "low") < at(2, "high"),
                "{size}"
            );
            for n in 0..3 {
                assert_eq!(all[0].at("variants.mean", &[n]), Some(at(n, "mean")));
            }
        }
    }
}
