//! The trunk that GPT-2 and ImageGPT share: token table, position table, pre-norm blocks with causal attention, and a last norm.
//!
//! ```text
//! x = E[ids] + P[positions]           ids [T], E [V, C], P [context, C]   -> [T, C]
//! hidden = norm(block_n(x)), n = 0 …                                      -> [T, C]
//! ```
//! Parameters have the names of Hugging Face's files, `h.0.attn.c_attn.weight` and so on.

use super::decoder::Tokens;
use crate::error::Result;
use crate::nn::compute::Compute;
use crate::nn::feed_forward::{Activation, FeedForward};
use crate::nn::grouped::{GroupedAttention, Qkv};
use crate::nn::kv_cache::KvCaches;
use crate::nn::norm::Norm;
use crate::nn::parts::Parts;
use crate::nn::pre_norm::PreNormBlock;
use crate::nn::projection::Projection;
use crate::parameters::{Parameters, Weight, matrix};
use crate::trainable::{self, Kind, Visit};
use ndarray::Array2;

/// The sizes of a trunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// V.
    pub(super) vocabulary: usize,
    /// C, a multiple of `heads`.
    pub(super) width: usize,
    /// H.
    pub(super) heads: usize,
    /// Number of blocks.
    pub(super) layers: usize,
    /// F.
    pub(super) inner: usize,
    /// Rows of the position table.
    pub(super) context: usize,
    /// Between the layers of the MLP.
    pub(super) activation: Activation,
    /// True where matrices lie as `[C_in, C_out]`, as in Hugging Face's files.
    pub(super) transposed: bool,
}

/// The names and shapes of the matrices of one block, with their biases, as Hugging Face's files have them.
pub(super) fn block_shapes(width: usize, inner: usize) -> [(&'static str, Vec<usize>); 8] {
    let (c, f) = (width, inner);
    [
        ("attn.c_attn.weight", vec![c, 3 * c]),
        ("attn.c_attn.bias", vec![3 * c]),
        ("attn.c_proj.weight", vec![c, c]),
        ("attn.c_proj.bias", vec![c]),
        ("mlp.c_fc.weight", vec![c, f]),
        ("mlp.c_fc.bias", vec![f]),
        ("mlp.c_proj.weight", vec![f, c]),
        ("mlp.c_proj.bias", vec![c]),
    ]
}

/// Tables, blocks and the last norm.
#[derive(Debug, Clone)]
pub(super) struct Trunk<N> {
    /// `[V, C]`.
    pub(super) tokens: Weight,
    positions: Array2<f32>,
    blocks: Vec<PreNormBlock<N, GroupedAttention>>,
    norm: N,
}

impl<N: Norm> Trunk<N> {
    /// The trunk with the parameters of a source, whose names begin with `prefix`; `norm` loads a norm by its name.
    ///
    /// # Errors
    /// When a parameter is missing or has another shape.
    pub(super) fn load(
        sizes: &Sizes,
        source: &mut dyn Parameters,
        prefix: &str,
        norm: impl Fn(&mut dyn Parameters, &str) -> Result<N>,
    ) -> Result<Self> {
        let c = sizes.width;
        let blocks =
            (0..sizes.layers).map(|n| block(sizes, source, &format!("{prefix}h.{n}."), &norm));
        let blocks = blocks.collect::<Result<_>>()?;
        Ok(Self {
            tokens: source.weight(&format!("{prefix}wte.weight"), sizes.vocabulary, c)?,
            positions: matrix(source, &format!("{prefix}wpe.weight"), sizes.context, c)?,
            blocks,
            norm: norm(source, &format!("{prefix}ln_f"))?,
        })
    }

    /// The hidden states after the last norm, generic over the executor. The observer gets `embedding`, `input`,
    /// `blocks.N.…` (see [`PreNormBlock::run`]) and `norm`.
    ///
    /// # Errors
    /// When an id is outside the vocabulary or the caches are another model's.
    pub(super) fn run<C: Compute>(
        &self,
        compute: &mut C,
        tokens: &Tokens<'_>,
        caches: &mut KvCaches,
        parts: Parts,
    ) -> Result<C::Matrix> {
        // ids [T] -> [T, C]
        let mut x = compute.embed(&self.tokens, tokens.ids())?;
        compute.trace("embedding", &mut x);
        if parts.positions {
            let positions = compute.lookup(&self.positions, tokens.positions())?;
            x = compute.add(x, &positions)?;
        }
        compute.trace("input", &mut x);
        let mut x = compute.dropout(x);
        for (n, block) in self.blocks.iter().enumerate() {
            let (lengths, caches) = (tokens.lengths(), caches.layer(n)?);
            let prefix = || format!("blocks.{n}.");
            x = compute.scope(prefix, |compute| {
                block.run(compute, x, parts, |attention, compute, x| {
                    attention.run(compute, x, lengths, caches, None, parts)
                })
            })?;
        }
        let mut hidden = parts.norm(compute, &self.norm, &x)?;
        compute.trace("norm", &mut hidden);
        Ok(hidden)
    }

    /// The same weights with another activation in every MLP.
    pub(super) fn with_activation(mut self, activation: Activation) -> Self {
        for block in &mut self.blocks {
            block.mlp.activation = activation;
        }
        self
    }

    /// Visits all parameters under the names `transformer.…`.
    ///
    /// # Errors
    /// When `visit` fails.
    pub(super) fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let name = |part: &str| format!("transformer.{part}");
        let tokens = &mut self.tokens;
        trainable::weight(tokens, &name("wte.weight"), Kind::Table, visit)?;
        let positions = &mut self.positions;
        trainable::matrix(positions, &name("wpe.weight"), Kind::Table, visit)?;
        for (n, block) in self.blocks.iter_mut().enumerate() {
            block_parameters(block, &name(&format!("h.{n}.")), visit)?;
        }
        self.norm.parameters(&name("ln_f"), visit)
    }
}

fn block<N>(
    sizes: &Sizes,
    source: &mut dyn Parameters,
    place: &str,
    norm: &impl Fn(&mut dyn Parameters, &str) -> Result<N>,
) -> Result<PreNormBlock<N, GroupedAttention>> {
    let (c, f) = (sizes.width, sizes.inner);
    let norm_1 = norm(source, &format!("{place}ln_1"))?;
    let norm_2 = norm(source, &format!("{place}ln_2"))?;
    let mut layer = |part: &str, inputs: usize, outputs: usize| {
        let name = format!("{place}{part}");
        match sizes.transposed {
            true => Projection::load_transposed(source, &name, inputs, outputs),
            false => Projection::load(source, &name, inputs, outputs, true),
        }
    };
    Ok(PreNormBlock {
        norm_1,
        attention: GroupedAttention {
            qkv: Qkv::Fused(layer("attn.c_attn", c, 3 * c)?),
            output: layer("attn.c_proj", c, c)?,
            heads: sizes.heads,
            kv_heads: sizes.heads,
            head_width: c / sizes.heads,
        },
        scale_1: None,
        norm_2,
        mlp: FeedForward {
            up: layer("mlp.c_fc", c, f)?,
            activation: sizes.activation,
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
