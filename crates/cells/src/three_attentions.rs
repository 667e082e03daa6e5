//! The three attentions of the 2017 Transformer side by side: encoder, decoder, and the decoder asking the encoder.

use engine::nn::attention::{Mask, SelfAttention};
use ndarray::Array2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::input::{InputSpec, Inputs};
use crate::shown::Record;
use crate::spec::{CellSpec, Run};
use crate::untrained::{Layer, causal_or_none, embedded, placed, positions};
use crate::words;

/// Most words of a sentence.
const MOST_WORDS: usize = 10;

/// Width of word vectors, queries, keys and values.
const WIDTH: usize = 8;

/// Spread of the weights.
const STD: f32 = 0.5;

/// The cell `three-attentions`.
pub const SPEC: CellSpec = CellSpec {
    name: "three-attentions",
    summary: "Encoder self-attention, masked decoder self-attention and cross-attention over two sentences.",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::text(
            "sentence",
            "Source sentence (encoder)",
            "The cat sat on the mat",
        ),
        InputSpec::text(
            "target",
            "Target so far (decoder)",
            "Il gatto sedeva sul tappeto",
        ),
        InputSpec::seed(7),
    ]
}

/// Word vectors with position vectors added.
fn sequence(
    record: &mut Record,
    tokens: &[String],
    seed: u64,
    name: &str,
) -> Result<Array2<f32>, CellError> {
    let x = embedded(record, tokens, seed, name, WIDTH)?;
    let places = positions(record, tokens.len(), WIDTH);
    placed(record, x.view(), places.view())
}

fn keep(record: &mut Record, name: &str, found: &SelfAttention) {
    let weights = &found.attention.weights;
    // A pair that may not be seen has weight exactly 0; a visible one could reach it only by underflow.
    let pairs = found
        .attention
        .masked
        .iter()
        .filter(|s| **s > f32::NEG_INFINITY)
        .count();
    record.tensor(&format!("{name}.weights"), weights);
    record.tensor(&format!("{name}.masked"), &found.attention.masked);
    record.tensor(&format!("{name}.output"), &found.attention.output);
    record.number(&format!("{name}.pairs"), pairs as f64);
    record.number(&format!("{name}.rows"), weights.nrows() as f64);
    record.number(&format!("{name}.cols"), weights.ncols() as f64);
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let source = words::tokens(inputs, "sentence", "Source sentence", MOST_WORDS)?;
    let target = words::tokens(inputs, "target", "Target so far", MOST_WORDS)?;
    let seed = inputs.seed()?;
    let mut record = Record::new();
    let x = sequence(&mut record, &source, seed, "source")?;
    let y = sequence(&mut record, &target, seed, "target")?;

    let layer = Layer::draw(&mut record, seed, "encoder.", WIDTH, STD);
    let encoder = layer.run(&mut record, x.view(), &Mask::None)?;
    keep(&mut record, "encoder", &encoder);

    let layer = Layer::draw(&mut record, seed, "decoder.", WIDTH, STD);
    let causal = causal_or_none(&mut record, true, target.len());
    let decoder = layer.run(&mut record, y.view(), &causal)?;
    keep(&mut record, "decoder", &decoder);

    let layer = Layer::draw(&mut record, seed, "cross.", WIDTH, STD);
    let (asks, answers) = (&decoder.attention.output, &encoder.attention.output);
    let cross = layer.run_across(&mut record, asks.view(), answers.view())?;
    keep(&mut record, "cross", &cross);

    record.words("source", source);
    record.words("target", target);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn given(source: &str, target: &str) -> Inputs {
        Inputs::defaults(&inputs())
            .with("sentence", InputValue::Text(source.into()))
            .with("target", InputValue::Text(target.into()))
    }

    #[test]
    fn shapes_and_masks_are_those_of_the_three() {
        let c = SPEC.compute(&given("a b c d", "x y z")).unwrap();
        for (name, rows, cols, pairs) in [
            ("encoder", 4, 4, 16.0),
            ("decoder", 3, 3, 6.0),
            ("cross", 3, 4, 12.0),
        ] {
            let weights = c.tensor(&format!("{name}.weights")).unwrap();
            assert_eq!(weights.shape(), [rows, cols], "{name}");
            assert_eq!(c.at(&format!("{name}.pairs"), &[]), Some(pairs));
            for row in weights.values.rows() {
                assert!((row.sum() - 1.0).abs() < 1e-6);
            }
        }
        assert_eq!(c.at("decoder.weights", &[0, 1]), Some(0.0));
    }

    /// What flows where: a source word reaches encoder and cross-attention, a later target word no earlier row of either.
    #[test]
    fn words_reach_only_what_may_see_them() {
        let a = SPEC
            .compute(&given("the cat sat", "il gatto sedeva"))
            .unwrap();
        let b = SPEC
            .compute(&given("the dog sat", "il gatto sedeva"))
            .unwrap();
        assert_eq!(a.tensor("decoder.weights"), b.tensor("decoder.weights"));
        assert_ne!(a.tensor("encoder.weights"), b.tensor("encoder.weights"));
        assert_ne!(a.tensor("cross.weights"), b.tensor("cross.weights"));
        let c = SPEC
            .compute(&given("the cat sat", "il gatto dorme"))
            .unwrap();
        assert_eq!(a.tensor("encoder.weights"), c.tensor("encoder.weights"));
        for name in ["decoder.weights", "cross.weights"] {
            for t in 0..3 {
                let row = |c: &Computation| (0..3).map(|s| c.at(name, &[t, s])).collect::<Vec<_>>();
                assert_eq!(row(&a) == row(&c), t < 2, "{name} row {t}");
            }
        }
    }
}
