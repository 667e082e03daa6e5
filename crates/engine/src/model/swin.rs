//! Swin V2: an encoder of pictures in stages, whose attention stays within windows that shift from
//! block to block.
//!
//! ```text
//! x = norm(patches · Wᵀ + b)                   image [3, H, W], already normalised -> [H/P·W/P, C]
//! stage s: blocks, every second one shifted; then, but for the last stage, four neighbours become one
//!                                              [H_s·W_s, 2ˢ·C] -> [H_s/2·W_s/2, 2ˢ⁺¹·C]
//! logits = mean(norm(x)) · W_headᵀ + b         -> [classes]
//! ```
//!
//! ```
//! use engine::model::swin::{Config, Swin};
//! use engine::formula::{Formula, image};
//! let config = Config {
//!     width: 8, depths: vec![2, 1], heads: vec![2, 4], window: 4, trained_windows: vec![], patch: 2, image: 16, classes: 5,
//!     inner_ratio: 2, norm_eps: 1e-5,
//! };
//! let model = Swin::load(config.clone(), &mut Formula::new(0, config.shapes()))?;
//! assert_eq!(model.forward(image(16, 0).view(), None)?.len(), 5);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Liu et al. 2022, "Swin Transformer V2: Scaling up capacity and resolution"; Liu et al.
//! 2021, "Swin Transformer", section 3.1. Names of parameters: Hugging Face's
//! (`Swinv2ForImageClassification`), with and without `swinv2.` before them.

use super::config;
use super::names::{Shapes, prefix};
use crate::error::{EngineError, Result};
use crate::nn::cosine_attention::{CosineAttention, distance_bias};
use crate::nn::feed_forward::{Activation, FeedForward};
use crate::nn::norm::{LayerNorm, Norm};
use crate::nn::patch::cut;
use crate::nn::patch_merge::PatchMerge;
use crate::nn::picture_tokens::load_patches;
use crate::nn::pooling::mean;
use crate::nn::projection::Projection;
use crate::nn::window::shift_mask;
use crate::nn::window_block::WindowBlock;
use crate::parameters::{Parameters, tensor};
use crate::shape::expect;
use crate::trace::{Observer, observe, scope};
use ndarray::{Array1, Array2, ArrayView2, ArrayView3, Axis};

/// Inner width of the network that computes the bias.
const BIAS_INNER: usize = 512;

/// The sizes of a Swin V2.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// C of the first stage; each stage doubles it.
    pub width: usize,
    /// Blocks of each stage.
    pub depths: Vec<usize>,
    /// H of each stage.
    pub heads: Vec<usize>,
    /// M; a stage whose map is smaller has one window, the map.
    pub window: usize,
    /// M at which the biases of each stage were trained, where it was another; empty or 0 where it
    /// was the same.
    pub trained_windows: Vec<usize>,
    /// P.
    pub patch: usize,
    /// Side of the pictures.
    pub image: usize,
    /// Number of classes.
    pub classes: usize,
    /// F divided by C.
    pub inner_ratio: usize,
    /// Added to the variance in each norm.
    pub norm_eps: f32,
}

/// The sizes of one stage.
#[derive(Debug, Clone, Copy)]
struct StageSizes {
    width: usize,
    heads: usize,
    /// Side of the map.
    side: usize,
    window: usize,
    trained: usize,
}

impl Config {
    fn stage(&self, n: usize) -> StageSizes {
        let side = (self.image / self.patch) >> n;
        let window = self.window.min(side);
        let trained = self.trained_windows.get(n).copied().unwrap_or(0);
        StageSizes {
            width: self.width << n,
            heads: self.heads.get(n).copied().unwrap_or(0),
            side,
            window,
            trained: if trained > 0 { trained } else { window },
        }
    }

    fn check(&self) -> Result<()> {
        let (stages, found) = (self.depths.len(), self.heads.len());
        if stages == 0 || stages > 8 || stages != found {
            let expected = "1 to 8 stages with depth and heads";
            let found = format!("{stages} depths and {found} heads");
            return Err(EngineError::shape("swin", expected, found));
        }
        let sizes = [
            self.width,
            self.window,
            self.patch,
            self.image,
            self.classes,
            self.inner_ratio,
        ];
        let most = config::LARGEST >> 8;
        if let Some(size) = sizes.iter().find(|&&size| size == 0 || size > most) {
            let expected = format!("from 1 to {most}");
            return Err(EngineError::value("swin", "size", expected, size));
        }
        config::divides("swin", "patch", self.patch, self.image)?;
        for n in 0..stages {
            let stage = self.stage(n);
            config::divides("swin", "heads", stage.heads, stage.width)?;
            config::divides("swin", "window", stage.window, stage.side)?;
            if n + 1 < stages {
                config::divides("swin", "map to merge", 2, stage.side)?;
            }
        }
        Ok(())
    }

    /// The names of all parameters with their shapes, as Hugging Face's files have them.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (c, p) = (self.width, self.patch);
        let mut all = Shapes::default();
        all.layer(
            "swinv2.embeddings.patch_embeddings.projection",
            &[c, 3, p, p],
        );
        all.layer("swinv2.embeddings.norm", &[c]);
        for (n, &depth) in self.depths.iter().enumerate() {
            let StageSizes { width, heads, .. } = self.stage(n);
            let inner = self.inner_ratio * width;
            for block in 0..depth {
                let name = |part: &str| format!("swinv2.encoder.layers.{n}.blocks.{block}.{part}");
                let own = |part: &str| name(&format!("attention.self.{part}"));
                all.layer(&own("continuous_position_bias_mlp.0"), &[BIAS_INNER, 2]);
                all.add(
                    own("continuous_position_bias_mlp.2.weight"),
                    &[heads, BIAS_INNER],
                );
                all.layer(&own("query"), &[width, width]);
                all.add(own("key.weight"), &[width, width]);
                all.layer(&own("value"), &[width, width]);
                all.add(own("logit_scale"), &[heads, 1, 1]);
                all.layer(&name("attention.output.dense"), &[width, width]);
                all.layer(&name("layernorm_before"), &[width]);
                all.layer(&name("intermediate.dense"), &[inner, width]);
                all.layer(&name("output.dense"), &[width, inner]);
                all.layer(&name("layernorm_after"), &[width]);
            }
            if n + 1 < self.depths.len() {
                let merge = format!("swinv2.encoder.layers.{n}.downsample");
                all.add(format!("{merge}.reduction.weight"), &[2 * width, 4 * width]);
                all.layer(&format!("{merge}.norm"), &[2 * width]);
            }
        }
        let last = self.stage(self.depths.len().saturating_sub(1)).width;
        all.layer("swinv2.layernorm", &[last]);
        all.layer("classifier", &[self.classes, last]);
        all.0
    }
}

/// Blocks on one map, and the layer that merges it to the next, smaller one.
#[derive(Debug, Clone)]
struct Stage {
    side: usize,
    blocks: Vec<WindowBlock>,
    merge: Option<PatchMerge>,
}

/// The model: embedding, stages, last norm, classifier.
#[derive(Debug, Clone)]
pub struct Swin {
    config: Config,
    patches: Projection,
    patch_norm: LayerNorm,
    stages: Vec<Stage>,
    norm: LayerNorm,
    head: Projection,
}

impl Swin {
    /// The model with the parameters of a source.
    ///
    /// # Errors
    /// When the windows do not divide the maps, or a parameter is missing or has another shape.
    pub fn load(config: Config, source: &mut dyn Parameters) -> Result<Self> {
        config.check()?;
        let (c, eps) = (config.width, config.norm_eps);
        let root = prefix(source, &["swinv2.", ""], "embeddings.norm.weight");
        let last = config.stage(config.depths.len() - 1).width;
        let projection = format!("{root}embeddings.patch_embeddings.projection");
        let stages = (0..config.depths.len()).map(|n| stage(&config, source, &root, n));
        let stages = stages.collect::<Result<_>>()?;
        Ok(Self {
            patches: load_patches(source, &projection, c, 3, config.patch)?,
            patch_norm: LayerNorm::load(source, &format!("{root}embeddings.norm"), c, eps)?,
            stages,
            norm: LayerNorm::load(source, &format!("{root}layernorm"), last, eps)?,
            head: Projection::load(source, "classifier", last, config.classes, true)?,
            config,
        })
    }

    /// The sizes of the model.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// All blocks, stage after stage.
    pub fn blocks(&self) -> impl Iterator<Item = &WindowBlock> {
        self.stages.iter().flat_map(|stage| &stage.blocks)
    }

    /// All blocks, stage after stage, to give them other windows than the configuration does.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut WindowBlock> {
        self.stages.iter_mut().flat_map(|stage| &mut stage.blocks)
    }

    /// The logits of a picture. The observer gets `patches`, `embedding`, `input`, for each stage
    /// `stages.S.blocks.N.…` (see [`WindowBlock::forward`]) and `stages.S.merge.…`, then `norm`,
    /// `pooled` and `logits`.
    ///
    /// # Errors
    /// When the picture is not `[3, image, image]`.
    pub fn forward(
        &self,
        image: ArrayView3<'_, f32>,
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Array1<f32>> {
        // image [3, H, W] -> [classes]
        let side = self.config.image;
        expect("swin", "picture", &[3, side, side], image.shape())?;
        let mut patches = cut(image, self.config.patch)?;
        observe(&mut trace, "patches", &mut patches);
        let mut embedded = self.patches.forward(patches.view())?;
        observe(&mut trace, "embedding", &mut embedded);
        let mut x = self.patch_norm.forward(embedded.view())?;
        observe(&mut trace, "input", &mut x);
        for (s, stage) in self.stages.iter().enumerate() {
            for (n, block) in stage.blocks.iter().enumerate() {
                x = scope(
                    &mut trace,
                    || format!("stages.{s}.blocks.{n}."),
                    |trace| block.forward(x.view(), trace),
                )?;
            }
            if let Some(merge) = &stage.merge {
                let size = (stage.side, stage.side);
                x = scope(
                    &mut trace,
                    || format!("stages.{s}."),
                    |trace| merge.forward(x.view(), size, trace),
                )?;
            }
        }
        self.classify(x.view(), trace)
    }

    /// The logits that the model would give if the later blocks of its last stage added nothing: the
    /// last norm, the mean over the tokens and the classifier.
    ///
    /// # Errors
    /// When the stream has not the width of the last stage.
    pub fn read_off(&self, stream: ArrayView2<'_, f32>) -> Result<Array1<f32>> {
        // stream [T, C of the last stage] -> [classes]
        self.classify(stream, None)
    }

    /// The logits that each token of the last stage gives by itself: last norm and classifier,
    /// without the mean. The classifier was trained on the mean, not on each token.
    ///
    /// # Errors
    /// When the stream has not the width of the last stage.
    pub fn read_off_rows(&self, stream: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        // stream [T, C of the last stage] -> [T, classes]
        let hidden = self.norm.forward(stream)?;
        self.head.forward(hidden.view())
    }

    fn classify(
        &self,
        x: ArrayView2<'_, f32>,
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Array1<f32>> {
        // x [T, C of the last stage] -> [classes]
        let mut hidden = self.norm.forward(x)?;
        observe(&mut trace, "norm", &mut hidden);
        let mut pooled = mean(hidden.view())?;
        observe(&mut trace, "pooled", &mut pooled);
        let logits = self.head.forward(pooled.view().insert_axis(Axis(0)))?;
        let mut logits = logits.index_axis_move(Axis(0), 0);
        observe(&mut trace, "logits", &mut logits);
        Ok(logits)
    }
}

fn stage(config: &Config, source: &mut dyn Parameters, root: &str, n: usize) -> Result<Stage> {
    let StageSizes { width, side, .. } = config.stage(n);
    let place = format!("{root}encoder.layers.{n}.");
    let blocks = (0..config.depths[n]).map(|block| {
        let place = format!("{place}blocks.{block}.");
        window_block(config, source, &place, config.stage(n), block % 2 == 1)
    });
    let blocks = blocks.collect::<Result<_>>()?;
    let mut merge = None;
    if n + 1 < config.depths.len() {
        let reduction = format!("{place}downsample.reduction");
        let last = format!("{place}downsample.norm");
        merge = Some(PatchMerge {
            reduction: Projection::load(source, &reduction, 4 * width, 2 * width, false)?,
            norm: LayerNorm::load(source, &last, 2 * width, config.norm_eps)?,
        });
    }
    Ok(Stage {
        side,
        blocks,
        merge,
    })
}

fn window_block(
    config: &Config,
    source: &mut dyn Parameters,
    place: &str,
    stage: StageSizes,
    odd: bool,
) -> Result<WindowBlock> {
    let StageSizes {
        width: c,
        heads,
        side,
        window,
        trained,
    } = stage;
    let (f, eps, size) = (config.inner_ratio * c, config.norm_eps, (side, side));
    let shift = if odd && side > window { window / 2 } else { 0 };
    let mask = (shift > 0).then(|| shift_mask(size, window, shift));
    let scale = format!("{place}attention.self.logit_scale");
    let logit_scale = Array1::from_iter(tensor(source, &scale, &[heads, 1, 1])?);
    let mut layer = |name: &str, inputs: usize, outputs: usize, bias: bool| {
        Projection::load(source, &format!("{place}{name}"), inputs, outputs, bias)
    };
    let network = "attention.self.continuous_position_bias_mlp";
    let network = FeedForward {
        up: layer(&format!("{network}.0"), 2, BIAS_INNER, true)?,
        activation: Activation::Relu,
        down: layer(&format!("{network}.2"), BIAS_INNER, heads, false)?,
    };
    Ok(WindowBlock {
        size,
        window,
        shift,
        mask: mask.transpose()?,
        attention: CosineAttention {
            q: layer("attention.self.query", c, c, true)?,
            k: layer("attention.self.key", c, c, false)?,
            v: layer("attention.self.value", c, c, true)?,
            output: layer("attention.output.dense", c, c, true)?,
            logit_scale,
            bias: distance_bias(&network, window, trained)?,
        },
        mlp: FeedForward {
            up: layer("intermediate.dense", c, f, true)?,
            activation: Activation::Gelu,
            down: layer("output.dense", f, c, true)?,
        },
        norm_1: LayerNorm::load(source, &format!("{place}layernorm_before"), c, eps)?,
        norm_2: LayerNorm::load(source, &format!("{place}layernorm_after"), c, eps)?,
    })
}
