//! Gradient descent of one parameter on the curve of its loss, at a learning rate that may be too
//! large.

use ndarray::Array1;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::spec::{CellSpec, Run, WorkerKind, once_from};

/// The example: the input and the right answer.
const EXAMPLE: (f32, f32) = (2.0, 6.0);

/// The parameter goes from the first to the second of these on the curve, in so many steps.
const RANGE: (f32, f32) = (-1.0, 7.0);
const POINTS: usize = 64;

/// Most steps of the descent.
const MOST: usize = 30;

/// The cell `gradient-step`.
pub const SPEC: CellSpec = CellSpec {
    name: "gradient-step",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: no_files,
    start: |inputs, _| Ok(once_from(inputs, compute)),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("start", "Start at $w$", (-1.0, 7.0, 0.1), 0.5),
        InputSpec::number("rate", "Learning rate $\u{3b7}$", (0.005, 0.4, 0.005), 0.05),
        InputSpec::number("updates", "Steps so far", (0.0, MOST as f64, 1.0), 0.0),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (start, rate) = (
        inputs.number("start")? as f32,
        inputs.number("rate")? as f32,
    );
    let updates = inputs.count("updates")?;
    let (x, y) = EXAMPLE;
    let mut record = Record::new();
    let path = shown!(record, explain::descent::descend, start, x, y, rate, MOST)?;
    let along = Array1::linspace(RANGE.0, RANGE.1, POINTS + 1);
    let curve = along.as_slice().unwrap_or_default();
    let losses = shown!(record, explain::descent::losses, curve, x, y)?;
    let here = |values: &[f32]| values.get(updates).copied().unwrap_or(f32::NAN);
    let (w, loss, slope) = (here(&path.w), here(&path.losses), here(&path.gradients));
    record.number("x", f64::from(x));
    record.number("y", f64::from(y));
    record.tensor("along", &along);
    record.tensor("along.loss", &losses);
    record.tensor("tangent", &along.mapv(|at| loss + slope * (at - w)));
    let wide = |values: &[f32]| -> Vec<f64> { values.iter().map(|&x| f64::from(x)).collect() };
    record.numbers("path", wide(&path.w));
    record.numbers("path.loss", wide(&path.losses));
    record.numbers("path.gradient", wide(&path.gradients));
    record.numbers("here", vec![f64::from(w)]);
    record.numbers("here.loss", vec![f64::from(loss)]);
    record.number("gradient", f64::from(slope));
    record.number("rate", f64::from(rate));
    record.number("step", f64::from(rate * slope));
    record.number("next", f64::from(w - rate * slope));
    record.number("updates", updates as f64);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs;
    use crate::model_cache::ModelCache;

    fn at(rate: f64, updates: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("rate", InputValue::Number(rate))
            .with("updates", InputValue::Number(updates));
        jobs::compute(&SPEC, &given, &ModelCache::default()).unwrap()
    }

    fn losses(rate: f64) -> Vec<f64> {
        let c = at(rate, 0.0);
        c.tensor("path.loss")
            .unwrap()
            .values
            .iter()
            .copied()
            .collect()
    }

    /// What the lesson says of small and large learning rates: below 0.25 the loss falls in every
    /// step, at 0.25 it stays, above it grows in every step.
    #[test]
    fn the_loss_falls_below_a_quarter_and_explodes_above() {
        for rate in [0.005, 0.05, 0.1, 0.2, 0.24] {
            let path = losses(rate);
            // Near the bottom rounding is all that is left.
            let falls = |pair: &[f64]| pair[1] < pair[0] || pair[0] < 1e-9;
            assert!(path.windows(2).all(falls), "{rate}: {path:?}");
        }
        for loss in losses(0.25) {
            assert!((loss - 25.0).abs() < 1e-3);
        }
        for rate in [0.26, 0.3, 0.4] {
            let path = losses(rate);
            assert!(path.windows(2).all(|pair| pair[1] > pair[0]), "{rate}");
            assert!(path.iter().all(|loss| loss.is_finite()));
        }
    }

    /// Half as large as that, one step leads to the bottom from anywhere.
    #[test]
    fn at_an_eighth_one_step_is_enough() {
        assert!(losses(0.125)[1] < 1e-9);
    }

    /// The page's first step, as the lesson writes it out.
    #[test]
    fn the_first_step_is_that_of_the_lesson() {
        let c = at(0.05, 0.0);
        let number = |name: &str| c.at(name, &[]).unwrap();
        assert_eq!(c.at("here.loss", &[0]), Some(25.0));
        assert_eq!(number("gradient"), -20.0);
        assert!((number("step") + 1.0).abs() < 1e-6);
        assert!((number("next") - 1.5).abs() < 1e-6);
        let next = at(0.05, 1.0);
        assert!((next.at("here", &[0]).unwrap() - 1.5).abs() < 1e-6);
    }

    /// The tangent touches the curve at the parameter.
    #[test]
    fn the_tangent_touches_the_curve() {
        let c = at(0.05, 0.0);
        // 0.5 is point 12 of the curve: -1 + 12/8.
        assert_eq!(c.at("along", &[12]), Some(0.5));
        assert_eq!(c.at("tangent", &[12]), c.at("along.loss", &[12]));
        for n in 0..=POINTS {
            assert!(c.at("along.loss", &[n]) >= c.at("tangent", &[n]), "{n}");
        }
    }
}
