//! One word in four sentences: the cosines between its vectors, from the table of words to the last
//! layer of an encoder or a decoder.

use std::sync::Arc;

use engine::token::tokenizer::Tokenizer;
use ndarray::{Array2, Array3, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::{CausalLm, MaskedLm, ModelCache};
use crate::parts::readers::{self, Reading};
use crate::parts::trained::{self, BERT, GPT, Offered, Pieces, told};
use crate::spec::{CellSpec, Run, WorkerKind};
use crate::text_model::Reader;

/// Most tokens of a sentence.
const MOST: usize = 24;

/// The four sentences: name, label and default.
const SENTENCES: [(&str, &str, &str); 4] = [
    ("first", "Sentence 1", "The bank has a lot of money."),
    ("second", "Sentence 2", "The bank gave him some money."),
    ("third", "Sentence 3", "The bank of the river is wet."),
    ("fourth", "Sentence 4", "The bank of the river is high."),
];

/// The pairs of sentences.
const PAIRS: [(usize, usize); 6] = [(0, 1), (2, 3), (0, 2), (0, 3), (1, 2), (1, 3)];

/// The word: its name and its label.
const WORD: (&str, &str) = ("word", "The word");

/// The cell `bank-per-layer`.
pub const SPEC: CellSpec = CellSpec {
    name: "bank-per-layer",
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

/// A model of the site, with its table of words.
enum Model {
    Bert(Arc<MaskedLm>),
    Gpt(Arc<CausalLm>),
}

impl Offered for Model {
    fn open(name: &str, cache: &ModelCache) -> Result<Self, CellError> {
        match name {
            GPT => Offered::open(name, cache).map(Self::Gpt),
            _ => Offered::open(name, cache).map(Self::Bert),
        }
    }
}

impl Model {
    fn reader(&self) -> Reader {
        match self {
            Self::Bert(bert) => Reader::Encoder(bert.clone()),
            Self::Gpt(gpt) => Reader::Decoder(gpt.clone()),
        }
    }
}

fn inputs() -> Vec<InputSpec> {
    let mut all = vec![
        trained::model(&[BERT, GPT]),
        InputSpec::text(WORD.0, WORD.1, "bank"),
    ];
    all.extend(SENTENCES.map(|(name, label, text)| InputSpec::text(name, label, text)));
    all
}

fn compute(inputs: &Inputs, model: Option<&Model>) -> Result<Computation, CellError> {
    let model = model.ok_or_else(|| CellError::Missing("a trained model".to_owned()))?;
    let reader = model.reader();
    let mut record = Record::new();
    let word = inputs.text(WORD.0)?.trim();
    if word.split_whitespace().count() != 1 {
        return Err(CellError::input(WORD.0, WORD.1, "type one word."));
    }
    // Of each sentence a matrix with a row for each depth.
    let mut vectors = Vec::new();
    let mut depths = 0;
    for (name, label, _) in SENTENCES {
        let text = inputs.text(name)?;
        let reading = readers::read(&reader, &mut record, text, (name, label), Some(MOST))?;
        let place = place_of(model, &reading, word)?.ok_or_else(|| {
            let message = format!("the word {word} is not in this sentence.");
            CellError::input(name, label, message)
        })?;
        let states = states(model, &reading, place)?;
        depths = states.nrows();
        vectors.push(states);
    }
    let mut cosines = Array3::zeros((depths, SENTENCES.len(), SENTENCES.len()));
    let width = vectors.first().map_or(0, Array2::ncols);
    for depth in 0..depths {
        let mut rows = Array2::zeros((SENTENCES.len(), width));
        for (mut row, states) in rows.rows_mut().into_iter().zip(&vectors) {
            row.assign(&states.row(depth));
        }
        let rows = rows.view();
        // The panel shows the call for the last layer.
        let found = match depth + 1 == depths {
            true => shown!(record, explain::similarity::cosine_rows, rows, rows)?,
            false => explain::similarity::cosine_rows(rows, rows)?,
        };
        cosines.index_axis_mut(Axis(0), depth).assign(&found);
    }
    let pairs = Array2::from_shape_fn((depths, PAIRS.len()), |(depth, n)| {
        let (a, b) = PAIRS[n];
        cosines[[depth, a, b]]
    });
    record.tensor("pairs", &pairs);
    record.tensor("cosines", &cosines);
    let names = PAIRS.map(|(a, b)| format!("{} and {}", a + 1, b + 1));
    record.words("names", names.to_vec());
    let mut rows = vec!["word vector".to_owned(), "with position".to_owned()];
    rows.extend((1..=depths.saturating_sub(2)).map(|n| format!("layer {n}")));
    record.words("depths", rows);
    Ok(record.finish())
}

/// The position of the last token of the word, where it first occurs in a sentence.
fn place_of(model: &Model, reading: &Reading, word: &str) -> Result<Option<usize>, CellError> {
    // A decoder's tokens hold the space before a word; at the beginning of a text there is none.
    let spellings = match model {
        Model::Bert(bert) => vec![Pieces::of_words(&bert.tokenizer, &[word.to_owned()])?.ids],
        Model::Gpt(gpt) => vec![
            gpt.tokenizer.encode(&format!(" {word}"))?,
            gpt.tokenizer.encode(word)?,
        ],
    };
    let (begin, end) = reading.words;
    let ids = &reading.ids[begin..end];
    let at = |spelling: &Vec<usize>| {
        let mut windows = ids.windows(spelling.len().max(1));
        let found = windows.position(|window| window == spelling);
        found.map(|at| begin + at + spelling.len() - 1)
    };
    Ok(spellings.iter().filter_map(at).min())
}

/// The vectors of one position: the row of the table of words, the same with its position, and the
/// output of each layer. `[layers + 2, C]`
fn states(model: &Model, reading: &Reading, place: usize) -> Result<Array2<f32>, CellError> {
    let id = &reading.ids[place..=place];
    let table = match model {
        Model::Bert(bert) => bert.model.words(),
        Model::Gpt(gpt) => gpt.model.tokens(),
    };
    let first = table.rows(id)?;
    let mut all = Array2::zeros((reading.sizes.0 + 2, first.ncols()));
    all.row_mut(0).assign(&first.row(0));
    let input = std::iter::once("input".to_owned());
    let layers = (0..reading.sizes.0).map(|layer| format!("blocks.{layer}.output"));
    for (n, name) in input.chain(layers).enumerate() {
        let state = told(&reading.seen, &name)?;
        all.row_mut(n + 1).assign(&state.row(place));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, text};

    fn of(model: &str, changed: &[(&str, &str)]) -> Computation {
        let mut given = Inputs::defaults(&inputs()).with("model", choice(model));
        for (name, sentence) in changed {
            given = given.with(name, text(sentence));
        }
        computed(&SPEC, &given).unwrap()
    }

    fn cosine(c: &Computation, depth: usize, a: usize, b: usize) -> f64 {
        c.at("cosines", &[depth, a - 1, b - 1]).unwrap()
    }

    /// What the lesson says of tiny-bert: equal before the first layer, apart after the last.
    #[test]
    fn the_encoder_moves_the_word_by_what_comes_after() {
        let c = of(BERT, &[]);
        for (a, b) in PAIRS.map(|(a, b)| (a + 1, b + 1)) {
            for depth in [0, 1] {
                assert!((cosine(&c, depth, a, b) - 1.0).abs() < 1e-6);
            }
        }
        let (money, river) = (cosine(&c, 4, 1, 2), cosine(&c, 4, 3, 4));
        assert!(money > 0.9 && river > 0.9, "{money} {river}");
        for (a, b) in [(1, 3), (1, 4), (2, 3), (2, 4)] {
            let between = cosine(&c, 4, a, b);
            assert!(between < 0.85, "{a} {b}: {between}");
        }
        assert_eq!(c.words("depths").len(), 5);
    }

    /// In tiny-gpt the word comes before its hint, so all four are one vector, to the last bit.
    #[test]
    fn in_the_decoder_the_word_does_not_move() {
        let c = of(GPT, &[]);
        for depth in 0..6 {
            for (a, b) in PAIRS.map(|(a, b)| (a + 1, b + 1)) {
                let own = cosine(&c, depth, a, a);
                assert_eq!(cosine(&c, depth, a, b), own, "{depth}");
            }
        }
        // With the hint before it, it moves.
        let c = of(
            GPT,
            &[
                ("first", "He has some money in the bank."),
                ("third", "The boat on the river is near the bank."),
            ],
        );
        assert!(cosine(&c, 5, 1, 3) < 0.99);
    }

    /// What the lesson says of grammar: the next word *of* alone brings the vector as close to the
    /// river's as the river does.
    #[test]
    fn much_of_the_difference_is_grammar() {
        let c = of(BERT, &[("second", "The bank of the town is big.")]);
        let (with_river, with_money) = (cosine(&c, 4, 2, 3), cosine(&c, 4, 1, 2));
        assert!(with_river > 0.9, "{with_river}");
        assert!(with_money < 0.85, "{with_money}");
    }

    #[test]
    fn a_sentence_without_the_word_is_refused() {
        for (name, given) in [("first", "The cat sat."), ("word", ""), ("word", "a bank")] {
            let given = Inputs::defaults(&inputs()).with(name, text(given));
            assert!(computed(&SPEC, &given).is_err(), "{name}");
        }
    }
}
