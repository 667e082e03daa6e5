//! One sequence asks, another answers: a rectangle of weights.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::untrained::{drawn, embedded};
use crate::parts::words;
use crate::spec::{CellSpec, Run};

/// Most words of a sequence.
const MOST_WORDS: usize = 12;

/// Width of the vectors that ask.
const ASKING_WIDTH: usize = 6;

/// Width of the vectors that answer: it need not be the same.
const ANSWERING_WIDTH: usize = 8;

/// Width of queries and keys: these two must agree.
const KEY_WIDTH: usize = 4;

/// Width of values and outputs.
const VALUE_WIDTH: usize = 5;

/// The cell `cross-attention`.
pub const SPEC: CellSpec = CellSpec {
    name: "cross-attention",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::text("asking", "Query sentence", "Il gatto sedeva"),
        InputSpec::text(
            "answering",
            "Key and value sentence",
            "The cat sat on the mat",
        ),
        InputSpec::seed(7),
        InputSpec::word("selected", "Selected word", "gatto"),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let asking = words::tokens(inputs, "asking", "Query sentence", MOST_WORDS)?;
    let answering = words::tokens(inputs, "answering", "Key and value sentence", MOST_WORDS)?;
    let seed = inputs.seed()?;
    let mut record = Record::new();
    let x_q = embedded(&mut record, &asking, seed, "asking", ASKING_WIDTH)?;
    let x_kv = embedded(&mut record, &answering, seed, "answering", ANSWERING_WIDTH)?;
    let w_q = drawn(&mut record, seed, "w_q", (ASKING_WIDTH, KEY_WIDTH), 0.35);
    let w_k = drawn(&mut record, seed, "w_k", (ANSWERING_WIDTH, KEY_WIDTH), 0.35);
    let w_v = drawn(
        &mut record,
        seed,
        "w_v",
        (ANSWERING_WIDTH, VALUE_WIDTH),
        0.5,
    );
    let found = shown!(
        record,
        explain::one_head::cross_attention,
        x_q.view(),
        x_kv.view(),
        w_q.view(),
        w_k.view(),
        w_v.view()
    )?;
    let tensors = [
        ("x_q", &x_q),
        ("x_kv", &x_kv),
        ("w_q", &w_q),
        ("w_k", &w_k),
        ("w_v", &w_v),
        ("q", &found.q),
        ("k", &found.k),
        ("v", &found.v),
        ("scores", &found.attention.scores),
        ("weights", &found.attention.weights),
        ("output", &found.attention.output),
    ];
    for (name, tensor) in tensors {
        let (rows, cols) = tensor.dim();
        record.numbers(&format!("{name}.shape"), vec![rows as f64, cols as f64]);
        record.tensor(name, tensor);
    }
    record.words("asking", asking);
    record.words("answering", answering);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn given(asking: &str, answering: &str) -> Inputs {
        Inputs::defaults(&inputs())
            .with("asking", InputValue::Text(asking.into()))
            .with("answering", InputValue::Text(answering.into()))
    }

    #[test]
    fn the_weights_are_a_rectangle_whose_rows_sum_to_one() {
        let c = SPEC
            .compute(&given("a b", "one two three four five"))
            .unwrap();
        let weights = c.tensor("weights").unwrap();
        assert_eq!(weights.shape(), [2, 5]);
        for row in weights.values.rows() {
            assert!((row.sum() - 1.0).abs() < 1e-6);
        }
        assert_eq!(c.tensor("output").unwrap().shape(), [2, VALUE_WIDTH]);
        assert_eq!(c.at("weights.shape", &[1]), Some(5.0));
    }

    #[test]
    fn a_query_sees_only_the_words_that_answer() {
        let a = SPEC
            .compute(&given("il gatto sedeva", "the cat sat"))
            .unwrap();
        let b = SPEC
            .compute(&given("il cane sedeva", "the cat sat"))
            .unwrap();
        for (row, same) in [(0, true), (1, false), (2, true)] {
            let of = |c: &Computation| {
                (0..3)
                    .map(|j| c.at("weights", &[row, j]))
                    .collect::<Vec<_>>()
            };
            assert_eq!(of(&a) == of(&b), same, "row {row}");
        }
    }

    #[test]
    fn an_empty_or_endless_sentence_gets_a_message() {
        for (asking, answering) in [("", "a"), ("a", " "), ("a", &*"word ".repeat(40))] {
            let outcome = SPEC.compute(&given(asking, answering));
            assert!(matches!(outcome, Err(CellError::Input { .. })));
        }
    }
}
