//! Cross-attention: the queries come from one sequence, the keys and values from another, the
//! source.
//!
//! ```text
//! memory: k, v = source · W_Kᵀ + b_K, source · W_Vᵀ + b_V       source [S, C] -> [H, S, D], D = C / H, computed once
//! run:    concat_h(softmax(q_h · k_hᵀ / √D) · v_h) · W_Oᵀ + b_O,  q = x · W_Qᵀ + b_Q      x [T, C] -> [T, C]
//! ```
//!
//! ```
//! use engine::nn::{cross_attention::CrossAttention, parts::Parts, plain::Plain, projection::Projection};
//! use engine::{parameters::Weight, rng::normal_matrix};
//! let layer = |name| {
//!     let weight = Weight::Dense(normal_matrix(7, name, 8, 8, 0.4));
//!     Projection { weight, bias: None }
//! };
//! let cross = CrossAttention { q: layer("q"), k: layer("k"), v: layer("v"), output: layer("o"), heads: 2 };
//! let memory = cross.memory(&mut Plain::silent(), &normal_matrix(7, "source", 5, 8, 1.0), &[5])?;
//! let x = normal_matrix(7, "x", 3, 8, 1.0);
//! assert_eq!(cross.run(&mut Plain::silent(), &x, &[3], &memory, Parts::default())?.dim(), (3, 8));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.2.3 (encoder-decoder attention).

use super::compute::Compute;
use super::heads::{attend_all, join_into, split};
use super::packed::{expect_tokens, ranges};
use super::parts::Parts;
use super::projection::Projection;
use crate::error::Result;
use crate::shape::expect;
use crate::trace::{Observer, observe};
use ndarray::{Array2, Array3, ArrayView2, s};

/// The parameters of a cross-attention layer.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossAttention {
    /// To queries, C to C.
    pub q: Projection,
    /// From the source to keys, C to C.
    pub k: Projection,
    /// From the source to values, C to C.
    pub v: Projection,
    /// C to C.
    pub output: Projection,
    /// H.
    pub heads: usize,
}

/// The keys and values of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossMemory {
    /// `[H, S, D]`.
    pub k: Array3<f32>,
    /// `[H, S, D]`.
    pub v: Array3<f32>,
}

impl CrossMemory {
    /// Keys and values `[S, C]` split into heads. The observer gets `attention.k` and
    /// `attention.v`.
    pub(super) fn new(
        k: ArrayView2<'_, f32>,
        v: ArrayView2<'_, f32>,
        heads: usize,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Self> {
        // k, v [S, C] -> [H, S, D]
        let (mut k, mut v) = (split(k, heads)?, split(v, heads)?);
        observe(trace, "attention.k", &mut k);
        observe(trace, "attention.v", &mut v);
        Ok(Self { k, v })
    }
}

impl CrossAttention {
    /// The keys and values of one or more sources of `lengths[b]` tokens, one after the other in
    /// `source`. The observer gets `attention.k` and `attention.v` of each.
    ///
    /// # Errors
    /// When the source has another width or length, or the heads do not divide the width.
    pub fn memory<C: Compute>(
        &self,
        compute: &mut C,
        source: &C::Matrix,
        lengths: &[usize],
    ) -> Result<C::Memory> {
        // source [S, C]
        expect_tokens(lengths, compute.dim(source).0)?;
        let k = self.k.run(compute, source)?;
        let v = self.v.run(compute, source)?;
        compute.cache_kv([k, v], self.heads, lengths)
    }

    /// The layer on one or more sequences of `lengths[b]` tokens, one after the other in `x`;
    /// sequence b attends to source b of the memory. With or without scaling; generic over the
    /// executor.
    ///
    /// The observer gets `attention.q` `[H, T, D]`, `attention.scores` and `attention.weights` `[H,
    /// T, S]` and `attention.heads` `[H, T, D]` of each sequence in turn, then `attention.output`
    /// `[T, C]`.
    ///
    /// # Errors
    /// When heads, lengths or shapes do not fit.
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        x: &C::Matrix,
        lengths: &[usize],
        memory: &C::Memory,
        parts: Parts,
    ) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        let (rows, width) = compute.dim(x);
        expect_tokens(lengths, rows)?;
        let q = self.q.run(compute, x)?;
        let q = parts.queries(compute, q, width / self.heads.max(1));
        let joined = compute.cross_attention(q, self.heads, lengths, memory)?;
        let mut output = self.output.run(compute, &joined)?;
        compute.trace("attention.output", &mut output);
        Ok(output)
    }
}

/// The attention of each sequence to its own source; heads side by side.
pub(super) fn attend_each(
    q: &Array2<f32>,
    heads: usize,
    lengths: &[usize],
    memories: &[CrossMemory],
    trace: &mut Option<&mut dyn Observer>,
) -> Result<Array2<f32>> {
    // q [T, C] -> [T, C]
    let operation = "cross_attention";
    expect(operation, "memories", &[lengths.len()], &[memories.len()])?;
    let mut joined = Array2::zeros(q.raw_dim());
    for (rows, memory) in ranges(lengths).zip(memories) {
        let mut q = split(q.slice(s![rows.clone(), ..]), heads)?;
        observe(trace, "attention.q", &mut q);
        let found = attend_all(q.view(), memory.k.view(), memory.v.view(), trace)?;
        join_into(found.view(), &mut joined, rows.start)?;
    }
    Ok(joined)
}
