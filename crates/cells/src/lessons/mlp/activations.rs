//! MLPs with four nonlinearities and as many parameters learn the same facts: our logged runs at
//! four learning rates, and runs that are trained here side by side.

use std::sync::Arc;

use explain::fact_memory::{Activity, FACTS, FactRun, GATED, INNER, RATES, WIDTH};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::mlp_runs::{self, LOG};
use crate::parts::training::{Steps, Training};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// Steps of a run, here as in the log.
const STEPS: u64 = explain::fact_memory::STEPS;

/// Steps between two counts of the facts that are right.
const COUNT: u64 = 50;

/// The cell `activations`.
pub const SPEC: CellSpec = CellSpec {
    name: "activations",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| vec![LOG],
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::choice("rate", "Learning rate", &RATES),
        InputSpec::number("steps", "Steps", (0.0, STEPS as f64, 1.0), 0.0),
        InputSpec::seed(1),
    ]
}

/// One of the four runs, and what was noted on the way.
struct Course {
    name: &'static str,
    run: FactRun,
    losses: Vec<f64>,
    /// Shares of right facts at step 0, [`COUNT`], 2 · [`COUNT`], …
    right: Vec<f64>,
    calls: Vec<Call>,
    log: Arc<String>,
}

impl Course {
    fn count(&mut self) -> Result<(), CellError> {
        self.right
            .push(self.run.model.right()? as f64 / FACTS as f64);
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
            let loss = shown!(record, explain::fact_memory::FactRun::step, run)?;
            self.calls = record.finish().calls;
            loss
        } else {
            run.step()?
        };
        self.losses.push(f64::from(loss));
        if self.steps().is_multiple_of(COUNT) {
            self.count()?;
        }
        Ok(())
    }
}

/// Begins to compute.
///
/// # Errors
/// An input that does not fit, or a log that is not one.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let log = cache.opened::<String>(LOG)?;
    let rate = inputs.choice("rate")?;
    let rate: f32 = rate
        .parse()
        .map_err(|_| CellError::Mismatch(format!("the learning rate is {rate:?}")))?;
    let mut courses = Vec::new();
    for (name, activity) in Activity::ALL {
        let mut course = Course {
            name,
            run: FactRun::new(activity, rate, inputs.seed()?)?,
            losses: Vec::new(),
            right: Vec::new(),
            calls: Vec::new(),
            log: Arc::clone(&log),
        };
        course.count()?;
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
        record.number(
            &of("right.now"),
            course.right.last().copied().unwrap_or_default(),
        );
        let parameters = course.run.model.count()?;
        record.number("parameters", parameters as f64);
    }
    let counts = courses.first().map_or(0, |course| course.right.len());
    let counts = (0..counts).map(|n| (n as u64 * COUNT) as f64);
    record.numbers("counts", counts.collect());
    record.number("steps", inputs.number("steps")?);
    for (name, count) in [
        ("facts", FACTS),
        ("width", WIDTH),
        ("inner", INNER),
        ("gated", GATED),
    ] {
        record.number(name, count as f64);
    }
    if let Some(course) = courses.first() {
        mlp_runs::facts(&mut record, &course.log)?;
    }
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{cache, choice, computed, number};

    fn at(rate: &str, steps: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("rate", choice(rate))
            .with("steps", number(steps));
        computed(&SPEC, &given).unwrap()
    }

    /// The losses of the cell are those of the log, to the bit.
    #[test]
    fn a_run_here_is_the_run_of_the_log() {
        let log = cache().opened::<String>(LOG).unwrap();
        let c = at("0.02", 3.0);
        for (name, _) in Activity::ALL {
            let first = explain::run_log::rows(&log, "first", &format!("{name}-0.02")).unwrap();
            for n in 0..3 {
                let found = c.at(&format!("{name}.loss"), &[n]);
                assert_eq!(found, Some(f64::from(first[[0, n]])), "{name}");
            }
        }
    }

    /// What the lesson says of the logged runs. The rates are 0.005, 0.01, 0.02 and 0.04.
    #[test]
    fn swiglu_is_ahead_and_the_others_change_places() {
        let c = at("0.01", 0.0);
        let mean = |name: &str, n: usize| c.at(&format!("log.{name}"), &[n]).unwrap();
        let low = |name: &str, n: usize| c.at(&format!("log.{name}.low"), &[n]).unwrap();
        let high = |name: &str, n: usize| c.at(&format!("log.{name}.high"), &[n]).unwrap();
        for n in 0..4 {
            for other in ["relu", "gelu", "silu"] {
                assert!(low("swiglu", n) > high(other, n) + 0.03, "{other} {n}");
            }
        }
        // At the lowest rate ReLU is ahead of GELU, at 0.02 behind: with every seed.
        assert!(low("relu", 0) > high("gelu", 0));
        assert!(low("gelu", 2) > high("relu", 2));
        // SiLU is last at the lowest rate, and level with ReLU and GELU later.
        assert!(high("silu", 0) < low("gelu", 0) - 0.02);
        assert!(low("silu", 2) < high("relu", 2) && low("relu", 2) < high("silu", 2));
        assert!(low("silu", 3) < high("gelu", 3) && low("gelu", 3) < high("silu", 3));
        // Each is best at 0.02 or 0.04.
        for (k, (name, _)) in Activity::ALL.iter().enumerate() {
            let best = c.at("best", &[k]).unwrap();
            let most = (0..4).map(|n| mean(name, n)).fold(0.0, f64::max);
            assert_eq!(best, most);
            assert!(mean(name, 2).max(mean(name, 3)) == most, "{name}");
        }
    }
}
