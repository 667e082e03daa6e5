//! Attention of several heads over three words: every head has its own columns of the three matrices,
//! and its own weights.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::small_layer;
use crate::spec::{CellSpec, Run};

/// Width of the layer whose parameters are counted: that of the Transformer of 2017.
const WIDE: usize = 512;

/// The numbers of heads for which they are counted.
const COUNTED: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// The cell `heads-split`.
pub const SPEC: CellSpec = CellSpec {
    name: "heads-split",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let mut all = small_layer::inputs();
    all.push(InputSpec::entry(
        "pair",
        "Selected pair, after its head",
        3,
        Some(&[0, 2, 1]),
    ));
    all
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let heads = small_layer::heads(inputs)?;
    let layer = small_layer::attended(&mut record, inputs)?;
    record.tensor("q", &layer.q);
    record.tensor("k", &layer.k);
    record.tensor("v", &layer.v);
    record.tensor("weights", &layer.attention.weights);
    record.tensor("output", &layer.attention.output);
    record.tensor("joined", &layer.joined);
    let count = |record: &mut Record, width: usize, heads: usize| -> Result<f64, CellError> {
        Ok(shown!(record, explain::multi_head::parameters, width, heads)? as f64)
    };
    let own = count(&mut record, small_layer::WIDTH, heads)?;
    record.number("heads", heads as f64);
    record.number("width", small_layer::WIDTH as f64);
    record.number("head.width", (small_layer::WIDTH / heads) as f64);
    record.number("parameters", own);
    let mut silent = Record::new();
    let counted = COUNTED.map(|heads| count(&mut silent, WIDE, heads));
    let counted = counted.into_iter().collect::<Result<Vec<_>, _>>()?;
    record.number("wide", WIDE as f64);
    record.numbers("wide.heads", COUNTED.map(|heads| heads as f64).to_vec());
    let widths = COUNTED.map(|heads| (WIDE / heads) as f64);
    record.numbers("wide.head.width", widths.to_vec());
    record.numbers("wide.parameters", counted);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::choice;

    fn computed(heads: &str) -> Computation {
        let given = Inputs::defaults(&inputs()).with("heads", choice(heads));
        compute(&given).unwrap()
    }

    fn weight(c: &Computation, index: [usize; 3]) -> f64 {
        c.at("weights", &index).unwrap()
    }

    /// What the lesson says of sat, the third word, which looks for a thing and for an article: two
    /// heads take one each, and one head takes half of both.
    #[test]
    fn two_heads_find_two_words_and_one_head_mixes_them() {
        let two = computed("2");
        assert!(weight(&two, [0, 2, 1]) > 0.85 && weight(&two, [1, 2, 0]) > 0.85);
        let one = computed("1");
        let (article, thing) = (weight(&one, [0, 2, 0]), weight(&one, [0, 2, 1]));
        assert!((article - thing).abs() < 1e-6 && article > 0.45 && article < 0.5);
        // Heads of one number: two of the four have nothing to look for and take from all words alike.
        let four = computed("4");
        assert!(weight(&four, [0, 2, 1]) > 0.95 && weight(&four, [2, 2, 0]) > 0.95);
        for (head, word) in [(1, 0), (1, 1), (3, 2)] {
            assert!((weight(&four, [head, 2, word]) - 1.0 / 3.0).abs() < 1e-6);
        }
    }

    /// Each head attends with its own columns and no others.
    #[test]
    fn an_edit_of_one_head_s_columns_changes_no_other_head() {
        let given = Inputs::defaults(&inputs()).with("heads", choice("2"));
        let mut w_q = given.matrix("w_q").unwrap().clone();
        w_q[[2, 3]] = -3.0;
        let edited = given
            .clone()
            .with("w_q", crate::input::InputValue::Matrix(w_q));
        let (before, after) = (compute(&given).unwrap(), compute(&edited).unwrap());
        for (row, col) in [(0, 0), (2, 1), (2, 2)] {
            assert_eq!(
                weight(&before, [0, row, col]),
                weight(&after, [0, row, col])
            );
        }
        assert_ne!(weight(&before, [1, 2, 0]), weight(&after, [1, 2, 0]));
    }

    #[test]
    fn the_number_of_heads_changes_no_count() {
        for heads in ["1", "2", "4"] {
            let c = computed(heads);
            assert_eq!(c.at("parameters", &[]), Some(64.0));
            for n in 0..COUNTED.len() {
                assert_eq!(c.at("wide.parameters", &[n]), Some(1_048_576.0));
            }
            for (row, sum) in [(0, 1.0), (1, 1.0), (2, 1.0)] {
                let all: f64 = (0..3).map(|col| weight(&c, [0, row, col])).sum();
                assert!((all - sum).abs() < 1e-6);
            }
        }
    }
}
