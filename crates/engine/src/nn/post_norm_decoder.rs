//! The decoder block of 2017: causal attention over the text so far, attention over the source, a perceptron; a norm after each.
//!
//! ```text
//! a = norm_1(x + causal_attention(x))     b = norm_2(a + cross_attention(a, source))     y = norm_3(b + mlp(b))
//! x [T, C] -> [T, C]
//! ```
//! It is assembled in [`crate::model::transformer`]; `examples/reference` compares it with PyTorch's.
//!
//! Source: Vaswani et al. 2017, section 3.1; `torch.nn.TransformerDecoderLayer(norm_first=False)`.

use super::block::LayerNorm;
use super::cross_attention::{CrossAttention, CrossMemory};
use super::feed_forward::FeedForward;
use super::grouped::GroupedAttention;
use super::kv_cache::KvCache;
use crate::error::Result;
use crate::trace::{Observer, tell, within};
use ndarray::{Array2, ArrayView2};

/// The weights of one block.
#[derive(Debug, Clone, PartialEq)]
pub struct PostNormDecoderBlock {
    /// Over the text so far.
    pub attention: GroupedAttention,
    /// After the first sum.
    pub norm_1: LayerNorm,
    /// Over the source.
    pub cross: CrossAttention,
    /// After the second sum.
    pub norm_2: LayerNorm,
    /// Each token on its own.
    pub mlp: FeedForward,
    /// After the third sum.
    pub norm_3: LayerNorm,
}

impl PostNormDecoderBlock {
    /// The block on one or more sequences: `x` holds `lengths[b]` new tokens of sequence b, `caches[b]` what came before them,
    /// `memories[b]` its source. The observer gets `attention.…`, `residual_1`, `norm_1`, `cross.attention.…`, `residual_2`,
    /// `norm_2`, `mlp.…`, `residual_3` and `output`.
    ///
    /// # Errors
    /// When a shape does not fit the others.
    pub fn forward(
        &self,
        x: ArrayView2<'_, f32>,
        lengths: &[usize],
        caches: &mut [KvCache],
        memories: &[CrossMemory],
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // x [T, C] -> [T, C]
        let mut sum = self.attention.forward(x, lengths, caches, None, trace)?;
        sum += &x;
        tell(trace, "residual_1", &mut sum);
        let mut asked = self.norm_1.forward(sum.view())?;
        tell(trace, "norm_1", &mut asked);

        let mut sum = within(
            trace,
            || "cross.".to_owned(),
            |trace| self.cross.forward(asked.view(), lengths, memories, trace),
        )?;
        sum += &asked;
        tell(trace, "residual_2", &mut sum);
        let mut answered = self.norm_2.forward(sum.view())?;
        tell(trace, "norm_2", &mut answered);

        let mut sum = self.mlp.forward(answered.view(), trace)?;
        sum += &answered;
        tell(trace, "residual_3", &mut sum);
        let mut output = self.norm_3.forward(sum.view())?;
        tell(trace, "output", &mut output);
        Ok(output)
    }
}
