//! Attention of encoders: every token of a sequence sees every other.
//!
//! ```text
//! q, k, v = x · W_Qᵀ + b_Q, x · W_Kᵀ + b_K, x · W_Vᵀ + b_V      x [T, C] -> [H, T, D], D = C / H
//! output  = concat_h(softmax(q_h · k_hᵀ / √D) · v_h) · W_Oᵀ + b_O                -> [T, C]
//! ```
//! Several sequences may come one after the other in `x`: the projections take them all at once,
//! the attention each by itself, so no padding is ever computed or has to be hidden.
//!
//! ```
//! use engine::nn::{full_attention::FullAttention, grouped::Qkv, projection::Projection};
//! use engine::{parameters::Weight, rng::normal_matrix};
//! use ndarray::s;
//! let layer = |name, outputs| {
//!     let weight = Weight::Dense(normal_matrix(7, name, outputs, 8, 0.4));
//!     Projection { weight, bias: None }
//! };
//! let attention = FullAttention { qkv: Qkv::Fused(layer("qkv", 24)), output: layer("o", 8), heads: 2 };
//! let x = normal_matrix(7, "x", 5, 8, 1.0);
//! let both = attention.forward(x.view(), &[3, 2], &mut None)?;
//! let second = attention.forward(x.slice(s![3.., ..]), &[2], &mut None)?;
//! assert!((&both.slice(s![3.., ..]) - &second).iter().all(|d| d.abs() < 1e-6));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, sections 3.2.2 and 3.2.3.

use super::compute::Compute;
use super::grouped::Qkv;
use super::heads::{attend_all, join_into, split};
use super::packed::{expect_tokens, ranges};
use super::parts::Parts;
use super::plain::Plain;
use super::projection::Projection;
use crate::error::Result;
use crate::trace::{Observer, observe};
use ndarray::{Array2, ArrayView2, s};

/// The parameters of an encoder's attention layer.
#[derive(Debug, Clone, PartialEq)]
pub struct FullAttention {
    /// To queries, keys and values.
    pub qkv: Qkv,
    /// C to C.
    pub output: Projection,
    /// H.
    pub heads: usize,
}

impl FullAttention {
    /// The layer on one or more sequences of `lengths[b]` tokens, one after the other in `x`.
    ///
    /// The observer gets `attention.{q, k, v}` `[H, T, D]`, `attention.scores` and
    /// `attention.weights` `[H, T, T]` and `attention.heads` `[H, T, D]` of each sequence in turn,
    /// then `attention.output` `[T, C]`.
    ///
    /// # Errors
    /// When heads, lengths or shapes do not fit.
    pub fn forward(
        &self,
        x: ArrayView2<'_, f32>,
        lengths: &[usize],
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // x [T, C] -> [T, C]
        let compute = &mut Plain::new(trace);
        self.run(compute, &x.to_owned(), lengths, Parts::default())
    }

    /// As [`Self::forward`], generic over the executor, with or without scaling.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        x: &C::Matrix,
        lengths: &[usize],
        parts: Parts,
    ) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        let (tokens, width) = compute.dim(x);
        expect_tokens(lengths, tokens)?;
        let [q, k, v] = self.qkv.run(compute, x, [width; 3])?;
        let q = parts.queries(compute, q, width / self.heads.max(1));
        let joined = compute.attend([q, k, v], self.heads, lengths)?;
        let mut output = self.output.run(compute, &joined)?;
        compute.trace("attention.output", &mut output);
        Ok(output)
    }
}

/// Each sequence by itself; heads side by side.
pub(super) fn attend_each(
    q: &Array2<f32>,
    k: &Array2<f32>,
    v: &Array2<f32>,
    heads: usize,
    lengths: &[usize],
    trace: &mut Option<&mut dyn Observer>,
) -> Result<Array2<f32>> {
    // q, k, v [T, C] -> [T, C]
    let mut joined = Array2::zeros(q.raw_dim());
    for rows in ranges(lengths) {
        let (start, rows) = (rows.start, s![rows, ..]);
        let mut q = split(q.slice(rows), heads)?;
        let mut k = split(k.slice(rows), heads)?;
        let mut v = split(v.slice(rows), heads)?;
        observe(trace, "attention.q", &mut q);
        observe(trace, "attention.k", &mut k);
        observe(trace, "attention.v", &mut v);
        let found = attend_all(q.view(), k.view(), v.view(), trace)?;
        join_into(found.view(), &mut joined, start)?;
    }
    Ok(joined)
}
