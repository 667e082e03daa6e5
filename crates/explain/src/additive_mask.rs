//! Masks as numbers that are added to the scores, before or after the scale.
//!
//! ```text
//! additive(visible, p)[t, s] = 0 where visible, p elsewhere          visible [T, S] -> [T, S]
//! scale, then mask:  scale · s + m                                   s, m [T, S]    -> [T, S]
//! mask, then scale:  scale · (s + m) = scale · s + scale · m         s, m [T, S]    -> [T, S]
//! ```
//!
//! With m made of 0 and −∞ both orders give the same, since scale · 0 = 0 and scale · −∞ = −∞. With
//! a finite penalty they do not.
//!
//! ```
//! use explain::additive_mask::{additive, mask_then_scale, scale_then_mask};
//! use ndarray::array;
//! let scores = array![[8.0, 24.0]];
//! let hidden = additive(array![[true, false]].view(), f32::NEG_INFINITY);
//! let after = scale_then_mask(scores.view(), hidden.view(), 0.125)?;
//! assert_eq!(after, array![[1.0, f32::NEG_INFINITY]]);
//! assert_eq!(after, mask_then_scale(scores.view(), hidden.view(), 0.125)?);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.2.3 ("setting to −∞"); Devlin et al. 2019, the code
//! released with BERT (`modeling.py`, `attention_layer`), which adds −10,000.

use engine::error::Result;
use engine::nn::attention::{Mask, apply_mask};
use ndarray::{Array2, ArrayView2};

/// 0 where a pair is visible, `penalty` where it is hidden.
pub fn additive(visible: ArrayView2<'_, bool>, penalty: f32) -> Array2<f32> {
    // visible [T, S] -> [T, S]
    visible.mapv(|see| if see { 0.0 } else { penalty })
}

/// scale · scores + mask: the mask is added to scaled scores.
///
/// # Errors
/// When the mask has another shape than the scores.
pub fn scale_then_mask(
    scores: ArrayView2<'_, f32>,
    mask: ArrayView2<'_, f32>,
    scale: f32,
) -> Result<Array2<f32>> {
    // scores [T, S], mask [T, S] -> [T, S]
    let scaled = scores.mapv(|s| s * scale);
    apply_mask(scaled.view(), &Mask::Additive(mask.to_owned()), 0)
}

/// scale · (scores + mask): the mask is added first and scaled with the scores.
///
/// # Errors
/// When the mask has another shape than the scores.
pub fn mask_then_scale(
    scores: ArrayView2<'_, f32>,
    mask: ArrayView2<'_, f32>,
    scale: f32,
) -> Result<Array2<f32>> {
    // scores [T, S], mask [T, S] -> [T, S]
    let masked = apply_mask(scores, &Mask::Additive(mask.to_owned()), 0)?;
    Ok(masked.mapv_into(|s| s * scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::nn::mask::causal;
    use engine::nn::softmax::softmax_rows;
    use ndarray::array;

    #[test]
    fn the_order_matters_for_a_finite_penalty_only() {
        let scores = array![[1.0, 2.0], [3.0, 4.0]];
        let visible = causal(2);
        for (penalty, same) in [(f32::NEG_INFINITY, true), (-100.0, false)] {
            let mask = additive(visible.view(), penalty);
            let after = scale_then_mask(scores.view(), mask.view(), 0.125).unwrap();
            let before = mask_then_scale(scores.view(), mask.view(), 0.125).unwrap();
            assert_eq!(after == before, same, "{penalty}");
        }
    }

    #[test]
    fn a_hidden_row_is_empty_with_infinity_and_full_with_a_number() {
        let (scores, visible) = (array![[1.0, 2.0]], array![[false, false]]);
        let infinite = additive(visible.view(), f32::NEG_INFINITY);
        let rows = scale_then_mask(scores.view(), infinite.view(), 1.0).unwrap();
        assert_eq!(softmax_rows(rows.view()), array![[0.0, 0.0]]);
        let finite = additive(visible.view(), -10_000.0);
        let rows = scale_then_mask(scores.view(), finite.view(), 1.0).unwrap();
        let (with, without) = (softmax_rows(rows.view()), softmax_rows(scores.view()));
        assert!((with[[0, 1]] - without[[0, 1]]).abs() < 1e-3);
    }

    #[test]
    fn shapes_must_agree() {
        let (scores, mask) = (array![[1.0, 2.0]], array![[0.0]]);
        assert!(scale_then_mask(scores.view(), mask.view(), 1.0).is_err());
        assert!(mask_then_scale(scores.view(), mask.view(), 1.0).is_err());
    }
}
