//! Attention scores with one editable number added for each offset between key and query.

use engine::nn::attention::Mask;
use ndarray::arr2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::untrained::{Layer, embedded};
use crate::parts::words;
use crate::spec::{CellSpec, Run};

/// Most words that the matrices can show.
const MOST_WORDS: usize = 16;

/// Width of word vectors, queries and keys.
const WIDTH: usize = 8;

/// Offsets that have a number: −3 to 3; farther ones share the outermost.
const OFFSETS: usize = 7;

/// The cell `relative-bias`.
pub const SPEC: CellSpec = CellSpec {
    name: "relative-bias",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let bias = arr2(&[[-1.0, 0.0, 2.0, 0.0, 1.0, 0.0, -1.0]]);
    vec![
        InputSpec::text("sentence", "Sentence", "The cat sat on the mat"),
        InputSpec::matrix(
            "by_offset",
            "Bias of each offset",
            (1, 1),
            (OFFSETS, OFFSETS),
            bias,
        ),
        InputSpec::seed(7),
        InputSpec::entry("selected", "Selected pair", 2, Some(&[1, 0])),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let tokens = words::tokens(inputs, "sentence", "Sentence", MOST_WORDS)?;
    let by_offset = inputs.matrix("by_offset")?.row(0).to_vec();
    let (seed, count) = (inputs.seed()?, tokens.len());
    let mut record = Record::new();
    let x = embedded(&mut record, &tokens, seed, "embedding", WIDTH)?;
    let layer = Layer::draw(&mut record, seed, "", WIDTH, 0.6);
    let bias = shown!(
        record,
        engine::nn::position::relative::bias_matrix,
        &by_offset[..],
        count,
        count
    )?;
    let plain = layer.run(&mut record, x.view(), &Mask::None)?;
    let biased = layer.run(&mut record, x.view(), &Mask::Additive(bias.clone()))?;
    record.tensor("scores", &biased.attention.scores);
    record.tensor("bias", &bias);
    record.tensor("biased", &biased.attention.masked);
    record.tensor("weights", &biased.attention.weights);
    record.tensor("plain_weights", &plain.attention.weights);
    record.words("tokens", tokens);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    #[test]
    fn every_diagonal_holds_one_number_and_the_ends_are_shared() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        let expected = [-1.0, 0.0, 2.0, 0.0, 1.0, 0.0, -1.0];
        for t in 0..6_usize {
            for s in 0..6_usize {
                let offset = (s as i64 - t as i64).clamp(-3, 3) + 3;
                assert_eq!(c.at("bias", &[t, s]), Some(expected[offset as usize]));
                let sum = c.at("scores", &[t, s]).unwrap() + c.at("bias", &[t, s]).unwrap();
                assert!((c.at("biased", &[t, s]).unwrap() - sum).abs() < 1e-6);
            }
        }
    }

    /// A number added to all offsets alike cancels in the softmax.
    #[test]
    fn the_same_bias_everywhere_changes_nothing() {
        let same = InputValue::Matrix(ndarray::Array2::from_elem((1, 7), 3.0));
        let c = SPEC
            .compute(&Inputs::defaults(&inputs()).with("by_offset", same))
            .unwrap();
        let (a, b) = (
            c.tensor("weights").unwrap(),
            c.tensor("plain_weights").unwrap(),
        );
        assert!(
            a.values
                .iter()
                .zip(&b.values)
                .all(|(x, y)| (x - y).abs() < 1e-6)
        );
    }
}
