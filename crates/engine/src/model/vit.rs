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
//!     width: 8, heads: 2, layers: 2, inner: 16, channels: 3, patch: 4, image: 8, classes: 5, norm_eps: 1e-6, pooling: Pooling::Class,
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
//! Source: Dosovitskiy et al. 2021, "An image is worth 16x16 words", section 3.1, equations 1 to 4. Names of parameters: see
//! `vit_blocks.rs`; `vit.` before them or not, head `classifier` or `head`.

use super::config::{self, Lookup};
use super::names::{known, norm};
use super::vit_blocks::{Sizes, block, block_parameters, tokens, tokens_parameters};
use crate::error::Result;
use crate::nn::compute::Compute;
use crate::nn::norm::{LayerNorm, Norm};
use crate::nn::packed::ranges;
use crate::nn::parts::Parts;
use crate::nn::picture_tokens::PictureTokens;
use crate::nn::plain::Plain;
use crate::nn::pre_norm::PreNormBlock;
use crate::nn::projection::Projection;
use crate::parameters::Parameters;
use crate::trace::{Observer, observe};
use crate::trainable::{Trainable, Visit};
use ndarray::{Array1, Array2, ArrayView3, ArrayView4, Axis};

/// The way from all tokens to one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The class token's.
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
        }
    }

    /// The sizes from named numbers: our reference files', Hugging Face's or timm's names; the class token is read.
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
            inner: self.inner,
            channels: self.channels,
            patch: self.patch,
            patches: across.saturating_mul(across),
            norm_eps: self.norm_eps,
        }
    }

    /// The names of all parameters with their shapes, as timm has them, with a class token.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (c, f, Sizes { patches, .. }) = (self.width, self.inner, self.sizes());
        let mut all = vec![
            ("cls_token".to_owned(), vec![1, 1, c]),
            ("pos_embed".to_owned(), vec![1, 1 + patches, c]),
            (
                "patch_embed.proj.weight".to_owned(),
                vec![c, self.channels, self.patch, self.patch],
            ),
            ("patch_embed.proj.bias".to_owned(), vec![c]),
        ];
        for n in 0..self.layers {
            let parts = [
                ("norm1", vec![c]),
                ("attn.qkv", vec![3 * c, c]),
                ("attn.proj", vec![c, c]),
                ("norm2", vec![c]),
                ("mlp.fc1", vec![f, c]),
                ("mlp.fc2", vec![c, f]),
            ];
            for (name, shape) in parts {
                all.push((format!("blocks.{n}.{name}.bias"), vec![shape[0]]));
                all.push((format!("blocks.{n}.{name}.weight"), shape));
            }
        }
        for (name, shape) in [("norm", vec![c]), ("head", vec![self.classes, c])] {
            all.push((format!("{name}.bias"), vec![shape[0]]));
            all.push((format!("{name}.weight"), shape));
        }
        all
    }
}

/// The model: embedding, blocks, last norm, classifier.
#[derive(Debug, Clone)]
pub struct Vit {
    config: Config,
    tokens: PictureTokens,
    blocks: Vec<PreNormBlock>,
    norm: LayerNorm,
    head: Projection,
}

impl Vit {
    /// The model with the parameters of a source. With mean pooling, a source without a class token is taken as it is.
    ///
    /// # Errors
    /// When sizes do not divide each other, or a parameter is missing or has another shape.
    pub fn load(config: Config, source: &mut dyn Parameters) -> Result<Self> {
        config.check()?;
        let (sizes, c) = (config.sizes(), config.width);
        let has = |name: &str| source.shape(name).is_some();
        let root = match has("vit.embeddings.patch_embeddings.projection.weight") {
            true => "vit.",
            false => "",
        };
        let token = has(&format!("{root}embeddings.cls_token")) || has("cls_token");
        let class = token || config.pooling == Pooling::Class;
        let last = known(source, root, &["layernorm", "norm"]);
        let head = known(source, "", &["classifier", "head"]);
        let blocks = (0..config.layers).map(|n| block(&sizes, source, root, n, false));
        let blocks = blocks.collect::<Result<_>>()?;
        Ok(Self {
            tokens: tokens(&sizes, source, root, class)?,
            blocks,
            norm: norm(source, &last, c, config.norm_eps)?,
            head: Projection::load(source, &head, c, config.classes, true)?,
            config,
        })
    }

    /// Its sizes.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The embedding of pictures as tokens.
    pub fn tokens(&self) -> &PictureTokens {
        &self.tokens
    }

    /// True when a class token comes before the patches.
    pub fn has_class_token(&self) -> bool {
        self.tokens.class.is_some()
    }

    /// The tokens after the last norm: the class token, where there is one, then the patches row by row. A picture of any size
    /// that holds a patch will do. The observer gets `patches`, `embedding`, `positions`, `input`, `blocks.N.…` (see
    /// [`PreNormBlock::run`]) and `norm`.
    ///
    /// # Errors
    /// When the picture has not C_0 channels or is smaller than a patch.
    pub fn hidden(
        &self,
        image: ArrayView3<'_, f32>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // image [C_0, H, W] -> [1 + N, C]
        Ok(self
            .run(&mut Plain::new(trace), image.insert_axis(Axis(0)))?
            .0)
    }

    /// As [`Self::hidden`] for several pictures of one size, one after the other, generic over the executor; also how many tokens each has.
    ///
    /// # Errors
    /// As [`Self::hidden`].
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        images: ArrayView4<'_, f32>,
    ) -> Result<(C::Matrix, Vec<usize>)> {
        // images [B, C_0, H, W] -> [B·(1 + N), C]
        let x = self.tokens.run(compute, images)?;
        let count = images.dim().0;
        let lengths = vec![compute.dim(&x).0 / count.max(1); count];
        let (mut x, parts) = (compute.dropout(x), Parts::default());
        for (n, block) in self.blocks.iter().enumerate() {
            x = compute.scope(
                || format!("blocks.{n}."),
                |compute| {
                    block.run(compute, x, parts, |attention, compute, x| {
                        attention.run(compute, x, &lengths, parts)
                    })
                },
            )?;
        }
        let mut hidden = self.norm.run(compute, &x)?;
        compute.trace("norm", &mut hidden);
        Ok((hidden, lengths))
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

    /// The logits of a picture. The observer gets what [`Self::hidden`] lists, `pooled` and `logits`.
    ///
    /// # Errors
    /// As [`Self::hidden`].
    pub fn forward(
        &self,
        image: ArrayView3<'_, f32>,
        trace: Option<&mut dyn Observer>,
    ) -> Result<Array1<f32>> {
        // image [C_0, H, W] -> [classes]
        let mut trace = trace;
        let hidden = self.hidden(image, &mut trace)?;
        let pooled = self.pool(&mut Plain::silent(), &hidden, &[hidden.nrows()])?;
        let mut pooled = pooled.index_axis_move(Axis(0), 0);
        observe(&mut trace, "pooled", &mut pooled);
        let logits = self.head.forward(pooled.view().insert_axis(Axis(0)))?;
        let mut logits = logits.index_axis_move(Axis(0), 0);
        observe(&mut trace, "logits", &mut logits);
        Ok(logits)
    }

    /// The logits of several pictures of one size.
    ///
    /// # Errors
    /// As [`Self::hidden`].
    pub fn forward_batch(&self, images: ArrayView4<'_, f32>) -> Result<Array2<f32>> {
        // images [B, C_0, H, W] -> [B, classes]
        let mut logits = Array2::zeros((images.dim().0, self.config.classes));
        for (image, mut row) in images.outer_iter().zip(logits.rows_mut()) {
            row.assign(&self.forward(image, None)?);
        }
        Ok(logits)
    }

    fn pool<C: Compute>(
        &self,
        compute: &mut C,
        hidden: &C::Matrix,
        lengths: &[usize],
    ) -> Result<C::Matrix> {
        // hidden [B·(1 + N), C] -> [B, C]
        let first = usize::from(self.tokens.class.is_some());
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
        tokens_parameters(&mut self.tokens, visit)?;
        for (n, block) in self.blocks.iter_mut().enumerate() {
            block_parameters(block, &format!("blocks.{n}."), visit)?;
        }
        self.norm.parameters("norm", visit)?;
        self.head.parameters("head", visit)
    }
}
