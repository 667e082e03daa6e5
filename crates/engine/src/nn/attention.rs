//! Scaled dot-product attention.
//!
//! ```text
//! scores  = scale · q · kᵀ            q [T, D], k [S, D]  -> [T, S],  scale = 1/√D
//! masked  = scores, hidden pairs −∞   mask [T, S]         -> [T, S]
//! weights = softmax of each row                           -> [T, S]
//! output  = weights · v               v [S, D_v]          -> [T, D_v]
//! ```
//!
//! ```
//! use engine::nn::attention::{attend, scale, Mask};
//! use ndarray::array;
//! let q = array![[1.0, 0.0], [0.8, 0.2], [0.0, 1.0]];
//! let k = array![[1.0, 0.0], [0.9, 0.1], [0.1, 0.9]];
//! let v = array![[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]];
//! let found = attend(q.view(), k.view(), v.view(), scale(2), &Mask::None)?;
//! assert!((found.scores[[0, 0]] - 0.707).abs() < 1e-3);
//! assert!((found.weights[[0, 0]] - 0.406).abs() < 1e-3);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! A hidden pair gets weight exactly 0 and its value is not read, so that a hidden token cannot change a bit of the output,
//! even where it holds NaN.
//!
//! Source: Vaswani et al. 2017, "Attention is all you need", section 3.2.1, equation 1.

use super::linear::project;
use super::shape::{contiguous, expect, matrix, mismatch, product_nt};
use super::softmax::softmax_rows;
use crate::error::Result;
use crate::{kernel, math};
use ndarray::{Array2, ArrayView2, Zip};

/// What may attend to what.
#[derive(Debug, Clone, PartialEq)]
pub enum Mask {
    /// Everything may be seen.
    None,
    /// `[T, S]`: true where query t may attend to key s; elsewhere the score becomes −∞.
    Boolean(Array2<bool>),
    /// `[T, S]`: a number added to each score (ALiBi, relative bias, −10,000 …). −∞ hides the pair, whatever its score is.
    Additive(Array2<f32>),
}

/// The four steps of one attention.
#[derive(Debug, Clone, PartialEq)]
pub struct Attention {
    /// `[T, S]`: scaled products of queries and keys, before the mask.
    pub scores: Array2<f32>,
    /// `[T, S]`: scores after the mask.
    pub masked: Array2<f32>,
    /// `[T, S]`: softmax of each row of `masked`.
    pub weights: Array2<f32>,
    /// `[T, D_v]`: for each query the weighted sum of the values.
    pub output: Array2<f32>,
}

/// One attention of a sequence over itself, with the projections that went in.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfAttention {
    /// `[T, D]`: x · W_Q.
    pub q: Array2<f32>,
    /// `[S, D]`: x · W_K (of the source in cross-attention).
    pub k: Array2<f32>,
    /// `[S, D_v]`: x · W_V (of the source in cross-attention).
    pub v: Array2<f32>,
    /// Scores, masked scores, weights and output.
    pub attention: Attention,
}

/// 1/√d_k, which keeps the variance of a score near 1 for queries and keys of variance 1.
pub fn scale(d_k: usize) -> f32 {
    1.0 / math::sqrt(d_k as f32)
}

/// scale · q · kᵀ.
///
/// # Errors
/// When queries and keys have different widths.
pub fn scores(q: ArrayView2<'_, f32>, k: ArrayView2<'_, f32>, scale: f32) -> Result<Array2<f32>> {
    // q [T, D], k [S, D] -> [T, S]
    Ok(product_nt("attention scores", q, k)? * scale)
}

/// The scores after the mask: hidden pairs are −∞, additive masks are added.
///
/// # Errors
/// When the mask has another shape than the scores.
pub fn apply_mask(scores: ArrayView2<'_, f32>, mask: &Mask) -> Result<Array2<f32>> {
    // scores [T, S], mask [T, S] -> [T, S]
    match mask {
        Mask::None => Ok(scores.to_owned()),
        Mask::Boolean(visible) => {
            expect("apply_mask", "mask", scores.shape(), visible.shape())?;
            Ok(Zip::from(scores)
                .and(visible)
                .map_collect(|&s, &see| if see { s } else { f32::NEG_INFINITY }))
        }
        Mask::Additive(bias) => {
            expect("apply_mask", "mask", scores.shape(), bias.shape())?;
            // −∞ replaces instead of being added: NaN − ∞ would stay NaN and leak.
            Ok(Zip::from(scores)
                .and(bias)
                .map_collect(|&s, &b| if b == f32::NEG_INFINITY { b } else { s + b }))
        }
    }
}

/// softmax(mask(scale · q · kᵀ)) · v, with every step kept.
///
/// # Errors
/// When the widths of queries and keys, the lengths of keys and values, or the mask do not fit.
pub fn attend(
    q: ArrayView2<'_, f32>,
    k: ArrayView2<'_, f32>,
    v: ArrayView2<'_, f32>,
    scale: f32,
    mask: &Mask,
) -> Result<Attention> {
    // q [T, D], k [S, D], v [S, D_v], mask [T, S] -> output [T, D_v]
    if k.nrows() != v.nrows() {
        return Err(mismatch(
            "attend",
            "keys [S, D] and values [S, D_v]",
            k.shape(),
            v.shape(),
        ));
    }
    let scores = scores(q, k, scale)?;
    let masked = apply_mask(scores.view(), mask)?;
    let weights = softmax_rows(masked.view());
    let output = mix_values(weights.view(), v)?;
    Ok(Attention {
        scores,
        masked,
        weights,
        output,
    })
}

/// weights · v; a value whose weight is exactly 0 is not read.
///
/// # Errors
/// When there is not one value for each column of the weights.
pub fn mix_values(weights: ArrayView2<'_, f32>, v: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
    // weights [T, S], v [S, D_v] -> [T, D_v]
    let ((tokens, sources), (found, width)) = (weights.dim(), v.dim());
    if sources != found {
        return Err(mismatch(
            "mix_values",
            "weights [T, S] and values [S, D_v]",
            weights.shape(),
            v.shape(),
        ));
    }
    let mut out = vec![0.0; tokens * width];
    kernel::mix(
        &contiguous(&weights),
        &contiguous(&v),
        &mut out,
        tokens,
        sources,
        width,
    );
    matrix("mix_values", tokens, width, out)
}

/// A sequence attends to itself: q = x·W_Q, k = x·W_K, v = x·W_V, scaled by 1/√D.
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

/// One sequence asks, another answers: q = x_q·W_Q, k = x_kv·W_K, v = x_kv·W_V; the weights are a rectangle.
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
    let attention = attend(q.view(), k.view(), v.view(), scale(q.ncols()), mask)?;
    Ok(SelfAttention { q, k, v, attention })
}
