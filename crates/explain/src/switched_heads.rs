//! A model with some of its heads switched off: the loss of every token of a decoder, the class scores
//! of a Vision Transformer or a Swin V2.
//!
//! ```text
//! head h of layer n is number n H + h, from 0; in a Swin V2, whose stages have different numbers of
//! heads, the number counts through all blocks, and a head is off in every window
//! switched off: its output A_h V_h is zeros, so its rows of W_O add nothing to the stream
//! loss[t] = −ln p(token t+1 | tokens 0 … t)                                     [T − 1]
//! ```
//!
//! ```
//! use engine::model::gpt2::Config;
//! use explain::{small_decoder::small_decoder, switched_heads::token_losses};
//! let config = Config { vocabulary: 50, width: 16, heads: 2, layers: 2, inner: 64, context: 32, norm_eps: 1e-5 };
//! let model = small_decoder(&config, 7)?;
//! let whole = token_losses(&model, &[3, 1, 4, 1], &[])?;
//! assert_eq!(whole.len(), 3);
//! assert_ne!(whole, token_losses(&model, &[3, 1, 4, 1], &[3])?); // Without head 2 of layer 2.
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Michel, Levy and Neubig 2019, "Are sixteen heads really better than one?", section 2.3
//! (a head's output set to zero).

use engine::error::{EngineError, Result};
use engine::math;
use engine::model::decoder::{Decoder, DecoderExt};
use engine::model::swin::{Config as SwinConfig, Swin};
use engine::model::vit::Vit;
use engine::nn::softmax::softmax_rows;
use engine::trace::Observer;
use ndarray::{Array1, ArrayView3, ArrayViewD, ArrayViewMutD, Axis};

/// An observer that sets the outputs of some heads to zero.
struct Off<'a> {
    off: &'a [usize],
}

impl Observer for Off<'_> {
    fn observe(&mut self, _name: &str, _tensor: ArrayViewD<'_, f32>) {}

    fn change(&mut self, name: &str, mut tensor: ArrayViewMutD<'_, f32>) {
        // [H, T, D]
        let Some(layer) = layer_of(name) else {
            return;
        };
        let heads = tensor.len_of(Axis(0));
        for &number in self.off {
            if number.checked_div(heads) == Some(layer) {
                tensor.index_axis_mut(Axis(0), number % heads).fill(0.0);
            }
        }
    }
}

/// The layer whose heads' outputs an observer hears under this name.
fn layer_of(name: &str) -> Option<usize> {
    let number = name
        .strip_prefix("blocks.")?
        .strip_suffix(".attention.heads")?;
    number.parse().ok()
}

/// The loss of every token but the first, in nats, with the heads `off` switched off.
///
/// # Errors
/// When there are fewer than two tokens, the text is longer than the context, or an id is outside
/// the vocabulary.
pub fn token_losses(model: &dyn Decoder, ids: &[usize], off: &[usize]) -> Result<Array1<f32>> {
    // ids [T] -> [T − 1]
    let Some((_, read)) = ids.split_last().filter(|(_, read)| !read.is_empty()) else {
        return Err(EngineError::value(
            "token_losses",
            "tokens",
            "at least 2",
            ids.len(),
        ));
    };
    let logits = model.forward(read, Some(&mut Off { off }))?;
    let probabilities = softmax_rows(logits.view());
    let answers = ids.iter().skip(1).zip(probabilities.outer_iter());
    let losses = answers.map(|(&id, row)| {
        let p = row.get(id).copied().unwrap_or(0.0);
        // A probability that rounds to zero would make the loss infinite.
        -math::ln(p.max(f32::MIN_POSITIVE))
    });
    Ok(losses.collect())
}

/// The logits of the classes of a picture, with the heads `off` switched off.
///
/// # Errors
/// When the picture has not the model's channels, or is smaller than a patch.
pub fn class_logits(model: &Vit, image: ArrayView3<'_, f32>, off: &[usize]) -> Result<Array1<f32>> {
    // image [C_0, H, W] -> [classes]
    model.forward(image, Some(&mut Off { off }))
}

/// As [`class_logits`] of a Swin V2.
///
/// # Errors
/// When the picture is not `[3, image, image]`.
pub fn swin_logits(model: &Swin, image: ArrayView3<'_, f32>, off: &[usize]) -> Result<Array1<f32>> {
    // image [3, H, W] -> [classes]
    let config = model.config();
    model.forward(image, Some(&mut OffInWindows { off, config }))
}

/// An observer that sets the outputs of some heads to zero, in all windows.
struct OffInWindows<'a> {
    off: &'a [usize],
    config: &'a SwinConfig,
}

impl Observer for OffInWindows<'_> {
    fn observe(&mut self, _name: &str, _tensor: ArrayViewD<'_, f32>) {}

    fn change(&mut self, name: &str, mut tensor: ArrayViewMutD<'_, f32>) {
        // [N·H, M·M, D], the heads of a window one after the other
        let Some((first, heads)) = heads_of(name, self.config) else {
            return;
        };
        for number in self.off {
            let head = number.checked_sub(first).filter(|&head| head < heads);
            let Some(head) = head else { continue };
            let of_windows = tensor.axis_iter_mut(Axis(0)).skip(head).step_by(heads);
            for mut output in of_windows {
                output.fill(0.0);
            }
        }
    }
}

/// The number of the first head of the block whose heads' outputs an observer hears under this name, and
/// how many heads it has.
fn heads_of(name: &str, config: &SwinConfig) -> Option<(usize, usize)> {
    let block = name.strip_suffix(".attention.heads")?;
    let (stage, block) = block.strip_prefix("stages.")?.split_once(".blocks.")?;
    let (stage, block) = (stage.parse::<usize>().ok()?, block.parse::<usize>().ok()?);
    let heads = *config.heads.get(stage)?;
    let before = config.depths.iter().zip(&config.heads).take(stage);
    let before: usize = before.map(|(depth, heads)| depth * heads).sum();
    Some((before + block * heads, heads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small_decoder::small_decoder;
    use crate::small_swin::{parameters, small_swin};
    use engine::formula::{Formula, image};
    use engine::model::gpt2::{Config, Gpt2};
    use engine::model::vit::{self, Pooling};
    use engine::parameters::Parameters;
    use engine::trainable::Trainable;

    /// A ViT of two layers with two heads of width 4.
    fn vit(off: Option<(usize, usize)>) -> Vit {
        let config = vit::Config {
            width: 8,
            heads: 2,
            layers: 2,
            inner: 16,
            channels: 3,
            patch: 4,
            image: 8,
            classes: 5,
            norm_eps: 1e-6,
            pooling: Pooling::Class,
            positions: true,
        };
        let mut source = Formula::new(0, config.shapes());
        let mut model = Vit::load(config, &mut source).unwrap();
        // What the head writes is its four columns of the matrix that follows.
        model
            .parameters(&mut |parameter| {
                if let Some((layer, head)) = off
                    && parameter.name == format!("blocks.{layer}.attn.proj.weight")
                {
                    for row in parameter.values.chunks_mut(8) {
                        row[4 * head..4 * head + 4].fill(0.0);
                    }
                }
                Ok(())
            })
            .unwrap();
        model
    }

    fn model() -> Gpt2 {
        let config = Config {
            vocabulary: 40,
            width: 16,
            heads: 2,
            layers: 3,
            inner: 32,
            context: 16,
            norm_eps: 1e-5,
        };
        small_decoder(&config, 5).unwrap()
    }

    /// With all heads on, the losses are those of the model itself.
    #[test]
    fn with_all_heads_on_it_is_the_model() {
        let ids = [1, 2, 3, 4, 5];
        let logits = model().forward(&ids[..4], None).unwrap();
        let p = softmax_rows(logits.view());
        let found = token_losses(&model(), &ids, &[]).unwrap();
        for t in 0..4 {
            let expected = -math::ln(p[[t, ids[t + 1]]]);
            assert!((found[t] - expected).abs() < 1e-4, "{t}");
        }
    }

    /// With all heads off, tokens pass nothing on: a prediction depends on its own token alone.
    #[test]
    fn with_all_heads_off_only_the_own_token_counts() {
        let all: Vec<usize> = (0..6).collect();
        let first = token_losses(&model(), &[1, 2, 3, 4], &all).unwrap();
        let other = token_losses(&model(), &[9, 8, 3, 4], &all).unwrap();
        assert_eq!(first[2], other[2]);
        let whole = token_losses(&model(), &[1, 2, 3, 4], &[]).unwrap();
        assert_ne!(first[2], whole[2]);
    }

    /// A head that is off is one whose part of W_O is zero.
    #[test]
    fn a_vit_without_a_head_is_one_whose_head_writes_zeros() {
        let picture = image(8, 2);
        let whole = vit(None);
        let own = whole.forward(picture.view(), None).unwrap();
        assert_eq!(class_logits(&whole, picture.view(), &[]).unwrap(), own);
        for number in 0..4 {
            let found = class_logits(&whole, picture.view(), &[number]).unwrap();
            let other = vit(Some((number / 2, number % 2)));
            let other = other.forward(picture.view(), None).unwrap();
            assert!((&found - &other).iter().all(|d| d.abs() < 1e-6), "{number}");
            assert!((&found - &own).iter().any(|d| d.abs() > 1e-4), "{number}");
        }
    }

    /// The same in a Swin V2, whose second stage has more heads than the first.
    #[test]
    fn a_swin_without_a_head_is_one_whose_head_writes_zeros() {
        let config = SwinConfig {
            width: 8,
            depths: vec![1, 2],
            heads: vec![2, 4],
            window: 2,
            trained_windows: Vec::new(),
            patch: 2,
            image: 16,
            classes: 3,
            inner_ratio: 2,
            norm_eps: 1e-5,
        };
        let picture = image(16, 1);
        let whole = small_swin(&config, 7).unwrap();
        let own = whole.forward(picture.view(), None).unwrap();
        assert_eq!(swin_logits(&whole, picture.view(), &[]).unwrap(), own);
        // Head 1 of the only block of stage 1, head 3 of the last block: both write 4 columns of the matrix
        // that follows.
        for (number, stage, block, columns) in [(1, 0, 0, 4..8), (9, 1, 1, 12..16)] {
            let found = swin_logits(&whole, picture.view(), &[number]).unwrap();
            let mut changed = parameters(&config, 7).unwrap();
            let block = format!("swinv2.encoder.layers.{stage}.blocks.{block}");
            let name = format!("{block}.attention.output.dense.weight");
            let mut weight = changed.read(&name).unwrap();
            for column in columns {
                weight.index_axis_mut(Axis(1), column).fill(0.0);
            }
            changed.insert(name, weight);
            let other = Swin::load(config.clone(), &mut changed).unwrap();
            let other = other.forward(picture.view(), None).unwrap();
            assert!((&found - &other).iter().all(|d| d.abs() < 1e-5), "{number}");
            assert!((&found - &own).iter().any(|d| d.abs() > 1e-5), "{number}");
        }
        // Heads count through the blocks: 2, then 4 and 4.
        let of = |name: &str| heads_of(name, &config);
        assert_eq!(of("stages.0.blocks.0.attention.heads"), Some((0, 2)));
        assert_eq!(of("stages.1.blocks.1.attention.heads"), Some((6, 4)));
        assert_eq!(of("stages.1.blocks.1.attention.weights"), None);
    }

    #[test]
    fn one_token_has_no_loss() {
        assert!(token_losses(&model(), &[1], &[]).is_err());
        assert!(token_losses(&model(), &[], &[]).is_err());
    }
}
