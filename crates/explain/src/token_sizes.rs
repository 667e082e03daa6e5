//! How four kinds of data become the rows that a Transformer reads: how many tokens, and how many numbers
//! each consists of before it is embedded.
//!
//! ```text
//! text     the bytes of the text                                        one of 256 each
//! picture  squares of P x P pixels, three colours                       (side / P)² tokens of 3 P² numbers
//! audio    a spectrum of M bands every 10 ms, S of them side by side    100 s / S tokens of M S numbers
//! video    boxes of t frames and P x P pixels, three colours            (frames / t) (side / P)² tokens of 3 t P² numbers
//! ```
//! What is left over at an edge is left out. Then each token becomes a vector of dimension C: by a row of a
//! table for text, by a matrix `[C, numbers]` for the others.
//!
//! ```
//! use explain::token_sizes::{picture, text};
//! let found = picture(224, 16)?;
//! assert_eq!((found.tokens, found.numbers), (196, 768));
//! assert_eq!(text("caf\u{e9}").tokens, 5);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Dosovitskiy et al. 2021, section 3.1 (pictures); Radford et al. 2023, "Robust speech recognition via
//! large-scale weak supervision", section 2.2 (audio); Arnab et al. 2021, "ViViT", section 3.2 (video).

use engine::error::{EngineError, Result};

/// Spectra in a second of audio.
pub const SPECTRA: usize = 100;
/// Colours of a pixel.
const COLOURS: usize = 3;

/// The tokens of a piece of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenSizes {
    /// N.
    pub tokens: usize,
    /// Numbers that a token consists of; of a text, the number of different tokens.
    pub numbers: usize,
}

/// The bytes of a text.
pub fn text(text: &str) -> TokenSizes {
    TokenSizes {
        tokens: text.len(),
        numbers: 256,
    }
}

/// The patches of a square picture.
///
/// # Errors
/// When a patch has no pixel or does not fit.
pub fn picture(side: usize, patch: usize) -> Result<TokenSizes> {
    video(1, side, 1, patch)
}

/// The groups of spectra of so many seconds of audio, each of so many bands.
///
/// # Errors
/// When there is no group.
pub fn audio(seconds: usize, bands: usize, spectra: usize) -> Result<TokenSizes> {
    Ok(TokenSizes {
        tokens: times("spectra", SPECTRA * seconds, spectra)?,
        numbers: bands * spectra,
    })
}

/// The boxes of a video of square frames.
///
/// # Errors
/// When a box has no pixel or does not fit.
pub fn video(frames: usize, side: usize, deep: usize, patch: usize) -> Result<TokenSizes> {
    let across = times("patch", side, patch)?;
    Ok(TokenSizes {
        tokens: times("frames", frames, deep)? * across * across,
        numbers: COLOURS * deep * patch * patch,
    })
}

/// How often a part fits.
fn times(name: &'static str, whole: usize, part: usize) -> Result<usize> {
    if part == 0 || part > whole {
        let expected = format!("from 1 to {whole}");
        return Err(EngineError::value("token_sizes", name, expected, part));
    }
    Ok(whole / part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(found: Result<TokenSizes>) -> (usize, usize) {
        let found = found.unwrap();
        (found.tokens, found.numbers)
    }

    /// ViT-B/16, Whisper's 30 seconds, and 32 frames in boxes of two (ViViT).
    #[test]
    fn published_sizes() {
        assert_eq!(sizes(picture(224, 16)), (196, 768));
        assert_eq!(sizes(audio(30, 80, 2)), (1500, 160));
        assert_eq!(sizes(video(32, 224, 2, 16)), (3136, 1536));
        assert_eq!(sizes(Ok(text("ab c"))), (4, 256));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(picture(8, 16).is_err());
        assert!(picture(8, 0).is_err());
        assert!(audio(1, 80, 101).is_err());
        assert!(video(2, 16, 4, 16).is_err());
    }
}
