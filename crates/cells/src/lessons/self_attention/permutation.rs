//! The same words in another order through attention, of a trained model or with random weights:
//! F(PX) against P F(X).

use engine::nn::attention::Mask;
use engine::nn::parts::Parts;
use engine::trace::Recorder;
use explain::one_head::OneHead;
use ndarray::{Array2, Axis};
use std::sync::Arc;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, InputValue, Inputs};
use crate::jobs::Entry;
use crate::model_cache::MaskedLm;
use crate::parts::measure::{largest, row_differences};
use crate::parts::trained::{self, BERT, Head, Pieces, RANDOM};
use crate::parts::untrained::{Layer, embedded, order_in_use, placed, positions};
use crate::parts::words;
use crate::spec::{CellSpec, Run, WorkerKind};

/// Most words, or tokens, that the maps can show.
const MOST_WORDS: usize = 12;

/// Width of word vectors, queries, keys, values and outputs of the random layer.
const WIDTH: usize = 8;

/// The cell `permutation`.
pub const SPEC: CellSpec = CellSpec {
    name: "permutation",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: trained::files,
    start: |inputs, cache| trained::job(inputs, cache, compute),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let mut order = InputSpec::order("order", "New order", 6, MOST_WORDS);
    order.default = InputValue::Order(vec![5, 1, 2, 0, 4, 3]);
    let mut all = vec![
        InputSpec::text("sentence", "Sentence", "The cat sat on the mat"),
        trained::model(&[BERT, RANDOM]),
        order,
        InputSpec::toggle("positions", "Add position vectors first", false),
        InputSpec::seed(7),
        InputSpec::word("selected", "Selected word", "cat"),
    ];
    all.extend(trained::layer_and_head(1.0, 3.0));
    all
}

/// Computes the cell with the weights that the reader chose.
fn compute(inputs: &Inputs, model: Option<&Arc<MaskedLm>>) -> Result<Computation, CellError> {
    let words = words::tokens(inputs, "sentence", "Sentence", MOST_WORDS)?;
    let mut record = Record::new();
    let (tokens, order, [first, second]) = match model {
        None => random(&mut record, inputs, words)?,
        Some(bert) => encoder(&mut record, inputs, bert, &words)?,
    };
    // P: row i of P X is row order[i] of X.
    let p = Array2::eye(tokens.len()).select(Axis(0), &order);
    let output = first.output.view();
    let expected = shown!(record, engine::nn::linear::project, p.view(), output)?;
    let differences = row_differences(second.output.view(), expected.view());
    let moved = order.iter().map(|&i| tokens[i].clone()).collect();
    record.number("largest", largest(&differences));
    record.numbers("differences", differences);
    record.numbers("order", order.iter().map(|&i| i as f64).collect());
    record.tensor("p", &p);
    record.tensor("weights", &first.weights);
    record.tensor("weights_moved", &second.weights);
    record.tensor("output", &first.output);
    record.tensor("output_moved", &second.output);
    record.tensor("expected", &expected);
    record.words("tokens", tokens);
    record.words("moved", moved);
    Ok(record.finish())
}

/// Tokens, their new order, and attention over both orders.
type Both = (Vec<String>, Vec<usize>, [OneHead; 2]);

/// One layer with random weights.
fn random(record: &mut Record, inputs: &Inputs, tokens: Vec<String>) -> Result<Both, CellError> {
    let order = order_in_use(inputs, tokens.len())?;
    let seed = inputs.seed()?;
    let mut x = embedded(record, &tokens, seed, "embedding", WIDTH)?;
    let mut px = x.select(Axis(0), &order);
    if inputs.toggle("positions")? {
        let places = positions(record, tokens.len(), WIDTH);
        x = placed(record, x.view(), places.view())?;
        px = placed(record, px.view(), places.view())?;
    }
    // Scores of about variance 1: rows of weights that differ, and none that is all on one word.
    let layer = Layer::draw(record, seed, "", WIDTH, 0.35);
    let first = layer.run(record, x.view(), &Mask::None)?.attention;
    let second = layer.run(record, px.view(), &Mask::None)?.attention;
    Ok((tokens, order, [first, second]))
}

/// A head of an encoder with its positions left out. It reads the pieces alone: the tokens for
/// beginning and end would stay where they are.
fn encoder(
    record: &mut Record,
    inputs: &Inputs,
    bert: &MaskedLm,
    words: &[String],
) -> Result<Both, CellError> {
    let pieces =
        Pieces::of_words(&bert.tokenizer, words)?.at_most(MOST_WORDS, "sentence", "Sentence")?;
    let order = order_in_use(inputs, pieces.ids.len())?;
    let (model, config) = (&bert.model, bert.model.config());
    let head = Head::chosen(record, inputs, (config.layers, config.heads))?;
    let parts = Parts {
        positions: inputs.toggle("positions")?,
        ..Parts::default()
    };
    let model = shown!(record, engine::model::bert::Bert::with_parts, model, parts);
    let moved: Vec<usize> = order.iter().map(|&i| pieces.ids[i]).collect();
    let mut attend = |ids: &[usize]| -> Result<OneHead, CellError> {
        let mut seen = Recorder::default();
        shown!(
            record,
            engine::model::bert::Bert::forward,
            &model,
            ids,
            Some(&mut seen)
        )?;
        let found = head.attention(record, &seen, ("", "attention"), &Mask::None)?;
        Ok(found.attention)
    };
    let both = [attend(&pieces.ids)?, attend(&moved)?];
    Ok((pieces.texts, order, both))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::rng::Rng;

    use crate::parts::test_models::{choice, computed, number, text};

    fn given(model: &str, sentence: &str, order: Vec<usize>) -> Inputs {
        Inputs::defaults(&inputs())
            .with("model", choice(model))
            .with("sentence", text(sentence))
            .with("order", InputValue::Order(order))
    }

    fn largest_of(inputs: &Inputs) -> f64 {
        computed(&SPEC, inputs).unwrap().at("largest", &[]).unwrap()
    }

    /// The curriculum's check: exactly 0 or below 1e-6, whatever the order, the seed and the
    /// sentence.
    #[test]
    fn the_permuted_input_gives_the_permuted_output() {
        let mut rng = Rng::new(1);
        for seed in 0..200 {
            for text in ["The cat sat on the mat", "a b c d e f g h i j k l"] {
                let count = text.split(' ').count();
                let given =
                    given(RANDOM, text, rng.permutation(count)).with("seed", number(seed.into()));
                let difference = largest_of(&given);
                assert!(difference < 1e-6, "seed {seed}: {difference:e}");
            }
        }
    }

    /// The same of every head of the trained model, whose values are larger: their rounding grows
    /// from layer to layer.
    #[test]
    fn no_head_of_a_trained_model_sees_the_order() {
        let mut rng = Rng::new(1);
        for layer in 1..=3 {
            for head in 1..=4 {
                let given = given(BERT, "The cat sat on the bed", rng.permutation(6))
                    .with("layer", number(layer.into()))
                    .with("head", number(head.into()));
                let difference = largest_of(&given);
                assert!(
                    difference < 1e-5,
                    "layer {layer}, head {head}: {difference:e}"
                );
            }
        }
    }

    #[test]
    fn positions_tell_the_orders_apart() {
        for (model, seeds) in [(RANDOM, 40), (BERT, 1)] {
            for seed in 0..seeds {
                let given = given(model, "The cat sat on the bed", vec![5, 1, 2, 0, 4, 3])
                    .with("seed", number(seed.into()))
                    .with("positions", InputValue::Toggle(true));
                assert!(largest_of(&given) > 1e-2, "{model}, seed {seed}");
            }
        }
    }

    #[test]
    fn the_weights_move_with_the_words_in_rows_and_columns() {
        let order = vec![2, 0, 1];
        for (model, words) in [
            (RANDOM, ["one", "two", "three"]),
            (BERT, ["tom", "saw", "mary"]),
        ] {
            let c = computed(&SPEC, &given(model, &words.join(" "), order.clone())).unwrap();
            assert_eq!(c.words("moved"), [words[2], words[0], words[1]]);
            for i in 0..3 {
                for j in 0..3 {
                    let here = c.at("weights_moved", &[i, j]).unwrap();
                    let there = c.at("weights", &[order[i], order[j]]).unwrap();
                    assert!((here - there).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn a_sentence_of_another_length_is_read_backwards() {
        let c = computed(&SPEC, &given(RANDOM, "one two three", vec![1, 0])).unwrap();
        assert_eq!(c.words("moved"), ["three", "two", "one"]);
        let c = computed(&SPEC, &given(BERT, "dog kicks man", vec![1, 0])).unwrap();
        assert_eq!(c.words("moved"), ["man", "##s", "kick", "dog"]);
    }
}
