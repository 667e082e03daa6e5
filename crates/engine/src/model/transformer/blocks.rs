//! The blocks with the parameters of a source, under the names of `torch.nn.Transformer`.

use super::Config;
use crate::error::Result;
use crate::model::names::{SEPARATE, norm, packed};
use crate::nn::cross_attention::CrossAttention;
use crate::nn::feed_forward::{Activation, FeedForward};
use crate::nn::full_attention::FullAttention;
use crate::nn::grouped::{GroupedAttention, Qkv};
use crate::nn::norm::Norm;
use crate::nn::parts::Parts;
use crate::nn::post_norm::PostNormBlock;
use crate::nn::post_norm_decoder::PostNormDecoderBlock;
use crate::nn::projection::Projection;
use crate::parameters::Parameters;
use crate::trainable::Visit;

/// Block `n` of the encoder.
pub(super) fn encoder_block(
    config: &Config,
    source: &mut dyn Parameters,
    n: usize,
) -> Result<PostNormBlock> {
    let (c, eps) = (config.width, config.norm_eps);
    let place = format!("transformer.encoder.layers.{n}");
    let [q, k, v] = packed(source, &format!("{place}.self_attn"), c)?;
    let output = format!("{place}.self_attn.out_proj");
    Ok(PostNormBlock {
        attention: FullAttention {
            qkv: Qkv::Separate { q, k, v },
            output: Projection::load(source, &output, c, c, true)?,
            heads: config.heads,
        },
        norm_1: norm(source, &format!("{place}.norm1"), c, eps)?,
        mlp: feed_forward(config, source, &place)?,
        norm_2: norm(source, &format!("{place}.norm2"), c, eps)?,
        parts: Parts::default(),
    })
}

/// Block `n` of the decoder.
pub(super) fn decoder_block(
    config: &Config,
    source: &mut dyn Parameters,
    n: usize,
) -> Result<PostNormDecoderBlock> {
    let (c, eps) = (config.width, config.norm_eps);
    let place = format!("transformer.decoder.layers.{n}");
    let [q, k, v] = packed(source, &format!("{place}.self_attn"), c)?;
    let output = format!("{place}.self_attn.out_proj");
    let attention = GroupedAttention {
        qkv: Qkv::Separate { q, k, v },
        output: Projection::load(source, &output, c, c, true)?,
        heads: config.heads,
        kv_heads: config.heads,
        head_width: c / config.heads,
    };
    let [q, k, v] = packed(source, &format!("{place}.multihead_attn"), c)?;
    let output = format!("{place}.multihead_attn.out_proj");
    let cross = CrossAttention {
        q,
        k,
        v,
        output: Projection::load(source, &output, c, c, true)?,
        heads: config.heads,
    };
    Ok(PostNormDecoderBlock {
        attention,
        norm_1: norm(source, &format!("{place}.norm1"), c, eps)?,
        cross,
        norm_2: norm(source, &format!("{place}.norm2"), c, eps)?,
        mlp: feed_forward(config, source, &place)?,
        norm_3: norm(source, &format!("{place}.norm3"), c, eps)?,
        parts: Parts::default(),
    })
}

fn feed_forward(config: &Config, source: &mut dyn Parameters, place: &str) -> Result<FeedForward> {
    let (c, f) = (config.width, config.inner);
    Ok(FeedForward {
        up: Projection::load(source, &format!("{place}.linear1"), c, f, true)?,
        activation: Activation::Relu,
        down: Projection::load(source, &format!("{place}.linear2"), f, c, true)?,
    })
}

/// Visits block `n` of the encoder under the names that it is loaded by.
pub(super) fn encoder_parameters(
    block: &mut PostNormBlock,
    n: usize,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let place = format!("transformer.encoder.layers.{n}");
    let attention = format!("{place}.self_attn.");
    let PostNormBlock {
        attention: FullAttention { qkv, output, .. },
        norm_1,
        mlp,
        norm_2,
        parts: _,
    } = block;
    qkv.parameters(&attention, "in_proj", SEPARATE, visit)?;
    output.parameters(&format!("{attention}out_proj"), visit)?;
    mlp.up.parameters(&format!("{place}.linear1"), visit)?;
    mlp.down.parameters(&format!("{place}.linear2"), visit)?;
    norm_1.parameters(&format!("{place}.norm1"), visit)?;
    norm_2.parameters(&format!("{place}.norm2"), visit)
}

/// Visits block `n` of the decoder under the names that it is loaded by.
pub(super) fn decoder_parameters(
    block: &mut PostNormDecoderBlock,
    n: usize,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let place = format!("transformer.decoder.layers.{n}");
    let attention = format!("{place}.self_attn.");
    let GroupedAttention { qkv, output, .. } = &mut block.attention;
    qkv.parameters(&attention, "in_proj", SEPARATE, visit)?;
    output.parameters(&format!("{attention}out_proj"), visit)?;
    let CrossAttention {
        q, k, v, output, ..
    } = &mut block.cross;
    let cross = format!("{place}.multihead_attn.");
    for (layer, name) in [q, k, v].into_iter().zip(SEPARATE) {
        layer.parameters(&format!("{cross}{name}"), visit)?;
    }
    output.parameters(&format!("{cross}out_proj"), visit)?;
    block
        .mlp
        .up
        .parameters(&format!("{place}.linear1"), visit)?;
    block
        .mlp
        .down
        .parameters(&format!("{place}.linear2"), visit)?;
    block.norm_1.parameters(&format!("{place}.norm1"), visit)?;
    block.norm_2.parameters(&format!("{place}.norm2"), visit)?;
    block.norm_3.parameters(&format!("{place}.norm3"), visit)
}
