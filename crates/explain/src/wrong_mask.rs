//! A decoder whose causal mask has a mistake: what the leak test has to find.
//!
//! ```text
//! no mask:         scores as they are                                  scores [T, S], scaled
//! one too far:     −∞ where s > t + 1, instead of s > t
//! transposed:      −∞ where s < t
//! after softmax:   weights 0 where s > t; the rows sum to less than 1  weights [T, S]
//! before scaling:  scale · (q · k + p) where s > t, with a finite p    scale = 1/√D
//! ```
//! An observer makes the mistake in each layer and head of the model, which has no mask of its own.
//!
//! ```
//! use explain::small_decoder::small_decoder;
//! use explain::wrong_mask::{Mistake, forward};
//! use engine::model::gpt2::Config;
//! let config = Config { vocabulary: 50, width: 16, heads: 2, layers: 2, inner: 64, context: 32, norm_eps: 1e-5 };
//! let model = small_decoder(&config, 7)?;
//! let before = forward(&model, &[3, 1, 4, 1, 5], Mistake::OneTooFar)?;
//! let after = forward(&model, &[3, 1, 4, 1, 9], Mistake::OneTooFar)?;
//! assert_eq!(before.row(1), after.row(1)); // Two layers, so token 4 reaches two rows back.
//! assert_ne!(before.row(2), after.row(2));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.2.3, for the mask without a mistake.

use engine::error::Result;
use engine::model::decoder::DecoderExt;
use engine::model::gpt2::Gpt2;
use engine::nn::attention::scale;
use engine::nn::parts::Parts;
use engine::trace::Observer;
use ndarray::{Array2, ArrayViewD, ArrayViewMutD, Ix3};

/// A mistake in the causal mask.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mistake {
    /// There is no mask.
    NoMask,
    /// The diagonal above the main one is open: each token sees the next one.
    OneTooFar,
    /// Each token sees itself and later tokens.
    Transposed,
    /// The hidden weights become zero after the softmax, which has counted their scores.
    AfterSoftmax,
    /// This finite number is added to the hidden scores before they are scaled.
    BeforeScaling(f32),
}

/// The logits of one text by the model with this mistake in every layer.
///
/// # Errors
/// When the text is longer than the context, or an id is outside the vocabulary.
pub fn forward(model: &Gpt2, ids: &[usize], mistake: Mistake) -> Result<Array2<f32>> {
    // ids [T] -> [T, V]
    let head_width = model.config().width / model.config().heads;
    let model = model.with_parts(Parts {
        mask: false,
        ..Parts::default()
    });
    let mut mask = WrongMask {
        mistake,
        scale: scale(head_width),
    };
    model.forward(ids, Some(&mut mask))
}

/// Makes the mistake in the scores or weights of each layer.
struct WrongMask {
    mistake: Mistake,
    scale: f32,
}

impl Observer for WrongMask {
    fn observe(&mut self, _name: &str, _tensor: ArrayViewD<'_, f32>) {}

    fn change(&mut self, name: &str, tensor: ArrayViewMutD<'_, f32>) {
        let step = match self.mistake {
            Mistake::AfterSoftmax => "attention.weights",
            _ => "attention.scores",
        };
        let Ok(mut all) = tensor.into_dimensionality::<Ix3>() else {
            return;
        };
        if !name.ends_with(step) {
            return;
        }
        for ((_, t, s), value) in all.indexed_iter_mut() {
            match self.mistake {
                Mistake::OneTooFar if s > t + 1 => *value = f32::NEG_INFINITY,
                Mistake::Transposed if s < t => *value = f32::NEG_INFINITY,
                Mistake::AfterSoftmax if s > t => *value = 0.0,
                Mistake::BeforeScaling(penalty) if s > t => *value += self.scale * penalty,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small_decoder::small_decoder;
    use engine::model::gpt2::Config;

    const LAYERS: usize = 2;

    fn model() -> Gpt2 {
        let config = Config {
            vocabulary: 50,
            width: 16,
            heads: 2,
            layers: LAYERS,
            inner: 64,
            context: 8,
            norm_eps: 1e-5,
        };
        small_decoder(&config, 7).unwrap()
    }

    /// The rows whose logits change in any bit when token `place` of six changes.
    fn changed(mistake: Mistake, place: usize) -> Vec<usize> {
        let (model, mut ids) = (model(), [3, 1, 4, 1, 5, 9]);
        let before = forward(&model, &ids, mistake).unwrap();
        ids[place] = 2;
        let after = forward(&model, &ids, mistake).unwrap();
        (0..ids.len())
            .filter(|&t| before.row(t) != after.row(t))
            .collect()
    }

    #[test]
    fn each_mistake_leaks_in_its_own_way() {
        assert_eq!(changed(Mistake::NoMask, 4), [0, 1, 2, 3, 4, 5]);
        // One row further back in each layer.
        assert_eq!(changed(Mistake::OneTooFar, 4), [4 - LAYERS, 3, 4, 5]);
        assert_eq!(changed(Mistake::Transposed, 4), [0, 1, 2, 3, 4]);
        assert_eq!(changed(Mistake::AfterSoftmax, 4), [0, 1, 2, 3, 4, 5]);
        assert_eq!(
            changed(Mistake::BeforeScaling(-20.0), 4),
            [0, 1, 2, 3, 4, 5]
        );
    }

    /// A penalty so large that its exponential is zero is a mask without a mistake, to the last bit.
    #[test]
    fn a_large_penalty_hides_as_well_as_infinity() {
        let (model, ids) = (model(), [3, 1, 4, 1, 5, 9]);
        let right = model.forward(&ids, Some(&mut engine::trace::Recorder::default()));
        for penalty in [-10_000.0, f32::NEG_INFINITY] {
            let found = forward(&model, &ids, Mistake::BeforeScaling(penalty)).unwrap();
            assert_eq!(found, right.as_ref().unwrap(), "{penalty}");
        }
        let finite = forward(&model, &ids, Mistake::BeforeScaling(-20.0)).unwrap();
        assert_ne!(finite, right.unwrap());
    }

    #[test]
    fn a_text_that_does_not_fit_is_refused() {
        assert!(forward(&model(), &[1; 9], Mistake::Transposed).is_err());
        assert!(forward(&model(), &[50], Mistake::OneTooFar).is_err());
    }
}
