//! The same words in another order through one attention layer: F(PX) against P F(X).

use engine::nn::attention::Mask;
use ndarray::{Array2, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::input::{InputSpec, InputValue, Inputs};
use crate::measure::{largest, row_differences};
use crate::shown::Record;
use crate::spec::{CellSpec, Run};
use crate::untrained::{Layer, embedded, order_in_use, placed, positions};
use crate::words;

/// Most words that the maps can show.
const MOST_WORDS: usize = 12;

/// Width of word vectors, queries, keys, values and outputs.
const WIDTH: usize = 8;

/// The cell `permutation`.
pub const SPEC: CellSpec = CellSpec {
    name: "permutation",
    summary: "An untrained attention layer over a sentence and over the same words in another order; the largest difference of F(PX) and P F(X).",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let mut order = InputSpec::order("order", "New order", 6, MOST_WORDS);
    order.default = InputValue::Order(vec![5, 1, 2, 0, 4, 3]);
    vec![
        InputSpec::text("sentence", "Sentence", "The cat sat on the mat"),
        order,
        InputSpec::toggle("positions", "Add position vectors first", false),
        InputSpec::seed(7),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let tokens = words::tokens(inputs, "sentence", "Sentence", MOST_WORDS)?;
    let order = order_in_use(inputs, tokens.len())?;
    let moved: Vec<String> = order.iter().map(|&i| tokens[i].clone()).collect();
    let seed = inputs.seed()?;
    let mut record = Record::new();
    let x = embedded(&mut record, &tokens, seed, "embedding", WIDTH)?;
    // P: row i of P X is row order[i] of X.
    let p = Array2::eye(tokens.len()).select(Axis(0), &order);
    let px = shown!(record, engine::nn::linear::project, p.view(), x.view())?;
    let (x, px) = if inputs.toggle("positions")? {
        let places = positions(&mut record, tokens.len(), WIDTH);
        let x = placed(&mut record, x.view(), places.view())?;
        let px = placed(&mut record, px.view(), places.view())?;
        (x, px)
    } else {
        (x, px)
    };
    // Scores of about variance 1: rows of weights that differ, and none that is all on one word.
    let layer = Layer::draw(&mut record, seed, "", WIDTH, 0.35);
    let first = layer.run(&mut record, x.view(), &Mask::None)?.attention;
    let second = layer.run(&mut record, px.view(), &Mask::None)?.attention;
    let output = first.output.view();
    let expected = shown!(record, engine::nn::linear::project, p.view(), output)?;
    let differences = row_differences(second.output.view(), expected.view());
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

#[cfg(test)]
mod tests {
    use super::*;
    use engine::rng::Rng;

    fn given(seed: u32, text: &str, order: Vec<usize>) -> Inputs {
        Inputs::defaults(&inputs())
            .with("seed", InputValue::Number(f64::from(seed)))
            .with("sentence", InputValue::Text(text.to_owned()))
            .with("order", InputValue::Order(order))
    }

    /// The curriculum's check: exactly 0 or below 1e-6, whatever the order, the seed and the sentence.
    #[test]
    fn the_permuted_input_gives_the_permuted_output() {
        let mut rng = Rng::new(1);
        for seed in 0..200 {
            for text in ["The cat sat on the mat", "a b c d e f g h i j k l"] {
                let count = text.split(' ').count();
                let c = SPEC
                    .compute(&given(seed, text, rng.permutation(count)))
                    .unwrap();
                let difference = c.at("largest", &[]).unwrap();
                assert!(difference < 1e-6, "seed {seed}: {difference:e}");
            }
        }
    }

    #[test]
    fn positions_tell_the_orders_apart() {
        for seed in 0..40 {
            let given = given(seed, "The cat sat on the mat", vec![5, 1, 2, 0, 4, 3])
                .with("positions", InputValue::Toggle(true));
            let c = SPEC.compute(&given).unwrap();
            assert!(c.at("largest", &[]).unwrap() > 1e-2, "seed {seed}");
        }
    }

    #[test]
    fn the_weights_move_with_the_words_in_rows_and_columns() {
        let order = vec![2, 0, 1];
        let c = SPEC
            .compute(&given(7, "one two three", order.clone()))
            .unwrap();
        assert_eq!(c.words("moved"), ["three", "one", "two"]);
        for i in 0..3 {
            for j in 0..3 {
                let here = c.at("weights_moved", &[i, j]).unwrap();
                let there = c.at("weights", &[order[i], order[j]]).unwrap();
                assert!((here - there).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn a_sentence_of_another_length_is_read_backwards() {
        let c = SPEC
            .compute(&given(7, "one two three", vec![1, 0]))
            .unwrap();
        assert_eq!(c.words("moved"), ["three", "two", "one"]);
    }
}
