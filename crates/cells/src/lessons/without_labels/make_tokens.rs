//! Tokens of text, pictures, audio and video: how many, and of how many numbers each.

use explain::token_sizes::TokenSizes;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// Frequency bands of a spectrum.
const BANDS: usize = 80;
/// Spectra side by side in a token.
const SPECTRA: usize = 2;
/// C: the dimension of the Transformer.
const WIDTH: usize = 768;

/// The cell `make-tokens`.
pub const SPEC: CellSpec = CellSpec {
    name: "make-tokens",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let text = "A cat sat on the mat.";
    vec![
        InputSpec::text("text", "Your text", text),
        InputSpec::number(
            "side",
            "Side of the picture in pixels",
            (32.0, 1024.0, 16.0),
            224.0,
        ),
        InputSpec::number("patch", "Patch $P$ in pixels", (2.0, 32.0, 1.0), 16.0),
        InputSpec::number("seconds", "Seconds of audio", (1.0, 60.0, 1.0), 30.0),
        InputSpec::number("frames", "Frames of video", (2.0, 128.0, 2.0), 32.0),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let text = inputs.text("text")?.trim();
    if text.is_empty() || text.len() > 2000 {
        let message = "type between one letter and two thousand bytes.";
        return Err(CellError::input("text", "Your text", message));
    }
    let [side, patch] = [inputs.count("side")?, inputs.count("patch")?];
    let [seconds, frames] = [inputs.count("seconds")?, inputs.count("frames")?];
    let all: [TokenSizes; 4] = [
        shown!(record, explain::token_sizes::text, text),
        shown!(record, explain::token_sizes::picture, side, patch)?,
        shown!(record, explain::token_sizes::audio, seconds, BANDS, SPECTRA)?,
        shown!(
            record,
            explain::token_sizes::video,
            frames,
            side,
            SPECTRA,
            patch
        )?,
    ];
    let of = |get: fn(&TokenSizes) -> f64| all.iter().map(get).collect::<Vec<f64>>();
    record.numbers("tokens", of(|sizes| sizes.tokens as f64));
    record.numbers("numbers", of(|sizes| sizes.numbers as f64));
    record.numbers("parameters", of(|sizes| (WIDTH * sizes.numbers) as f64));
    record.numbers("pairs", of(|sizes| (sizes.tokens * sizes.tokens) as f64));
    record.number("width", WIDTH as f64);
    record.number("bands", BANDS as f64);
    record.number("together", SPECTRA as f64);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::parts::test_models::number;

    /// What the lesson says of the four kinds.
    #[test]
    fn four_kinds_of_tokens() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        let all =
            |name: &str| -> Vec<f64> { c.tensor(name).unwrap().values.iter().copied().collect() };
        assert_eq!(all("tokens"), [21.0, 196.0, 1500.0, 3136.0]);
        assert_eq!(all("numbers"), [256.0, 768.0, 160.0, 1536.0]);
        let given = Inputs::defaults(&inputs()).with("patch", number(14.0));
        assert_eq!(
            SPEC.compute(&given).unwrap().at("tokens", &[1]),
            Some(256.0)
        );
    }

    #[test]
    fn an_empty_text_is_refused() {
        for text in ["", "  ", &"a".repeat(2001)] {
            let given = Inputs::defaults(&inputs()).with("text", InputValue::Text(text.to_owned()));
            assert!(SPEC.compute(&given).is_err());
        }
    }
}
