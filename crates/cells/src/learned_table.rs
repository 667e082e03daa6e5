//! A learned table of position vectors, before any learning: looked up, added, and at its end.

use ndarray::{Axis, Slice};

use crate::computation::Computation;
use crate::error::CellError;
use crate::input::{InputSpec, Inputs};
use crate::shown::Record;
use crate::spec::{CellSpec, Run};
use crate::untrained::{drawn, embedded, placed, positions};
use crate::words;

/// Most words that the cell can show.
const MOST_WORDS: usize = 32;

/// The cell `learned-table`.
pub const SPEC: CellSpec = CellSpec {
    name: "learned-table",
    summary: "An untrained table of position vectors: added to word vectors as far as it reaches, its rows compared.",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::text("sentence", "Sentence", "The cat sat on the mat"),
        InputSpec::number("rows", "Rows of the table", (1.0, 32.0, 1.0), 8.0),
        InputSpec::number("width", "Width d", (2.0, 16.0, 2.0), 8.0),
        InputSpec::seed(7),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let tokens = words::tokens(inputs, "sentence", "Sentence", MOST_WORDS)?;
    let (rows, width, seed) = (
        inputs.count("rows")?,
        inputs.count("width")?.max(1),
        inputs.seed()?,
    );
    let mut record = Record::new();
    // A place beyond the table has no vector: only the first tokens can go on.
    let kept = tokens.len().min(rows);
    let x = embedded(&mut record, &tokens[..kept], seed, "embedding", width)?;
    let table = drawn(&mut record, seed, "positions", (rows, width), 1.0);
    let sum = placed(&mut record, x.view(), table.view())?;
    let learned = shown!(
        record,
        engine::nn::similarity::cosine_rows,
        table.view(),
        table.view()
    )?;
    let waves = positions(&mut record, rows, width);
    let waves = shown!(
        record,
        engine::nn::similarity::cosine_rows,
        waves.view(),
        waves.view()
    )?;
    record.tensor("embedded", &x);
    record.tensor("picked", &table.slice_axis(Axis(0), Slice::from(..kept)));
    record.tensor("table", &table);
    record.tensor("sum", &sum);
    record.tensor("alike.learned", &learned);
    record.tensor("alike.waves", &waves);
    record.number("parameters", table.len() as f64);
    record.number("tokens_total", tokens.len() as f64);
    record.number("left_out", (tokens.len() - kept) as f64);
    record.words("kept", tokens[..kept].to_vec());
    record.words("tokens", tokens);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    #[test]
    fn each_token_gets_the_row_of_its_place() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
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
        let c = SPEC
            .compute(&Inputs::defaults(&inputs()).with("rows", InputValue::Number(4.0)))
            .unwrap();
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
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        for i in 0..7 {
            assert!(c.at("alike.waves", &[i, i + 1]).unwrap() > 0.8);
        }
        let mean = (0..7)
            .map(|i| c.at("alike.learned", &[i, i + 1]).unwrap())
            .sum::<f64>()
            / 7.0;
        assert!(mean < 0.5, "{mean}");
    }
}
