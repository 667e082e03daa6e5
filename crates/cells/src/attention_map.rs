//! A sentence through one untrained attention layer: what each word takes from every other word.

use crate::computation::Computation;
use crate::error::CellError;
use crate::input::{InputSpec, Inputs};
use crate::shown::Record;
use crate::spec::{CellSpec, Run};
use crate::untrained::{Layer, causal_or_none, embedded, placed, positions};
use crate::words;

/// Most words that the map can show.
const MOST_WORDS: usize = 16;

/// Width of word vectors, queries, keys and values.
const WIDTH: usize = 16;

/// Spread of the weight matrices: wide enough that the rows differ to the eye.
const STD: f32 = 0.35;

/// The cell `attention-map`.
pub const SPEC: CellSpec = CellSpec {
    name: "attention-map",
    summary: "The attention weights of one untrained layer over any sentence; choose a word to see its row.",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::text("sentence", "Your sentence", "The cat sat on the mat"),
        InputSpec::toggle("causal", "Causal mask: no word sees a later one", false),
        InputSpec::seed(7),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let tokens = words::tokens(inputs, "sentence", "Your sentence", MOST_WORDS)?;
    let seed = inputs.seed()?;
    let mut record = Record::new();
    let x = embedded(&mut record, &tokens, seed, "embedding", WIDTH)?;
    let places = positions(&mut record, tokens.len(), WIDTH);
    let x = placed(&mut record, x.view(), places.view())?;
    let layer = Layer::draw(&mut record, seed, "", WIDTH, STD);
    let mask = causal_or_none(&mut record, inputs.toggle("causal")?, tokens.len());
    let layer = layer.run(&mut record, x.view(), &mask)?;
    record.tensor("x", &x);
    record.tensor("q", &layer.q);
    record.tensor("k", &layer.k);
    record.tensor("v", &layer.v);
    record.tensor("scores", &layer.attention.scores);
    record.tensor("weights", &layer.attention.weights);
    record.tensor("output", &layer.attention.output);
    record.words("tokens", tokens);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    #[test]
    fn every_row_of_weights_sums_to_one_and_the_mask_hides_what_follows() {
        for causal in [false, true] {
            let given = Inputs::defaults(&inputs()).with("causal", InputValue::Toggle(causal));
            let c = SPEC.compute(&given).unwrap();
            let weights = &c.tensor("weights").unwrap().values;
            assert_eq!(weights.shape(), [6, 6]);
            for i in 0..6 {
                let row: f64 = (0..6).map(|j| weights[[i, j]]).sum();
                assert!((row - 1.0).abs() < 1e-6, "{row}");
                let hidden = (i + 1..6).all(|j| weights[[i, j]] == 0.0);
                assert!(hidden == causal || i == 5, "row {i}");
            }
        }
    }

    #[test]
    fn the_seed_decides_the_weights() {
        let of = |seed: f64| {
            let given = Inputs::defaults(&inputs()).with("seed", InputValue::Number(seed));
            SPEC.compute(&given).unwrap().tensors
        };
        assert_eq!(of(7.0), of(7.0));
        assert_ne!(of(7.0), of(8.0));
    }

    #[test]
    fn too_many_words_get_a_message() {
        let given =
            Inputs::defaults(&inputs()).with("sentence", InputValue::Text("word ".repeat(400)));
        assert!(matches!(SPEC.compute(&given), Err(CellError::Input { .. })));
    }
}
