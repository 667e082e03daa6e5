//! Attention with one head and the projections of a formula, x · W: the part of
//! [`engine::nn::attention::attend`] that a lesson shows.
//!
//! ```text
//! q = x · W_Q,  k = x · W_K,  v = x · W_V      x [T, C], W_Q and W_K [C, D], W_V [C, D_v]
//! output = attend(q, k, v)                     of one head, scale 1/√D                     -> [T, D_v]
//! ```
//!
//! ```
//! use explain::one_head::self_attention;
//! use engine::nn::attention::Mask;
//! use engine::rng::normal_matrix;
//! let w = |name| normal_matrix(7, name, 4, 4, 0.5);
//! let x = normal_matrix(7, "x", 3, 4, 1.0);
//! let layer = self_attention(x.view(), w("q").view(), w("k").view(), w("v").view(), &Mask::Causal { first: 0 })?;
//! assert_eq!(layer.attention.weights[[0, 1]], 0.0);
//! assert_eq!(layer.attention.output.dim(), (3, 4));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, "Attention is all you need", sections 3.2.1 and 3.2.3.

use engine::error::Result;
use engine::nn::attention::{Attention, Mask, Scoring, attend, scale};
use engine::nn::linear::project;
use ndarray::{Array2, Array3, ArrayView2, Axis};

/// The four steps of the attention of one head.
#[derive(Debug, Clone, PartialEq)]
pub struct OneHead {
    /// `[T, S]`: scores of queries and keys, before the mask.
    pub scores: Array2<f32>,
    /// `[T, S]`: scores after the mask.
    pub masked: Array2<f32>,
    /// `[T, S]`: softmax of each row of `masked`.
    pub weights: Array2<f32>,
    /// `[T, D_v]`: for each query the weighted sum of the values.
    pub output: Array2<f32>,
}

impl OneHead {
    /// The steps of one head of an attention.
    ///
    /// # Panics
    /// When there is no such head.
    pub fn of(attention: &Attention, head: usize) -> Self {
        let of = |all: &Array3<f32>| all.index_axis(Axis(0), head).to_owned();
        Self {
            scores: of(&attention.scores),
            masked: of(&attention.masked),
            weights: of(&attention.weights),
            output: of(&attention.output),
        }
    }
}

/// The attention of one head, with the projections that went in.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfAttention {
    /// `[T, D]`: x · W_Q.
    pub q: Array2<f32>,
    /// `[S, D]`: x · W_K (of the source in cross-attention).
    pub k: Array2<f32>,
    /// `[S, D_v]`: x · W_V (of the source in cross-attention).
    pub v: Array2<f32>,
    /// Scores, masked scores, weights and output.
    pub attention: OneHead,
}

/// Self-attention of one sequence: q = x·W_Q, k = x·W_K, v = x·W_V, scaled by 1/√D.
///
/// # Errors
/// When a weight matrix does not fit `x` or the others, or the mask is not `[T, T]`.
pub fn self_attention(
    x: ArrayView2<'_, f32>,
    w_q: ArrayView2<'_, f32>,
    w_k: ArrayView2<'_, f32>,
    w_v: ArrayView2<'_, f32>,
    mask: &Mask,
) -> Result<SelfAttention> {
    // x [T, C], w_q and w_k [C, D], w_v [C, D_v], mask [T, T] -> output [T, D_v]
    between(x, x, w_q, w_k, w_v, mask)
}

/// Attention of one sequence over another: q = x_q·W_Q, k = x_kv·W_K, v = x_kv·W_V; the weights are
/// a rectangle.
///
/// # Errors
/// When a weight matrix does not fit its sequence or the others.
pub fn cross_attention(
    x_q: ArrayView2<'_, f32>,
    x_kv: ArrayView2<'_, f32>,
    w_q: ArrayView2<'_, f32>,
    w_k: ArrayView2<'_, f32>,
    w_v: ArrayView2<'_, f32>,
) -> Result<SelfAttention> {
    // x_q [T, C], x_kv [S, C], w_q and w_k [C, D], w_v [C, D_v] -> output [T, D_v]
    between(x_q, x_kv, w_q, w_k, w_v, &Mask::None)
}

fn between(
    x_q: ArrayView2<'_, f32>,
    x_kv: ArrayView2<'_, f32>,
    w_q: ArrayView2<'_, f32>,
    w_k: ArrayView2<'_, f32>,
    w_v: ArrayView2<'_, f32>,
    mask: &Mask,
) -> Result<SelfAttention> {
    let q = project(x_q, w_q)?;
    let k = project(x_kv, w_k)?;
    let v = project(x_kv, w_v)?;
    let found = attend(
        q.view().insert_axis(Axis(0)),
        k.view().insert_axis(Axis(0)),
        v.view().insert_axis(Axis(0)),
        &Scoring::Dot(scale(q.ncols())),
        mask,
        &mut None,
    )?;
    let attention = OneHead::of(&found, 0);
    Ok(SelfAttention { q, k, v, attention })
}
