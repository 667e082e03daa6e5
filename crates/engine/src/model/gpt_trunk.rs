//! The trunk that decoders share: token table, pre-norm blocks with causal attention, a last norm
//! and the head; in GPT-2 and ImageGPT also a position table.
//!
//! ```text
//! x = E[ids] + P[positions]           ids [T], E [V, C], P [context, C]   -> [T, C]
//! hidden = norm(block_n(x)), n = 0 …                                      -> [T, C]
//! ```
//! The parameters of GPT-2 and ImageGPT have the names of Hugging Face's files,
//! `h.0.attn.c_attn.weight` and so on.

use super::decoder::Tokens;
use super::gpt2::Config;
use super::names::Shapes;
use crate::error::Result;
use crate::nn::compute::Compute;
use crate::nn::feed_forward::{Activation, FeedForward};
use crate::nn::grouped::{GroupedAttention, Qkv};
use crate::nn::kv_cache::KvCaches;
use crate::nn::norm::Norm;
use crate::nn::parts::Parts;
use crate::nn::position::rope::RotaryTable;
use crate::nn::pre_norm::{Mlp, PreNormBlock};
use crate::nn::projection::Projection;
use crate::parameters::{Parameters, Weight, matrix};
use crate::trainable::{self, Kind, Visit};
use ndarray::Array2;

/// Adds the matrices of block `n` and their biases, as Hugging Face's files have them.
pub(super) fn block_shapes(config: &Config, n: usize, all: &mut Shapes) {
    let (c, f) = (config.width, config.inner);
    for (name, inputs, outputs) in [
        ("attn.c_attn", c, 3 * c),
        ("attn.c_proj", c, c),
        ("mlp.c_fc", c, f),
        ("mlp.c_proj", f, c),
    ] {
        let name = format!("transformer.h.{n}.{name}");
        all.add(format!("{name}.weight"), &[inputs, outputs]);
        all.add(format!("{name}.bias"), &[outputs]);
    }
}

/// Tables, blocks, the last norm and the head.
#[derive(Debug, Clone)]
pub struct Trunk<N, M = FeedForward> {
    /// `[V, C]`.
    pub tokens: Weight,
    /// `[context, C]`, where positions are learned.
    pub positions: Option<Array2<f32>>,
    /// The blocks in their order.
    pub blocks: Vec<PreNormBlock<N, GroupedAttention, M>>,
    /// The norm after the last block.
    pub norm: N,
    /// `[V, C]`, where it is not the token table.
    pub head: Option<Weight>,
}

impl<N: Norm, M: Mlp> Trunk<N, M> {
    /// The hidden states after the last norm, generic over the executor. The observer gets
    /// `embedding`, with learned positions `input`, `blocks.N.…` (see [`PreNormBlock::run`]) and
    /// `norm`.
    ///
    /// # Errors
    /// When an id is outside the vocabulary or the caches are another model's.
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        tokens: &Tokens<'_>,
        caches: &mut KvCaches,
        rotary: Option<&RotaryTable>,
        parts: Parts,
    ) -> Result<C::Matrix> {
        // ids [T] -> [T, C]
        let mut x = compute.embed(&self.tokens, tokens.ids())?;
        compute.trace("embedding", &mut x);
        if let Some(table) = &self.positions {
            if parts.positions {
                let positions = compute.lookup(table, tokens.positions())?;
                x = compute.add(x, &positions)?;
            }
            compute.trace("input", &mut x);
        }
        let mut x = compute.dropout(x);
        for (n, block) in self.blocks.iter().enumerate() {
            let (lengths, caches) = (tokens.lengths(), caches.layer(n)?);
            let prefix = || format!("blocks.{n}.");
            x = compute.scope(prefix, |compute| {
                block.run(compute, x, parts, |attention, compute, x| {
                    attention.run(compute, x, lengths, caches, rotary, parts)
                })
            })?;
        }
        let mut hidden = parts.norm(compute, &self.norm, &x)?;
        compute.trace("norm", &mut hidden);
        Ok(hidden)
    }

    /// The matrix of the logits: the head, or else the token table.
    pub fn head(&self) -> &Weight {
        self.head.as_ref().unwrap_or(&self.tokens)
    }

    /// Visits the head, where it is not the token table.
    pub fn head_parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        match &mut self.head {
            Some(head) => trainable::weight(head, "lm_head.weight", Kind::Matrix, visit),
            None => Ok(()),
        }
    }
}

impl<N: Norm> Trunk<N> {
    /// The trunk with the parameters of a source, whose names begin with `prefix`. Matrices are
    /// stored as `[C_in, C_out]` if `transposed`, as in Hugging Face's files.
    ///
    /// # Errors
    /// When a parameter is missing or has another shape.
    pub fn load(
        config: &Config,
        source: &mut dyn Parameters,
        prefix: &str,
        activation: Activation,
        transposed: bool,
        head: Option<Weight>,
    ) -> Result<Self> {
        let (c, eps) = (config.width, config.norm_eps);
        // The largest matrix first: the memory that packing it needs is free again for the blocks.
        let tokens = source.weight(&format!("{prefix}wte.weight"), config.vocabulary, c)?;
        let mut blocks = Vec::new();
        for n in 0..config.layers {
            let name = format!("{prefix}h.{n}.");
            blocks.push(block(config, source, &name, activation, transposed)?);
        }
        Ok(Self {
            tokens,
            positions: Some(matrix(
                source,
                &format!("{prefix}wpe.weight"),
                config.context,
                c,
            )?),
            blocks,
            norm: N::load(source, &format!("{prefix}ln_f"), c, eps)?,
            head,
        })
    }

    /// The same model with another activation in every MLP.
    pub fn with_activation(mut self, activation: Activation) -> Self {
        for block in &mut self.blocks {
            block.mlp.activation = activation;
        }
        self
    }

    /// Visits all parameters under the names `transformer.…`.
    ///
    /// # Errors
    /// When `visit` fails.
    pub fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let name = |part: &str| format!("transformer.{part}");
        let tokens = &mut self.tokens;
        trainable::weight(tokens, &name("wte.weight"), Kind::Table, visit)?;
        if let Some(positions) = &mut self.positions {
            trainable::array(positions, &name("wpe.weight"), Kind::Table, visit)?;
        }
        for (n, block) in self.blocks.iter_mut().enumerate() {
            block_parameters(block, &name(&format!("h.{n}.")), visit)?;
        }
        self.norm.parameters(&name("ln_f"), visit)?;
        self.head_parameters(visit)
    }
}

/// The block whose parameters have names that begin with `place`.
pub fn block<N: Norm>(
    config: &Config,
    source: &mut dyn Parameters,
    place: &str,
    activation: Activation,
    transposed: bool,
) -> Result<PreNormBlock<N, GroupedAttention>> {
    let (c, f, eps) = (config.width, config.inner, config.norm_eps);
    let norm_1 = N::load(source, &format!("{place}ln_1"), c, eps)?;
    let norm_2 = N::load(source, &format!("{place}ln_2"), c, eps)?;
    let mut layer = |part: &str, inputs: usize, outputs: usize| {
        let name = format!("{place}{part}");
        match transposed {
            true => Projection::load_transposed(source, &name, inputs, outputs),
            false => Projection::load(source, &name, inputs, outputs, true),
        }
    };
    Ok(PreNormBlock {
        norm_1,
        attention: GroupedAttention {
            qkv: Qkv::Fused(layer("attn.c_attn", c, 3 * c)?),
            output: layer("attn.c_proj", c, c)?,
            heads: config.heads,
            kv_heads: config.heads,
            head_width: c / config.heads,
            window: None,
        },
        scale_1: None,
        norm_2,
        mlp: FeedForward {
            up: layer("mlp.c_fc", c, f)?,
            activation,
            down: layer("mlp.c_proj", f, c)?,
        },
        scale_2: None,
    })
}

fn block_parameters<N: Norm>(
    block: &mut PreNormBlock<N, GroupedAttention>,
    place: &str,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let name = |part: &str| format!("{place}{part}");
    let separate = ["attn.q", "attn.k", "attn.v"];
    block.norm_1.parameters(&name("ln_1"), visit)?;
    let GroupedAttention { qkv, output, .. } = &mut block.attention;
    qkv.parameters(place, "attn.c_attn", separate, visit)?;
    output.parameters(&name("attn.c_proj"), visit)?;
    block.norm_2.parameters(&name("ln_2"), visit)?;
    block.mlp.up.parameters(&name("mlp.c_fc"), visit)?;
    block.mlp.down.parameters(&name("mlp.c_proj"), visit)
}
