//! Hiding with minus infinity against hiding with a large negative number, on one row of scores.

use ndarray::{Array2, ArrayView2, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::measure::{largest, row_differences};
use crate::spec::{CellSpec, Run};

/// The cell `minus-ten-thousand`.
pub const SPEC: CellSpec = CellSpec {
    name: "minus-ten-thousand",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let scores = arr2(&[[16.0, 8.0, 4.0, 24.0, -8.0]]);
    let visible = arr2(&[[1.0, 1.0, 1.0, 0.0, 0.0]]);
    vec![
        InputSpec::matrix("scores", "Scores $q\u{b7}k$", (1, 1), (2, 8), scores),
        InputSpec::matrix("visible", "Visible keys", (1, 1), (2, 8), visible),
        InputSpec::number(
            "penalty",
            "Number added to hidden scores",
            (-20_000.0, 0.0, 1.0),
            -10_000.0,
        ),
        InputSpec::number("d_k", "Width $d_k$", (1.0, 1024.0, 1.0), 64.0),
        InputSpec::toggle(
            "first",
            "Add the mask before dividing by $\u{221a}d_k$",
            false,
        ),
    ]
}

/// Adds the mask after or before the scale.
fn masked(
    record: &mut Record,
    scores: ArrayView2<'_, f32>,
    mask: ArrayView2<'_, f32>,
    scale: f32,
    first: bool,
) -> Result<Array2<f32>, CellError> {
    Ok(if first {
        shown!(
            record,
            explain::additive_mask::mask_then_scale,
            scores,
            mask,
            scale
        )?
    } else {
        shown!(
            record,
            explain::additive_mask::scale_then_mask,
            scores,
            mask,
            scale
        )?
    })
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let scores = inputs.matrix("scores")?;
    let own = inputs.matrix("visible")?;
    // Keys beyond the ends of a mask of another length are visible.
    let visible = Array2::from_shape_fn(scores.dim(), |at| own.get(at).is_none_or(|&x| x != 0.0));
    let penalty = inputs.number("penalty")? as f32;
    let first = inputs.toggle("first")?;
    let mut record = Record::new();
    let scale = shown!(record, engine::nn::attention::scale, inputs.count("d_k")?);

    let none = Array2::zeros(scores.dim());
    let scaled = masked(&mut record, scores.view(), none.view(), scale, false)?;
    let plain = shown!(record, engine::nn::softmax::softmax_rows, scaled.view());
    let mut rows = Vec::new();
    for (name, penalty) in [("infinite", f32::NEG_INFINITY), ("finite", penalty)] {
        let mask = shown!(
            record,
            explain::additive_mask::additive,
            visible.view(),
            penalty
        );
        let row = masked(&mut record, scores.view(), mask.view(), scale, first)?;
        let weights = shown!(record, engine::nn::softmax::softmax_rows, row.view());
        let naive = shown!(record, engine::nn::softmax::softmax_naive, row.row(0));
        record.tensor(&format!("{name}.masked"), &row);
        record.tensor(&format!("{name}.weights"), &weights);
        record.tensor(&format!("{name}.naive"), &naive);
        let broken = naive.iter().filter(|w| w.is_nan()).count();
        record.number(&format!("{name}.broken"), broken as f64);
        let hidden = weights.iter().zip(&visible).filter(|(_, see)| !**see);
        record.number(
            &format!("{name}.leak"),
            hidden.map(|(&w, _)| f64::from(w)).sum(),
        );
        record.number(
            &format!("{name}.sum"),
            weights.iter().map(|&w| f64::from(w)).sum(),
        );
        rows.push(weights);
    }
    let apart = row_differences(rows[0].view(), rows[1].view());
    let from_plain = row_differences(plain.view(), rows[1].view());
    record.number("difference", largest(&apart));
    record.number("from_plain", largest(&from_plain));
    record.number("scale", f64::from(scale));
    record.number("visible", visible.iter().filter(|see| **see).count() as f64);
    record.tensor("seen", &visible.mapv(|see| if see { 1.0_f32 } else { 0.0 }));
    record.tensor("scaled", &scaled);
    record.tensor("plain", &plain);
    record.words(
        "key",
        (1..=scores.ncols()).map(|j| format!("key {j}")).collect(),
    );
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn given(visible: [f32; 5], penalty: f64, first: bool) -> Inputs {
        Inputs::defaults(&inputs())
            .with("visible", InputValue::Matrix(arr2(&[visible])))
            .with("penalty", InputValue::Number(penalty))
            .with("first", InputValue::Toggle(first))
    }

    const SOME: [f32; 5] = [1.0, 1.0, 1.0, 0.0, 0.0];

    fn at(inputs: &Inputs, name: &str) -> f64 {
        SPEC.compute(inputs).unwrap().at(name, &[]).unwrap()
    }

    #[test]
    fn where_a_key_is_visible_both_masks_agree_to_the_bit() {
        for first in [false, true] {
            let inputs = given(SOME, -10_000.0, first);
            assert_eq!(at(&inputs, "difference"), 0.0);
            assert_eq!(at(&inputs, "finite.leak"), 0.0);
        }
    }

    #[test]
    fn a_small_penalty_leaks() {
        let inputs = given(SOME, -2.0, false);
        assert_eq!(at(&inputs, "infinite.leak"), 0.0);
        assert!(at(&inputs, "finite.leak") > 0.01);
    }

    /// The difference between the two: a fully hidden row.
    #[test]
    fn a_fully_hidden_row_is_zero_here_nan_as_written_and_unmasked_with_a_number() {
        let inputs = given([0.0; 5], -10_000.0, false);
        assert_eq!(at(&inputs, "infinite.sum"), 0.0);
        assert_eq!(at(&inputs, "infinite.broken"), 5.0);
        assert!((at(&inputs, "finite.sum") - 1.0).abs() < 1e-6);
        let from_plain = at(&inputs, "from_plain");
        assert!(from_plain < 1e-3, "{from_plain}");
        // The scores lose their last digits when 10,000 is added and taken off again.
        assert!(
            at(
                &inputs.with(
                    "scores",
                    InputValue::Matrix(arr2(&[[1.1, 2.3, 0.7, 3.9, -1.3]]))
                ),
                "from_plain"
            ) > 0.0
        );
    }

    /// The order of mask and scale is harmless with minus infinity: only the finite penalty
    /// shrinks.
    #[test]
    fn the_order_matters_for_the_number_only() {
        let after = SPEC.compute(&given(SOME, -64.0, false)).unwrap();
        let before = SPEC.compute(&given(SOME, -64.0, true)).unwrap();
        assert_eq!(
            after.tensor("infinite.masked"),
            before.tensor("infinite.masked")
        );
        assert_eq!(
            after.tensor("infinite.weights"),
            before.tensor("infinite.weights")
        );
        let leak = |c: &Computation| c.at("finite.leak", &[]).unwrap();
        assert!(leak(&after) < 1e-20 && leak(&before) > 1e-4);
    }

    #[test]
    fn scores_and_mask_of_different_lengths_do_not_fail() {
        let three = InputValue::Matrix(arr2(&[[1.0, 2.0, 3.0]]));
        let c = SPEC
            .compute(&given(SOME, -1.0, false).with("scores", three))
            .unwrap();
        assert_eq!(c.tensor("finite.weights").unwrap().shape(), [1, 3]);
    }
}
