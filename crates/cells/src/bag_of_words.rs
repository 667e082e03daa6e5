//! One attention layer over the same words in two orders, without and with position vectors.

use engine::nn::attention::Mask;
use ndarray::{Array2, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::input::{InputSpec, InputValue, Inputs};
use crate::measure::{largest, row_differences};
use crate::shown::Record;
use crate::spec::{CellSpec, Run};
use crate::untrained::{Layer, causal_or_none, embedded, order_in_use, placed, positions};
use crate::words;

/// Most words that the two tables can show.
const MOST_WORDS: usize = 12;

/// Width of word vectors, queries, keys, values and outputs.
const WIDTH: usize = 8;

/// The cell `bag-of-words`.
pub const SPEC: CellSpec = CellSpec {
    name: "bag-of-words",
    summary: "The outputs of an untrained attention layer for the same words in two orders, without and with positions.",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let mut order = InputSpec::order("order", "Order of the second sentence", 3, MOST_WORDS);
    order.default = InputValue::Order(vec![2, 1, 0]);
    vec![
        InputSpec::text("sentence", "First sentence", "dog bites man"),
        order,
        InputSpec::toggle("causal", "Causal mask", false),
        InputSpec::seed(7),
    ]
}

/// Runs the layer on both orders and keeps the outputs, both in the order of the first sentence.
fn both(
    record: &mut Record,
    name: &str,
    (layer, mask): (&Layer, &Mask),
    first: &Array2<f32>,
    second: &Array2<f32>,
    order: &[usize],
) -> Result<(), CellError> {
    let first = layer.run(record, first.view(), mask)?.attention.output;
    let second = layer.run(record, second.view(), mask)?.attention.output;
    // Row i of the second run belongs to word order[i]; put it back to that word's place.
    let mut places = vec![0; order.len()];
    for (place, &word) in order.iter().enumerate() {
        places[word] = place;
    }
    let second = second.select(Axis(0), &places);
    let differences = row_differences(first.view(), second.view());
    record.tensor(&format!("{name}.first"), &first);
    record.tensor(&format!("{name}.second"), &second);
    record.number(&format!("{name}.largest"), largest(&differences));
    let smallest = differences.iter().copied().fold(f64::INFINITY, f64::min);
    record.number(&format!("{name}.smallest"), smallest);
    record.numbers(&format!("{name}.difference"), differences);
    Ok(())
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let tokens = words::tokens(inputs, "sentence", "First sentence", MOST_WORDS)?;
    let order = order_in_use(inputs, tokens.len())?;
    let shuffled: Vec<String> = order.iter().map(|&i| tokens[i].clone()).collect();
    let seed = inputs.seed()?;
    let mut record = Record::new();
    let x = embedded(&mut record, &tokens, seed, "embedding", WIDTH)?;
    let y = x.select(Axis(0), &order);
    let mask = causal_or_none(&mut record, inputs.toggle("causal")?, tokens.len());
    // Wide enough for weights that differ clearly from token to token.
    let layer = Layer::draw(&mut record, seed, "", WIDTH, 0.6);
    both(&mut record, "without", (&layer, &mask), &x, &y, &order)?;
    let places = positions(&mut record, tokens.len(), WIDTH);
    let x = placed(&mut record, x.view(), places.view())?;
    let y = placed(&mut record, y.view(), places.view())?;
    both(&mut record, "with", (&layer, &mask), &x, &y, &order)?;
    record.numbers("order", order.iter().map(|&i| i as f64).collect());
    record.words("tokens", tokens);
    record.words("shuffled", shuffled);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn largest_of(inputs: &Inputs, name: &str) -> f64 {
        SPEC.compute(inputs).unwrap().at(name, &[]).unwrap()
    }

    /// The curriculum's check: the same outputs without positions, different ones with.
    #[test]
    fn order_shows_with_positions_only() {
        for seed in 0..40 {
            let given =
                Inputs::defaults(&inputs()).with("seed", InputValue::Number(f64::from(seed)));
            let without = largest_of(&given, "without.largest");
            let with = largest_of(&given, "with.largest");
            assert!(without < 1e-5, "seed {seed}: {without}");
            assert!(with > 1e-2, "seed {seed}: {with}");
        }
    }

    #[test]
    fn a_causal_mask_tells_orders_apart_without_positions() {
        let given = Inputs::defaults(&inputs()).with("causal", InputValue::Toggle(true));
        assert!(largest_of(&given, "without.smallest") > 1e-3);
    }

    #[test]
    fn a_sentence_of_another_length_is_read_backwards() {
        let given = Inputs::defaults(&inputs())
            .with("sentence", InputValue::Text("one two three four".into()));
        let c = SPEC.compute(&given).unwrap();
        assert_eq!(c.words("shuffled"), ["four", "three", "two", "one"]);
        assert!(c.at("without.largest", &[]).unwrap() < 1e-5);
    }

    #[test]
    fn an_empty_or_endless_sentence_gets_a_message() {
        for text in ["", "  ", &"word ".repeat(40)] {
            let given =
                Inputs::defaults(&inputs()).with("sentence", InputValue::Text(text.to_owned()));
            assert!(matches!(SPEC.compute(&given), Err(CellError::Input { .. })));
        }
    }
}
