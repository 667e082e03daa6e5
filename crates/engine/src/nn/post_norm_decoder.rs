//! The decoder block of 2017: causal attention over the text so far, attention over the source, an
//! MLP; a norm after each sum.
//!
//! ```text
//! a = norm_1(x + causal_attention(x))     b = norm_2(a + cross_attention(a, source))     y = norm_3(b + mlp(b))
//! x [T, C] -> [T, C]
//! ```
//! It is assembled in [`crate::model::transformer`]; `examples/reference` compares it with
//! PyTorch's.
//!
//! Source: Vaswani et al. 2017, section 3.1; `torch.nn.TransformerDecoderLayer(norm_first=False)`.

use super::compute::Compute;
use super::cross_attention::CrossAttention;
use super::feed_forward::FeedForward;
use super::grouped::GroupedAttention;
use super::kv_cache::KvCache;
use super::norm::LayerNorm;
use super::parts::Parts;
use super::pre_norm::Mlp;
use crate::error::Result;

/// The parameters of one block.
#[derive(Debug, Clone, PartialEq)]
pub struct PostNormDecoderBlock {
    /// Causal attention over the text so far.
    pub attention: GroupedAttention,
    /// The norm after the first sum.
    pub norm_1: LayerNorm,
    /// Attention over the source.
    pub cross: CrossAttention,
    /// The norm after the second sum.
    pub norm_2: LayerNorm,
    /// The MLP on each token.
    pub mlp: FeedForward,
    /// The norm after the third sum.
    pub norm_3: LayerNorm,
    /// The parts that are in use.
    pub parts: Parts,
}

impl PostNormDecoderBlock {
    /// The block on one or more sequences: `x` holds `lengths[b]` new tokens of sequence b,
    /// `caches[b]` the tokens before them, `memory` holds its source. The observer gets
    /// `attention.…`, `residual_1`, `norm_1`, `cross.attention.…`, `residual_2`, `norm_2`, `mlp.…`,
    /// `residual_3` and `output`.
    ///
    /// # Errors
    /// When a shape does not fit the others.
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        x: C::Matrix,
        lengths: &[usize],
        caches: &mut [KvCache],
        memory: &C::Memory,
    ) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        let parts = self.parts;
        let attention = &self.attention;
        let branch = attention.run(compute, &x, lengths, caches, None, parts)?;
        let names = ["residual_1", "norm_1"];
        let x = parts.add_norm(compute, branch, &x, &self.norm_1, names)?;

        let prefix = || "cross.".to_owned();
        let branch = compute.scope(prefix, |compute| {
            self.cross.run(compute, &x, lengths, memory, parts)
        })?;
        let names = ["residual_2", "norm_2"];
        let x = parts.add_norm(compute, branch, &x, &self.norm_2, names)?;

        let branch = self.mlp.run(compute, &x)?;
        let names = ["residual_3", "output"];
        parts.add_norm(compute, branch, &x, &self.norm_3, names)
    }
}
