//! The logit lens on a Vision Transformer: what it would answer if its later blocks added nothing.
//!
//! ```text
//! p_ℓ = softmax(norm(z_ℓ)_0 · W_headᵀ + b)      ℓ = 0 … L: after the embedding, and after each block
//! ```
//! The answer is read off the vector that the classifier reads: the class token's, or the mean over the
//! patches. The last row is the model's own answer.
//!
//! ```
//! use engine::formula::{Formula, image};
//! use engine::model::vit::{Config, Pooling, Vit};
//! use explain::class_lens::class_lens;
//! let config = Config {
//!     width: 8, heads: 2, layers: 2, inner: 16, channels: 3, patch: 4, image: 8, classes: 5, norm_eps: 1e-6,
//!     pooling: Pooling::Class, positions: true,
//! };
//! let model = Vit::load(config.clone(), &mut Formula::new(0, config.shapes()))?;
//! let found = class_lens(&model, image(8, 0).view())?;
//! assert_eq!(found.dim(), (3, 5));
//! // No block has run in the first row, so the class token has seen nothing of the picture.
//! assert_eq!(found.row(0), class_lens(&model, image(8, 1).view())?.row(0));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: nostalgebraist 2020, "interpreting GPT: the logit lens", there of a decoder.

use engine::error::{EngineError, Result};
use engine::model::vit::Vit;
use engine::nn::softmax::softmax;
use engine::trace::Observer;
use ndarray::{Array2, ArrayView3, ArrayViewD, Ix2};

/// An observer that keeps the residual stream after the embedding and after each block.
#[derive(Default)]
struct Streams(Vec<Array2<f32>>);

impl Observer for Streams {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        // tensor [1 + N, C]
        let mut parts = name.split('.');
        let is_output = parts.next() == Some("blocks") && parts.nth(1) == Some("output");
        if (name == "input" || is_output && parts.next().is_none())
            && let Ok(stream) = tensor.into_dimensionality::<Ix2>()
        {
            self.0.push(stream.to_owned());
        }
    }
}

/// The probabilities of the classes at each depth. The model runs once.
///
/// # Errors
/// When the picture has not the model's channels, or is smaller than a patch.
pub fn class_lens(model: &Vit, image: ArrayView3<'_, f32>) -> Result<Array2<f32>> {
    // image [C_0, H, W] -> [L + 1, classes]
    let mut streams = Streams::default();
    model.hidden(image, &mut Some(&mut streams))?;
    let depths = model.config().layers + 1;
    if streams.0.len() != depths {
        let found = streams.0.len().to_string();
        return Err(EngineError::shape(
            "class_lens",
            format!("{depths} streams"),
            found,
        ));
    }
    let mut found = Array2::zeros((depths, model.config().classes));
    for (stream, mut row) in streams.0.iter().zip(found.outer_iter_mut()) {
        row.assign(&softmax(model.read_off(stream.view())?.view()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sub_layers::Switched;
    use engine::formula::{Formula, image};
    use engine::model::vit::{Config, Pooling};
    use ndarray::{Axis, Slice};

    /// Each row is a distribution, and the last is the model's.
    #[test]
    fn the_last_row_is_the_model() {
        let config = Config {
            width: 16,
            heads: 2,
            layers: 3,
            inner: 32,
            channels: 1,
            patch: 4,
            image: 12,
            classes: 4,
            norm_eps: 1e-6,
            pooling: Pooling::Class,
            positions: true,
        };
        let mut source = Formula::new(0, config.shapes());
        let model = Vit::load(config, &mut source).unwrap();
        let picture = image(12, 3);
        let grey = picture.slice_axis(Axis(0), Slice::from(..1));
        let found = class_lens(&model, grey).unwrap();
        let own = softmax(model.forward(grey, None).unwrap().view());
        let apart = (&found.row(3) - &own).mapv(f32::abs);
        assert!(apart.iter().all(|&apart| apart < 1e-5));
        for row in found.outer_iter() {
            assert!((row.sum() - 1.0).abs() < 1e-5);
        }
        assert_ne!(found.row(0), found.row(1));
        // A row is what the model answers when the sub-layers after it write nothing.
        for depth in 0..3 {
            let later: Vec<usize> = (2 * depth..6).collect();
            let cut = model.forward(grey, Some(&mut Switched::new(&later)));
            assert_eq!(found.row(depth), softmax(cut.unwrap().view()));
        }
    }
}
