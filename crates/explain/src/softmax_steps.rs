//! Softmax with every step kept, as it is written on paper and as it must be computed.
//!
//! ```text
//! as written:  zᵢ = xᵢ / τ             eᵢ = exp(zᵢ)    wᵢ = eᵢ / Σⱼ eⱼ      x [N] -> z, e, w [N]
//! safe:        zᵢ = (xᵢ − max x) / τ   eᵢ = exp(zᵢ)    wᵢ = eᵢ / Σⱼ eⱼ      the same w on paper
//! ```
//!
//! As written, exp overflows to ∞ in `f32` from z = 88.73 on, and ∞ / ∞ is NaN. In the safe form
//! every z is at most 0, the largest is exactly 0, so every e lies between 0 and 1 and their sum
//! between 1 and N.
//!
//! ```
//! use explain::softmax_steps::{as_written, safe};
//! use ndarray::array;
//! let x = array![1000.0, 1000.0];
//! assert!(as_written(x.view(), 1.0)?.weights[0].is_nan());
//! assert_eq!(safe(x.view(), 1.0)?.weights, array![0.5, 0.5]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", algorithms 1
//! and 2.

use engine::error::{EngineError, Result};
use engine::nn::softmax::{softmax_naive, softmax_temperature};
use engine::{kernel, math};
use ndarray::{Array1, ArrayView1};

/// The steps of one softmax.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftmaxSteps {
    /// `[N]`: the arguments of exp.
    pub exponents: Array1<f32>,
    /// `[N]`: the values of exp.
    pub exponentials: Array1<f32>,
    /// The sum of the exponentials.
    pub total: f32,
    /// `[N]`: the weights.
    pub weights: Array1<f32>,
}

impl SoftmaxSteps {
    fn new(exponents: Array1<f32>, weights: Array1<f32>) -> Self {
        let exponentials = exponents.mapv(math::exp);
        Self {
            total: exponentials.sum(),
            exponents,
            exponentials,
            weights,
        }
    }
}

fn check(tau: f32) -> Result<()> {
    if tau.is_nan() || tau <= 0.0 {
        return Err(EngineError::value("softmax_steps", "tau", "above 0", tau));
    }
    Ok(())
}

/// exp(x / τ) over its sum, as written; NaN where exp overflows.
///
/// # Errors
/// When `tau` is not above 0.
pub fn as_written(x: ArrayView1<'_, f32>, tau: f32) -> Result<SoftmaxSteps> {
    // x [N] -> [N]
    check(tau)?;
    let exponents = x.mapv(|x| x / tau);
    let weights = softmax_naive(exponents.view());
    Ok(SoftmaxSteps::new(exponents, weights))
}

/// exp((x − max x) / τ) over its sum: never overflows. The weights are those of
/// [`softmax_temperature`], the function that attention itself relies on.
///
/// # Errors
/// When `tau` is not above 0.
pub fn safe(x: ArrayView1<'_, f32>, tau: f32) -> Result<SoftmaxSteps> {
    // x [N] -> [N]
    check(tau)?;
    let largest = kernel::max(&x.to_vec());
    let exponents = x.mapv(|x| (x - largest) / tau);
    Ok(SoftmaxSteps::new(exponents, softmax_temperature(x, tau)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn both_agree_where_nothing_overflows() {
        let x = array![2.0, -1.0, 0.5, 0.5];
        for tau in [0.1, 1.0, 7.0] {
            let (a, b) = (
                as_written(x.view(), tau).unwrap(),
                safe(x.view(), tau).unwrap(),
            );
            for (a, b) in a.weights.iter().zip(&b.weights) {
                assert!((a - b).abs() < 1e-6, "{a} {b} at {tau}");
            }
            let by_steps = &b.exponentials / b.total;
            assert!((&by_steps - &b.weights).iter().all(|d| d.abs() < 1e-6));
        }
    }

    #[test]
    fn a_row_of_thousands_overflows_only_as_written() {
        let x = array![1000.0, 1000.0, 1000.0, 1000.0];
        let written = as_written(x.view(), 1.0).unwrap();
        assert!(written.exponentials.iter().all(|e| *e == f32::INFINITY));
        assert!(written.weights.iter().all(|w| w.is_nan()));
        let safe = safe(x.view(), 1.0).unwrap();
        assert_eq!(safe.exponents, array![0.0, 0.0, 0.0, 0.0]);
        assert_eq!((safe.total, safe.weights[2]), (4.0, 0.25));
    }

    #[test]
    fn a_row_far_below_zero_underflows_only_as_written() {
        let x = array![-1000.0, -1001.0];
        assert!(as_written(x.view(), 1.0).unwrap().weights[0].is_nan());
        assert!((safe(x.view(), 1.0).unwrap().weights[0] - 0.731_058_6).abs() < 1e-6);
    }

    #[test]
    fn a_temperature_must_be_above_zero() {
        for tau in [0.0, -1.0, f32::NAN] {
            assert!(as_written(array![1.0].view(), tau).is_err());
            assert!(safe(array![1.0].view(), tau).is_err());
        }
    }
}
