//! A mask that the reader builds pair by pair: scores before, scores after, weights.

use engine::nn::attention::Mask;
use ndarray::{Array1, Array2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::measure::largest;
use crate::parts::untrained::{Layer, embedded};
use crate::parts::words;
use crate::spec::{CellSpec, Run};

/// Most words that four matrices side by side can show.
const MOST_WORDS: usize = 10;

/// Width of word vectors, queries, keys and values.
const WIDTH: usize = 8;

/// The presets, and the mask that the reader made.
const PRESETS: &[&str] = &[
    "causal",
    "padding",
    "local window",
    "prefix",
    "everything",
    "my own",
];

/// The cell `mask-editor`.
pub const SPEC: CellSpec = CellSpec {
    name: "mask-editor",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let most = MOST_WORDS as f64;
    vec![
        InputSpec::text("sentence", "Sentence", "The cat sat on the mat"),
        InputSpec::choice("preset", "Mask", PRESETS),
        InputSpec::number("real", "Real words (rest: padding)", (0.0, most, 1.0), 4.0),
        InputSpec::number("radius", "Window radius", (0.0, most, 1.0), 1.0),
        InputSpec::number("prefix", "Prefix length", (0.0, most, 1.0), 3.0),
        InputSpec::matrix(
            "mask",
            "My own mask",
            (1, MOST_WORDS),
            (1, MOST_WORDS),
            Array2::ones((1, 1)),
        ),
        InputSpec::seed(7),
        InputSpec::entry("selected", "Selected pair", 2, None),
    ]
}

/// The visible pairs, and the name of the preset that they come from.
fn visible(
    record: &mut Record,
    inputs: &Inputs,
    tokens: usize,
) -> Result<(Array2<bool>, &'static str), CellError> {
    let preset = inputs.choice("preset")?;
    let own = inputs.matrix("mask")?;
    // A mask drawn for a sentence of another length fits no longer; the causal one takes its place.
    if preset == "my own" && own.dim() == (tokens, tokens) {
        return Ok((own.mapv(|x| x != 0.0), "my own"));
    }
    let found = match preset {
        "padding" => {
            let real = inputs.count("real")?;
            (
                shown!(record, engine::nn::mask::padding, tokens, real),
                "padding",
            )
        }
        "local window" => {
            let radius = inputs.count("radius")?;
            let mask = shown!(record, engine::nn::mask::local_window, tokens, radius);
            (mask, "local window")
        }
        "prefix" => {
            let length = inputs.count("prefix")?;
            (
                shown!(record, engine::nn::mask::prefix, tokens, length),
                "prefix",
            )
        }
        "everything" => (
            shown!(record, engine::nn::mask::full, tokens, tokens),
            "everything",
        ),
        _ => (shown!(record, engine::nn::mask::causal, tokens), "causal"),
    };
    Ok(found)
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let tokens = words::tokens(inputs, "sentence", "Sentence", MOST_WORDS)?;
    let seed = inputs.seed()?;
    let mut record = Record::new();
    let (visible, preset) = visible(&mut record, inputs, tokens.len())?;
    let x = embedded(&mut record, &tokens, seed, "embedding", WIDTH)?;
    let layer = Layer::draw(&mut record, seed, "", WIDTH, 0.5);
    let found = layer.run(&mut record, x.view(), &Mask::Boolean(visible.clone()))?;
    let attention = found.attention;
    record.tensor("mask", &visible.mapv(|see| if see { 1.0_f32 } else { 0.0 }));
    record.tensor("scores", &attention.scores);
    record.tensor("masked", &attention.masked);
    record.tensor("weights", &attention.weights);
    record.tensor("output", &attention.output);
    counts(&mut record, &visible, &attention.weights);
    record.words("preset", vec![preset.to_owned()]);
    record.words("tokens", tokens);
    Ok(record.finish())
}

/// Counts of a mask and its weights.
fn counts(record: &mut Record, visible: &Array2<bool>, weights: &Array2<f32>) {
    let per_row: Vec<f64> = visible
        .rows()
        .into_iter()
        .map(|row| row.iter().filter(|see| **see).count() as f64)
        .collect();
    let blind = per_row.iter().filter(|&&n| n == 0.0).count();
    let ahead = visible
        .indexed_iter()
        .filter(|((t, s), see)| s > t && **see)
        .count();
    let pairs = visible.iter().zip(weights);
    let hidden: Vec<f64> = pairs
        .filter(|(see, _)| !**see)
        .map(|(_, &w)| f64::from(w))
        .collect();
    record.number("visible.total", per_row.iter().sum());
    record.numbers("visible", per_row);
    record.number("blind", blind as f64);
    record.number("ahead", ahead as f64);
    record.number("hidden", hidden.len() as f64);
    record.number("hidden.largest", largest(&hidden));
    let sums: Array1<f32> = weights.rows().into_iter().map(|row| row.sum()).collect();
    record.tensor("sums", &sums);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn given(sentence: &str, preset: &str) -> Inputs {
        Inputs::defaults(&inputs())
            .with("sentence", InputValue::Text(sentence.into()))
            .with("preset", InputValue::Choice(preset.into()))
    }

    fn row(c: &Computation, name: &str, row: usize, cols: usize) -> Vec<f64> {
        (0..cols).map(|j| c.at(name, &[row, j]).unwrap()).collect()
    }

    /// The curriculum's check: under the causal mask row 1 is [1, 0, 0, 0].
    #[test]
    fn the_first_token_sees_itself_alone() {
        for seed in 0..20 {
            let inputs =
                given("The cat sat down", "causal").with("seed", InputValue::Number(seed.into()));
            let c = SPEC.compute(&inputs).unwrap();
            assert_eq!(row(&c, "weights", 0, 4), [1.0, 0.0, 0.0, 0.0]);
        }
    }

    /// The curriculum's check: masked weights are exactly 0, with every preset, and the rows still
    /// sum to 1.
    #[test]
    fn masked_weights_are_exactly_zero() {
        for preset in PRESETS {
            let c = SPEC
                .compute(&given("The cat sat on the mat", preset))
                .unwrap();
            assert_eq!(c.at("hidden.largest", &[]), Some(0.0), "{preset}");
            for ((i, j), &visible) in ndarray::indices((6, 6))
                .into_iter()
                .zip(&c.tensor("mask").unwrap().values)
            {
                let (masked, weight) = (
                    c.at("masked", &[i, j]).unwrap(),
                    c.at("weights", &[i, j]).unwrap(),
                );
                assert_eq!(visible == 0.0, masked == f64::NEG_INFINITY);
                assert_eq!(visible == 0.0, weight == 0.0, "{preset} {i} {j}");
            }
            for i in 0..6 {
                assert!((c.at("sums", &[i]).unwrap() - 1.0).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn a_mask_of_ones_own_is_used_where_it_fits() {
        let mut own = Array2::zeros((3, 3));
        own[[1, 2]] = 1.0;
        let own = InputValue::Matrix(own);
        let c = SPEC
            .compute(&given("the cat sat", "my own").with("mask", own.clone()))
            .unwrap();
        assert_eq!(c.words("preset"), ["my own"]);
        assert_eq!(row(&c, "weights", 1, 3), [0.0, 0.0, 1.0]);
        assert_eq!(row(&c, "weights", 0, 3), [0.0, 0.0, 0.0]);
        assert_eq!(c.at("blind", &[]), Some(2.0));
        assert_eq!(c.at("ahead", &[]), Some(1.0));
        let c = SPEC
            .compute(&given("the cat sat down", "my own").with("mask", own))
            .unwrap();
        assert_eq!(c.words("preset"), ["causal"]);
    }

    #[test]
    fn padding_of_everything_leaves_rows_of_zeros_and_no_nan() {
        let c = SPEC
            .compute(&given("the cat", "padding").with("real", InputValue::Number(0.0)))
            .unwrap();
        assert!(
            c.tensor("weights")
                .unwrap()
                .values
                .iter()
                .all(|w| *w == 0.0)
        );
        assert!(c.tensor("output").unwrap().values.iter().all(|w| *w == 0.0));
    }

    #[test]
    fn an_empty_or_endless_sentence_gets_a_message() {
        for text in ["", &"word ".repeat(5000)] {
            let found = SPEC.compute(&given(text, "causal"));
            assert!(matches!(found, Err(CellError::Input { .. })));
        }
    }
}
