//! Softmax of four scores at a temperature, with its steps.

use ndarray::Array1;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The names of the inputs: a score for each word that may follow.
const SCORES: [(&str, &str, f64); 4] = [
    ("mat", "Score of \u{201c}mat\u{201d}", 2.0),
    ("sofa", "Score of \u{201c}sofa\u{201d}", 1.0),
    ("floor", "Score of \u{201c}floor\u{201d}", 0.5),
    ("moon", "Score of \u{201c}moon\u{201d}", -1.0),
];

/// Largest score in either direction.
const LARGEST: f64 = 4.0;

/// The cell `softmax-bars`.
pub const SPEC: CellSpec = CellSpec {
    name: "softmax-bars",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let limits = (-LARGEST, LARGEST, 0.1);
    let score = |(name, label, score)| InputSpec::number(name, label, limits, score);
    let mut all: Vec<InputSpec> = SCORES.into_iter().map(score).collect();
    let tau = InputSpec::number("tau", "Temperature $\u{3c4}$", (0.1, 5.0, 0.1), 1.0);
    all.push(tau);
    all
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let scores = SCORES
        .iter()
        .map(|(name, ..)| Ok(inputs.number(name)? as f32))
        .collect::<Result<Array1<f32>, CellError>>()?;
    let tau = inputs.number("tau")? as f32;
    let mut record = Record::new();
    // As written on paper: the limits of the inputs keep e to the power of 40 in range.
    let steps = shown!(
        record,
        explain::softmax_steps::as_written,
        scores.view(),
        tau
    )?;
    record.tensor("scores", &scores);
    record.tensor("exponents", &steps.exponents);
    record.tensor("exponentials", &steps.exponentials);
    record.number("total", f64::from(steps.total));
    record.tensor("weights", &steps.weights);
    let largest = steps.weights.iter().copied().fold(0.0_f32, f32::max);
    record.number("largest", f64::from(largest));
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn of(scores: [f64; 4], tau: f64) -> Computation {
        let mut given = Inputs::defaults(&inputs()).with("tau", InputValue::Number(tau));
        for ((name, ..), score) in SCORES.into_iter().zip(scores) {
            given = given.with(name, InputValue::Number(score));
        }
        SPEC.compute(&given).unwrap()
    }

    fn weights(c: &Computation) -> [f64; 4] {
        [0, 1, 2, 3].map(|j| c.at("weights", &[j]).unwrap())
    }

    /// At every limit of the inputs the results are positive and add up to one.
    #[test]
    fn bars_are_positive_and_add_up_to_one() {
        for tau in [0.1, 1.0, 5.0] {
            for scores in [
                [4.0, 4.0, 4.0, 4.0],
                [4.0, -4.0, 4.0, -4.0],
                [2.0, 1.0, 0.5, -1.0],
            ] {
                let w = weights(&of(scores, tau));
                assert!(w.iter().all(|&w| w >= 0.0 && w.is_finite()), "{w:?}");
                assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-5);
            }
        }
    }

    /// A score that is one higher has a bar that is e times as large, whatever the others are; all
    /// scores raised alike change nothing.
    #[test]
    fn one_more_is_e_times_as_much() {
        let (low, high) = (
            of([2.0, 1.0, 0.5, -1.0], 1.0),
            of([3.0, 2.0, 1.5, 0.0], 1.0),
        );
        let w = weights(&low);
        assert!((w[0] / w[1] - std::f64::consts::E).abs() < 1e-4);
        for (a, b) in w.iter().zip(weights(&high)) {
            assert!((a - b).abs() < 1e-6);
        }
    }

    /// What the lesson says of the temperature.
    #[test]
    fn cold_is_sharp_and_hot_is_even() {
        let scores = [2.0, 1.0, 0.5, -1.0];
        let [cold, warm, hot] = [0.1, 1.0, 5.0].map(|tau| weights(&of(scores, tau)));
        assert!(cold[0] > 0.999);
        assert!(warm[0] > 0.5 && warm[0] < 0.7);
        assert!(hot.iter().all(|&w| (w - 0.25).abs() < 0.11), "{hot:?}");
        // The order of the bars never changes.
        for w in [cold, warm, hot] {
            assert!(w[0] > w[1] && w[1] > w[2] && w[2] > w[3]);
        }
    }
}
