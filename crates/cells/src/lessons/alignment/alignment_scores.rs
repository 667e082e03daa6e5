//! One step of Bahdanau's attention by hand: scores become weights, weights mix annotations.

use ndarray::{Array1, Array2, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// Target words, source words, and numbers in an annotation.
const SHAPE: (usize, usize, usize) = (2, 4, 3);

/// The cell `alignment-scores`.
pub const SPEC: CellSpec = CellSpec {
    name: "alignment-scores",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let (targets, sources, width) = SHAPE;
    let scores = arr2(&[[2.1, 1.8, 0.3, 0.1], [0.1, 0.2, 0.5, 2.8]]);
    let annotations = arr2(&[
        [1.0, 0.0, 0.1],
        [0.6, 0.1, 0.0],
        [0.0, 0.2, 1.0],
        [0.1, 1.0, 0.1],
    ]);
    vec![
        InputSpec::matrix(
            "e",
            "Scores $e$",
            (targets, targets),
            (sources, sources),
            scores,
        ),
        InputSpec::matrix(
            "h",
            "Annotations $h$",
            (sources, sources),
            (width, width),
            annotations,
        ),
        InputSpec::entry("step", "Selected step of the walk", 3, Some(&[0, 0, 0])),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (e, h) = (inputs.matrix("e")?, inputs.matrix("h")?);
    let mut record = Record::new();
    let mut exponents = Array2::zeros(e.dim());
    let mut exponentials = Array2::zeros(e.dim());
    let mut totals = Array1::zeros(e.nrows());
    let mut weights = Array2::zeros(e.dim());
    for (i, row) in e.rows().into_iter().enumerate() {
        let steps = shown!(record, explain::softmax_steps::safe, row, 1.0_f32)?;
        exponents.row_mut(i).assign(&steps.exponents);
        exponentials.row_mut(i).assign(&steps.exponentials);
        totals[i] = steps.total;
        weights.row_mut(i).assign(&steps.weights);
    }
    let context = shown!(
        record,
        engine::nn::attention::mix_values,
        weights.view(),
        h.view()
    )?;
    record.tensor("exponents", &exponents);
    record.tensor("exponentials", &exponentials);
    record.tensor("totals", &totals);
    record.tensor("weights", &weights);
    record.tensor("context", &context);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn assert_row(c: &Computation, row: usize, expected: [f64; 4]) {
        for (j, weight) in expected.into_iter().enumerate() {
            let found = c.at("weights", &[row, j]).unwrap();
            assert!((found - weight).abs() < 5e-4, "{row}, {j}: {found}");
        }
    }

    /// The check of the curriculum; a widely read text prints 0.45, 0.38, 0.10, 0.07 for the first
    /// row.
    #[test]
    fn both_rows_have_the_weights_that_softmax_gives() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        assert_row(&c, 0, [0.490, 0.363, 0.081, 0.066]);
        assert_row(&c, 1, [0.054, 0.060, 0.081, 0.805]);
        let printed = [0.45, 0.38, 0.10, 0.07];
        assert!((c.at("weights", &[0, 0]).unwrap() - printed[0]).abs() > 0.03);
        // The first context, by hand: 0.490 · 1.0 + 0.363 · 0.6 + 0.081 · 0.0 + 0.066 · 0.1.
        assert!((c.at("context", &[0, 0]).unwrap() - 0.7144).abs() < 1e-3);
    }

    #[test]
    fn one_large_score_hands_over_one_annotation() {
        let mut e = Array2::zeros((2, 4));
        e[[0, 2]] = 200.0;
        let given = Inputs::defaults(&inputs()).with("e", InputValue::Matrix(e));
        let c = SPEC.compute(&given).unwrap();
        assert_row(&c, 0, [0.0, 0.0, 1.0, 0.0]);
        assert_row(&c, 1, [0.25; 4]);
        let h = inputs()[1].default.clone();
        let InputValue::Matrix(h) = h else {
            unreachable!()
        };
        for (k, &value) in h.row(2).iter().enumerate() {
            assert_eq!(c.at("context", &[0, k]), Some(f64::from(value)));
        }
    }
}
