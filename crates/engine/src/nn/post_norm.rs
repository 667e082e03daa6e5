//! The post-norm block of encoders: attention over the sequence, then an MLP on each token, and a
//! norm after each sum.
//!
//! ```text
//! a = norm_1(x + attention(x))     y = norm_2(a + mlp(a))      x [T, C] -> [T, C]
//! ```
//!
//! ```
//! use engine::nn::{feed_forward::{Activation, FeedForward}, norm::LayerNorm, post_norm::PostNormBlock};
//! use engine::nn::{full_attention::FullAttention, grouped::Qkv, parts::Parts, projection::Projection};
//! use engine::{parameters::Weight, rng::normal_matrix, trace::Recorder};
//! let layer = |name, outputs, inputs| {
//!     let weight = Weight::Dense(normal_matrix(7, name, outputs, inputs, 0.4));
//!     Projection { weight, bias: None }
//! };
//! let block = PostNormBlock {
//!     attention: FullAttention { qkv: Qkv::Fused(layer("qkv", 12, 4)), output: layer("o", 4, 4), heads: 2 },
//!     norm_1: LayerNorm::new(4),
//!     mlp: FeedForward { up: layer("up", 8, 4), activation: Activation::Relu, down: layer("down", 4, 8) },
//!     norm_2: LayerNorm::new(4),
//!     parts: Parts::default(),
//! };
//! let mut recorder = Recorder::default();
//! let y = block.forward(normal_matrix(7, "x", 3, 4, 1.0).view(), &[3], &mut Some(&mut recorder))?;
//! assert!(y.rows().into_iter().all(|row| row.sum().abs() < 1e-5));
//! assert_eq!(recorder.names().last(), Some(&"output"));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.1; Devlin et al. 2019, "BERT", section 3.

use super::compute::Compute;
use super::feed_forward::FeedForward;
use super::full_attention::FullAttention;
use super::norm::LayerNorm;
use super::parts::Parts;
use super::plain::Plain;
use super::pre_norm::Mlp;
use crate::error::Result;
use crate::trace::Observer;
use ndarray::{Array2, ArrayView2};

/// The parameters of a block whose norms come after the sums.
#[derive(Debug, Clone, PartialEq)]
pub struct PostNormBlock {
    /// Attention over the sequence.
    pub attention: FullAttention,
    /// The norm after the first sum.
    pub norm_1: LayerNorm,
    /// The MLP on each token.
    pub mlp: FeedForward,
    /// The norm after the second sum.
    pub norm_2: LayerNorm,
    /// The parts that are in use.
    pub parts: Parts,
}

impl PostNormBlock {
    /// The block on one or more sequences of `lengths[b]` tokens, one after the other in `x`. The
    /// observer gets `attention.…` (see [`FullAttention::forward`]), `residual_1`, `norm_1`,
    /// `mlp.…`, `residual_2` and `output`.
    ///
    /// # Errors
    /// When a shape does not fit the others.
    pub fn forward(
        &self,
        x: ArrayView2<'_, f32>,
        lengths: &[usize],
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // x [T, C] -> [T, C]
        self.run(&mut Plain::new(trace), x.to_owned(), lengths)
    }

    /// As [`Self::forward`], generic over the executor.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        x: C::Matrix,
        lengths: &[usize],
    ) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        let parts = self.parts;
        let branch = self.attention.run(compute, &x, lengths, parts)?;
        let names = ["residual_1", "norm_1"];
        let x = parts.add_norm(compute, branch, &x, &self.norm_1, names)?;
        let branch = self.mlp.run(compute, &x)?;
        let names = ["residual_2", "output"];
        parts.add_norm(compute, branch, &x, &self.norm_2, names)
    }
}
