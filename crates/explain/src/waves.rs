//! Waves as patterns of a patch, from the smoothest: those that JPEG describes squares of pixels by.
//!
//! ```text
//! pattern(u, v)[y, x] = s(u) s(v) cos(π (2y + 1) u / 2P) cos(π (2x + 1) v / 2P)
//! s(0) = √(1/P), s(u) = √(2/P) for u > 0       u, v, y, x from 0 to P − 1
//! ```
//! All patterns have length 1 and are at right angles to each other. They are in the order of u +
//! v, then u, each once for every channel: row n of the result has channel n mod C.
//!
//! ```
//! use explain::waves::patterns;
//! // The first pattern of a patch of 2 by 2 pixels is its mean, up to a factor.
//! assert_eq!(patterns(1, 1, 2)?.row(0).to_vec(), [0.5; 4]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Ahmed, Natarajan and Rao 1974, "Discrete cosine transform".

use engine::error::{EngineError, Result};
use engine::math::double;
use ndarray::Array2;
use std::f64::consts::PI;

/// The first `count` patterns of patches with so many channels and this side, one a row.
///
/// # Errors
/// When there are fewer patterns than `count`: there are as many as numbers in a patch.
pub fn patterns(count: usize, channels: usize, side: usize) -> Result<Array2<f32>> {
    // -> [count, C * P * P]
    let area = side * side;
    if count > channels * area {
        let expected = format!("at most {}, the numbers of a patch", channels * area);
        return Err(EngineError::value("waves", "count", expected, count));
    }
    let mut waves: Vec<(usize, usize)> = (0..area).map(|n| (n / side, n % side)).collect();
    waves.sort_by_key(|&(u, v)| (u + v, u));
    let along = |wave: usize, at: usize| {
        let scale = if wave == 0 { 1.0 } else { 2.0 } / side as f64;
        let angle = PI * ((2 * at + 1) * wave) as f64 / (2 * side) as f64;
        double::sqrt(scale) * double::cos(angle)
    };
    Ok(Array2::from_shape_fn(
        (count, channels * area),
        |(n, at)| {
            let (channel, (u, v)) = (n % channels, waves[n / channels]);
            let (y, x) = (at % area / side, at % side);
            let value = along(u, y) * along(v, x);
            if at / area == channel {
                value as f32
            } else {
                0.0
            }
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_length_one_and_are_at_right_angles() {
        let e = patterns(48, 3, 4).unwrap();
        let products = e.dot(&e.t());
        for ((i, j), &product) in products.indexed_iter() {
            let expected = if i == j { 1.0 } else { 0.0 };
            assert!((product - expected).abs() < 1e-6, "{i} {j}: {product}");
        }
    }

    #[test]
    fn the_smoothest_come_first() {
        let e = patterns(9, 3, 4).unwrap();
        assert!(
            e.row(1)
                .iter()
                .skip(16)
                .take(16)
                .all(|&x| (x - 0.25).abs() < 1e-7)
        );
        // The fourth changes from left to right, the seventh from top to bottom.
        assert_eq!(e[[3, 0]], e[[3, 4]]);
        assert!(e[[3, 0]] > e[[3, 1]] && e[[3, 1]] > e[[3, 2]]);
        assert_eq!(e[[6, 0]], e[[6, 1]]);
        assert!(patterns(49, 3, 4).is_err());
        assert_eq!(patterns(0, 3, 4).unwrap().dim(), (0, 48));
    }
}
