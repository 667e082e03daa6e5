//! The loss of one prediction with a target that is smoothed, and the probability that suits it
//! best.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The words of the small vocabulary; the first is right.
pub const WORDS: [&str; 5] = ["gatto", "gatta", "cane", "sole", "e"];

/// The cell `label-smoothing`.
pub const SPEC: CellSpec = CellSpec {
    name: "label-smoothing",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let logits = ndarray::arr2(&[[6.0, 1.0, 0.0, -1.0, -1.0]]);
    vec![
        InputSpec::matrix("logits", "Logits", (1, 1), (5, 5), logits),
        InputSpec::number("epsilon", "Smoothing $\u{3b5}$", (0.0, 0.5, 0.05), 0.1),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let logits = inputs.matrix("logits")?;
    let epsilon = inputs.number("epsilon")? as f32;
    let row = logits.row(0);
    let found = shown!(record, explain::smoothed::smoothed, row, 0, epsilon)?;
    let plain = explain::smoothed::smoothed(row, 0, 0.0)?;
    record.tensor("probabilities", &found.probabilities);
    record.tensor("target", &found.target);
    record.tensor("gradient", &found.gradient);
    record.tensor("gradient.plain", &plain.gradient);
    record.number("loss", f64::from(found.loss));
    record.number("loss.plain", f64::from(plain.loss));
    record.number("least", f64::from(found.least));
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::number;

    /// What the lesson says: a prediction that is surer than the target is pushed back.
    #[test]
    fn a_prediction_that_is_too_sure_is_pushed_back() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        let at = |name: &str, index: &[usize]| c.at(name, index).unwrap();
        assert!((at("target", &[0]) - 0.92).abs() < 1e-6);
        assert!(at("probabilities", &[0]) > 0.98);
        assert!(at("gradient", &[0]) > 0.0 && at("gradient.plain", &[0]) < 0.0);
        assert!(at("loss", &[]) > at("least", &[]));
        let given = Inputs::defaults(&inputs()).with("epsilon", number(0.0));
        let plain = SPEC.compute(&given).unwrap();
        assert_eq!(plain.at("least", &[]), Some(0.0));
        assert_eq!(plain.at("loss", &[]), plain.at("loss.plain", &[]));
    }
}
