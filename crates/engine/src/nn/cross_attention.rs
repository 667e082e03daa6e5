//! Cross-attention: one sequence asks, another one, which was read before, answers.
//!
//! ```text
//! memory: k, v = source · W_Kᵀ + b_K, source · W_Vᵀ + b_V       source [S, C] -> [H, S, D], D = C / H, computed once
//! forward: concat_h(softmax(q_h · k_hᵀ / √D) · v_h) · W_Oᵀ + b_O,  q = x · W_Qᵀ + b_Q      x [T, C] -> [T, C]
//! ```
//!
//! ```
//! use engine::nn::{cross_attention::CrossAttention, projection::Projection};
//! use engine::{parameters::Weight, rng::normal_matrix};
//! let layer = |name| {
//!     let weight = Weight::Dense(normal_matrix(7, name, 8, 8, 0.4));
//!     Projection { weight, bias: None }
//! };
//! let cross = CrossAttention { q: layer("q"), k: layer("k"), v: layer("v"), output: layer("o"), heads: 2 };
//! let memory = cross.memory(normal_matrix(7, "source", 5, 8, 1.0).view(), &mut None)?;
//! let x = normal_matrix(7, "x", 3, 8, 1.0);
//! assert_eq!(cross.forward(x.view(), &[3], &[memory], &mut None)?.dim(), (3, 8));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.2.3 (encoder-decoder attention).

use super::attention::scale;
use super::heads::{attend, join, split};
use super::projection::Projection;
use super::shape::expect;
use crate::error::Result;
use crate::trace::{Observer, tell};
use ndarray::{Array2, Array3, ArrayView2, s};

/// The weights of a cross-attention layer.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossAttention {
    /// Of the sequence that asks, C to C.
    pub q: Projection,
    /// Of the source, C to C.
    pub k: Projection,
    /// Of the source, C to C.
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

impl CrossAttention {
    /// The keys and values of a source. The observer gets `attention.k` and `attention.v`.
    ///
    /// # Errors
    /// When the source has another width, or the heads do not divide it.
    pub fn memory(
        &self,
        source: ArrayView2<'_, f32>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<CrossMemory> {
        // source [S, C] -> [H, S, D]
        let mut k = split(self.k.forward(source)?.view(), self.heads)?;
        let mut v = split(self.v.forward(source)?.view(), self.heads)?;
        tell(trace, "attention.k", &mut k);
        tell(trace, "attention.v", &mut v);
        Ok(CrossMemory { k, v })
    }

    /// The layer on one or more sequences of `lengths[b]` tokens, one after the other in `x`; `memories[b]` answers sequence b.
    ///
    /// The observer gets `attention.q` `[H, T, D]`, `attention.scores` and `attention.weights` `[H, T, S]` and
    /// `attention.heads` `[H, T, D]` of each sequence in turn, then `attention.output` `[T, C]`.
    ///
    /// # Errors
    /// When heads, lengths or shapes do not fit.
    pub fn forward(
        &self,
        x: ArrayView2<'_, f32>,
        lengths: &[usize],
        memories: &[CrossMemory],
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // x [T, C] -> [T, C]
        let operation = "cross_attention";
        let whole = "tokens of all sequences";
        expect(operation, whole, &[lengths.iter().sum()], &[x.nrows()])?;
        expect(operation, "memories", &[lengths.len()], &[memories.len()])?;
        let q = self.q.forward(x)?;
        let mut side_by_side = Array2::zeros(q.raw_dim());
        let mut start = 0;
        for (&length, memory) in lengths.iter().zip(memories) {
            let rows = s![start..start + length, ..];
            let mut q = split(q.slice(rows), self.heads)?;
            tell(trace, "attention.q", &mut q);
            let scale = scale(q.dim().2);
            let heads = attend(q, memory.k.view(), memory.v.view(), scale, trace)?;
            side_by_side.slice_mut(rows).assign(&join(heads.view()));
            start += length;
        }
        let mut output = self.output.forward(side_by_side.view())?;
        tell(trace, "attention.output", &mut output);
        Ok(output)
    }
}
