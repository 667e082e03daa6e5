//! The blocks with the parameters of a source, under the names of `torch.nn.Transformer`.

use super::Config;
use crate::error::Result;
use crate::model::names::{SEPARATE, packed};
use crate::nn::cross_attention::CrossAttention;
use crate::nn::feed_forward::{Activation, FeedForward};
use crate::nn::full_attention::FullAttention;
use crate::nn::grouped::{GroupedAttention, Qkv};
use crate::nn::norm::{LayerNorm, Norm};
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
    let place = format!("transformer.encoder.layers.{n}");
    let [q, k, v, output] = projections(config, source, &format!("{place}.self_attn"))?;
    Ok(PostNormBlock {
        attention: FullAttention {
            qkv: Qkv::Separate { q, k, v },
            output,
            heads: config.heads,
        },
        norm_1: norm(config, source, &place, 1)?,
        mlp: feed_forward(config, source, &place)?,
        norm_2: norm(config, source, &place, 2)?,
        parts: Parts::default(),
    })
}

/// Block `n` of the decoder.
pub(super) fn decoder_block(
    config: &Config,
    source: &mut dyn Parameters,
    n: usize,
) -> Result<PostNormDecoderBlock> {
    let heads = config.heads;
    let place = format!("transformer.decoder.layers.{n}");
    let [q, k, v, output] = projections(config, source, &format!("{place}.self_attn"))?;
    let attention = GroupedAttention {
        qkv: Qkv::Separate { q, k, v },
        output,
        heads,
        kv_heads: heads,
        head_width: config.width / heads,
        window: None,
    };
    let [q, k, v, output] = projections(config, source, &format!("{place}.multihead_attn"))?;
    Ok(PostNormDecoderBlock {
        attention,
        norm_1: norm(config, source, &place, 1)?,
        cross: CrossAttention {
            q,
            k,
            v,
            output,
            heads,
        },
        norm_2: norm(config, source, &place, 2)?,
        mlp: feed_forward(config, source, &place)?,
        norm_3: norm(config, source, &place, 3)?,
        parts: Parts::default(),
    })
}

/// The projections of an attention: to queries, keys and values, and the output.
fn projections(
    config: &Config,
    source: &mut dyn Parameters,
    name: &str,
) -> Result<[Projection; 4]> {
    let c = config.width;
    let [q, k, v] = packed(source, name, c)?;
    let output = Projection::load(source, &format!("{name}.out_proj"), c, c, true)?;
    Ok([q, k, v, output])
}

fn norm(config: &Config, source: &mut dyn Parameters, place: &str, n: usize) -> Result<LayerNorm> {
    LayerNorm::load(
        source,
        &format!("{place}.norm{n}"),
        config.width,
        config.norm_eps,
    )
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
    let FullAttention { qkv, output, .. } = &mut block.attention;
    qkv.parameters(&attention, "in_proj", SEPARATE, visit)?;
    output.parameters(&format!("{attention}out_proj"), visit)?;
    let norms = [&mut block.norm_1, &mut block.norm_2];
    mlp_and_norms(&mut block.mlp, norms, &place, visit)
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
    let names = SEPARATE.into_iter().chain(["out_proj"]);
    for (layer, name) in [q, k, v, output].into_iter().zip(names) {
        layer.parameters(&format!("{place}.multihead_attn.{name}"), visit)?;
    }
    let norms = [&mut block.norm_1, &mut block.norm_2, &mut block.norm_3];
    mlp_and_norms(&mut block.mlp, norms, &place, visit)
}

fn mlp_and_norms<const N: usize>(
    mlp: &mut FeedForward,
    norms: [&mut LayerNorm; N],
    place: &str,
    visit: &mut Visit<'_>,
) -> Result<()> {
    mlp.up.parameters(&format!("{place}.linear1"), visit)?;
    mlp.down.parameters(&format!("{place}.linear2"), visit)?;
    for (n, norm) in norms.into_iter().enumerate() {
        norm.parameters(&format!("{place}.norm{}", n + 1), visit)?;
    }
    Ok(())
}
