//! ViT: an encoder over the patches of a picture.
//!
//! ```text
//! x = [class; patches · Wᵀ + b] + positions       image [C_0, H, W], already normalised -> [1 + N, C]
//! x = block_n(x), n = 0 …                         pre-norm                            -> [1 + N, C]
//! logits = norm(x)_0 · W_headᵀ + b                or the mean over the patches        -> [classes]
//! ```
//!
//! ```
//! use engine::model::vit::{Config, Pooling, Vit};
//! use engine::{formula::{Formula, image}, trace::Recorder};
//! let config = Config {
//!     width: 8, heads: 2, layers: 2, inner: 16, channels: 3, patch: 4, image: 8, classes: 5, norm_eps: 1e-6,
//!     pooling: Pooling::Class, positions: true,
//! };
//! let model = Vit::load(config.clone(), &mut Formula::new(0, config.shapes()))?;
//! let mut recorder = Recorder::default();
//! let logits = model.forward(image(8, 0).view(), Some(&mut recorder))?;
//! assert_eq!(logits.len(), 5);
//! assert_eq!(recorder.get("blocks.1.attention.weights").map(|w| w.shape().to_vec()), Some(vec![2, 5, 5]));
//! assert_eq!(model.forward(image(16, 0).view(), None)?.len(), 5); // Positions are stretched to 4 x 4 patches.
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Dosovitskiy et al. 2021, "An image is worth 16x16 words", section 3.1, equations 1 to 4.
//! Names of parameters: see `vit_blocks.rs`; `vit.` before them or not, head `classifier` or
//! `head`.

use super::config::{self, Lookup};
use super::names::{Shapes, known, prefix};
use super::vit_blocks::{Encoder, Sizes};
use crate::error::Result;
use crate::nn::compute::Compute;
use crate::nn::norm::{LayerNorm, Norm};
use crate::nn::packed::ranges;
use crate::nn::picture_tokens::PictureTokens;
use crate::nn::plain::Plain;
use crate::nn::pre_norm::PreNormBlock;
use crate::nn::projection::Projection;
use crate::parameters::Parameters;
use crate::trace::{Observer, observe};
use crate::trainable::{Trainable, Visit};
use ndarray::{Array1, Array2, ArrayView2, ArrayView3, ArrayView4, Axis};

/// The reduction of all tokens to one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The vector of the class token.
    Class,
    /// The mean over the patches; the class token, where there is one, is left out.
    Mean,
}

/// The sizes of a ViT.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// C, a multiple of `heads`.
    pub width: usize,
    /// H.
    pub heads: usize,
    /// Number of blocks.
    pub layers: usize,
    /// F.
    pub inner: usize,
    /// C_0: 3 for colours, 1 for grey.
    pub channels: usize,
    /// P.
    pub patch: usize,
    /// Side of the pictures that the position table is for.
    pub image: usize,
    /// Number of classes.
    pub classes: usize,
    /// Added to the variance in each norm.
    pub norm_eps: f32,
    /// The vector that the classifier reads.
    pub pooling: Pooling,
    /// Whether a table of positions is added to the tokens. Without one, another order of the
    /// patches gives the same answer, up to rounding.
    pub positions: bool,
}

impl Config {
    /// ViT-B/16 for 224 pixels and 1,000 classes (Dosovitskiy et al. 2021, table 1).
    pub fn vit_b16() -> Self {
        Self {
            width: 768,
            heads: 12,
            layers: 12,
            inner: 3072,
            channels: 3,
            patch: 16,
            image: 224,
            classes: 1000,
            norm_eps: 1e-12,
            pooling: Pooling::Class,
            positions: true,
        }
    }

    /// The sizes from named numbers: our reference files', Hugging Face's or timm's names; the
    /// class token is read. `position_embedding`, a name of our own, is 0 for a model without a
    /// table of positions.
    ///
    /// # Errors
    /// When a size is missing or not a whole number in range, or sizes do not divide each other.
    pub fn from_keys(lookup: Lookup<'_>) -> Result<Self> {
        let size = |names: &[&'static str]| config::size("vit", lookup, names);
        let width = size(&["width", "hidden_size", "embed_dim"])?;
        let inner = config::optional("vit", lookup, &["inner", "intermediate_size"])?;
        let channels = config::optional("vit", lookup, &["channels", "num_channels", "in_chans"])?;
        let config = Self {
            width,
            heads: size(&["heads", "num_attention_heads", "num_heads"])?,
            layers: size(&["layers", "num_hidden_layers", "depth"])?,
            inner: inner.unwrap_or(4 * width),
            channels: channels.unwrap_or(3),
            patch: size(&["patch", "patch_size"])?,
            image: size(&["image", "image_size", "img_size"])?,
            classes: size(&["classes", "num_labels", "num_classes"])?,
            norm_eps: config::number(lookup, &["norm_eps", "layer_norm_eps"]).unwrap_or(1e-12)
                as f32,
            pooling: Pooling::Class,
            positions: lookup("position_embedding") != Some(0.0),
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        config::divides("vit", "heads", self.heads, self.width)?;
        config::divides("vit", "patch", self.patch, self.image)
    }

    fn sizes(&self) -> Sizes {
        let across = self.image / self.patch;
        Sizes {
            width: self.width,
            heads: self.heads,
            layers: self.layers,
            inner: self.inner,
            channels: self.channels,
            patch: self.patch,
            patches: across.saturating_mul(across),
            norm_eps: self.norm_eps,
            scales: false,
            positions: self.positions,
        }
    }

    /// The names of all parameters with their shapes, as timm has them, with a class token.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        self.shapes_with(true)
    }

    /// The same without a class token, for mean pooling.
    pub fn shapes_of_patches(&self) -> Vec<(String, Vec<usize>)> {
        self.shapes_with(false)
    }

    fn shapes_with(&self, class: bool) -> Vec<(String, Vec<usize>)> {
        let (c, f, p) = (self.width, self.inner, self.patch);
        let mut all = Shapes::default();
        if class {
            all.add("cls_token", &[1, 1, c]);
        }
        if self.positions {
            let rows = usize::from(class) + self.sizes().patches;
            all.add("pos_embed", &[1, rows, c]);
        }
        all.layer("patch_embed.proj", &[c, self.channels, p, p]);
        for n in 0..self.layers {
            let mut layer = |part, shape: &[usize]| all.layer(&format!("blocks.{n}.{part}"), shape);
            layer("norm1", &[c]);
            layer("attn.qkv", &[3 * c, c]);
            layer("attn.proj", &[c, c]);
            layer("norm2", &[c]);
            layer("mlp.fc1", &[f, c]);
            layer("mlp.fc2", &[c, f]);
        }
        all.layer("norm", &[c]);
        all.layer("head", &[self.classes, c]);
        all.0
    }
}

/// The model: embedding, blocks, last norm, classifier.
#[derive(Debug, Clone)]
pub struct Vit {
    config: Config,
    encoder: Encoder,
    head: Projection,
}

impl Vit {
    /// The model with the parameters of a source. With mean pooling, a source without a class token
    /// is taken as it is.
    ///
    /// # Errors
    /// When sizes do not divide each other, or a parameter is missing or has another shape.
    pub fn load(config: Config, source: &mut dyn Parameters) -> Result<Self> {
        config.check()?;
        let patches = "embeddings.patch_embeddings.projection.weight";
        let root = prefix(source, &["", "vit."], patches);
        let has = |name: &str| source.shape(name).is_some();
        let token = has(&format!("{root}embeddings.cls_token")) || has("cls_token");
        let class = token || config.pooling == Pooling::Class;
        let head = known(source, "", &["classifier", "head"]);
        Ok(Self {
            encoder: Encoder::load(&config.sizes(), source, &root, class)?,
            head: Projection::load(source, &head, config.width, config.classes, true)?,
            config,
        })
    }

    /// The sizes of the model.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The embedding of pictures as tokens.
    pub fn tokens(&self) -> &PictureTokens {
        &self.encoder.tokens
    }

    /// True when a class token comes before the patches.
    pub fn has_class_token(&self) -> bool {
        self.encoder.tokens.class.is_some()
    }

    /// The blocks, in their order.
    pub fn blocks(&self) -> &[PreNormBlock] {
        &self.encoder.blocks
    }

    /// The norm after the last block.
    pub fn last_norm(&self) -> &LayerNorm {
        &self.encoder.norm
    }

    /// The class head, C to the number of classes.
    pub fn head(&self) -> &Projection {
        &self.head
    }

    /// The tokens after the last norm: the class token, where there is one, then the patches row by
    /// row. A picture of any size that holds a patch will do. The observer gets `patches`,
    /// `embedding`, `positions`, `input`, `blocks.N.…` (see
    /// [`crate::nn::pre_norm::PreNormBlock::run`]) and `norm`.
    ///
    /// # Errors
    /// When the picture has not C_0 channels or is smaller than a patch.
    pub fn hidden(
        &self,
        image: ArrayView3<'_, f32>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // image [C_0, H, W] -> [1 + N, C]
        let images = image.insert_axis(Axis(0));
        Ok(self.run(&mut Plain::new(trace), images)?.0)
    }

    /// As [`Self::hidden`] for several pictures of one size, one after the other, generic over the
    /// executor; also how many tokens each has.
    ///
    /// # Errors
    /// As [`Self::hidden`].
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        images: ArrayView4<'_, f32>,
    ) -> Result<(C::Matrix, Vec<usize>)> {
        // images [B, C_0, H, W] -> [B·(1 + N), C]
        self.encoder.run(compute, images)
    }

    /// The logits of hidden states, a row for each picture, generic over the executor.
    ///
    /// # Errors
    /// When the hidden states are not of so many tokens.
    pub fn run_logits<C: Compute>(
        &self,
        compute: &mut C,
        hidden: &C::Matrix,
        lengths: &[usize],
    ) -> Result<C::Matrix> {
        // hidden [B·(1 + N), C] -> [B, classes]
        let pooled = self.pool(compute, hidden, lengths)?;
        self.head.run(compute, &pooled)
    }

    /// The logits of a picture. The observer gets the intermediates of [`Self::hidden`], `pooled`
    /// and `logits`.
    ///
    /// # Errors
    /// As [`Self::hidden`].
    pub fn forward(
        &self,
        image: ArrayView3<'_, f32>,
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Array1<f32>> {
        // image [C_0, H, W] -> [classes]
        let hidden = self.hidden(image, &mut trace)?;
        let pooled = self.pool(&mut Plain::silent(), &hidden, &[hidden.nrows()])?;
        let mut pooled = pooled.index_axis_move(Axis(0), 0);
        observe(&mut trace, "pooled", &mut pooled);
        let logits = self.head.forward(pooled.view().insert_axis(Axis(0)))?;
        let mut logits = logits.index_axis_move(Axis(0), 0);
        observe(&mut trace, "logits", &mut logits);
        Ok(logits)
    }

    /// The logits that a residual stream gives by itself: last norm, pooling, classifier. The stream
    /// after the last block gives those of [`Self::forward`].
    ///
    /// # Errors
    /// When the stream has not C columns, or no row.
    pub fn read_off(&self, stream: ArrayView2<'_, f32>) -> Result<Array1<f32>> {
        // stream [1 + N, C] -> [classes]
        let mut plain = Plain::silent();
        let hidden = self.encoder.norm.run(&mut plain, &stream.to_owned())?;
        let logits = self.run_logits(&mut plain, &hidden, &[hidden.nrows()])?;
        Ok(logits.index_axis_move(Axis(0), 0))
    }

    /// The logits that each row of a residual stream gives by itself: last norm and classifier, without
    /// pooling. The classifier was trained on what the pooling gives, not on each row.
    ///
    /// # Errors
    /// When the stream has not C columns.
    pub fn read_off_rows(&self, stream: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        // stream [T, C] -> [T, classes]
        let mut plain = Plain::silent();
        let hidden = self.encoder.norm.run(&mut plain, &stream.to_owned())?;
        self.head.run(&mut plain, &hidden)
    }

    fn pool<C: Compute>(
        &self,
        compute: &mut C,
        hidden: &C::Matrix,
        lengths: &[usize],
    ) -> Result<C::Matrix> {
        // hidden [B·(1 + N), C] -> [B, C]
        let first = usize::from(self.has_class_token());
        match self.config.pooling {
            Pooling::Class => {
                let rows: Vec<usize> = ranges(lengths).map(|rows| rows.start).collect();
                compute.gather(hidden, &rows)
            }
            Pooling::Mean => {
                let patches = ranges(lengths).map(|rows| rows.start + first..rows.end);
                compute.mean_rows(hidden, &patches.collect::<Vec<_>>())
            }
        }
    }
}

impl Trainable for Vit {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.encoder.parameters(visit)?;
        self.head.parameters("head", visit)
    }
}
