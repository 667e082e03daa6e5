//! ALiBi: each head subtracts a fixed slope times the distance, under a causal mask.

use engine::nn::attention::Mask;
use ndarray::Array2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::untrained::{Layer, embedded};
use crate::parts::words;
use crate::spec::{CellSpec, Run};

/// Most words that the matrices can show.
const MOST_WORDS: usize = 16;

/// Width of word vectors, queries and keys.
const WIDTH: usize = 8;

/// Tokens over which the curves of the heads' horizons are drawn.
const HORIZON: usize = 33;

/// The cell `alibi`.
pub const SPEC: CellSpec = CellSpec {
    name: "alibi",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::text("sentence", "Sentence", "The cat sat on the mat"),
        InputSpec::number("heads", "Heads", (1.0, 16.0, 1.0), 8.0),
        InputSpec::number("head", "Head", (1.0, 16.0, 1.0), 1.0),
        InputSpec::toggle("content", "Add random word scores", false),
        InputSpec::seed(7),
        InputSpec::entry("selected", "Selected entry", 2, None),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let tokens = words::tokens(inputs, "sentence", "Sentence", MOST_WORDS)?;
    let (heads, seed, count) = (inputs.count("heads")?.max(1), inputs.seed()?, tokens.len());
    // Readers count heads from one; a head that is no longer there is the last.
    let head = inputs.count("head")?.clamp(1, heads);
    let mut record = Record::new();
    let slopes = shown!(record, engine::nn::position::alibi::slopes, heads);
    let slope = slopes[head - 1];
    let bias = shown!(record, engine::nn::position::alibi::bias, count, slope);
    let causal = Mask::Boolean(shown!(record, engine::nn::mask::causal, count));
    let bias = shown!(
        record,
        engine::nn::attention::apply_mask,
        bias.view(),
        &causal,
        head - 1
    )?;
    // Vectors of zeros make every score 0 and leave the bias alone.
    let x = if inputs.toggle("content")? {
        embedded(&mut record, &tokens, seed, "embedding", WIDTH)?
    } else {
        Array2::zeros((count, WIDTH))
    };
    let layer = Layer::draw(&mut record, seed, "", WIDTH, 0.6);
    let found = layer.run(&mut record, x.view(), &Mask::Additive(bias.clone()))?;
    record.tensor("slopes", &ndarray::aview1(&slopes));
    record.number("slope", f64::from(slope));
    record.number("head", head as f64);
    record.tensor("bias", &bias);
    record.tensor("scores", &found.attention.scores);
    record.tensor("weights", &found.attention.weights);
    let horizons = horizons(&mut record, &slopes)?;
    record.tensor("decay", &horizons);
    record.words("tokens", tokens);
    Ok(record.finish())
}

/// For each head, the weight that the last of many tokens with equal scores gives to each distance.
fn horizons(record: &mut Record, slopes: &[f32]) -> Result<Array2<f32>, CellError> {
    let mut rows = Array2::zeros((slopes.len(), HORIZON));
    for (mut row, &slope) in rows.rows_mut().into_iter().zip(slopes) {
        let bias = engine::nn::position::alibi::bias(HORIZON, slope);
        // The last token's row, nearest first.
        for (place, &taken_off) in row.iter_mut().zip(bias.row(HORIZON - 1).iter().rev()) {
            *place = taken_off;
        }
    }
    let weights = shown!(record, engine::nn::softmax::softmax_rows, rows.view());
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    #[test]
    fn slopes_halve_and_the_bias_is_linear() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        for h in 0..8 {
            assert_eq!(c.at("slopes", &[h]), Some(0.5_f64.powi(h as i32 + 1)));
        }
        assert_eq!(c.at("bias", &[5, 2]), Some(-1.5));
        assert_eq!(c.at("bias", &[2, 5]), Some(f64::NEG_INFINITY));
        assert_eq!(c.at("weights", &[2, 5]), Some(0.0));
    }

    /// With equal scores one step further costs a factor exp(-slope).
    #[test]
    fn weights_fall_exponentially() {
        for head in [1.0, 4.0, 8.0] {
            let c = SPEC
                .compute(&Inputs::defaults(&inputs()).with("head", InputValue::Number(head)))
                .unwrap();
            let factor = (-c.at("slope", &[]).unwrap()).exp();
            for t in 1..6 {
                let ratio =
                    c.at("weights", &[t, t - 1]).unwrap() / c.at("weights", &[t, t]).unwrap();
                assert!((ratio - factor).abs() < 1e-5);
            }
            let h = head as usize - 1;
            let ratio = c.at("decay", &[h, 20]).unwrap() / c.at("decay", &[h, 19]).unwrap();
            assert!((ratio - factor).abs() < 1e-4);
        }
    }

    #[test]
    fn a_head_that_is_gone_is_the_last_and_content_moves_the_weights() {
        let base = Inputs::defaults(&inputs());
        let c = SPEC
            .compute(
                &base
                    .clone()
                    .with("heads", InputValue::Number(2.0))
                    .with("head", InputValue::Number(7.0)),
            )
            .unwrap();
        assert_eq!(
            (c.at("head", &[]), c.at("slope", &[])),
            (Some(2.0), Some(0.003_906_25))
        );
        let with = SPEC
            .compute(&base.with("content", InputValue::Toggle(true)))
            .unwrap();
        assert!(
            with.tensor("scores")
                .unwrap()
                .values
                .iter()
                .any(|s| s.abs() > 0.1)
        );
    }
}
