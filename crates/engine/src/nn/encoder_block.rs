//! Blocks of encoders: attention over the sequence, then a perceptron on each token, with the norms before or after.
//!
//! ```text
//! pre-norm:   a = x + s_1 ⊙ attention(norm_1(x))     y = a + s_2 ⊙ mlp(norm_2(a))      x [T, C] -> [T, C]
//! post-norm:  a = norm_1(x + attention(x))           y = norm_2(a + mlp(a))
//! ```
//! s_1 and s_2 `[C]` are layer scales, which DINOv2 has and ViT has not.
//!
//! ```
//! use engine::nn::{block::LayerNorm, encoder_block::PostNormBlock, feed_forward::{Activation, FeedForward}};
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
//! Source: Vaswani et al. 2017, section 3.1 (post-norm); Dosovitskiy et al. 2021, equations 2 and 3 (pre-norm); Touvron et al.
//! 2021, "Going deeper with image Transformers", equation 4 (layer scale).

use super::block::LayerNorm;
use super::compute::Compute;
use super::feed_forward::FeedForward;
use super::full_attention::FullAttention;
use super::parts::Parts;
use super::plain::Plain;
use crate::error::Result;
use crate::trace::Observer;
use ndarray::{Array1, Array2, ArrayView2};

/// The weights of a block whose norms stand before the branches.
#[derive(Debug, Clone, PartialEq)]
pub struct PreNormBlock {
    /// Before attention.
    pub norm_1: LayerNorm,
    /// Over the sequence.
    pub attention: FullAttention,
    /// `[C]`, on the output of attention.
    pub scale_1: Option<Array1<f32>>,
    /// Before the perceptron.
    pub norm_2: LayerNorm,
    /// Each token on its own.
    pub mlp: FeedForward,
    /// `[C]`, on the output of the perceptron.
    pub scale_2: Option<Array1<f32>>,
}

impl PreNormBlock {
    /// The block on one or more sequences of `lengths[b]` tokens, one after the other in `x`. The observer gets `norm_1`,
    /// `attention.…` (see [`FullAttention::forward`]), `scale_1`, `residual_1`, `norm_2`, `mlp.…`, `scale_2` and `output`; the
    /// scales where there are any.
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

    /// As [`Self::forward`], by whoever computes.
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
        let mut normed = self.norm_1.run(compute, &x)?;
        compute.trace("norm_1", &mut normed);
        let branch = self.attention.run(compute, &normed, lengths)?;
        let branch = scaled(compute, branch, self.scale_1.as_ref(), "scale_1")?;
        let branch = compute.dropout(branch);
        let mut middle = compute.add(branch, &x)?;
        compute.trace("residual_1", &mut middle);
        let mut normed = self.norm_2.run(compute, &middle)?;
        compute.trace("norm_2", &mut normed);
        let branch = self.mlp.run(compute, &normed)?;
        let branch = scaled(compute, branch, self.scale_2.as_ref(), "scale_2")?;
        let branch = compute.dropout(branch);
        let mut output = compute.add(branch, &middle)?;
        compute.trace("output", &mut output);
        Ok(output)
    }
}

fn scaled<C: Compute>(
    compute: &mut C,
    x: C::Matrix,
    scale: Option<&Array1<f32>>,
    name: &'static str,
) -> Result<C::Matrix> {
    let Some(scale) = scale else {
        return Ok(x);
    };
    let mut x = compute.scale_columns(x, scale)?;
    compute.trace(name, &mut x);
    Ok(x)
}

/// The weights of a block whose norms stand after the sums.
#[derive(Debug, Clone, PartialEq)]
pub struct PostNormBlock {
    /// Over the sequence.
    pub attention: FullAttention,
    /// After the first sum.
    pub norm_1: LayerNorm,
    /// Each token on its own.
    pub mlp: FeedForward,
    /// After the second sum.
    pub norm_2: LayerNorm,
    /// Which parts are in use.
    pub parts: Parts,
}

impl PostNormBlock {
    /// The block on one or more sequences of `lengths[b]` tokens, one after the other in `x`. The observer gets `attention.…`
    /// (see [`FullAttention::forward`]), `residual_1`, `norm_1`, `mlp.…`, `residual_2` and `output`.
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

    /// As [`Self::forward`], by whoever computes.
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
        let branch = self.attention.run_with(compute, &x, lengths, parts)?;
        let branch = compute.dropout(branch);
        let mut sum = parts.add(compute, branch, &x)?;
        compute.trace("residual_1", &mut sum);
        let mut middle = parts.norm(compute, &self.norm_1, sum)?;
        compute.trace("norm_1", &mut middle);
        let branch = self.mlp.run(compute, &middle)?;
        let branch = compute.dropout(branch);
        let mut sum = parts.add(compute, branch, &middle)?;
        compute.trace("residual_2", &mut sum);
        let mut output = parts.norm(compute, &self.norm_2, sum)?;
        compute.trace("output", &mut output);
        Ok(output)
    }
}
