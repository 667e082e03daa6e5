//! Softmax, its safe form, its temperature, its entropy and its derivative.
//!
//! ```text
//! softmax(x)ᵢ = exp(xᵢ − m) / Σⱼ exp(xⱼ − m),  m = max x     x [N] -> [N]     each row of [T, S] -> [T, S]
//! J = diag(w) − w wᵀ,  w = softmax(x)                        w [N] -> J [N, N],  Jᵢⱼ = ∂wᵢ/∂xⱼ
//! H(w) = −Σᵢ wᵢ ln wᵢ                                        w [N] -> nats
//! ```
//!
//! Subtracting m changes nothing on paper and keeps exp from overflowing in `f32` (at 88.7). An
//! entry of −∞ becomes exactly 0; a row of nothing but −∞ becomes all 0, by choice; NaN or +∞ makes
//! its row NaN.
//!
//! ```
//! use engine::nn::softmax::{softmax, softmax_naive};
//! use ndarray::array;
//! assert_eq!(softmax(array![1000.0, 1000.0].view()), array![0.5, 0.5]);
//! assert!(softmax_naive(array![1000.0, 1000.0].view())[0].is_nan());
//! ```
//!
//! Source: Bridle 1990, "Probabilistic interpretation of feedforward classification network
//! outputs", equation 3; the safe form as in Milakov and Gimelshein 2018, "Online normalizer
//! calculation for softmax", algorithm 2.

use crate::error::{EngineError, Result};
use crate::shape::{map_rows, map_vector};
use crate::{kernel, math};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

/// Softmax of one vector.
pub fn softmax(x: ArrayView1<'_, f32>) -> Array1<f32> {
    // x [N] -> [N]
    map_vector(x, kernel::softmax)
}

/// Softmax of each row.
pub fn softmax_rows(x: ArrayView2<'_, f32>) -> Array2<f32> {
    // x [T, S] -> [T, S]
    map_rows(x, kernel::softmax)
}

/// Softmax over the `k` largest numbers of each row (of equal ones the first), 0 elsewhere.
///
/// # Errors
/// When `k` is not from 1 to the number of columns.
pub fn top_k(x: ArrayView2<'_, f32>, k: usize) -> Result<Array2<f32>> {
    // x [T, E] -> [T, E]
    check_top_k(k, x.ncols())?;
    let mut weights = Array2::zeros(x.raw_dim());
    for (row, mut target) in x.rows().into_iter().zip(weights.rows_mut()) {
        let chosen = top_indices(row, k);
        let shares: Array1<f32> = chosen.iter().map(|&n| row[n]).collect();
        for (&n, share) in chosen.iter().zip(softmax(shares.view())) {
            target[n] = share;
        }
    }
    Ok(weights)
}

/// Refuses a `k` that is not from 1 to `count`.
pub(crate) fn check_top_k(k: usize, count: usize) -> Result<()> {
    if k == 0 || k > count {
        let expected = format!("from 1 to the {count} experts");
        return Err(EngineError::value("moe", "top_k", expected, k));
    }
    Ok(())
}

/// The positions of the `count` largest numbers, the largest first; of equal ones the first. All of
/// them where there are fewer.
pub fn top_indices(x: ArrayView1<'_, f32>, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| x[b].total_cmp(&x[a]));
    order.truncate(count);
    order
}

/// exp(xᵢ) / Σⱼ exp(xⱼ) as written: overflows to NaN from 89 up, and is NaN where everything is
/// masked. The "before" of the safe form, for lessons.
pub fn softmax_naive(x: ArrayView1<'_, f32>) -> Array1<f32> {
    // x [N] -> [N]
    let exponentials = x.mapv(math::exp);
    let total = exponentials.sum();
    exponentials / total
}

/// Softmax of x / tau: towards one-hot as tau falls to 0, towards uniform as it grows.
///
/// # Errors
/// When `tau` is not above 0.
pub fn softmax_temperature(logits: ArrayView1<'_, f32>, tau: f32) -> Result<Array1<f32>> {
    // logits [N], tau -> [N]
    if tau.is_nan() || tau <= 0.0 {
        let operation = "softmax_temperature";
        return Err(EngineError::value(operation, "tau", "above 0", tau));
    }
    Ok(map_vector(logits, |x| {
        // The maximum is subtracted before the division, so a tiny tau overflows to −∞ (weight 0)
        // and not to +∞ (NaN).
        let largest = kernel::max(x);
        if largest > f32::NEG_INFINITY || largest.is_nan() {
            for value in x.iter_mut() {
                let below = *value - largest;
                // −∞ stays masked at any temperature, an infinite one included.
                let masked = below == f32::NEG_INFINITY;
                *value = if masked { below } else { below / tau };
            }
        }
        kernel::softmax(x);
    }))
}

/// The derivative of each weight by each score: J = diag(w) − w wᵀ, from the weights themselves.
pub fn jacobian(weights: ArrayView1<'_, f32>) -> Array2<f32> {
    // weights [N] -> [N, N]
    let count = weights.len();
    Array2::from_shape_fn((count, count), |(i, j)| {
        let diagonal = if i == j { weights[i] } else { 0.0 };
        diagonal - weights[i] * weights[j]
    })
}

/// The entropy of a row of weights, in nats; 0 · ln 0 counts as 0.
pub fn entropy(weights: ArrayView1<'_, f32>) -> f32 {
    // weights [N] -> nats
    -weights
        .iter()
        .map(|&w| if w == 0.0 { 0.0 } else { w * math::ln(w) })
        .sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn temperature_reaches_both_limits_and_refuses_nonsense() {
        let logits = array![1.0, 3.0, 2.0];
        assert_eq!(
            softmax_temperature(logits.view(), 1e-30).unwrap(),
            array![0.0, 1.0, 0.0]
        );
        let third = softmax_temperature(logits.view(), f32::INFINITY).unwrap();
        assert!(third.iter().all(|w| (w - 1.0 / 3.0).abs() < 1e-7));
        assert_eq!(
            softmax_temperature(logits.view(), 1.0).unwrap(),
            softmax(logits.view())
        );
        assert!(softmax_temperature(logits.view(), 0.0).is_err());
        assert!(softmax_temperature(logits.view(), f32::NAN).is_err());
        let masked = array![0.0, f32::NEG_INFINITY];
        assert_eq!(
            softmax_temperature(masked.view(), f32::INFINITY).unwrap(),
            array![1.0, 0.0]
        );
        let nothing = array![f32::NEG_INFINITY, f32::NEG_INFINITY];
        assert_eq!(
            softmax_temperature(nothing.view(), 2.0).unwrap(),
            array![0.0, 0.0]
        );
    }

    #[test]
    fn entropy_is_zero_for_one_hot_and_ln_n_for_uniform() {
        assert_eq!(entropy(array![0.0, 1.0, 0.0].view()), 0.0);
        let uniform = Array1::from_elem(8, 0.125);
        assert!((entropy(uniform.view()) - math::ln(8.0)).abs() < 1e-6);
    }

    #[test]
    fn masked_rows_are_zero_here_and_nan_in_the_naive_form() {
        let row = array![f32::NEG_INFINITY, f32::NEG_INFINITY];
        assert_eq!(softmax(row.view()), array![0.0, 0.0]);
        assert!(softmax_naive(row.view()).iter().all(|w| w.is_nan()));
    }

    #[test]
    fn jacobian_rows_sum_to_zero() {
        let weights = softmax(array![0.3, -1.0, 2.0, 0.5].view());
        let rows = jacobian(weights.view()).sum_axis(ndarray::Axis(1));
        assert!(rows.iter().all(|sum| sum.abs() < 1e-7), "{rows}");
    }
}
