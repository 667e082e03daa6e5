//! ALiBi: attention with linear biases. No position vectors; each head subtracts its slope times
//! the distance.
//!
//! ```text
//! bias[t, s] = −slope · |t − s|                                            -> [T, T], added to the scores
//! slopes(H) = 2^(−8/H), 2^(−16/H), …, 2^(−8)                               H a power of two
//!             else those of the power of two below, then every other one of the power of two above
//! ```
//! The paper is causal, s ≤ t; the upper triangle here is its mirror and is hidden by a causal
//! mask.
//!
//! ```
//! use engine::nn::position::alibi::{bias, slopes};
//! assert_eq!(slopes(8)[..2], [0.5, 0.25]);
//! assert_eq!(bias(3, 0.5).row(2).to_vec(), [-1.0, -0.5, 0.0]);
//! ```
//!
//! Source: Press, Smith and Lewis 2022, "Train short, test long", section 3 and the authors' code
//! for other head counts.

use crate::math::double;
use ndarray::Array2;

/// One slope for each head.
pub fn slopes(heads: usize) -> Vec<f32> {
    // -> [H]
    if heads == 0 {
        return Vec::new();
    }
    let below = 1 << heads.ilog2();
    let mut slopes = series(below).collect::<Vec<_>>();
    slopes.extend(series(2 * below).step_by(2).take(heads - below));
    slopes
}

/// The slopes for a power of two: a geometric series from 2^(−8/n) to 2^(−8).
fn series(n: usize) -> impl Iterator<Item = f32> {
    (1..=n).map(move |i| double::pow(2.0, -8.0 * i as f64 / n as f64) as f32)
}

/// −slope · |t − s| for each pair.
pub fn bias(tokens: usize, slope: f32) -> Array2<f32> {
    // -> [T, T]
    Array2::from_shape_fn((tokens, tokens), |(t, s)| -slope * t.abs_diff(s) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_that_are_no_power_of_two_borrow_from_the_next() {
        let found = slopes(3);
        // Powers of two below: n = 2 gives 2⁻⁴, 2⁻⁸; the first of n = 4 is 2⁻².
        assert_eq!(found, [0.0625, 0.003_906_25, 0.25]);
        assert_eq!(slopes(12).len(), 12);
        assert!(slopes(0).is_empty());
    }
}
