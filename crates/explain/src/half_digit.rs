//! Digits whose first rows are given, and that a decoder of pixels completes.
//!
//! ```text
//! digit [1, 28, 28] -> means of 2 x 2 pixels [14, 14] -> the nearest of 4 greys -> 196 tokens, row by row
//! complete: start token, the given pixels; then, pixel by pixel, a draw from softmax(logits / τ)
//! bits:     −log₂ p(pixel | all pixels before it), at τ = 1
//! ```
//! All completions of a digit are drawn at once from one stream of random numbers: the next pixel of the
//! first, of the second, …, then the pixel after it.
//!
//! ```
//! use engine::{formula::Formula, model::image_gpt::{Config, ImageGpt, shapes}};
//! use explain::half_digit::{PIXELS, complete};
//! let config = Config { vocabulary: 5, width: 8, heads: 2, layers: 1, inner: 16, context: PIXELS, norm_eps: 1e-5 };
//! let model = ImageGpt::load(config.clone(), &mut Formula::new(0, shapes(&config)))?;
//! let given = vec![0; 190];
//! let found = complete(&model, &given, 3, 1.0, 7)?;
//! assert_eq!(found.dim(), (3, PIXELS));
//! assert!(found.iter().all(|&grey| grey < 4));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Chen et al. 2020, "Generative pretraining from pixels", section 2.1 and figure 1.

use engine::drawing::{SIDE, greys, halved};
use engine::error::{EngineError, Result};
use engine::math;
use engine::model::decoder::{Decoder, DecoderExt};
use engine::model::image_gpt::{ImageGpt, clusters};
use engine::nn::softmax::softmax_rows;
use engine::sample::{Sampler, Sampling};
use ndarray::{Array2, ArrayView3};

/// Greys from paper to ink.
pub const GREYS: usize = 4;
/// Pixels in a row, and rows.
pub const ACROSS: usize = SIDE / 2;
/// Tokens of a digit.
pub const PIXELS: usize = ACROSS * ACROSS;
/// The token before the first pixel.
const START: usize = GREYS;

/// The pixels of a digit as tokens, row by row.
///
/// # Errors
/// When the picture has more than one channel.
pub fn tokens(digit: ArrayView3<'_, f32>) -> Result<Vec<usize>> {
    // digit [1, 28, 28] -> [196]
    clusters(halved(digit).view(), greys(GREYS).view())
}

/// The brightness of a token, 0 paper to 1 ink.
pub fn brightness(token: usize) -> f32 {
    token as f32 / (GREYS - 1) as f32
}

/// Completes a digit `count` times from its first pixels, at the temperature `tau`.
///
/// # Errors
/// When all pixels are given, or more, or the temperature is below 0.
pub fn complete(
    model: &ImageGpt,
    given: &[usize],
    count: usize,
    tau: f32,
    seed: u64,
) -> Result<Array2<usize>> {
    // given [T] -> [count, 196]
    if given.len() >= PIXELS {
        let expected = format!("fewer than {PIXELS}");
        return Err(EngineError::value(
            "complete",
            "pixels",
            expected,
            given.len(),
        ));
    }
    let sampling = Sampling {
        temperature: tau,
        ..Sampling::default()
    };
    let mut sampler = Sampler::new(sampling, seed)?;
    let mut all = Array2::zeros((count, PIXELS));
    for mut row in all.rows_mut() {
        row.iter_mut().zip(given).for_each(|(to, &grey)| *to = grey);
    }
    let before: Vec<usize> = std::iter::once(START)
        .chain(given.iter().copied())
        .collect();
    let mut caches = model.caches(count);
    let mut next = model.feed(
        &before.repeat(count),
        &vec![before.len(); count],
        &mut caches,
        None,
    )?;
    for at in given.len()..PIXELS {
        let mut drawn = Vec::with_capacity(count);
        for (n, logits) in next.outer_iter().enumerate() {
            let grey = sampler.next(logits, &[])?;
            all[[n, at]] = grey;
            drawn.push(grey);
        }
        if at + 1 < PIXELS {
            next = model.feed(&drawn, &vec![1; count], &mut caches, None)?;
        }
    }
    Ok(all)
}

/// The information of each pixel in bits, given all pixels before it.
///
/// # Errors
/// When there are more pixels than the model reads, or a token is no grey.
pub fn bits(model: &ImageGpt, pixels: &[usize]) -> Result<Vec<f32>> {
    // pixels [T] -> [T]
    if let Some(&token) = pixels.iter().find(|&&token| token >= GREYS) {
        let expected = format!("below {GREYS}");
        return Err(EngineError::value("bits", "pixel", expected, token));
    }
    let before = pixels.iter().take(pixels.len().saturating_sub(1)).copied();
    let ids: Vec<usize> = std::iter::once(START).chain(before).collect();
    let probabilities = softmax_rows(model.forward(&ids, None)?.view());
    let pairs = pixels.iter().zip(probabilities.rows());
    let of = |p: f32| -math::ln(p.max(f32::MIN_POSITIVE)) / std::f32::consts::LN_2;
    Ok(pairs.map(|(&grey, row)| of(row[grey])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn_digits::digit;
    use engine::formula::Formula;
    use engine::model::image_gpt::{Config, shapes};

    fn model() -> ImageGpt {
        let config = Config {
            vocabulary: GREYS + 1,
            width: 8,
            heads: 2,
            layers: 2,
            inner: 16,
            context: PIXELS,
            norm_eps: 1e-5,
        };
        ImageGpt::load(config.clone(), &mut Formula::new(0, shapes(&config))).unwrap()
    }

    /// The given pixels stay; a seed repeats its draws; at temperature 0 all completions are one.
    #[test]
    fn completions_begin_with_what_is_given() {
        let (model, digit) = (model(), digit(5).unwrap());
        let pixels = tokens(digit.image.view()).unwrap();
        assert_eq!(pixels.len(), PIXELS);
        let given = &pixels[..180];
        let of = |tau, seed| complete(&model, given, 4, tau, seed).unwrap();
        let found = of(1.0, 3);
        for row in found.rows() {
            assert_eq!(row.to_vec()[..180], *given);
        }
        assert_eq!(found, of(1.0, 3));
        assert_ne!(found, of(1.0, 4));
        let cold = of(0.0, 3);
        assert!(cold.rows().into_iter().all(|row| row == cold.row(0)));
        // The cache gives what a whole pass gives.
        let ids: Vec<usize> = std::iter::once(START)
            .chain(cold.row(0).iter().copied())
            .take(PIXELS)
            .collect();
        let logits = model.forward(&ids, None).unwrap();
        for at in 180..PIXELS {
            let best = engine::sample::greedy(logits.row(at)).unwrap();
            assert_eq!(best, cold[[0, at]], "{at}");
        }
    }

    #[test]
    fn information_is_that_of_the_probabilities() {
        let found = bits(&model(), &[0, 3, 1]).unwrap();
        assert!(found.len() == 3 && found.iter().all(|&bits| bits > 0.0));
        assert!(bits(&model(), &[4]).is_err());
        assert!(complete(&model(), &[0; PIXELS], 1, 1.0, 1).is_err());
        assert_eq!((brightness(0), brightness(3)), (0.0, 1.0));
    }
}
