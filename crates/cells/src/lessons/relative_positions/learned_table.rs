//! A table of position vectors, learned by a trained model or random as before any learning: looked
//! up, added, and at its end.

use ndarray::{Array2, ArrayView2, Axis, Slice};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::MaskedLm;
use crate::parts::trained::{self, BERT, FirstLayer, Pieces, RANDOM};
use crate::parts::untrained::{drawn, embedded, placed, positions};
use crate::parts::words;
use crate::spec::{CellSpec, Run, WorkerKind};

/// Most words that the cell can show.
const MOST_WORDS: usize = 32;

/// Numbers of each vector that the maps show; the rows are compared over all of them.
const SHOWN: usize = 16;

/// The cell `learned-table`.
pub const SPEC: CellSpec = CellSpec {
    name: "learned-table",
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
    vec![
        InputSpec::text("sentence", "Sentence", "The cat sat on the mat"),
        trained::model(&[BERT, RANDOM]),
        InputSpec::number("rows", "Rows of the table", (1.0, 32.0, 1.0), 8.0),
        InputSpec::number("width", "Dimensions $d$", (2.0, 16.0, 2.0), 8.0),
        InputSpec::seed(7),
        InputSpec::entry("selected", "Selected entry", 2, None),
    ]
}

/// Computes the cell with the weights that the reader chose.
fn compute(inputs: &Inputs, model: Option<&FirstLayer>) -> Result<Computation, CellError> {
    let words = words::tokens(inputs, "sentence", "Sentence", MOST_WORDS)?;
    let mut record = Record::new();
    match model {
        None => random(&mut record, inputs, words)?,
        Some(first) => learned(&mut record, &first.0, &words)?,
    }
    Ok(record.finish())
}

/// A table drawn from the seed, as wide and long as the reader wants it.
fn random(record: &mut Record, inputs: &Inputs, tokens: Vec<String>) -> Result<(), CellError> {
    let (rows, width, seed) = (
        inputs.count("rows")?,
        inputs.count("width")?.max(1),
        inputs.seed()?,
    );
    // A place beyond the table has no vector: only the first tokens can go on.
    let kept = tokens.len().min(rows);
    let x = embedded(record, &tokens[..kept], seed, "embedding", width)?;
    let table = drawn(record, seed, "positions", (rows, width), 1.0);
    show(record, &x, table.view(), tokens)
}

/// The table of an encoder, and its vectors of the pieces that it reads.
fn learned(record: &mut Record, bert: &MaskedLm, words: &[String]) -> Result<(), CellError> {
    let table = bert.model.positions();
    let pieces = Pieces::of_words(&bert.tokenizer, words)?.enclosed(&bert.tokenizer);
    let kept = pieces.ids.len().min(table.nrows());
    let (words, ids) = (bert.model.words(), &pieces.ids[..kept]);
    let x = shown!(record, engine::parameters::Weight::rows, words, ids)?;
    show(record, &x, table, pieces.texts)
}

/// Word vectors, the rows of their places, both added; and the rows compared, beside those of sines
/// and cosines.
fn show(
    record: &mut Record,
    x: &Array2<f32>,
    table: ArrayView2<'_, f32>,
    tokens: Vec<String>,
) -> Result<(), CellError> {
    let (rows, width) = table.dim();
    let kept = x.nrows();
    let sum = placed(record, x.view(), table.view())?;
    let learned = shown!(
        record,
        explain::similarity::cosine_rows,
        table.view(),
        table.view()
    )?;
    let waves = positions(record, rows, width);
    let waves = shown!(
        record,
        explain::similarity::cosine_rows,
        waves.view(),
        waves.view()
    )?;
    let shown = Slice::from(..SHOWN.min(width));
    record.tensor("embedded", &x.slice_axis(Axis(1), shown));
    let table_shown = table.slice_axis(Axis(1), shown);
    record.tensor(
        "picked",
        &table_shown.slice_axis(Axis(0), Slice::from(..kept)),
    );
    record.tensor("table", &table_shown);
    record.tensor("sum", &sum.slice_axis(Axis(1), shown));
    record.tensor("alike.learned", &learned);
    record.tensor("alike.waves", &waves);
    record.number("rows", rows as f64);
    record.number("width", width as f64);
    record.number("parameters", table.len() as f64);
    record.number("tokens_total", tokens.len() as f64);
    record.number("left_out", (tokens.len() - kept) as f64);
    record.words("kept", tokens[..kept].to_vec());
    record.words("tokens", tokens);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, number, text};

    fn given(model: &str) -> Inputs {
        Inputs::defaults(&inputs()).with("model", choice(model))
    }

    #[test]
    fn each_token_gets_the_row_of_its_place() {
        let c = computed(&SPEC, &given(RANDOM)).unwrap();
        for t in 0..6 {
            for i in 0..8 {
                let parts = c.at("embedded", &[t, i]).unwrap() + c.at("table", &[t, i]).unwrap();
                assert!((c.at("sum", &[t, i]).unwrap() - parts).abs() < 1e-6);
            }
        }
        // "The" and "the" share a word vector and differ by their places alone.
        assert_eq!(c.at("embedded", &[0, 3]), c.at("embedded", &[4, 3]));
        assert_ne!(c.at("sum", &[0, 3]), c.at("sum", &[4, 3]));
        assert_eq!(
            (c.at("parameters", &[]), c.at("left_out", &[])),
            (Some(64.0), Some(0.0))
        );
    }

    #[test]
    fn tokens_beyond_the_table_are_left_out() {
        let c = computed(&SPEC, &given(RANDOM).with("rows", number(4.0))).unwrap();
        assert_eq!(c.tensor("sum").unwrap().shape(), [4, 8]);
        assert_eq!(
            (c.at("left_out", &[]), c.at("tokens_total", &[])),
            (Some(2.0), Some(6.0))
        );
        assert_eq!(c.words("kept").len(), 4);
    }

    /// Neighbouring waves point the same way from the start; neighbouring random rows do not.
    #[test]
    fn waves_know_neighbours_and_a_random_table_does_not() {
        let c = computed(&SPEC, &given(RANDOM)).unwrap();
        for i in 0..7 {
            assert!(c.at("alike.waves", &[i, i + 1]).unwrap() > 0.8);
        }
        let mean = (0..7)
            .map(|i| c.at("alike.learned", &[i, i + 1]).unwrap())
            .sum::<f64>()
            / 7.0;
        assert!(mean < 0.5, "{mean}");
    }

    /// What the lesson says of the trained table: near positions have similar rows and far ones have
    /// not, but a few neighbours in the middle are unlike.
    #[test]
    fn a_trained_table_knows_neighbours() {
        let c = computed(&SPEC, &given(BERT)).unwrap();
        assert_eq!(
            (c.at("rows", &[]), c.at("width", &[])),
            (Some(64.0), Some(96.0))
        );
        let mean = |step: usize| {
            let all: Vec<f64> = (0..64 - step)
                .map(|i| c.at("alike.learned", &[i, i + step]).unwrap())
                .collect();
            all.iter().sum::<f64>() / all.len() as f64
        };
        assert!(mean(1) > 0.4 && mean(2) > 0.3, "{} {}", mean(1), mean(2));
        assert!(mean(4) < 0.2, "{}", mean(4));
        let alike = |i: usize, j: usize| c.at("alike.learned", &[i, j]).unwrap();
        assert!(alike(9, 10) > 0.4 && alike(9, 13) < 0.2);
        for i in 0..63 {
            let is_unlike = (20..25).contains(&i);
            assert_eq!(alike(i, i + 1) < 0.0, is_unlike, "rows {i} and {}", i + 1);
        }
        assert!((20..24).all(|i| alike(i, i + 2) > 0.4));
    }

    #[test]
    fn every_piece_gets_the_row_of_its_place_and_the_last_have_none() {
        let c = computed(&SPEC, &given(BERT)).unwrap();
        assert_eq!(c.words("kept")[..3], ["[CLS]", "the", "cat"]);
        for (t, i) in [(0, 0), (3, 5), (7, 15)] {
            let parts = c.at("embedded", &[t, i]).unwrap() + c.at("table", &[t, i]).unwrap();
            assert!((c.at("sum", &[t, i]).unwrap() - parts).abs() < 1e-6);
        }
        let long = given(BERT).with("sentence", text(&"photographer ".repeat(20)));
        let c = computed(&SPEC, &long).unwrap();
        // Four pieces for each word, and two tokens around them: 82, of which 64 have a position.
        assert_eq!(c.at("left_out", &[]), Some(18.0));
        assert_eq!(c.tensor("sum").unwrap().shape(), [64, SHOWN]);
    }
}
