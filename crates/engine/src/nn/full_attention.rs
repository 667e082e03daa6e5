//! Attention of encoders: every token of a sequence sees every other.
//!
//! ```text
//! q, k, v = x · W_Qᵀ + b_Q, x · W_Kᵀ + b_K, x · W_Vᵀ + b_V      x [T, C] -> [H, T, D], D = C / H
//! output  = concat_h(softmax(q_h · k_hᵀ / √D) · v_h) · W_Oᵀ + b_O                -> [T, C]
//! ```
//! Several sequences may come one after the other in `x`: the projections take them all at once, the attention each by itself, so
//! that no padding is ever computed or has to be hidden.
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

use super::attention::scale;
use super::grouped::Qkv;
use super::heads::{attend, join, split};
use super::projection::Projection;
use super::shape::expect;
use crate::error::Result;
use crate::trace::{Observer, tell};
use ndarray::{Array2, ArrayView2, s};

/// The weights of an encoder's attention layer.
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
    /// The observer gets `attention.{q, k, v}` `[H, T, D]`, `attention.scores` and `attention.weights` `[H, T, T]` and
    /// `attention.heads` `[H, T, D]` of each sequence in turn, then `attention.output` `[T, C]`.
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
        let whole = "tokens of all sequences";
        expect("attention", whole, &[lengths.iter().sum()], &[x.nrows()])?;
        let (q, k, v) = self.project(x)?;
        let mut side_by_side = Array2::zeros(q.raw_dim());
        let mut start = 0;
        for &length in lengths {
            let rows = s![start..start + length, ..];
            let mut q = split(q.slice(rows), self.heads)?;
            let mut k = split(k.slice(rows), self.heads)?;
            let mut v = split(v.slice(rows), self.heads)?;
            tell(trace, "attention.q", &mut q);
            tell(trace, "attention.k", &mut k);
            tell(trace, "attention.v", &mut v);
            let scale = scale(q.dim().2);
            let heads = attend(q, k.view(), v.view(), scale, trace)?;
            side_by_side.slice_mut(rows).assign(&join(heads.view()));
            start += length;
        }
        let mut output = self.output.forward(side_by_side.view())?;
        tell(trace, "attention.output", &mut output);
        Ok(output)
    }

    fn project(&self, x: ArrayView2<'_, f32>) -> Result<(Array2<f32>, Array2<f32>, Array2<f32>)> {
        // x [T, C] -> three times [T, C]
        let (tokens, width) = x.dim();
        let (q, k, v) = match &self.qkv {
            Qkv::Fused(all) => {
                let all = all.forward(x)?;
                expect("attention", "q, k and v", &[tokens, 3 * width], all.shape())?;
                let part = |n: usize| all.slice(s![.., n * width..(n + 1) * width]).to_owned();
                (part(0), part(1), part(2))
            }
            Qkv::Separate { q, k, v } => (q.forward(x)?, k.forward(x)?, v.forward(x)?),
        };
        for (name, found) in [("queries", &q), ("keys", &k), ("values", &v)] {
            expect("attention", name, &[tokens, width], found.shape())?;
        }
        Ok((q, k, v))
    }
}
