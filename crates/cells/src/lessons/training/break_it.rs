//! The same small Transformer twice, from the same seed: whole, and with parts switched off.

use engine::grad::TrainingConfig;
use engine::nn::parts::Parts;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::parts::training::{Course, HELD_OUT, LOOK, TASKS, Training, schedule, task};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// Different symbols of a sequence, and its length.
const SIZES: (usize, usize) = (6, 8);

/// Width of both models.
const WIDTH: usize = 32;

/// Steps of warm-up, where it is on.
const WARM_UP: u64 = 50;

/// The step from which the rate stays at its end.
const SETTLED: u64 = 400;

/// Most steps that are taken.
const MOST: f64 = 1000.0;

/// The cell `break-it`.
pub const SPEC: CellSpec = CellSpec {
    name: "break-it",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: no_files,
    start: |inputs, _| start(inputs),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::toggle("scaling", "Scaling", true),
        InputSpec::toggle("mask", "Causal mask", true),
        InputSpec::toggle("residual", "Residual connections", true),
        InputSpec::toggle("norm", "Layer norm", true),
        InputSpec::toggle("positions", "Positions", false),
        InputSpec::toggle("warmup", "Warm-up", true),
        InputSpec::choice("task", "What to learn", TASKS),
        InputSpec::number("steps", "Steps", (0.0, MOST, 1.0), 0.0),
        InputSpec::number(
            "rate",
            "Highest learning rate",
            (0.0001, 0.05, 0.0001),
            0.004,
        ),
        InputSpec::seed(1),
    ]
}

/// Begins to compute.
///
/// # Errors
/// An input that does not fit.
fn start(inputs: &Inputs) -> Result<Box<dyn Job>, CellError> {
    let parts = Parts {
        scaling: inputs.toggle("scaling")?,
        mask: inputs.toggle("mask")?,
        residual: inputs.toggle("residual")?,
        norm: inputs.toggle("norm")?,
        positions: inputs.toggle("positions")?,
    };
    let warmup = if inputs.toggle("warmup")? { WARM_UP } else { 0 };
    let (symbols, length) = SIZES;
    let (task, peak) = (task(inputs, symbols, length)?, inputs.number("rate")?);
    let whole = TrainingConfig {
        width: WIDTH,
        batch: 32,
        seed: inputs.seed()?,
        ..TrainingConfig::of(task, schedule(peak, WARM_UP, SETTLED))
    };
    let broken = TrainingConfig {
        parts,
        schedule: schedule(peak, warmup, SETTLED),
        ..whole.clone()
    };
    let courses = vec![Course::new(whole, true)?, Course::new(broken, true)?];
    Ok(Box::new(Training::new(inputs, courses, show)?))
}

fn show(courses: &[Course], inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    for (course, prefix) in courses.iter().zip(["whole.", "broken."]) {
        course.note(&mut record, prefix);
    }
    record.number("steps", inputs.number("steps")?);
    record.number("held.count", HELD_OUT as f64);
    record.number("looks.every", LOOK as f64);
    let parts = ["scaling", "mask", "residual", "norm", "positions", "warmup"];
    let off = parts
        .into_iter()
        .filter(|part| !inputs.toggle(part).unwrap_or(true));
    record.words("off", off.map(str::to_owned).collect());
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs;
    use crate::model_cache::ModelCache;

    fn at(off: &[&str], task: &str, steps: f64) -> Computation {
        let mut given = Inputs::defaults(&inputs())
            .with("positions", InputValue::Toggle(true))
            .with("task", InputValue::Choice(task.to_owned()))
            .with("steps", InputValue::Number(steps));
        for part in off {
            given = given.with(part, InputValue::Toggle(false));
        }
        jobs::compute(&SPEC, &given, &ModelCache::default()).unwrap()
    }

    fn last(found: &Computation, name: &str) -> f64 {
        found.at(name, &[]).unwrap()
    }

    /// With nothing off both are one model, to the last bit.
    #[test]
    fn with_nothing_off_both_curves_are_one() {
        let found = at(&[], "reverse", 12.0);
        assert_eq!(found.tensor("whole.loss"), found.tensor("broken.loss"));
        assert_eq!(found.tensor("whole.held"), found.tensor("broken.held"));
    }

    /// Each switch changes what is computed before anything is learned; warm-up changes it after
    /// the first step.
    #[test]
    fn every_switch_does_something() {
        for part in ["scaling", "mask", "residual", "norm", "positions", "warmup"] {
            let found = at(&[part], "reverse", 2.0);
            assert_ne!(
                found.tensor("whole.loss"),
                found.tensor("broken.loss"),
                "{part}"
            );
        }
    }

    /// Without a mask the model copies the answer that it can see, and autoregressively it writes
    /// much worse.
    #[test]
    fn without_a_mask_it_cheats() {
        let found = at(&["mask"], "reverse", 200.0);
        let of = |name: &str| last(&found, name);
        assert!(of("broken.right.now") > 0.9);
        assert!(of("broken.written.now") < of("broken.right.now") - 0.25);
        assert_eq!(of("whole.written.now"), of("whole.right.now"));
    }

    /// Each branch alone must pass on all that is to be kept: at this size nothing is learned
    /// beyond which symbols there are.
    #[test]
    fn without_residuals_nothing_comes_through() {
        let found = at(&["residual"], "reverse", 200.0);
        assert!(last(&found, "whole.right.now") > 0.8);
        assert!(last(&found, "broken.right.now") < 0.1);
    }

    /// A bag can be sorted without knowing where anything stood.
    #[test]
    fn sorting_needs_no_positions() {
        let found = at(&["positions"], "sort", 200.0);
        assert!(last(&found, "broken.right.now") > 0.5);
    }

    /// A model without positions cannot reverse.
    #[test]
    fn without_positions_reversing_is_not_learned() {
        let found = at(&["positions"], "reverse", 200.0);
        assert!(last(&found, "whole.right.now") > 0.8);
        assert!(last(&found, "broken.right.now") < 0.3);
    }
}
