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
use super::gpt_trunk::{Sizes, Trunk, block_shapes};
use crate::error::{EngineError, Result};
use crate::nn::compute::Compute;
use crate::nn::feed_forward::Activation;
use crate::nn::kv_cache::KvCaches;
use crate::nn::norm::RmsNorm;
use crate::nn::parts::Parts;
use crate::nn::plain::Plain;
use crate::parameters::{Parameters, Weight, vector};
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
    /// Number of blocks.
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
        let (v, c) = (self.vocabulary, self.width);
        let mut all = vec![
            ("transformer.wte.weight".to_owned(), vec![v, c]),
            ("transformer.wpe.weight".to_owned(), vec![self.context, c]),
            ("transformer.ln_f.weight".to_owned(), vec![c]),
            ("lm_head.weight".to_owned(), vec![v - 1, c]),
        ];
        for n in 0..self.layers {
            let norms = ["ln_1.weight", "ln_2.weight"].map(|name| (name, vec![c]));
            for (name, shape) in norms.into_iter().chain(block_shapes(c, self.inner)) {
                all.push((format!("transformer.h.{n}.{name}"), shape));
            }
        }
        all
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
    trunk: Trunk<RmsNorm>,
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
        // Hugging Face's files have matrices as [C_in, C_out], our own as [C_out, C_in].
        let first = source.shape("transformer.h.0.attn.c_attn.weight");
        let sizes = Sizes {
            vocabulary: v,
            width: c,
            heads: config.heads,
            layers: config.layers,
            inner: config.inner,
            context: config.context,
            activation: Activation::QuickGelu,
            transposed: first != Some(vec![3 * c, c]),
        };
        let load_norm = |source: &mut dyn Parameters, name: &str| norm(&config, source, name);
        Ok(Self {
            trunk: Trunk::load(&sizes, source, "transformer.", load_norm)?,
            head: source.weight("lm_head.weight", v - 1, c)?,
            config,
        })
    }

    /// Its sizes.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// As [`Decoder::hidden`], generic over the executor.
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
        self.trunk.run(compute, tokens, caches, Parts::default())
    }

    /// The logits of the colours alone, generic over the executor: the start token is never predicted.
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
        self.trunk.parameters(visit)?;
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
