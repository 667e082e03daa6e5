//! Statistics: mean, variance, standard deviation, histogram, and the Frobenius norm of a matrix.
//!
//! ```text
//! mean(x)      = Σᵢ xᵢ / N                         x [N] -> scalar
//! variance(x)  = Σᵢ (xᵢ − mean)² / N               x [N] -> scalar
//! standard deviation(x) = √variance(x)             x [N] -> scalar
//! histogram(x) = how many xᵢ lie in each of B bins of one width between low and high, and how many outside
//! frobenius(M) = √(Σᵢⱼ Mᵢⱼ²)                       M [T, S] -> scalar
//! ```
//!
//! Sums run in `f64`: ten thousand squares added in `f32` would lose the digits that a comparison
//! needs.
//!
//! ```
//! use explain::stats::{mean, variance};
//! use ndarray::array;
//! let x = array![1.0, 2.0, 3.0, 4.0];
//! assert_eq!((mean(x.view()), variance(x.view())), (2.5, 1.25));
//! ```
//!
//! Source: Golub and Van Loan 2013, "Matrix computations", section 2.3 (Frobenius norm); the rest
//! are definitions.

use engine::error::{EngineError, Result};
use engine::math::double;
use ndarray::{ArrayView1, ArrayView2};

/// Counts of numbers in bins of one width.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// `[B]`: the middle of each bin.
    pub centres: Vec<f64>,
    /// `[B]`: how many numbers fell into each bin.
    pub counts: Vec<f64>,
    /// Numbers below the first bin or above the last, NaN included.
    pub outside: f64,
}

/// The mean; 0 for no numbers.
pub fn mean(x: ArrayView1<'_, f32>) -> f64 {
    // x [N] -> scalar
    x.iter().map(|&x| f64::from(x)).sum::<f64>() / x.len().max(1) as f64
}

/// The mean squared distance from the mean (divided by N, not by N − 1); 0 for no numbers.
pub fn variance(x: ArrayView1<'_, f32>) -> f64 {
    // x [N] -> scalar
    let middle = mean(x);
    let squares: f64 = x.iter().map(|&x| (f64::from(x) - middle).powi(2)).sum();
    squares / x.len().max(1) as f64
}

/// The square root of the variance: how far from the mean a typical number is.
pub fn standard_deviation(x: ArrayView1<'_, f32>) -> f64 {
    // x [N] -> scalar
    double::sqrt(variance(x))
}

/// Counts the numbers in `bins` bins of one width from `low` to `high`; the upper end belongs to
/// the last bin.
///
/// # Errors
/// When there is no bin, or `high` is not above `low`.
pub fn histogram(x: ArrayView1<'_, f32>, low: f64, high: f64, bins: usize) -> Result<Histogram> {
    // x [N] -> counts [B]
    if bins == 0 {
        return Err(EngineError::value("histogram", "bins", "at least 1", bins));
    }
    if !(high > low && low.is_finite() && high.is_finite()) {
        return Err(EngineError::value(
            "histogram",
            "high",
            format!("above {low}"),
            high,
        ));
    }
    let width = (high - low) / bins as f64;
    let mut counts = vec![0.0; bins];
    let mut outside = 0.0;
    for &value in x {
        let value = f64::from(value);
        if value >= low && value <= high {
            // The upper end itself would fall one bin too far.
            counts[(((value - low) / width) as usize).min(bins - 1)] += 1.0;
        } else {
            outside += 1.0;
        }
    }
    let centres = (0..bins).map(|b| low + (b as f64 + 0.5) * width).collect();
    Ok(Histogram {
        centres,
        counts,
        outside,
    })
}

/// The square root of the sum of all squared entries: how long the matrix is, read as one vector.
pub fn frobenius(m: ArrayView2<'_, f32>) -> f64 {
    // M [T, S] -> scalar
    double::sqrt(m.iter().map(|&x| f64::from(x) * f64::from(x)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, array};

    #[test]
    fn every_number_is_counted_once() {
        let x = array![-2.0, -1.0, -0.5, 0.0, 0.999, 1.0, 1.5, f32::NAN];
        let found = histogram(x.view(), -1.0, 1.0, 4).unwrap();
        assert_eq!(found.counts, [1.0, 1.0, 1.0, 2.0]);
        assert_eq!(found.outside, 3.0);
        assert_eq!(found.centres, [-0.75, -0.25, 0.25, 0.75]);
    }

    #[test]
    fn a_histogram_needs_a_width() {
        let x = array![0.0];
        assert!(histogram(x.view(), 0.0, 1.0, 0).is_err());
        assert!(histogram(x.view(), 1.0, 1.0, 3).is_err());
        assert!(histogram(x.view(), f64::NAN, 1.0, 3).is_err());
    }

    #[test]
    fn nothing_has_mean_and_variance_zero() {
        let none = Array1::<f32>::zeros(0);
        assert_eq!((mean(none.view()), variance(none.view())), (0.0, 0.0));
        assert_eq!(standard_deviation(none.view()), 0.0);
        assert_eq!(standard_deviation(array![1.0, 5.0].view()), 2.0);
    }

    #[test]
    fn a_three_four_matrix_is_five_long() {
        assert_eq!(frobenius(array![[3.0, 0.0], [0.0, -4.0]].view()), 5.0);
    }
}
