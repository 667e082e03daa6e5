//! The logit lens on a Vision Transformer: what it would answer if its later blocks added nothing.
//!
//! ```text
//! p_ℓ,t = softmax(norm(z_ℓ)_t · W_headᵀ + b)      ℓ = 0 … L: after the embedding, and after each block
//! ```
//! The model's answer is read off one vector, the class token's or the mean over the patches: the last row
//! is its own answer. The same norm and head can be applied to any token. They were trained on that one
//! vector only, so what they say of a patch is a reading of its vector in the terms of the classes, and no
//! answer that the model was trained to give.
//!
//! ```
//! use engine::formula::{Formula, image};
//! use engine::model::vit::{Config, Pooling, Vit};
//! use explain::class_lens::{Streams, patch_lens, token_lens};
//! let config = Config {
//!     width: 8, heads: 2, layers: 2, inner: 16, channels: 3, patch: 4, image: 8, classes: 5, norm_eps: 1e-6,
//!     pooling: Pooling::Class, positions: true,
//! };
//! let model = Vit::load(config.clone(), &mut Formula::new(0, config.shapes()))?;
//! let (one, other) = (Streams::of(&model, image(8, 0).view())?, Streams::of(&model, image(8, 1).view())?);
//! let found = token_lens(&model, &one, None)?;
//! assert_eq!(found.dim(), (3, 5));
//! // No block has run in the first row, so the class token has seen nothing of the picture.
//! assert_eq!(found.row(0), token_lens(&model, &other, None)?.row(0));
//! let (classes, probabilities) = patch_lens(&model, &one, 2)?;
//! assert_eq!((classes.len(), probabilities.len()), (4, 4));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: nostalgebraist 2020, "interpreting GPT: the logit lens", there of a decoder.

use engine::error::{EngineError, Result};
use engine::model::swin::Swin;
use engine::model::vit::Vit;
use engine::nn::softmax::{softmax, softmax_rows, top_indices};
use engine::trace::Observer;
use ndarray::{Array1, Array2, ArrayView2, ArrayView3, ArrayViewD, Axis, Ix2, Slice};

/// Patches whose logits are in memory at once.
const ROWS: usize = 64;

/// A classifier of pictures, whose last norm and head can be applied to any of its tokens.
pub trait ReadsTokens {
    /// The number of classes.
    fn classes(&self) -> usize;

    /// The number of tokens before those of the patches.
    fn before(&self) -> usize;

    /// The logits if later blocks added nothing, `[classes]`.
    ///
    /// # Errors
    /// When the stream has not the model's width.
    fn read_off(&self, stream: ArrayView2<'_, f32>) -> Result<Array1<f32>>;

    /// The logits that each token gives by itself, `[T, classes]`.
    ///
    /// # Errors
    /// When the stream has not the model's width.
    fn read_off_rows(&self, stream: ArrayView2<'_, f32>) -> Result<Array2<f32>>;
}

impl ReadsTokens for Vit {
    fn classes(&self) -> usize {
        self.config().classes
    }

    fn before(&self) -> usize {
        usize::from(self.has_class_token())
    }

    fn read_off(&self, stream: ArrayView2<'_, f32>) -> Result<Array1<f32>> {
        self.read_off(stream)
    }

    fn read_off_rows(&self, stream: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        self.read_off_rows(stream)
    }
}

/// Read in its last stage: the vectors of the stages before are narrower than those that the classifier
/// reads.
impl ReadsTokens for Swin {
    fn classes(&self) -> usize {
        self.config().classes
    }

    fn before(&self) -> usize {
        0
    }

    fn read_off(&self, stream: ArrayView2<'_, f32>) -> Result<Array1<f32>> {
        self.read_off(stream)
    }

    fn read_off_rows(&self, stream: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        self.read_off_rows(stream)
    }
}

/// The residual stream of a picture after the embedding and after each block, `[T, C]` each.
#[derive(Debug, Default)]
pub struct Streams(Vec<Array2<f32>>);

impl Observer for Streams {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        // tensor [T, C]
        let mut parts = name.split('.');
        let is_output = parts.next() == Some("blocks") && parts.nth(1) == Some("output");
        if (name == "input" || is_output && parts.next().is_none())
            && let Ok(stream) = tensor.into_dimensionality::<Ix2>()
        {
            self.0.push(stream.to_owned());
        }
    }
}

/// The tokens of the stage that runs, before its first block and after each one.
#[derive(Default)]
struct LastStage(Vec<Array2<f32>>);

impl Observer for LastStage {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        // tensor [T, C of the stage]
        let begins = name == "input" || name.ends_with(".merge.output");
        // `stages.S.blocks.N.output`; parts of a block have longer names.
        let is_block = name.split('.').count() == 5 && name.ends_with(".output");
        if (begins || is_block)
            && let Ok(stream) = tensor.into_dimensionality::<Ix2>()
        {
            if begins {
                self.0.clear();
            }
            self.0.push(stream.to_owned());
        }
    }
}

impl Streams {
    /// Runs a model on a picture, once.
    ///
    /// # Errors
    /// When the picture has not the model's channels, or is smaller than a patch.
    pub fn of(model: &Vit, image: ArrayView3<'_, f32>) -> Result<Self> {
        // image [C_0, H, W]
        let mut streams = Self::default();
        model.hidden(image, &mut Some(&mut streams))?;
        let depths = model.config().layers + 1;
        if streams.0.len() != depths {
            let found = streams.0.len().to_string();
            let expected = format!("{depths} streams");
            return Err(EngineError::shape("class_lens", expected, found));
        }
        Ok(streams)
    }

    /// Runs a Swin V2 on a picture, once: the tokens of its last stage, before its first block and after
    /// each one.
    ///
    /// # Errors
    /// When the picture has another size.
    pub fn of_last_stage(model: &Swin, image: ArrayView3<'_, f32>) -> Result<Self> {
        // image [3, H, W]
        let mut seen = LastStage::default();
        model.forward(image, Some(&mut seen))?;
        Ok(Self(seen.0))
    }

    /// The number of blocks, L.
    pub fn blocks(&self) -> usize {
        self.0.len().saturating_sub(1)
    }
}

/// The probabilities of the classes after the embedding and after each block, `[L + 1, classes]`: read off
/// the token with this number, or, where it is `None`, off what the classifier reads.
///
/// # Errors
/// When there is no such token.
pub fn token_lens(
    model: &impl ReadsTokens,
    streams: &Streams,
    token: Option<usize>,
) -> Result<Array2<f32>> {
    // streams [L + 1][T, C] -> [L + 1, classes]
    let mut found = Array2::zeros((streams.0.len(), model.classes()));
    for (stream, mut row) in streams.0.iter().zip(found.outer_iter_mut()) {
        let Some(token) = token else {
            row.assign(&softmax(model.read_off(stream.view())?.view()));
            continue;
        };
        if token >= stream.nrows() {
            let most = format!("less than {}", stream.nrows());
            return Err(EngineError::value("token_lens", "token", most, token));
        }
        let own = stream.slice_axis(Axis(0), Slice::from(token..=token));
        row.assign(&softmax(model.read_off_rows(own)?.row(0)));
    }
    Ok(found)
}

/// The most likely class of each patch after so many blocks, and its probability.
///
/// # Errors
/// When the model has not so many blocks.
pub fn patch_lens(
    model: &impl ReadsTokens,
    streams: &Streams,
    blocks: usize,
) -> Result<(Vec<usize>, Vec<f32>)> {
    // streams [L + 1][T, C] -> [N], [N]
    let Some(stream) = streams.0.get(blocks) else {
        let most = format!("at most {}", streams.blocks());
        return Err(EngineError::value("patch_lens", "blocks", most, blocks));
    };
    let patches = stream.slice_axis(Axis(0), Slice::from(model.before()..));
    let (mut classes, mut probabilities) = (Vec::new(), Vec::new());
    for rows in patches.axis_chunks_iter(Axis(0), ROWS) {
        let logits = model.read_off_rows(rows)?;
        for row in softmax_rows(logits.view()).outer_iter() {
            let class = top_indices(row, 1).first().copied().unwrap_or_default();
            classes.push(class);
            probabilities.push(row.get(class).copied().unwrap_or_default());
        }
    }
    Ok((classes, probabilities))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sub_layers::Switched;
    use engine::formula::{Formula, image};
    use engine::model::swin;
    use engine::model::vit::{Config, Pooling};
    use ndarray::Array3;

    /// A model of three blocks on 3 × 3 patches, and a grey picture.
    fn small(pooling: Pooling) -> (Vit, Array3<f32>) {
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
            pooling,
            positions: true,
        };
        let shapes = match pooling {
            Pooling::Class => config.shapes(),
            Pooling::Mean => config.shapes_of_patches(),
        };
        let model = Vit::load(config, &mut Formula::new(0, shapes)).unwrap();
        let picture = image(12, 3);
        let grey = picture.slice_axis(Axis(0), Slice::from(..1)).to_owned();
        (model, grey)
    }

    /// Each row is a distribution, and the last is the model's.
    #[test]
    fn the_last_row_is_the_model() {
        let (model, grey) = small(Pooling::Class);
        let streams = Streams::of(&model, grey.view()).unwrap();
        assert_eq!(streams.blocks(), 3);
        let found = token_lens(&model, &streams, None).unwrap();
        let own = softmax(model.forward(grey.view(), None).unwrap().view());
        let apart = (&found.row(3) - &own).mapv(f32::abs);
        assert!(apart.iter().all(|&apart| apart < 1e-5));
        for row in found.outer_iter() {
            assert!((row.sum() - 1.0).abs() < 1e-5);
        }
        assert_ne!(found.row(0), found.row(1));
        // A row is what the model answers when the sub-layers after it write nothing.
        for depth in 0..3 {
            let later: Vec<usize> = (2 * depth..6).collect();
            let cut = model.forward(grey.view(), Some(&mut Switched::new(&later)));
            assert_eq!(found.row(depth), softmax(cut.unwrap().view()));
        }
        // The classifier reads the class token, which is the first.
        assert_eq!(found, token_lens(&model, &streams, Some(0)).unwrap());
    }

    /// A patch is read by the norm and the head, and the map of all patches agrees with each.
    #[test]
    fn a_patch_is_read_by_norm_and_head() {
        for pooling in [Pooling::Class, Pooling::Mean] {
            let (model, grey) = small(pooling);
            let streams = Streams::of(&model, grey.view()).unwrap();
            let hidden = model.hidden(grey.view(), &mut None).unwrap();
            let first = usize::from(model.has_class_token());
            for blocks in 0..=3 {
                let (classes, probabilities) = patch_lens(&model, &streams, blocks).unwrap();
                assert_eq!((classes.len(), probabilities.len()), (9, 9));
                for patch in 0..9 {
                    let of = token_lens(&model, &streams, Some(first + patch)).unwrap();
                    let row = of.row(blocks);
                    let highest = row.iter().fold(0.0, |most: f32, &p| most.max(p));
                    assert!((row[classes[patch]] - highest).abs() < 1e-5);
                    assert!((probabilities[patch] - highest).abs() < 1e-5);
                }
            }
            // After the last block the hidden state is the norm of the stream: only the head is left. Its
            // logits of one row are those of a picture of this one token.
            let of = token_lens(&model, &streams, Some(first + 4)).unwrap();
            let one = hidden.slice_axis(Axis(0), Slice::from(first + 4..first + 5));
            let compute = &mut engine::nn::plain::Plain::silent();
            let (rows, length) = (one.to_owned(), [1]);
            // Without a class token, the mean leaves no token out.
            let logits = model.run_logits(compute, &rows, &length).unwrap();
            let own = softmax(logits.row(0));
            let apart = (&of.row(3) - &own).mapv(f32::abs);
            assert!(apart.iter().all(|&apart| apart < 1e-5));
        }
    }

    /// A Swin V2 is read in its last stage: the last row is its answer, and the mean of the logits of its
    /// tokens is the logits of their mean, for the classifier is linear.
    #[test]
    fn windows_are_read_in_the_last_stage() {
        let config = swin::Config {
            width: 8,
            depths: vec![2, 3],
            heads: vec![1, 2],
            window: 4,
            trained_windows: Vec::new(),
            patch: 2,
            image: 32,
            classes: 5,
            inner_ratio: 2,
            norm_eps: 1e-5,
        };
        let model = crate::small_swin::small_swin(&config, 3).unwrap();
        let picture = image(32, 1);
        let streams = Streams::of_last_stage(&model, picture.view()).unwrap();
        assert_eq!(streams.blocks(), 3);
        let found = token_lens(&model, &streams, None).unwrap();
        let own = softmax(model.forward(picture.view(), None).unwrap().view());
        assert_eq!(found.row(3), own);
        assert_ne!(found.row(2), found.row(3));
        for blocks in 0..=3 {
            let rows = model.read_off_rows(streams.0[blocks].view()).unwrap();
            assert_eq!(rows.dim(), (64, 5));
            let mean = softmax(rows.mean_axis(Axis(0)).unwrap().view());
            let apart = (&mean - &found.row(blocks)).mapv(f32::abs);
            assert!(apart.iter().all(|&apart| apart < 1e-5));
            let (classes, _) = patch_lens(&model, &streams, blocks).unwrap();
            let of_one = token_lens(&model, &streams, Some(9)).unwrap();
            assert_eq!(top_indices(of_one.row(blocks), 1), [classes[9]]);
        }
        assert!(patch_lens(&model, &streams, 4).is_err());
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let (model, grey) = small(Pooling::Class);
        let streams = Streams::of(&model, grey.view()).unwrap();
        let why = token_lens(&model, &streams, Some(10)).unwrap_err();
        assert!(why.to_string().contains("less than 10"), "{why}");
        let why = patch_lens(&model, &streams, 4).unwrap_err();
        assert!(why.to_string().contains("at most 3"), "{why}");
    }
}
