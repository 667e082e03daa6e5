//! ImageGPT: GPT-2 over the pixels of a small picture, each reduced to the nearest of some colours.
//!
//! ```text
//! x = E[ids] + positions         ids [T]: the start token V − 1, then colours row by row    -> [T, C]
//! x = block_n(x), n = 0 …        pre-norm with RMS norms, causal, x · sigmoid(1.702 x)      -> [T, C]
//! logits = rms_norm(x) · Wᵀ      for the next pixel; −∞ for the start token               -> [T, V]
//! ```
//!
//! ```
//! use engine::model::{decoder::DecoderExt, image_gpt::{Config, ImageGpt, clusters, shapes}};
//! use engine::formula::Formula;
//! use ndarray::{array, Array3};
//! let config = Config { vocabulary: 5, width: 8, heads: 2, layers: 2, inner: 32, context: 16, norm_eps: 1e-5 };
//! let model = ImageGpt::load(config.clone(), &mut Formula::new(0, shapes(&config)))?;
//! let black_and_white = array![[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]];
//! let pixels = clusters(Array3::from_elem((3, 1, 2), 0.9).view(), black_and_white.view())?;
//! assert_eq!(pixels, [1, 1]);
//! let logits = model.forward(&[4, 1, 1], None)?;
//! assert_eq!((logits.dim(), logits[[0, 4]]), ((3, 5), f32::NEG_INFINITY));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Chen et al. 2020, "Generative pretraining from pixels", sections 2.1 and 3. Names of
//! parameters: Hugging Face's (`ImageGPTForCausalImageModeling`).

use super::decoder::{Decoder, Tokens};
use super::gpt_trunk::{Trunk, block_shapes};
use super::names::Shapes;
use crate::error::{EngineError, Result};
use crate::nn::compute::Compute;
use crate::nn::feed_forward::Activation;
use crate::nn::kv_cache::KvCaches;
use crate::nn::norm::RmsNorm;
use crate::nn::parts::Parts;
use crate::nn::plain::Plain;
use crate::parameters::Parameters;
use crate::trace::Observer;
use crate::trainable::{Trainable, Visit};
use ndarray::{Array2, ArrayView2, ArrayView3, s};

/// The sizes of an ImageGPT: those of a GPT-2 whose vocabulary is the colours and the start token,
/// and whose context is the pixels of a picture.
pub use super::gpt2::Config;

/// The names of all parameters with their shapes, as Hugging Face's files have them.
pub fn shapes(config: &Config) -> Vec<(String, Vec<usize>)> {
    let (mut all, v, c) = (Shapes::default(), config.vocabulary, config.width);
    all.add("transformer.wte.weight", &[v, c]);
    all.add("transformer.wpe.weight", &[config.context, c]);
    all.add("transformer.ln_f.weight", &[c]);
    all.add("lm_head.weight", &[v - 1, c]);
    for n in 0..config.layers {
        all.add(format!("transformer.h.{n}.ln_1.weight"), &[c]);
        all.add(format!("transformer.h.{n}.ln_2.weight"), &[c]);
        block_shapes(config, n, &mut all);
    }
    all.0
}

/// The model: token table, position table, blocks, last norm, head.
#[derive(Debug, Clone)]
pub struct ImageGpt {
    config: Config,
    trunk: Trunk<RmsNorm>,
}

impl ImageGpt {
    /// The model with the parameters of a source.
    ///
    /// # Errors
    /// When the heads do not divide the width, the vocabulary has no colour, or a parameter is
    /// missing or has another shape.
    pub fn load(config: Config, source: &mut dyn Parameters) -> Result<Self> {
        config.check()?;
        let (v, c) = (config.vocabulary, config.width);
        if v < 2 {
            return Err(EngineError::value(
                "image_gpt",
                "vocabulary",
                "at least 2",
                v,
            ));
        }
        // Hugging Face's files have matrices as [C_in, C_out], our own as [C_out, C_in].
        let first = source.shape("transformer.h.0.attn.c_attn.weight");
        let transposed = first != Some(vec![3 * c, c]);
        let head = Some(source.weight("lm_head.weight", v - 1, c)?);
        let (prefix, gelu) = ("transformer.", Activation::QuickGelu);
        Ok(Self {
            trunk: Trunk::load(&config, source, prefix, gelu, transposed, head)?,
            config,
        })
    }

    /// The sizes of the model.
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
        let parts = Parts::default();
        self.trunk.run(compute, tokens, caches, None, parts)
    }

    /// The logits of the colours alone, generic over the executor: the start token is never
    /// predicted.
    ///
    /// # Errors
    /// When the hidden states have another width.
    pub fn run_logits<C: Compute>(&self, compute: &mut C, hidden: &C::Matrix) -> Result<C::Matrix> {
        // hidden [T, C] -> [T, V − 1]
        compute.linear(hidden, self.trunk.head(), None)
    }
}

impl Trainable for ImageGpt {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.trunk.parameters(visit)
    }
}

impl Decoder for ImageGpt {
    fn layers(&self) -> usize {
        self.config.layers
    }

    fn heads(&self) -> usize {
        self.config.heads
    }

    fn context(&self) -> usize {
        self.config.context
    }

    fn vocabulary(&self) -> usize {
        self.config.vocabulary
    }

    fn caches(&self, sequences: usize) -> KvCaches {
        self.config.caches(sequences)
    }

    /// The observer gets `embedding`, `input`, for each block `blocks.N.{norm_1, attention.…,
    /// residual_1, norm_2, mlp.…, output}`, then `norm`.
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
        let colours = self.trunk.head().linear(hidden, None)?;
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
        let found = format!("[{count}, {found}]");
        return Err(EngineError::shape("clusters", expected, found));
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
    Ok((0..height * width)
        .map(|n| nearest(n / width, n % width))
        .collect())
}
