//! The reason not to read a picture pixel by pixel: the number of scores of one head by the side of
//! a patch.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// Sides of patches in the table; 1 is a pixel.
const SIDES: [usize; 7] = [1, 2, 4, 8, 14, 16, 32];

/// The cell `pixels-as-tokens`.
pub const SPEC: CellSpec = CellSpec {
    name: "pixels-as-tokens",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number(
            "size",
            "Side of the picture in pixels",
            (32.0, 1024.0, 8.0),
            224.0,
        ),
        InputSpec::number("d_k", "Head dimension $d_k$", (1.0, 128.0, 1.0), 64.0),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (size, d_k) = (inputs.count("size")?, inputs.count("d_k")?);
    let mut record = Record::new();
    let mut columns: [Vec<f64>; 4] = Default::default();
    for side in SIDES {
        let tokens = shown!(record, engine::nn::patch::count, size, size, side);
        let scores = shown!(record, explain::cost::score_count, tokens);
        let bytes = shown!(record, explain::cost::score_bytes, tokens);
        let multiplications = shown!(record, explain::cost::score_multiplications, tokens, d_k);
        for (column, value) in columns.iter_mut().zip([
            tokens as f64,
            scores as f64,
            bytes as f64,
            multiplications as f64,
        ]) {
            column.push(value);
        }
    }
    let [tokens, scores, bytes, multiplications] = columns;
    record.numbers("side", SIDES.map(|s| s as f64).to_vec());
    record.numbers("tokens", tokens);
    record.numbers("scores", scores);
    record.numbers("bytes", bytes);
    record.numbers("multiplications", multiplications);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The curriculum's check: 50,176² = 2.5 billion scores.
    #[test]
    fn pixels_of_a_small_picture_already_give_billions_of_scores() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        assert_eq!(c.at("tokens", &[0]), Some(50_176.0));
        assert_eq!(c.at("scores", &[0]), Some(2_517_630_976.0));
        assert_eq!(c.at("tokens", &[5]), Some(196.0));
        assert_eq!(c.at("bytes", &[5]), Some(153_664.0));
    }
}
