//! The pre-norm block: attention over the sequence, then an MLP on each token, each after a norm
//! and added to the residual stream.
//!
//! ```text
//! a = x + s_1 ⊙ attention(norm_1(x))     y = a + s_2 ⊙ mlp(norm_2(a))      x [T, C] -> [T, C]
//! ```
//! One block for all models that have it: GPT-2 (layer norms, causal attention), ImageGPT and Llama
//! (RMS norms), ViT (attention over all patches) and DINOv2, which alone has layer scales s_1 and
//! s_2 `[C]`. The kinds of norm, attention and MLP are type parameters.
//!
//! ```
//! use engine::nn::{feed_forward::{Activation, FeedForward}, norm::LayerNorm, pre_norm::PreNormBlock};
//! use engine::nn::{full_attention::FullAttention, grouped::Qkv, parts::Parts, plain::Plain, projection::Projection};
//! use engine::{parameters::Weight, rng::normal_matrix, trace::{Observer, Recorder}};
//! let layer = |name, outputs, inputs| {
//!     let weight = Weight::Dense(normal_matrix(7, name, outputs, inputs, 0.4));
//!     Projection { weight, bias: None }
//! };
//! let block = PreNormBlock {
//!     norm_1: LayerNorm::new(4),
//!     attention: FullAttention { qkv: Qkv::Fused(layer("qkv", 12, 4)), output: layer("o", 4, 4), heads: 2 },
//!     scale_1: None,
//!     norm_2: LayerNorm::new(4),
//!     mlp: FeedForward { up: layer("up", 8, 4), activation: Activation::Relu, down: layer("down", 4, 8) },
//!     scale_2: None,
//! };
//! let (mut recorder, x) = (Recorder::default(), normal_matrix(7, "x", 3, 4, 1.0));
//! let mut trace: Option<&mut dyn Observer> = Some(&mut recorder);
//! let y = block.run(&mut Plain::new(&mut trace), x, Parts::default(), |attention, compute, x| {
//!     attention.run(compute, x, &[3], Parts::default())
//! })?;
//! assert_eq!(y.dim(), (3, 4));
//! assert_eq!(recorder.get("attention.weights").map(|w| w.shape().to_vec()), Some(vec![2, 3, 3]));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Radford et al. 2019 (GPT-2), section 2.3; Xiong et al. 2020, "On layer normalization in
//! the Transformer architecture", table 1 (Pre-LN); Dosovitskiy et al. 2021, equations 2 and 3;
//! layer scale: Touvron et al. 2021, "Going deeper with image Transformers", equation 4.

use super::compute::Compute;
use super::feed_forward::FeedForward;
use super::full_attention::FullAttention;
use super::norm::{LayerNorm, Norm};
use super::parts::Parts;
use super::plain::Plain;
use crate::error::Result;
use crate::trace::Observer;
use ndarray::{Array1, Array2, ArrayView2};

/// A network that is applied to each token by itself.
pub trait Mlp {
    /// The network on each token, generic over the executor.
    ///
    /// # Errors
    /// When `x` has another width.
    fn run<C: Compute>(&self, compute: &mut C, x: &C::Matrix) -> Result<C::Matrix>;

    /// The network on each token, with the observer of `run`.
    ///
    /// # Errors
    /// When `x` has another width.
    fn forward(
        &self,
        x: ArrayView2<'_, f32>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // x [T, C] -> [T, C]
        self.run(&mut Plain::new(trace), &x.to_owned())
    }
}

/// The parameters of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct PreNormBlock<N = LayerNorm, A = FullAttention, M = FeedForward> {
    /// The norm before attention.
    pub norm_1: N,
    /// Attention over the sequence.
    pub attention: A,
    /// `[C]`: the scale of the output of attention.
    pub scale_1: Option<Array1<f32>>,
    /// The norm before the MLP.
    pub norm_2: N,
    /// The MLP on each token.
    pub mlp: M,
    /// `[C]`: the scale of the output of the MLP.
    pub scale_2: Option<Array1<f32>>,
}

impl<N: Norm, A, M: Mlp> PreNormBlock<N, A, M> {
    /// The block, generic over the executor; `attend` runs the attention with the arguments of its
    /// kind: lengths, caches, rotary positions. The observer gets `norm_1`, `attention.…`,
    /// `scale_1`, `residual_1`, `norm_2`, `mlp.…`, `scale_2` and `output`; the scales where there
    /// are any.
    ///
    /// # Errors
    /// When a shape does not fit the others.
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        x: C::Matrix,
        parts: Parts,
        attend: impl FnOnce(&A, &mut C, &C::Matrix) -> Result<C::Matrix>,
    ) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        let mut normed = parts.norm(compute, &self.norm_1, &x)?;
        compute.trace("norm_1", &mut normed);
        let branch = attend(&self.attention, compute, &normed)?;
        let branch = scaled(compute, branch, self.scale_1.as_ref(), "scale_1")?;
        let branch = compute.dropout(branch);
        let mut middle = parts.add(compute, branch, &x)?;
        compute.trace("residual_1", &mut middle);
        let mut normed = parts.norm(compute, &self.norm_2, &middle)?;
        compute.trace("norm_2", &mut normed);
        let branch = self.mlp.run(compute, &normed)?;
        let branch = scaled(compute, branch, self.scale_2.as_ref(), "scale_2")?;
        let branch = compute.dropout(branch);
        let mut output = parts.add(compute, branch, &middle)?;
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
