//! How far the heads of a Vision Transformer look: the mean distance between a patch and the patches
//! that it attends to.
//!
//! ```text
//! d_ts = P · |place_t − place_s|                        between the centres of two patches, in pixels
//! mean = 1/N · Σ_t (Σ_s a_ts d_ts) / (Σ_s a_ts)         t and s over the N patches; a [L, H, T, T] -> [L, H]
//! even = 1/N² · Σ_t Σ_s d_ts                            of a head that takes the same from all patches
//! ```
//! Tokens before the patches, such as the class token, have no place: they neither ask nor answer here,
//! and the weights of a patch on the other patches are made to sum to one.
//!
//! ```
//! use explain::attention_distance::{Patches, even_distance, mean_distance};
//! use ndarray::Array4;
//! let patches = Patches { before: 0, rows: 1, columns: 2, side: 16 };
//! let even = Array4::from_elem((1, 1, 2, 2), 0.5); // Half on itself, half on the neighbour.
//! assert_eq!(mean_distance(even.view(), &patches)?[[0, 0]], 8.0);
//! assert_eq!(even_distance(&patches), 8.0);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Dosovitskiy et al. 2021, "An image is worth 16x16 words", section 4.5, figure 7 (right) and
//! appendix D.7, there averaged over 128 pictures.

use engine::error::{EngineError, Result};
use engine::math;
use ndarray::{Array2, ArrayView2, ArrayView4, Axis};

/// The patches of a picture among the tokens of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patches {
    /// Tokens before those of the patches.
    pub before: usize,
    /// Rows of patches.
    pub rows: usize,
    /// Columns of patches.
    pub columns: usize,
    /// P, the side of a patch in pixels.
    pub side: usize,
}

impl Patches {
    /// The distance between the centres of two patches, in pixels.
    fn apart(&self, t: usize, s: usize) -> f32 {
        let columns = self.columns.max(1);
        let pixels = |a: usize, b: usize| (a.abs_diff(b) * self.side) as f32;
        let down = pixels(t / columns, s / columns);
        let across = pixels(t % columns, s % columns);
        math::sqrt(down * down + across * across)
    }
}

/// The mean distance of each head of each layer in pixels.
///
/// # Errors
/// When the weights are not of so many tokens.
pub fn mean_distance(weights: ArrayView4<'_, f32>, patches: &Patches) -> Result<Array2<f32>> {
    // weights [L, H, T, T] -> [L, H]
    let (layers, heads, queries, keys) = weights.dim();
    let tokens = patches.before + patches.rows * patches.columns;
    if queries != tokens || keys != tokens {
        let found = format!("{queries} x {keys}");
        return Err(EngineError::shape(
            "mean_distance",
            format!("weights of {tokens} tokens"),
            found,
        ));
    }
    Ok(Array2::from_shape_fn((layers, heads), |(layer, head)| {
        let of_layer = weights.index_axis(Axis(0), layer);
        of_head(of_layer.index_axis(Axis(0), head), patches)
    }))
}

/// The mean distance of one head.
fn of_head(weights: ArrayView2<'_, f32>, patches: &Patches) -> f32 {
    // weights [T, T]
    let count = patches.rows * patches.columns;
    let mut sum = 0.0;
    for t in 0..count {
        let (mut far, mut all) = (0.0, 0.0);
        for s in 0..count {
            let weight = weights[[patches.before + t, patches.before + s]];
            far += weight * patches.apart(t, s);
            all += weight;
        }
        // A patch that gives all its weight to the class token looks at no other.
        if all > 0.0 {
            sum += far / all;
        }
    }
    sum / count.max(1) as f32
}

/// The mean distance of a head that takes the same from every patch, in pixels.
pub fn even_distance(patches: &Patches) -> f32 {
    // -> scalar
    let count = patches.rows * patches.columns;
    // Row by row: one sum over all pairs would lose digits.
    let of_row = |t: usize| (0..count).map(|s| patches.apart(t, s)).sum::<f32>();
    let sum: f32 = (0..count).map(|t| of_row(t) / count as f32).sum();
    sum / count.max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array4;

    const THREE_BY_THREE: Patches = Patches {
        before: 1,
        rows: 3,
        columns: 3,
        side: 4,
    };

    /// A head whose patches all attend to one patch, which is so far from them on average.
    #[test]
    fn a_head_that_looks_at_the_middle_is_as_far_as_the_middle() {
        let mut weights = Array4::zeros((1, 2, 10, 10));
        for t in 0..10 {
            weights[[0, 0, t, 1 + 4]] = 0.25;
            // The rest is on the class token, which has no place.
            weights[[0, 0, t, 0]] = 0.75;
            weights[[0, 1, t, t]] = 1.0;
        }
        let found = mean_distance(weights.view(), &THREE_BY_THREE).unwrap();
        let expected = 4.0 * (4.0 + 4.0 * 2.0_f32.sqrt()) / 9.0;
        assert!((found[[0, 0]] - expected).abs() < 1e-5, "{found}");
        assert_eq!(found[[0, 1]], 0.0);
    }

    /// Even weights over a grid: the mean over all pairs of patches.
    #[test]
    fn even_weights_are_the_mean_of_all_pairs() {
        let even = Array4::from_elem((1, 1, 10, 10), 0.1);
        let found = mean_distance(even.view(), &THREE_BY_THREE).unwrap()[[0, 0]];
        let mut expected = 0.0;
        for a in 0..9_i32 {
            for b in 0..9_i32 {
                let (r, c) = (a / 3 - b / 3, a % 3 - b % 3);
                expected += 4.0 * ((r * r + c * c) as f32).sqrt() / 81.0;
            }
        }
        assert!((found - expected).abs() < 1e-5, "{found}, not {expected}");
        assert!((even_distance(&THREE_BY_THREE) - expected).abs() < 1e-5);
        let other = Patches {
            columns: 2,
            ..THREE_BY_THREE
        };
        assert!(mean_distance(even.view(), &other).is_err());
    }
}
