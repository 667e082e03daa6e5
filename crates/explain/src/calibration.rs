//! Calibration: whether predictions that are made with a probability of p are right in a share p of
//! the cases.
//!
//! ```text
//! each prediction: its confidence, the largest probability, and whether that token is the right one
//! B bins of equal width over [0, 1]:   n_b predictions, r_b of them right, s_b = Σ of their confidences
//! accuracy_b = r_b / n_b     confidence_b = s_b / n_b
//! ECE = Σ_b (n_b / Σ n) · |accuracy_b − confidence_b|                    the expected calibration error
//! ```
//! Bins are held as `[3, B]`, the rows n, r and s; [`merged`] joins neighbours, so narrow bins that
//! were counted once give all wider ones. A temperature T divides the logits before the softmax
//! ([`Prediction::new`]): it changes the confidence, and never the token.
//!
//! ```
//! use explain::calibration::{calibration_error, merged, reliability};
//! use ndarray::array;
//! // Ten predictions with 0.9, eight of them right; five with 0.3, two of them right.
//! let bins = array![[0.0, 5.0, 0.0, 10.0], [0.0, 2.0, 0.0, 8.0], [0.0, 1.5, 0.0, 9.0]];
//! let found = reliability(bins.view())?;
//! assert_eq!(found, array![[0.3, 0.4, 5.0], [0.9, 0.8, 10.0]]);
//! assert!((calibration_error(bins.view())? - (5.0 * 0.1 + 10.0 * 0.1) / 15.0).abs() < 1e-6);
//! assert_eq!(merged(bins.view(), 2)?, array![[5.0, 10.0], [2.0, 8.0], [1.5, 9.0]]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Guo et al. 2017, "On calibration of modern neural networks", sections 2 (equation 3) and
//! 4.2 (temperature).

use engine::error::{EngineError, Result};
use engine::math::double;
use engine::shape;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

/// One prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The largest probability.
    pub confidence: f64,
    /// Whether it is that of the right token.
    pub is_right: bool,
    /// The loss of the right token, in nats.
    pub loss: f64,
}

impl Prediction {
    /// The prediction of some logits that are divided by a temperature.
    ///
    /// # Errors
    /// When there is no token `right`, or the temperature is not above 0.
    pub fn new(logits: ArrayView1<'_, f32>, right: usize, temperature: f64) -> Result<Self> {
        // logits [V]
        if right >= logits.len() {
            let expected = format!("below {}", logits.len());
            return Err(EngineError::value("calibration", "right", expected, right));
        }
        if !temperature.is_finite() || temperature <= 0.0 {
            return Err(EngineError::value(
                "calibration",
                "temperature",
                "above 0",
                temperature,
            ));
        }
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let scaled = |x: f32| f64::from(x - largest) / temperature;
        let sum: f64 = logits.iter().map(|&x| double::exp(scaled(x))).sum();
        Ok(Self {
            confidence: 1.0 / sum,
            is_right: logits[right] >= largest,
            loss: double::ln(sum) - scaled(logits[right]),
        })
    }
}

/// Counts predictions in `bins` bins of equal width. A bin includes its upper end.
///
/// # Errors
/// When there is no bin.
pub fn binned(predictions: &[Prediction], bins: usize) -> Result<Array2<f64>> {
    // -> [3, B]
    if bins == 0 {
        return Err(EngineError::value("calibration", "bins", "at least 1", 0));
    }
    let mut all = Array2::zeros((3, bins));
    for prediction in predictions {
        let from_below = (prediction.confidence * bins as f64).ceil() as usize;
        let bin = from_below.clamp(1, bins) - 1;
        all[[0, bin]] += 1.0;
        all[[1, bin]] += f64::from(u8::from(prediction.is_right));
        all[[2, bin]] += prediction.confidence;
    }
    Ok(all)
}

/// The bins joined to `bins` wider ones of equal width.
///
/// # Errors
/// When the bins are not three rows, or their number is no multiple of `bins`.
pub fn merged(narrow: ArrayView2<'_, f32>, bins: usize) -> Result<Array2<f32>> {
    // narrow [3, N] -> [3, B]
    expect_rows(narrow)?;
    if bins == 0 || !narrow.ncols().is_multiple_of(bins) {
        let expected = format!("a part of {}", narrow.ncols());
        return Err(EngineError::value("calibration", "bins", expected, bins));
    }
    let each = narrow.ncols() / bins;
    let mut all = Array2::zeros((3, bins));
    for (n, column) in narrow.axis_iter(Axis(1)).enumerate() {
        let mut to = all.column_mut(n / each);
        to += &column;
    }
    Ok(all)
}

/// The mean confidence, the accuracy and the number of predictions of each bin that is not empty: a
/// reliability diagram.
///
/// # Errors
/// When the bins are not three rows.
pub fn reliability(bins: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
    // bins [3, B] -> [bins that are not empty, 3]
    expect_rows(bins)?;
    let mut found = Vec::new();
    for bin in bins.axis_iter(Axis(1)).filter(|bin| bin[0] > 0.0) {
        found.extend([bin[2] / bin[0], bin[1] / bin[0], bin[0]]);
    }
    shape::matrix("calibration", found.len() / 3, 3, found)
}

/// The expected calibration error, 0 to 1; 0 without predictions.
///
/// # Errors
/// When the bins are not three rows.
pub fn calibration_error(bins: ArrayView2<'_, f32>) -> Result<f32> {
    // bins [3, B] -> scalar
    expect_rows(bins)?;
    let gaps = bins.axis_iter(Axis(1)).map(|bin| (bin[1] - bin[2]).abs());
    Ok(gaps.sum::<f32>() / bins.row(0).sum().max(1.0))
}

fn expect_rows(bins: ArrayView2<'_, f32>) -> Result<()> {
    shape::expect("calibration", "bins", &[3, bins.ncols()], bins.shape())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::nn::softmax::softmax;
    use engine::rng::Rng;
    use ndarray::array;

    #[test]
    fn a_prediction_is_the_softmax_of_its_logits() {
        let logits = array![1.5_f32, -0.5, 0.25, 3.0];
        for temperature in [0.5, 1.0, 2.0] {
            let expected = softmax(logits.mapv(|x| x / temperature as f32).view());
            for right in 0..4 {
                let found = Prediction::new(logits.view(), right, temperature).unwrap();
                assert!((found.confidence - f64::from(expected[3])).abs() < 1e-6);
                assert!((found.loss + f64::from(expected[right].ln())).abs() < 1e-5);
                assert_eq!(found.is_right, right == 3);
            }
        }
    }

    /// Predictions that are right as often as they say have no error but that of chance; those that
    /// say more than they keep have the difference as their error.
    #[test]
    fn the_error_is_what_is_promised_and_not_kept() {
        let mut rng = Rng::new(3);
        let mut drawn = |extra: f64| {
            let prediction = |_| {
                let p = 0.1 + 0.7 * f64::from(rng.uniform());
                Prediction {
                    confidence: p + extra,
                    is_right: f64::from(rng.uniform()) < p,
                    loss: 0.0,
                }
            };
            let all: Vec<Prediction> = (0..40_000).map(prediction).collect();
            let bins = binned(&all, 20).unwrap().mapv(|x| x as f32);
            calibration_error(bins.view()).unwrap()
        };
        let (honest, sure) = (drawn(0.0), drawn(0.1));
        assert!(honest < 0.015, "{honest}");
        assert!((sure - 0.1).abs() < 0.01, "{sure}");
    }

    /// Joined bins are those that would have been counted at once, and no predictions are lost.
    #[test]
    fn narrow_bins_give_the_wide_ones() {
        let mut rng = Rng::new(9);
        let prediction = |_| Prediction {
            confidence: f64::from(rng.uniform()),
            is_right: rng.below(2) == 1,
            loss: 0.0,
        };
        let all: Vec<Prediction> = (0..500).map(prediction).collect();
        let narrow = binned(&all, 20).unwrap().mapv(|x| x as f32);
        assert_eq!(narrow.row(0).sum(), 500.0);
        for bins in [1, 5, 10, 20] {
            let found = merged(narrow.view(), bins).unwrap();
            let expected = binned(&all, bins).unwrap().mapv(|x| x as f32);
            let largest = (&found - &expected).fold(0.0_f32, |most, x| most.max(x.abs()));
            assert!(largest < 1e-3, "{bins}: {largest}");
        }
        // Wider bins can only hide differences.
        let error = |bins| calibration_error(merged(narrow.view(), bins).unwrap().view()).unwrap();
        assert!(error(5) <= error(10) + 1e-6 && error(10) <= error(20) + 1e-6);
    }

    #[test]
    fn the_ends_have_a_bin() {
        let at = |confidence| Prediction {
            confidence,
            is_right: true,
            loss: 0.0,
        };
        let bins = binned(&[at(0.0), at(0.1), at(0.1000001), at(1.0)], 10).unwrap();
        assert_eq!(bins.row(0).to_vec()[..2], [2.0, 1.0]);
        assert_eq!(bins[[0, 9]], 1.0);
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        let logits = array![0.0_f32, 1.0];
        assert!(Prediction::new(logits.view(), 2, 1.0).is_err());
        assert!(Prediction::new(logits.view(), 0, 0.0).is_err());
        assert!(binned(&[], 0).is_err());
        let bins = Array2::<f32>::zeros((3, 20));
        assert!(merged(bins.view(), 3).is_err() && merged(bins.view(), 0).is_err());
        assert!(reliability(Array2::zeros((2, 20)).view()).is_err());
        assert_eq!(calibration_error(bins.view()).unwrap(), 0.0);
        assert_eq!(reliability(bins.view()).unwrap().dim(), (0, 3));
    }
}
