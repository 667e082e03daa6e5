//! The blocks of BERT, under the names that Hugging Face's files have for them.

use super::bert::Config;
use crate::error::Result;
use crate::nn::feed_forward::{Activation, FeedForward};
use crate::nn::full_attention::FullAttention;
use crate::nn::grouped::Qkv;
use crate::nn::norm::{LayerNorm, Norm};
use crate::nn::parts::Parts;
use crate::nn::post_norm::PostNormBlock;
use crate::nn::projection::Projection;
use crate::parameters::Parameters;
use crate::trainable::Visit;

/// The block whose parameters' names begin with `place`.
pub(super) fn block(
    config: &Config,
    source: &mut dyn Parameters,
    place: &str,
) -> Result<PostNormBlock> {
    let (c, f, eps) = (config.width, config.inner, config.norm_eps);
    let mut layer = |name: &str, inputs: usize, outputs: usize| {
        Projection::load(source, &format!("{place}{name}"), inputs, outputs, true)
    };
    let attention = FullAttention {
        qkv: Qkv::Separate {
            q: layer("attention.self.query", c, c)?,
            k: layer("attention.self.key", c, c)?,
            v: layer("attention.self.value", c, c)?,
        },
        output: layer("attention.output.dense", c, c)?,
        heads: config.heads,
    };
    let mlp = FeedForward {
        up: layer("intermediate.dense", c, f)?,
        activation: Activation::Gelu,
        down: layer("output.dense", f, c)?,
    };
    let mut norm = |name: &str| LayerNorm::load(source, &format!("{place}{name}"), c, eps);
    Ok(PostNormBlock {
        attention,
        norm_1: norm("attention.output.LayerNorm")?,
        mlp,
        norm_2: norm("output.LayerNorm")?,
        parts: Parts::default(),
    })
}

/// Visits the block's parameters under the names that it is loaded by.
pub(super) fn block_parameters(
    block: &mut PostNormBlock,
    place: &str,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let name = |part: &str| format!("{place}{part}");
    let separate = ["query", "key", "value"];
    let FullAttention { qkv, output, .. } = &mut block.attention;
    qkv.parameters(&name("attention.self."), "qkv", separate, visit)?;
    output.parameters(&name("attention.output.dense"), visit)?;
    let (norm, FeedForward { up, down, .. }) = (&mut block.norm_1, &mut block.mlp);
    norm.parameters(&name("attention.output.LayerNorm"), visit)?;
    up.parameters(&name("intermediate.dense"), visit)?;
    down.parameters(&name("output.dense"), visit)?;
    block.norm_2.parameters(&name("output.LayerNorm"), visit)
}
