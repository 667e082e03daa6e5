//! DINOv2: a ViT with layer scales, trained without labels; it computes features, one vector for
//! each patch.
//!
//! ```text
//! x = [class; patches · Wᵀ + b] + positions        image [3, H, W], already normalised -> [1 + N, C]
//! x = block_n(x), n = 0 …                          pre-norm, branches times λ          -> [1 + N, C]
//! features = norm(x)                               row 0 the class token               -> [1 + N, C]
//! ```
//!
//! ```
//! use engine::model::dinov2::{Config, Dinov2};
//! use engine::formula::{Formula, image};
//! let config = Config { width: 8, heads: 2, layers: 1, inner: 16, patch: 4, image: 8, norm_eps: 1e-6 };
//! let model = Dinov2::load(config.clone(), &mut Formula::new(0, config.shapes()))?;
//! assert_eq!(model.forward(image(12, 0).view(), None)?.dim(), (1 + 9, 8));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Oquab et al. 2023, "DINOv2: Learning robust visual features without supervision"; layer
//! scale: Touvron et al. 2021, equation 4. Names of parameters: see `vit_blocks.rs`; `dinov2.`
//! before them or not. The mask token is for training only and is not read.

use super::config::{self, Lookup};
use super::names::{Shapes, prefix};
use super::vit_blocks::{Encoder, Sizes};
use crate::error::Result;
use crate::nn::compute::Compute;
use crate::nn::picture_tokens::PictureTokens;
use crate::nn::plain::Plain;
use crate::parameters::Parameters;
use crate::trace::Observer;
use crate::trainable::{Trainable, Visit};
use ndarray::{Array2, ArrayView3, ArrayView4, Axis};

/// The sizes of a DINOv2.
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
    /// P.
    pub patch: usize,
    /// Side of the pictures that the position table is for.
    pub image: usize,
    /// Added to the variance in each norm.
    pub norm_eps: f32,
}

impl Config {
    /// The sizes from named numbers: our reference files' or Hugging Face's names.
    ///
    /// # Errors
    /// When a size is missing or not a whole number in range, or sizes do not divide each other.
    pub fn from_keys(lookup: Lookup<'_>) -> Result<Self> {
        let size = |names: &[&'static str]| config::size("dinov2", lookup, names);
        let width = size(&["width", "hidden_size"])?;
        let ratio = config::optional("dinov2", lookup, &["mlp_ratio"])?.unwrap_or(4);
        let inner = config::optional("dinov2", lookup, &["inner"])?;
        let config = Self {
            width,
            heads: size(&["heads", "num_attention_heads"])?,
            layers: size(&["layers", "num_hidden_layers"])?,
            inner: inner.unwrap_or(ratio * width),
            patch: size(&["patch", "patch_size"])?,
            image: size(&["image", "image_size"])?,
            norm_eps: config::number(lookup, &["norm_eps", "layer_norm_eps"]).unwrap_or(1e-6)
                as f32,
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        config::divides("dinov2", "heads", self.heads, self.width)?;
        config::divides("dinov2", "patch", self.patch, self.image)
    }

    fn sizes(&self) -> Sizes {
        let across = self.image / self.patch;
        Sizes {
            width: self.width,
            heads: self.heads,
            layers: self.layers,
            inner: self.inner,
            channels: 3,
            patch: self.patch,
            patches: across.saturating_mul(across),
            norm_eps: self.norm_eps,
            scales: true,
            positions: true,
        }
    }

    /// The names of all parameters with their shapes, as `transformers` 5 has them, but for the
    /// mask token.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (c, f, p) = (self.width, self.inner, self.patch);
        let mut all = Shapes::default();
        all.add("embeddings.cls_token", &[1, 1, c]);
        let positions = [1, 1 + self.sizes().patches, c];
        all.add("embeddings.position_embeddings", &positions);
        all.layer("embeddings.patch_embeddings.projection", &[c, 3, p, p]);
        for n in 0..self.layers {
            let name = |part: &str| format!("encoder.layer.{n}.{part}");
            for part in ["norm1", "norm2"] {
                all.layer(&name(part), &[c]);
            }
            for part in ["q_proj", "k_proj", "v_proj", "o_proj"] {
                all.layer(&name(&format!("attention.{part}")), &[c, c]);
            }
            all.layer(&name("mlp.fc1"), &[f, c]);
            all.layer(&name("mlp.fc2"), &[c, f]);
            for part in ["layer_scale1", "layer_scale2"] {
                all.add(name(&format!("{part}.lambda1")), &[c]);
            }
        }
        all.layer("layernorm", &[c]);
        all.0
    }
}

/// The model: embedding, blocks, last norm.
#[derive(Debug, Clone)]
pub struct Dinov2 {
    config: Config,
    encoder: Encoder,
}

impl Dinov2 {
    /// The model with the parameters of a source.
    ///
    /// # Errors
    /// When sizes do not divide each other, or a parameter is missing or has another shape.
    pub fn load(config: Config, source: &mut dyn Parameters) -> Result<Self> {
        config.check()?;
        let patches = "embeddings.patch_embeddings.projection.weight";
        let root = prefix(source, &["", "dinov2."], patches);
        Ok(Self {
            encoder: Encoder::load(&config.sizes(), source, &root, true)?,
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

    /// The features of a picture of any size that holds a patch: the class token's, then the
    /// patches' row by row. The observer gets `patches`, `embedding`, `positions`, `input`,
    /// `blocks.N.…` (see [`crate::nn::pre_norm::PreNormBlock::run`]) and `norm`.
    ///
    /// # Errors
    /// When the picture has not three channels or is smaller than a patch.
    pub fn forward(
        &self,
        image: ArrayView3<'_, f32>,
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // image [3, H, W] -> [1 + N, C]
        self.run(&mut Plain::new(&mut trace), image.insert_axis(Axis(0)))
    }

    /// As [`Self::forward`] for several pictures of one size, one after the other; generic over the
    /// executor.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        images: ArrayView4<'_, f32>,
    ) -> Result<C::Matrix> {
        // images [B, 3, H, W] -> [B·(1 + N), C]
        Ok(self.encoder.run(compute, images)?.0)
    }
}

impl Trainable for Dinov2 {
    /// Visits all parameters; blocks, class token, positions and patches under timm's names, which
    /// [`Self::load`] knows.
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.encoder.parameters(visit)
    }
}
