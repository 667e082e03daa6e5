//! GPT-2.
//!
//! ```text
//! x = E[ids] + P[positions]                              ids [T], E [V, C], P [context, C] -> [T, C]
//! a = x + attention_n(layer_norm(x)),  x = a + mlp_n(layer_norm(a)),  n = 1 … N             -> [T, C]
//! logits = layer_norm(x) · Eᵀ                                                               -> [T, V]
//! ```
//! The MLP is two layers with GELU (tanh) between. Parameters have the names of Hugging Face's
//! files, with or without `transformer.` before them (`h.0.attn.c_attn.weight`); matrices are
//! stored as `[C_in, C_out]` there; `[C_out, C_in]` is accepted too (minGPT, GGUF), as the shape of
//! `c_attn` shows. A source with an `lm_head.weight` has a head of its own.
//!
//! The observer gets `embedding`, `input`, for each block n `blocks.n.{norm_1, attention.…,
//! residual_1, norm_2, mlp.…, output}` (see [`crate::nn::pre_norm::PreNormBlock`]), `norm` and
//! `logits`.
//!
//! Source: Radford et al. 2019, "Language models are unsupervised multitask learners", section 2.3;
//! openai/gpt-2, `model.py`.

use super::config::{self, Lookup};
use super::decoder::{Decoder, Tokens};
use super::gpt_trunk::{Trunk, block_shapes};
use super::names::{Shapes, prefix};
use crate::error::Result;
use crate::nn::compute::Compute;
use crate::nn::feed_forward::{Activation, FeedForward};
use crate::nn::kv_cache::KvCaches;
use crate::nn::norm::LayerNorm;
use crate::nn::parts::Parts;
use crate::nn::plain::Plain;
use crate::parameters::{Parameters, Weight};
use crate::trace::Observer;
use crate::trainable::{Trainable, Visit};
use ndarray::{Array2, ArrayView2};

/// The sizes of a GPT-2.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// V.
    pub vocabulary: usize,
    /// C, a multiple of `heads`.
    pub width: usize,
    /// H.
    pub heads: usize,
    /// Number of blocks.
    pub layers: usize,
    /// F.
    pub inner: usize,
    /// Rows of the position table: the longest text.
    pub context: usize,
    /// Added to the variance in each norm.
    pub norm_eps: f32,
}

impl Config {
    /// GPT-2 of 124 million parameters (Radford et al. 2019, table 2).
    pub fn gpt2_124m() -> Self {
        Self {
            vocabulary: 50_257,
            width: 768,
            heads: 12,
            layers: 12,
            inner: 3072,
            context: 1024,
            norm_eps: 1e-5,
        }
    }

    /// The sizes from named numbers: our reference files', Hugging Face's or GGUF's names (see
    /// [`super::config`]).
    ///
    /// # Errors
    /// When a size is missing or not a whole number in range, or the heads do not divide the width.
    pub fn from_keys(lookup: Lookup<'_>) -> Result<Self> {
        let size = |names: &[&'static str]| config::size("gpt2", lookup, names);
        let width = size(&["width", "n_embd", "embedding_length"])?;
        let inner = config::optional("gpt2", lookup, &["inner", "n_inner", "feed_forward_length"])?;
        let eps = [
            "norm_eps",
            "layer_norm_epsilon",
            "attention.layer_norm_epsilon",
        ];
        let config = Self {
            vocabulary: size(&["vocabulary", "vocab_size"])?,
            width,
            heads: size(&["heads", "n_head", "attention.head_count"])?,
            layers: size(&["layers", "n_layer", "block_count"])?,
            inner: inner.unwrap_or(4 * width),
            context: size(&["context", "n_positions", "block_size", "context_length"])?,
            norm_eps: config::number(lookup, &eps).unwrap_or(1e-5) as f32,
        };
        config.check()?;
        Ok(config)
    }

    /// Refuses sizes that no model can have.
    ///
    /// # Errors
    /// When the heads do not divide the width.
    pub fn check(&self) -> Result<()> {
        config::divides("gpt2", "heads", self.heads, self.width)
    }

    /// Empty caches for `sequences` texts.
    pub(super) fn caches(&self, sequences: usize) -> KvCaches {
        KvCaches::new(self.layers, sequences, self.heads, self.width / self.heads)
    }

    /// The names of all parameters with their shapes, as Hugging Face's files have them.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (mut all, c) = (Shapes::default(), self.width);
        all.add("transformer.wte.weight", &[self.vocabulary, c]);
        all.add("transformer.wpe.weight", &[self.context, c]);
        for n in 0..self.layers {
            all.layer(&format!("transformer.h.{n}.ln_1"), &[c]);
            all.layer(&format!("transformer.h.{n}.ln_2"), &[c]);
            block_shapes(self, n, &mut all);
        }
        all.layer("transformer.ln_f", &[c]);
        all.0
    }
}

/// The model: token table, position table, blocks, last norm, and a head where it is not the token
/// table.
#[derive(Debug, Clone)]
pub struct Gpt2 {
    config: Config,
    trunk: Trunk<LayerNorm>,
    parts: Parts,
}

impl Gpt2 {
    /// The model with the parameters of a source.
    ///
    /// # Errors
    /// When the heads do not divide the width, or a parameter is missing or has another shape.
    pub fn load(config: Config, source: &mut dyn Parameters) -> Result<Self> {
        config.check()?;
        let (v, c) = (config.vocabulary, config.width);
        let prefix = prefix(source, &["", "transformer."], "wte.weight");
        let first = source.shape(&format!("{prefix}h.0.attn.c_attn.weight"));
        let transposed = first == Some(vec![c, 3 * c]);
        let own_head = source.shape("lm_head.weight").is_some();
        let head = own_head.then(|| source.weight("lm_head.weight", v, c));
        let (head, gelu) = (head.transpose()?, Activation::GeluTanh);
        Ok(Self {
            trunk: Trunk::load(&config, source, &prefix, gelu, transposed, head)?,
            parts: Parts::default(),
            config,
        })
    }

    /// The sizes of the model.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The token table, a row for each token of the vocabulary, `[V, C]`.
    pub fn tokens(&self) -> &Weight {
        &self.trunk.tokens
    }

    /// The MLP of a block.
    pub fn mlp(&self, block: usize) -> Option<&FeedForward> {
        self.trunk.blocks.get(block).map(|block| &block.mlp)
    }

    /// Tables, blocks and the last norm, to be read.
    pub fn trunk(&self) -> &Trunk<LayerNorm> {
        &self.trunk
    }

    /// The same model with these parts in use. Without the mask whole texts are read, and the
    /// caches stay empty.
    pub fn with_parts(&self, parts: Parts) -> Self {
        Self {
            parts,
            ..self.clone()
        }
    }

    /// The same model with another activation in the MLPs than GPT-2's.
    pub fn with_activation(self, activation: Activation) -> Self {
        Self {
            trunk: self.trunk.with_activation(activation),
            ..self
        }
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
        self.trunk.run(compute, tokens, caches, None, self.parts)
    }

    /// As [`Decoder::logits`], generic over the executor.
    ///
    /// # Errors
    /// As [`Decoder::logits`].
    pub fn run_logits<C: Compute>(&self, compute: &mut C, hidden: &C::Matrix) -> Result<C::Matrix> {
        // hidden [T, C] -> [T, V]
        compute.linear(hidden, self.trunk.head(), None)
    }
}

impl Trainable for Gpt2 {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.trunk.parameters(visit)
    }
}

impl Decoder for Gpt2 {
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
        self.trunk.head().linear(hidden, None)
    }

    fn gpt2(&self) -> Option<&Self> {
        Some(self)
    }
}
