//! ImageGPT: GPT-2 over the pixels of a small picture, each reduced to the nearest of some colours.
//!
//! ```text
//! x = E[ids] + positions         ids [T]: the start token V − 1, then colours row by row    -> [T, C]
//! x = block_n(x), n = 0 …        pre-norm with RMS norms, causal, x · sigmoid(1.702 x)      -> [T, C]
//! logits = rms_norm(x) · Wᵀ      for the next pixel; the start token never comes again: −∞  -> [T, V]
//! ```
//!
//! ```
//! use engine::model::{decoder::DecoderExt, image_gpt::{Config, ImageGpt, clusters}};
//! use engine::formula::Formula;
//! use ndarray::{array, Array3};
//! let config = Config { vocabulary: 5, width: 8, heads: 2, layers: 2, inner: 32, context: 16, norm_eps: 1e-5 };
//! let model = ImageGpt::load(config.clone(), &mut Formula::new(0, config.shapes()))?;
//! let black_and_white = array![[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]];
//! let pixels = clusters(Array3::from_elem((3, 1, 2), 0.9).view(), black_and_white.view())?;
//! assert_eq!(pixels, [1, 1]);
//! let logits = model.forward(&[4, 1, 1], None)?;
//! assert_eq!((logits.dim(), logits[[0, 4]]), ((3, 5), f32::NEG_INFINITY));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Chen et al. 2020, "Generative pretraining from pixels", sections 2.1 and 3. Names of parameters: Hugging Face's
//! (`ImageGPTForCausalImageModeling`).

use super::config::{self, Lookup};
use super::decoder::{Decoder, Tokens};
use crate::error::{EngineError, Result};
use crate::nn::compute::Compute;
use crate::nn::feed_forward::{Activation, FeedForward};
use crate::nn::grouped::{GroupedAttention, Qkv};
use crate::nn::kv_cache::{KvCache, KvCaches};
use crate::nn::norm::RmsNorm;
use crate::nn::plain::Plain;
use crate::nn::projection::Projection;
use crate::parameters::{Parameters, Weight, matrix, vector};
use crate::trace::Observer;
use crate::trainable::{self, Kind, Trainable, Visit};
use ndarray::{Array2, ArrayView2, ArrayView3, s};

/// The sizes of an ImageGPT.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// V: the colours and the start token.
    pub vocabulary: usize,
    /// C, a multiple of `heads`.
    pub width: usize,
    /// H.
    pub heads: usize,
    /// How many blocks.
    pub layers: usize,
    /// F.
    pub inner: usize,
    /// Rows of the position table: the pixels of a picture.
    pub context: usize,
    /// Added to the mean of the squares in each norm.
    pub norm_eps: f32,
}

impl Config {
    /// The sizes from named numbers: our or Hugging Face's names.
    ///
    /// # Errors
    /// When a size is missing or not a whole number in range, or the heads do not divide the width.
    pub fn from_keys(lookup: Lookup<'_>) -> Result<Self> {
        let size = |names: &[&'static str]| config::size("image_gpt", lookup, names);
        let width = size(&["width", "n_embd"])?;
        let inner = config::optional("image_gpt", lookup, &["inner", "n_inner"])?;
        let eps = config::number(lookup, &["norm_eps", "layer_norm_epsilon"]);
        let config = Self {
            vocabulary: size(&["vocabulary", "vocab_size"])?,
            width,
            heads: size(&["heads", "n_head"])?,
            layers: size(&["layers", "n_layer"])?,
            inner: inner.unwrap_or(4 * width),
            context: size(&["context", "n_positions"])?,
            norm_eps: eps.unwrap_or(1e-5) as f32,
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        if self.vocabulary < 2 {
            let found = self.vocabulary;
            return Err(EngineError::value(
                "image_gpt",
                "vocabulary",
                "at least 2",
                found,
            ));
        }
        config::divides("image_gpt", "heads", self.heads, self.width)
    }

    /// The names of all parameters with their shapes, as Hugging Face's files have them.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (v, c, f) = (self.vocabulary, self.width, self.inner);
        let mut all = vec![
            ("transformer.wte.weight".to_owned(), vec![v, c]),
            ("transformer.wpe.weight".to_owned(), vec![self.context, c]),
            ("transformer.ln_f.weight".to_owned(), vec![c]),
            ("lm_head.weight".to_owned(), vec![v - 1, c]),
        ];
        for n in 0..self.layers {
            for (name, shape) in [
                ("ln_1.weight", vec![c]),
                ("attn.c_attn.weight", vec![c, 3 * c]),
                ("attn.c_attn.bias", vec![3 * c]),
                ("attn.c_proj.weight", vec![c, c]),
                ("attn.c_proj.bias", vec![c]),
                ("ln_2.weight", vec![c]),
                ("mlp.c_fc.weight", vec![c, f]),
                ("mlp.c_fc.bias", vec![f]),
                ("mlp.c_proj.weight", vec![f, c]),
                ("mlp.c_proj.bias", vec![c]),
            ] {
                all.push((format!("transformer.h.{n}.{name}"), shape));
            }
        }
        all
    }
}

/// One block: two sub-layers, each behind its norm and added to the residual stream.
#[derive(Debug, Clone)]
struct Block {
    norm_1: RmsNorm,
    attention: GroupedAttention,
    norm_2: RmsNorm,
    mlp: FeedForward,
}

impl Block {
    fn load(config: &Config, source: &mut dyn Parameters, n: usize) -> Result<Self> {
        let (c, f, place) = (config.width, config.inner, format!("transformer.h.{n}."));
        let norm_1 = norm(config, source, &format!("{place}ln_1"))?;
        let norm_2 = norm(config, source, &format!("{place}ln_2"))?;
        // Hugging Face's files have matrices as [C_in, C_out], our own as [C_out, C_in].
        let first = source.shape(&format!("{place}attn.c_attn.weight"));
        let ours = first == Some(vec![3 * c, c]);
        let mut layer = |name: &str, inputs: usize, outputs: usize| {
            let name = format!("{place}{name}");
            match ours {
                true => Projection::load(source, &name, inputs, outputs, true),
                false => Projection::load_transposed(source, &name, inputs, outputs),
            }
        };
        let attention = GroupedAttention {
            qkv: Qkv::Fused(layer("attn.c_attn", c, 3 * c)?),
            output: layer("attn.c_proj", c, c)?,
            heads: config.heads,
            kv_heads: config.heads,
            head_width: c / config.heads,
        };
        let mlp = FeedForward {
            up: layer("mlp.c_fc", c, f)?,
            activation: Activation::QuickGelu,
            down: layer("mlp.c_proj", f, c)?,
        };
        Ok(Self {
            norm_1,
            attention,
            norm_2,
            mlp,
        })
    }

    fn run<C: Compute>(
        &self,
        compute: &mut C,
        x: C::Matrix,
        lengths: &[usize],
        caches: &mut [KvCache],
    ) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        let mut normed = self.norm_1.run(compute, &x)?;
        compute.trace("norm_1", &mut normed);
        let attention = &self.attention;
        let branch = attention.run(compute, &normed, lengths, caches, None)?;
        let branch = compute.dropout(branch);
        let mut middle = compute.add(branch, &x)?;
        compute.trace("residual_1", &mut middle);
        let mut normed = self.norm_2.run(compute, &middle)?;
        compute.trace("norm_2", &mut normed);
        let branch = self.mlp.run(compute, &normed)?;
        let branch = compute.dropout(branch);
        let mut output = compute.add(branch, &middle)?;
        compute.trace("output", &mut output);
        Ok(output)
    }

    fn parameters(&mut self, place: &str, visit: &mut Visit<'_>) -> Result<()> {
        let separate = ["attn.q", "attn.k", "attn.v"];
        let Self {
            norm_1,
            attention,
            norm_2,
            mlp,
        } = self;
        norm_1.parameters(&format!("{place}ln_1"), visit)?;
        let qkv = &mut attention.qkv;
        qkv.parameters(place, "attn.c_attn", separate, visit)?;
        let output = &mut attention.output;
        output.parameters(&format!("{place}attn.c_proj"), visit)?;
        norm_2.parameters(&format!("{place}ln_2"), visit)?;
        mlp.up.parameters(&format!("{place}mlp.c_fc"), visit)?;
        mlp.down.parameters(&format!("{place}mlp.c_proj"), visit)
    }
}

fn norm(config: &Config, source: &mut dyn Parameters, name: &str) -> Result<RmsNorm> {
    Ok(RmsNorm {
        gamma: vector(source, &format!("{name}.weight"), config.width)?,
        eps: config.norm_eps,
    })
}

/// The model: token table, position table, blocks, last norm, head.
#[derive(Debug, Clone)]
pub struct ImageGpt {
    config: Config,
    tokens: Weight,
    positions: Array2<f32>,
    blocks: Vec<Block>,
    norm: RmsNorm,
    head: Weight,
}

impl ImageGpt {
    /// The model with the parameters of a source.
    ///
    /// # Errors
    /// When the heads do not divide the width, or a parameter is missing or has another shape.
    pub fn load(config: Config, source: &mut dyn Parameters) -> Result<Self> {
        config.check()?;
        let (v, c) = (config.vocabulary, config.width);
        let blocks = (0..config.layers).map(|n| Block::load(&config, source, n));
        let blocks = blocks.collect::<Result<_>>()?;
        Ok(Self {
            tokens: source.weight("transformer.wte.weight", v, c)?,
            positions: matrix(source, "transformer.wpe.weight", config.context, c)?,
            blocks,
            norm: norm(&config, source, "transformer.ln_f")?,
            head: source.weight("lm_head.weight", v - 1, c)?,
            config,
        })
    }

    /// Its sizes.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// As [`Decoder::hidden`], by whoever computes.
    ///
    /// # Errors
    /// As [`Decoder::hidden`].
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        tokens: &Tokens<'_>,
        caches: &mut KvCaches,
    ) -> Result<C::Matrix> {
        // ids [T] -> [T, C]
        let mut x = compute.embed(&self.tokens, tokens.ids())?;
        compute.trace("embedding", &mut x);
        let positions = compute.lookup(&self.positions, tokens.positions())?;
        let mut x = compute.add(x, &positions)?;
        compute.trace("input", &mut x);
        let mut x = compute.dropout(x);
        for (n, block) in self.blocks.iter().enumerate() {
            let caches = caches.layer(n)?;
            x = compute.scope(
                || format!("blocks.{n}."),
                |compute| block.run(compute, x, tokens.lengths(), caches),
            )?;
        }
        let mut hidden = self.norm.run(compute, &x)?;
        compute.trace("norm", &mut hidden);
        Ok(hidden)
    }

    /// The logits of the colours alone, by whoever computes: the start token is never predicted.
    ///
    /// # Errors
    /// When the hidden states have another width.
    pub fn run_logits<C: Compute>(&self, compute: &mut C, hidden: &C::Matrix) -> Result<C::Matrix> {
        // hidden [T, C] -> [T, V − 1]
        compute.linear(hidden, &self.head, None)
    }
}

impl Trainable for ImageGpt {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let name = |part: &str| format!("transformer.{part}");
        let tokens = &mut self.tokens;
        trainable::weight(tokens, &name("wte.weight"), Kind::Table, visit)?;
        let positions = &mut self.positions;
        trainable::matrix(positions, &name("wpe.weight"), Kind::Table, visit)?;
        for (n, block) in self.blocks.iter_mut().enumerate() {
            block.parameters(&name(&format!("h.{n}.")), visit)?;
        }
        self.norm.parameters(&name("ln_f"), visit)?;
        trainable::weight(&mut self.head, "lm_head.weight", Kind::Matrix, visit)
    }
}

impl Decoder for ImageGpt {
    fn context(&self) -> usize {
        self.config.context
    }

    fn vocabulary(&self) -> usize {
        self.config.vocabulary
    }

    fn caches(&self, sequences: usize) -> KvCaches {
        let Config {
            layers,
            heads,
            width,
            ..
        } = self.config;
        KvCaches::new(layers, sequences, heads, width / heads)
    }

    /// The observer gets `embedding`, `input`, for each block `blocks.N.{norm_1, attention.…, residual_1, norm_2, mlp.…, output}`,
    /// then `norm`.
    fn hidden(
        &self,
        tokens: &Tokens<'_>,
        caches: &mut KvCaches,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // ids [T] -> [T, C]
        self.run(&mut Plain::new(trace), tokens, caches)
    }

    fn logits(&self, hidden: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        // hidden [T, C] -> [T, V]
        let colours = self.head.linear(hidden, None)?;
        let (tokens, count) = colours.dim();
        let mut logits = Array2::from_elem((tokens, count + 1), f32::NEG_INFINITY);
        logits.slice_mut(s![.., ..count]).assign(&colours);
        Ok(logits)
    }
}

/// The nearest colour of each pixel, row by row.
///
/// # Errors
/// When picture and colours have different channels, or there is no colour.
pub fn clusters(image: ArrayView3<'_, f32>, colours: ArrayView2<'_, f32>) -> Result<Vec<usize>> {
    // image [C, H, W], colours [N, C] -> [H·W]
    let ((channels, height, width), (count, found)) = (image.dim(), colours.dim());
    if channels != found || count == 0 {
        let expected = format!("colours [N, {channels}], N at least 1");
        return Err(EngineError::shape(
            "clusters",
            expected,
            format!("[{count}, {found}]"),
        ));
    }
    let nearest = |y: usize, x: usize| {
        let distance = |n: usize| -> f32 {
            let offsets = (0..channels).map(|c| image[[c, y, x]] - colours[[n, c]]);
            offsets.map(|offset| offset * offset).sum()
        };
        let nearer = |best: (usize, f32), n: usize| match distance(n) {
            d if d < best.1 => (n, d),
            _ => best,
        };
        (1..count).fold((0, distance(0)), nearer).0
    };
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (y, x)));
    Ok(places.map(|(y, x)| nearest(y, x)).collect())
}
