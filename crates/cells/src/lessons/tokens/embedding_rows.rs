//! The embedding of a token in tiny-gpt: a one-hot vector times the table, the row of the table, and
//! the tokens whose rows point most nearly the same way.

use ndarray::{Array2, Axis, Slice, concatenate};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::CausalLm;
use crate::parts::trained::{self, GPT};
use crate::parts::vocabularies::{not_blank, spelled};
use crate::spec::{CellSpec, Run, WorkerKind};
use engine::token::tokenizer::Tokenizer;

/// Numbers of the row that the page shows.
const SHOWN: usize = 8;

/// Tokens in the list of the nearest.
pub const NEAREST: usize = 8;

/// The word: its name and its label.
const WORD: (&str, &str) = ("word", "Word");

/// The cell `embedding-rows`.
pub const SPEC: CellSpec = CellSpec {
    name: "embedding-rows",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| trained::file(GPT).into_iter().collect(),
    start: |inputs, cache| trained::once_with_gpt(inputs, cache, compute),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![InputSpec::text(WORD.0, WORD.1, "mother")]
}

fn compute(inputs: &Inputs, gpt: &CausalLm) -> Result<Computation, CellError> {
    let word = not_blank(inputs, WORD)?.trim();
    let tokenizer = &gpt.tokenizer;
    // As inside a sentence: most words of the vocabulary have their space with them.
    let ids = tokenizer.encode(&format!(" {word}"))?;
    let (first, id) = match ids.get(..1) {
        Some(first) => (first, first[0]),
        None => return Err(CellError::input(WORD.0, WORD.1, "type at least one word.")),
    };
    let mut record = Record::new();
    let table = gpt.model.tokens();
    let (size, width) = table.dim();
    let all: Vec<usize> = (0..size).collect();
    let rows = table.rows(&all)?;
    let table = rows.view();
    let row = shown!(record, engine::nn::embedding::embed, table, first)?;
    let one_hot = shown!(record, explain::one_hot::one_hot, id, size);
    let product = shown!(record, explain::one_hot::times, one_hot.view(), table)?;
    let differing = row
        .iter()
        .zip(&product)
        .filter(|(a, b)| a.to_bits() != b.to_bits());
    record.number("differing", differing.count() as f64);
    let both = concatenate(Axis(0), &[row.view(), product.view().insert_axis(Axis(0))]);
    let both = both.map_err(|e| CellError::Mismatch(e.to_string()))?;
    record.tensor(
        "rows",
        &both.slice_axis(Axis(1), Slice::from(..SHOWN.min(width))),
    );
    record.number("id", id as f64);
    record.number("pieces", ids.len() as f64);
    record.number("size", size as f64);
    record.number("width", width as f64);
    record.words("token", vec![text(tokenizer, id)]);
    let alike = shown!(record, explain::similarity::cosine_rows, row.view(), table)?;
    keep_nearest(&mut record, tokenizer, &alike, id);
    Ok(record.finish())
}

/// A token as the page shows it.
fn text(tokenizer: &dyn Tokenizer, id: usize) -> String {
    let bytes = tokenizer.token_bytes(id, false).ok().flatten();
    spelled(&bytes.unwrap_or_default())
}

/// Keeps the tokens of the largest cosines with this one, without itself.
fn keep_nearest(record: &mut Record, tokenizer: &dyn Tokenizer, alike: &Array2<f32>, id: usize) {
    let cosine = |other: usize| alike[[0, other]];
    let mut order: Vec<usize> = (0..alike.ncols()).filter(|&other| other != id).collect();
    order.sort_by(|&a, &b| cosine(b).total_cmp(&cosine(a)));
    let nearest = &order[..NEAREST.min(order.len())];
    let spelled = nearest.iter().map(|&other| text(tokenizer, other));
    record.words("nearest", spelled.collect());
    record.numbers(
        "nearest.ids",
        nearest.iter().map(|&other| other as f64).collect(),
    );
    record.numbers(
        "cosines",
        nearest
            .iter()
            .map(|&other| f64::from(cosine(other)))
            .collect(),
    );
    let mean = order
        .iter()
        .map(|&other| f64::from(cosine(other)))
        .sum::<f64>()
        / order.len() as f64;
    record.number("cosine.mean", mean);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, text};

    fn of(word: &str) -> Computation {
        computed(&SPEC, &Inputs::defaults(&inputs()).with("word", text(word))).unwrap()
    }

    /// The words near a word, without their spaces.
    fn near(word: &str) -> Vec<String> {
        let c = of(word);
        let words = c.words("nearest").iter();
        words.map(|word| word.replace('\u{2423}', "")).collect()
    }

    /// The claim of the lesson: the product is the row, to the last bit.
    #[test]
    fn a_one_hot_vector_times_the_table_is_the_row_bit_for_bit() {
        for word in ["mother", "red", "a", "two", "strawberry"] {
            let c = of(word);
            assert_eq!(c.at("differing", &[]), Some(0.0), "{word}");
            for column in 0..SHOWN {
                assert_eq!(c.at("rows", &[0, column]), c.at("rows", &[1, column]));
            }
        }
        let c = of("mother");
        assert_eq!(
            (c.at("size", &[]), c.at("width", &[])),
            (Some(2048.0), Some(128.0))
        );
        assert_eq!(c.at("pieces", &[]), Some(1.0));
        assert_eq!(of("strawberry").at("pieces", &[]), Some(4.0));
    }

    /// The neighbours that the lesson names.
    #[test]
    fn neighbours_are_of_one_kind_and_may_be_opposites() {
        assert_eq!(
            near("mother")[..4],
            ["father", "wife", "daughter", "sister"]
        );
        let colours = near("red");
        for colour in ["white", "blue", "green", "yellow", "black"] {
            assert!(colours.iter().any(|word| word == colour), "{colours:?}");
        }
        assert_eq!(near("big")[0], "small");
        assert!(near("happy")[..2].contains(&"sad".to_owned()));
        assert_eq!(near("two")[0], "three");
        assert!(near("run")[..3].contains(&"swim".to_owned()));
        let c = of("mother");
        let cosine = c.at("cosines", &[0]).unwrap();
        assert!(cosine > 0.7 && cosine < 0.8, "{cosine}");
        let mean = c.at("cosine.mean", &[]).unwrap();
        assert!(mean > 0.15 && mean < 0.25, "{mean}");
    }

    #[test]
    fn a_blank_word_gets_a_message() {
        let blank = Inputs::defaults(&inputs()).with("word", text(" "));
        assert!(matches!(
            computed(&SPEC, &blank).unwrap_err(),
            CellError::Input { .. }
        ));
    }
}
