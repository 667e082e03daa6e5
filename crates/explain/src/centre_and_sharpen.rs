//! What a teacher without labels does to its outputs before a student learns them: centring and
//! sharpening; and two entropies that tell whether it has collapsed.
//!
//! ```text
//! centred       = outputs − centre                        outputs [N, K], centre [K]
//! probabilities = softmax(centred / τ)                    each row: the targets of one picture
//! mean          = mean of the rows of the probabilities   [K]
//! entropy(p)    = −Σ_k p_k ln p_k                         from 0 (all on one) to ln K (even)
//!
//!                           entropy of the mean   mean of the entropies
//! all pictures on one output                  0                       0
//! all pictures even                        ln K                    ln K
//! each picture sure, all outputs in use    ln K                       0
//! ```
//! The centre is a moving average of the mean outputs ([`moved`]).
//!
//! ```
//! use explain::centre_and_sharpen::targets;
//! use ndarray::array;
//! let outputs = array![[3.0, 1.0], [2.0, 1.0]];
//! let found = targets(outputs.view(), array![2.5, 1.0].view(), 0.1)?;
//! assert!(found.probabilities[[0, 0]] > 0.99 && found.probabilities[[1, 1]] > 0.99);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Caron et al. 2021, "Emerging properties in self-supervised vision transformers", section 3.1,
//! equation 4, and section 5.3 with figure 7.

use engine::error::{EngineError, Result};
use engine::nn::softmax::{entropy, softmax_rows};
use engine::shape::expect;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

/// The targets of some pictures, and how they are spread.
#[derive(Debug, Clone, PartialEq)]
pub struct Targets {
    /// `[N, K]`: the outputs less the centre.
    pub centred: Array2<f32>,
    /// `[N, K]`: a row for each picture.
    pub probabilities: Array2<f32>,
    /// `[K]`: the mean over the pictures.
    pub mean: Array1<f32>,
    /// Entropy of the mean, in nats.
    pub entropy_of_mean: f32,
    /// Mean of the entropies of the rows, in nats.
    pub mean_entropy: f32,
}

/// The targets: outputs less a centre, divided by the temperature `tau`, through a softmax.
///
/// # Errors
/// When the centre has another length than the rows, there is no row, or the temperature is not above
/// 0.
pub fn targets(
    outputs: ArrayView2<'_, f32>,
    centre: ArrayView1<'_, f32>,
    tau: f32,
) -> Result<Targets> {
    // outputs [N, K], centre [K] -> centred, probabilities [N, K]
    expect("targets", "centre", &[outputs.ncols()], centre.shape())?;
    if tau.is_nan() || tau <= 0.0 {
        return Err(EngineError::value("targets", "temperature", "above 0", tau));
    }
    let centred = &outputs - &centre;
    let probabilities = softmax_rows((&centred / tau).view());
    let mean = probabilities.mean_axis(Axis(0));
    let mean = mean.ok_or_else(|| EngineError::value("targets", "rows", "at least 1", 0))?;
    let entropies: f32 = probabilities.rows().into_iter().map(entropy).sum();
    // Zero is added so that no entropy is minus zero.
    Ok(Targets {
        entropy_of_mean: entropy(mean.view()) + 0.0,
        mean_entropy: entropies / outputs.nrows() as f32 + 0.0,
        centred,
        probabilities,
        mean,
    })
}

/// The centre after outputs that were seen: a share `keep` of the old one, the rest from their mean.
///
/// # Errors
/// When the centre has another length than the rows, or there is no row.
pub fn moved(
    centre: ArrayView1<'_, f32>,
    outputs: ArrayView2<'_, f32>,
    keep: f32,
) -> Result<Array1<f32>> {
    // centre [K], outputs [N, K] -> [K]
    expect("moved", "centre", &[outputs.ncols()], centre.shape())?;
    let mean = outputs.mean_axis(Axis(0));
    let mean = mean.ok_or_else(|| EngineError::value("moved", "rows", "at least 1", 0))?;
    Ok(&centre * keep + &mean * (1.0 - keep))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// The table above: which collapse gives which pair of entropies.
    #[test]
    fn both_collapses_and_neither() {
        let pair = |outputs: Array2<f32>, tau: f32| {
            let centre = Array1::zeros(outputs.ncols());
            let found = targets(outputs.view(), centre.view(), tau).unwrap();
            (found.entropy_of_mean, found.mean_entropy)
        };
        let one = Array2::from_shape_fn((4, 4), |(_, k)| if k == 2 { 9.0 } else { 0.0 });
        let (of_mean, mean) = pair(one, 0.1);
        assert!(of_mean < 1e-6 && mean < 1e-6, "{of_mean} {mean}");
        assert!(of_mean.is_sign_positive() && mean.is_sign_positive());
        let even = 4.0_f32.ln();
        let (of_mean, mean) = pair(Array2::zeros((4, 4)), 0.1);
        assert!((of_mean - even).abs() < 1e-6 && (mean - even).abs() < 1e-6);
        let (of_mean, mean) = pair(Array2::eye(4) * 9.0, 0.1);
        assert!((of_mean - even).abs() < 1e-6 && mean < 1e-6);
    }

    #[test]
    fn the_centre_is_a_moving_average() {
        let found = moved(
            array![1.0, 0.0].view(),
            array![[3.0, 1.0], [5.0, 3.0]].view(),
            0.9,
        );
        let apart = found.unwrap() - array![1.3, 0.2];
        assert!(apart.iter().all(|x| x.abs() < 1e-6));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (rows, none) = (array![[1.0, 2.0]], Array2::zeros((0, 2)));
        assert!(targets(rows.view(), array![1.0].view(), 0.1).is_err());
        assert!(targets(rows.view(), array![1.0, 1.0].view(), 0.0).is_err());
        assert!(targets(none.view(), array![1.0, 1.0].view(), 0.1).is_err());
        assert!(moved(array![1.0].view(), rows.view(), 0.9).is_err());
        assert!(moved(array![1.0, 1.0].view(), none.view(), 0.9).is_err());
    }
}
