//! Words in two orders through the first layer of a trained model, or through a random one, without and
//! with position vectors.

use engine::nn::parts::Parts;
use engine::trace::Recorder;
use ndarray::{Array2, Axis, Slice};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, InputValue, Inputs};
use crate::jobs::Entry;
use crate::model_cache::MaskedLm;
use crate::parts::measure::{largest, row_differences};
use crate::parts::trained::{self, BERT, FirstLayer, Pieces, RANDOM, told};
use crate::parts::untrained::{Layer, causal_or_none, embedded, order_in_use, placed, positions};
use crate::parts::words;
use crate::spec::{CellSpec, Run, WorkerKind};

/// Most words, or tokens, that the two tables can show.
const MOST_WORDS: usize = 12;

/// Width of word vectors, queries, keys, values and outputs of the random layer.
const WIDTH: usize = 8;

/// Numbers of each output that the maps show; the differences are over all of them.
const SHOWN: usize = 16;

/// The cell `bag-of-words`.
pub const SPEC: CellSpec = CellSpec {
    name: "bag-of-words",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: FirstLayer::files,
    start: |inputs, cache| trained::job(inputs, cache, compute),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let mut order = InputSpec::order("order", "Order of the second sentence", 3, MOST_WORDS);
    order.default = InputValue::Order(vec![2, 1, 0]);
    vec![
        InputSpec::text("sentence", "First sentence", "dog bites man"),
        trained::model(&[BERT, RANDOM]),
        order,
        InputSpec::toggle("causal", "Causal mask", false),
        InputSpec::seed(7),
        InputSpec::entry("without", "Selected entry without positions", 2, None),
        InputSpec::entry("with", "Selected entry with positions", 2, None),
    ]
}

/// Keeps the outputs for both orders. Row i of the second belongs to token `rows[i]` of the first;
/// it is put back to that token's place.
fn both(
    record: &mut Record,
    name: &str,
    first: &Array2<f32>,
    second: &Array2<f32>,
    rows: &[usize],
) {
    let mut places = vec![0; rows.len()];
    for (place, &token) in rows.iter().enumerate() {
        places[token] = place;
    }
    let second = second.select(Axis(0), &places);
    let differences = row_differences(first.view(), second.view());
    let shown = Slice::from(..SHOWN.min(first.ncols()));
    record.tensor(&format!("{name}.first"), &first.slice_axis(Axis(1), shown));
    record.tensor(
        &format!("{name}.second"),
        &second.slice_axis(Axis(1), shown),
    );
    record.number(&format!("{name}.largest"), largest(&differences));
    let smallest = differences.iter().copied().fold(f64::INFINITY, f64::min);
    record.number(&format!("{name}.smallest"), smallest);
    record.numbers(&format!("{name}.difference"), differences);
}

/// Computes the cell with the weights that the reader chose.
fn compute(inputs: &Inputs, model: Option<&FirstLayer>) -> Result<Computation, CellError> {
    let words = words::tokens(inputs, "sentence", "First sentence", MOST_WORDS)?;
    let order = order_in_use(inputs, words.len())?;
    let mut record = Record::new();
    let shuffled = order.iter().map(|&i| words[i].clone()).collect();
    record.words("shuffled", shuffled);
    record.numbers("order", order.iter().map(|&i| i as f64).collect());
    match model {
        None => random(&mut record, inputs, words, &order)?,
        Some(first) => encoder(&mut record, &first.0, &words, &order)?,
    }
    Ok(record.finish())
}

/// One layer with random weights; positions are sines and cosines.
fn random(
    record: &mut Record,
    inputs: &Inputs,
    tokens: Vec<String>,
    order: &[usize],
) -> Result<(), CellError> {
    let seed = inputs.seed()?;
    let x = embedded(record, &tokens, seed, "embedding", WIDTH)?;
    let y = x.select(Axis(0), order);
    let mask = causal_or_none(record, inputs.toggle("causal")?, tokens.len());
    // Wide enough for weights that differ clearly from token to token.
    let layer = Layer::draw(record, seed, "", WIDTH, 0.6);
    let places = positions(record, tokens.len(), WIDTH);
    for (name, with) in [("without", false), ("with", true)] {
        let [first, second] = [&x, &y].map(|x| {
            let x = match with {
                true => placed(record, x.view(), places.view())?,
                false => x.clone(),
            };
            Ok::<_, CellError>(layer.run(record, x.view(), &mask)?.attention.output)
        });
        both(record, name, &first?, &second?, order);
    }
    record.number("width", WIDTH as f64);
    record.words("tokens", tokens);
    Ok(())
}

/// The first layer of an encoder, with and without the rows of its position table. The pieces of a word
/// move together; the tokens for beginning and end stay where they are.
fn encoder(
    record: &mut Record,
    bert: &MaskedLm,
    words: &[String],
    order: &[usize],
) -> Result<(), CellError> {
    let pieces = Pieces::of_words(&bert.tokenizer, words)?
        .at_most(MOST_WORDS, "sentence", "First sentence")?
        .enclosed(&bert.tokenizer);
    let last = pieces.ids.len() - 1;
    let of = &pieces.words;
    let of_word = |&word: &usize| (1..last).filter(move |&row| of[row] == word);
    let inner = order.iter().flat_map(of_word);
    let rows: Vec<usize> = std::iter::once(0).chain(inner).chain([last]).collect();
    let moved: Vec<usize> = rows.iter().map(|&row| pieces.ids[row]).collect();
    for (name, positions) in [("without", false), ("with", true)] {
        let parts = Parts {
            positions,
            ..Parts::default()
        };
        let model = &bert.model;
        let model = shown!(record, engine::model::bert::Bert::with_parts, model, parts);
        let [first, second] = [&pieces.ids, &moved].map(|ids| {
            let (mut seen, ids) = (Recorder::default(), &ids[..]);
            shown!(
                record,
                engine::model::bert::Bert::forward,
                &model,
                ids,
                Some(&mut seen)
            )?;
            told(&seen, "blocks.0.output")
        });
        both(record, name, &first?, &second?, &rows);
    }
    record.number("width", bert.model.config().width as f64);
    record.words("tokens", pieces.texts);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, number, text};

    fn given(model: &str) -> Inputs {
        Inputs::defaults(&inputs()).with("model", choice(model))
    }

    fn at(inputs: &Inputs, name: &str) -> f64 {
        computed(&SPEC, inputs).unwrap().at(name, &[]).unwrap()
    }

    /// The curriculum's check: the same outputs without positions, different ones with.
    #[test]
    fn order_shows_with_positions_only() {
        for (model, seeds) in [(RANDOM, 40), (BERT, 1)] {
            for seed in 0..seeds {
                let given = given(model).with("seed", number(seed.into()));
                let without = at(&given, "without.largest");
                let with = at(&given, "with.largest");
                assert!(without < 1e-5, "{model}, seed {seed}: {without}");
                assert!(with > 1e-2, "{model}, seed {seed}: {with}");
            }
        }
    }

    #[test]
    fn the_pieces_of_a_word_move_together() {
        let given = given(BERT).with("sentence", text("dog kicks man"));
        let c = computed(&SPEC, &given).unwrap();
        assert_eq!(
            c.words("tokens"),
            ["[CLS]", "dog", "kick", "##s", "man", "[SEP]"]
        );
        assert_eq!(c.words("shuffled"), ["man", "kicks", "dog"]);
        assert_eq!(c.tensor("with.first").unwrap().shape(), [6, SHOWN]);
        assert_eq!(c.at("width", &[]), Some(96.0));
    }

    #[test]
    fn a_causal_mask_tells_orders_apart_without_positions() {
        let given = given(RANDOM).with("causal", InputValue::Toggle(true));
        assert!(at(&given, "without.smallest") > 1e-3);
    }

    #[test]
    fn a_sentence_of_another_length_is_read_backwards() {
        for model in [BERT, RANDOM] {
            let given = given(model).with("sentence", text("one two three four"));
            let c = computed(&SPEC, &given).unwrap();
            assert_eq!(c.words("shuffled"), ["four", "three", "two", "one"]);
            assert!(c.at("without.largest", &[]).unwrap() < 1e-5);
        }
    }

    #[test]
    fn an_empty_or_endless_sentence_gets_a_message() {
        for model in [BERT, RANDOM] {
            for sentence in ["", "  ", &"word ".repeat(40)] {
                let found = computed(&SPEC, &given(model).with("sentence", text(sentence)));
                assert!(matches!(found, Err(CellError::Input { .. })));
            }
        }
    }
}
