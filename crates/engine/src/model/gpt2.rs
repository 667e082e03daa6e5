//! GPT-2.
//!
//! ```text
//! x = E[ids] + P[positions]                              ids [T], E [V, C], P [context, C] -> [T, C]
//! a = x + attention_n(layer_norm(x)),  x = a + mlp_n(layer_norm(a)),  n = 1 … N             -> [T, C]
//! logits = layer_norm(x) · Eᵀ                                                               -> [T, V]
//! ```
//! The perceptron is two layers with GELU (tanh) between. Parameters have the names of Hugging Face's files, with or without
//! `transformer.` before them (`h.0.attn.c_attn.weight`); matrices lie as `[C_in, C_out]` there, and are taken as `[C_out, C_in]`
//! too (minGPT, GGUF), which the shape of `c_attn` tells. A source with an `lm_head.weight` has a head of its own.
//!
//! The observer gets `embedding`, `input`, for each block n `blocks.n.{norm_1, attention.…, residual_1, norm_2, mlp.…, output}`
//! (see [`GroupedAttention`] and [`FeedForward`]), `norm` and `logits`.
//!
//! Source: Radford et al. 2019, "Language models are unsupervised multitask learners", section 2.3; openai/gpt-2, `model.py`.

use super::config::{self, Lookup};
use super::decoder::{Decoder, Tokens};
use crate::error::Result;
use crate::nn::block::LayerNorm;
use crate::nn::compute::Compute;
use crate::nn::feed_forward::{Activation, FeedForward};
use crate::nn::grouped::{GroupedAttention, Qkv};
use crate::nn::kv_cache::{KvCache, KvCaches};
use crate::nn::parts::Parts;
use crate::nn::plain::Plain;
use crate::nn::projection::Projection;
use crate::parameters::{Parameters, Weight, matrix, vector};
use crate::trace::Observer;
use crate::trainable::{self, Kind, Trainable, Visit};
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
    /// How many blocks.
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

    /// The sizes from named numbers: our reference files', Hugging Face's or GGUF's names (see [`super::config`]).
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

    fn check(&self) -> Result<()> {
        config::divides("gpt2", "heads", self.heads, self.width)
    }

    /// The names of all parameters with their shapes, as Hugging Face's files have them.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (c, f) = (self.width, self.inner);
        let mut all = vec![
            (
                "transformer.wte.weight".to_owned(),
                vec![self.vocabulary, c],
            ),
            ("transformer.wpe.weight".to_owned(), vec![self.context, c]),
        ];
        for n in 0..self.layers {
            for (name, shape) in [
                ("ln_1.weight", vec![c]),
                ("ln_1.bias", vec![c]),
                ("attn.c_attn.weight", vec![c, 3 * c]),
                ("attn.c_attn.bias", vec![3 * c]),
                ("attn.c_proj.weight", vec![c, c]),
                ("attn.c_proj.bias", vec![c]),
                ("ln_2.weight", vec![c]),
                ("ln_2.bias", vec![c]),
                ("mlp.c_fc.weight", vec![c, f]),
                ("mlp.c_fc.bias", vec![f]),
                ("mlp.c_proj.weight", vec![f, c]),
                ("mlp.c_proj.bias", vec![c]),
            ] {
                all.push((format!("transformer.h.{n}.{name}"), shape));
            }
        }
        all.push(("transformer.ln_f.weight".to_owned(), vec![c]));
        all.push(("transformer.ln_f.bias".to_owned(), vec![c]));
        all
    }
}

/// One block: two sub-layers, each behind its norm and added to the residual stream.
#[derive(Debug, Clone)]
struct Block {
    norm_1: LayerNorm,
    attention: GroupedAttention,
    norm_2: LayerNorm,
    mlp: FeedForward,
}

impl Block {
    fn load(
        config: &Config,
        source: &mut dyn Parameters,
        name: &str,
        transposed: bool,
    ) -> Result<Self> {
        let (c, f) = (config.width, config.inner);
        let norm_1 = norm(config, source, &format!("{name}.ln_1"))?;
        let norm_2 = norm(config, source, &format!("{name}.ln_2"))?;
        let mut layer = |part: &str, inputs: usize, outputs: usize| {
            let name = format!("{name}.{part}");
            match transposed {
                true => Projection::load_transposed(source, &name, inputs, outputs),
                false => Projection::load(source, &name, inputs, outputs, true),
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
            activation: Activation::GeluTanh,
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
        parts: Parts,
    ) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        let mut normed = self.norm_1.run(compute, &x)?;
        compute.tell("norm_1", &mut normed);
        let attention = &self.attention;
        let branch = attention.run_with(compute, &normed, lengths, caches, None, parts)?;
        let branch = compute.dropout(branch);
        let mut middle = compute.add(branch, &x)?;
        compute.tell("residual_1", &mut middle);
        let mut normed = self.norm_2.run(compute, &middle)?;
        compute.tell("norm_2", &mut normed);
        let branch = self.mlp.run(compute, &normed)?;
        let branch = compute.dropout(branch);
        let mut output = compute.add(branch, &middle)?;
        compute.tell("output", &mut output);
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

fn norm(config: &Config, source: &mut dyn Parameters, name: &str) -> Result<LayerNorm> {
    Ok(LayerNorm {
        gamma: vector(source, &format!("{name}.weight"), config.width)?,
        beta: vector(source, &format!("{name}.bias"), config.width)?,
        eps: config.norm_eps,
    })
}

/// The model: token table, position table, blocks, last norm, and a head where it is not the token table.
#[derive(Debug, Clone)]
pub struct Gpt2 {
    config: Config,
    tokens: Weight,
    positions: Array2<f32>,
    blocks: Vec<Block>,
    norm: LayerNorm,
    head: Option<Weight>,
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
        let prefix = match source.shape("transformer.wte.weight") {
            Some(_) => "transformer.",
            None => "",
        };
        let first = source.shape(&format!("{prefix}h.0.attn.c_attn.weight"));
        let transposed = first == Some(vec![c, 3 * c]);
        let blocks = (0..config.layers)
            .map(|n| Block::load(&config, source, &format!("{prefix}h.{n}"), transposed));
        let blocks = blocks.collect::<Result<_>>()?;
        let own_head = source.shape("lm_head.weight").is_some();
        Ok(Self {
            tokens: source.weight(&format!("{prefix}wte.weight"), v, c)?,
            positions: matrix(source, &format!("{prefix}wpe.weight"), config.context, c)?,
            blocks,
            norm: norm(&config, source, &format!("{prefix}ln_f"))?,
            head: own_head
                .then(|| source.weight("lm_head.weight", v, c))
                .transpose()?,
            parts: Parts::default(),
            config,
        })
    }

    /// Its sizes.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The same weights with or without scaling and mask in every attention layer; the other parts stay in use. Without the mask
    /// whole texts are read, and the caches stay empty.
    pub fn with_parts(&self, parts: Parts) -> Self {
        Self {
            parts,
            ..self.clone()
        }
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
        compute.tell("embedding", &mut x);
        let positions = compute.lookup(&self.positions, tokens.positions())?;
        let mut x = compute.add(x, &positions)?;
        compute.tell("input", &mut x);
        let mut x = compute.dropout(x);
        for (n, block) in self.blocks.iter().enumerate() {
            let caches = caches.layer(n)?;
            x = compute.within(
                || format!("blocks.{n}."),
                |compute| block.run(compute, x, tokens.lengths(), caches, self.parts),
            )?;
        }
        let mut hidden = self.norm.run(compute, &x)?;
        compute.tell("norm", &mut hidden);
        Ok(hidden)
    }

    /// As [`Decoder::logits`], by whoever computes.
    ///
    /// # Errors
    /// As [`Decoder::logits`].
    pub fn run_logits<C: Compute>(&self, compute: &mut C, hidden: &C::Matrix) -> Result<C::Matrix> {
        // hidden [T, C] -> [T, V]
        compute.linear(hidden, self.head.as_ref().unwrap_or(&self.tokens), None)
    }
}

impl Trainable for Gpt2 {
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
        match &mut self.head {
            Some(head) => trainable::weight(head, "lm_head.weight", Kind::Matrix, visit),
            None => Ok(()),
        }
    }
}

impl Decoder for Gpt2 {
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
        self.head
            .as_ref()
            .unwrap_or(&self.tokens)
            .linear(hidden, None)
    }
}
