//! Attention rollout, and how well one ranking of tokens agrees with another.
//!
//! ```text
//! Ā_l = mean over the heads of layer l                       A [L, H, T, T] -> [T, T]
//! R_0 = I      R_l = ½ (Ā_l + I) · R_{l−1}                   [T, T], each row sums to one
//! ```
//! The I stands for the residual connection, the ½ keeps the rows at one. Values, W_O, MLPs and norms
//! do not enter.
//!
//! ```
//! use explain::rollout::rollout;
//! use ndarray::Array4;
//! let even = Array4::from_elem((1, 2, 2, 2), 0.5);
//! let found = rollout(even.view())?;
//! assert_eq!((found[[0, 0]], found[[0, 1]]), (0.75, 0.25));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Abnar and Zuidema 2020, "Quantifying attention flow in Transformers", section 3 (rollout)
//! and section 4 (compared with hiding tokens, by Spearman's rank correlation).

use engine::error::Result;
use engine::math::double;
use engine::nn::attention::mix_values;
use ndarray::{Array2, ArrayView4, Axis};

/// How much each token (column) counts for each token of the last layer (row), by the weights alone.
///
/// # Errors
/// When the weights of a layer are not square.
pub fn rollout(weights: ArrayView4<'_, f32>) -> Result<Array2<f32>> {
    // weights [L, H, T, T] -> [T, T]
    let (_, heads, tokens, _) = weights.dim();
    let mut all = Array2::eye(tokens);
    for layer in weights.outer_iter() {
        let mean = layer.sum_axis(Axis(0)) / heads.max(1) as f32;
        let with_residual = (mean + Array2::<f32>::eye(tokens)) * 0.5;
        all = mix_values(with_residual.view(), all.view())?;
    }
    Ok(all)
}

/// Spearman's rank correlation of two lists of one length: 1 where both rank alike, −1 where one is
/// the other's reverse, 0 for lists that do not vary. Equal numbers share the mean of their ranks.
pub fn rank_correlation(a: &[f32], b: &[f32]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let middle = (a.len() as f64 + 1.0) / 2.0;
    let moment = |x: &[f64], y: &[f64]| -> f64 {
        let products = x.iter().zip(y).map(|(x, y)| (x - middle) * (y - middle));
        products.sum()
    };
    let spread = double::sqrt(moment(&a, &a) * moment(&b, &b));
    if spread == 0.0 {
        return 0.0;
    }
    moment(&a, &b) / spread
}

/// The rank of each number, the smallest being 1.
fn ranks(x: &[f32]) -> Vec<f64> {
    let rank = |one: &f32| {
        let smaller = x.iter().filter(|other| *other < one).count() as f64;
        let equal = x.iter().filter(|other| *other == one).count() as f64;
        smaller + (equal + 1.0) / 2.0
    };
    x.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array4;

    /// Every row of a rollout sums to one, as the rows of weights do.
    #[test]
    fn rows_sum_to_one() {
        let mut weights = Array4::zeros((3, 2, 4, 4));
        for ((layer, head, t, s), w) in weights.indexed_iter_mut() {
            *w = if s == (t + layer + head) % 4 {
                1.0
            } else {
                0.0
            };
        }
        let found = rollout(weights.view()).unwrap();
        for row in found.outer_iter() {
            assert!((row.sum() - 1.0).abs() < 1e-6);
        }
        assert!(found.iter().all(|&share| share < 1.0));
    }

    #[test]
    fn ranks_agree_or_not() {
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[10.0, 20.0, 25.0]), 1.0);
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), -1.0);
        assert_eq!(rank_correlation(&[1.0, 1.0], &[1.0, 2.0]), 0.0);
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [2.5, 1.0, 2.5]);
        assert_eq!(rank_correlation(&[], &[]), 0.0);
    }
}
