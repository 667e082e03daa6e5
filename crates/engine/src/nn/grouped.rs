//! Causal attention of decoders: heads in groups that share keys and values, over the tokens of a
//! cache.
//!
//! ```text
//! q = x · W_Qᵀ (+ b)  [T, H·D]      k, v = x · W_Kᵀ, x · W_Vᵀ (+ b)  [T, G·D]      G heads of keys and values, a divisor of H
//! q, k rotated by their positions (where the model has rotary positions)
//! weights_h = softmax(q_h · k_gᵀ / √D), later tokens hidden   g = ⌊h G / H⌋         [H, T, S], S = cached tokens + T
//! output    = concat(weights_h · v_g) · W_Oᵀ (+ b)                                  [T, C]
//! ```
//! G = H is multi-head attention (GPT-2), G = 1 multi-query, between them grouped-query attention
//! (Llama). With a window of W a token attends to itself and the W − 1 tokens before it (Mistral).
//! Several sequences may come one after the other in `x`: the projections take them all at
//! once, the attention each by itself, so no padding is ever computed or has to be hidden.
//!
//! ```
//! use engine::nn::{grouped::{GroupedAttention, Qkv}, kv_cache::KvCache, projection::Projection};
//! use engine::{parameters::Weight, rng::normal_matrix};
//! let layer = |name, outputs, inputs| {
//!     let weight = Weight::Dense(normal_matrix(7, name, outputs, inputs, 0.4));
//!     Projection { weight, bias: None }
//! };
//! let qkv = Qkv::Separate { q: layer("q", 8, 8), k: layer("k", 4, 8), v: layer("v", 4, 8) };
//! let attention = GroupedAttention { qkv, output: layer("o", 8, 8), heads: 4, kv_heads: 2, head_width: 2, window: None };
//! let x = normal_matrix(7, "x", 3, 8, 1.0);
//! let mut whole = [KvCache::new(2, 2)];
//! let all = attention.forward(x.view(), &[3], &mut whole, None, &mut None)?;
//! let mut cache = [KvCache::new(2, 2)];
//! attention.forward(x.slice(ndarray::s![..2, ..]), &[2], &mut cache, None, &mut None)?;
//! let last = attention.forward(x.slice(ndarray::s![2.., ..]), &[1], &mut cache, None, &mut None)?;
//! assert!((&last.row(0) - &all.row(2)).iter().all(|d| d.abs() < 1e-6));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.2; Shazeer 2019, "Fast Transformer decoding"; Ainslie et
//! al. 2023, "GQA", section 2.2; Jiang et al. 2023, "Mistral 7B", section 2, "Sliding window
//! attention".

use super::attention::scale;
use super::blockwise::Blockwise;
use super::compute::Compute;
use super::heads::{attend, join, join_into, split};
use super::kv_cache::KvCache;
use super::packed::{expect_tokens, ranges};
use super::parts::Parts;
use super::plain::Plain;
use super::position::rope::RotaryTable;
use super::projection::Projection;
use crate::error::{EngineError, Result};
use crate::shape::expect;
use crate::trace::{Observer, observe};
use crate::trainable::Visit;
use ndarray::{Array2, Array3, ArrayView2, s};

/// The projections to queries, keys and values.
#[derive(Debug, Clone, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "a layer has one; the matrices lie elsewhere"
)]
pub enum Qkv {
    /// One matrix whose rows are those of the queries, then the keys, then the values (GPT-2).
    Fused(Projection),
    /// A matrix for each.
    Separate {
        /// C to H·D.
        q: Projection,
        /// C to G·D.
        k: Projection,
        /// C to G·D.
        v: Projection,
    },
}

impl Qkv {
    /// Queries, keys and values `[T, widths[n]]`, heads side by side.
    ///
    /// # Errors
    /// When the matrices have other widths.
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        x: &C::Matrix,
        [q_width, k_width, v_width]: [usize; 3],
    ) -> Result<[C::Matrix; 3]> {
        // x [T, C] -> q, k, v
        let rows = compute.dim(x).0;
        let found = match self {
            Self::Fused(all) => {
                let all = all.run(compute, x)?;
                let ends = [q_width, q_width + k_width, q_width + k_width + v_width];
                let (found_rows, found) = compute.dim(&all);
                let expected = [rows, ends[2]];
                expect("attention", "q, k and v", &expected, &[found_rows, found])?;
                [
                    compute.columns(&all, 0..ends[0])?,
                    compute.columns(&all, ends[0]..ends[1])?,
                    compute.columns(&all, ends[1]..ends[2])?,
                ]
            }
            Self::Separate { q, k, v } => {
                [q.run(compute, x)?, k.run(compute, x)?, v.run(compute, x)?]
            }
        };
        let names = [("queries", q_width), ("keys", k_width), ("values", v_width)];
        for ((name, width), found) in names.into_iter().zip(&found) {
            let (found_rows, found) = compute.dim(found);
            expect("attention", name, &[rows, width], &[found_rows, found])?;
        }
        Ok(found)
    }

    /// Visits `PREFIX` + `fused` of one matrix, or `PREFIX` + each of `separate` of three.
    ///
    /// # Errors
    /// When `visit` fails.
    pub fn parameters(
        &mut self,
        prefix: &str,
        fused: &str,
        separate: [&str; 3],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        match self {
            Self::Fused(all) => all.parameters(&format!("{prefix}{fused}"), visit),
            Self::Separate { q, k, v } => {
                for (layer, name) in [q, k, v].into_iter().zip(separate) {
                    layer.parameters(&format!("{prefix}{name}"), visit)?;
                }
                Ok(())
            }
        }
    }
}

/// The parameters of a causal attention layer.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupedAttention {
    /// To queries, keys and values.
    pub qkv: Qkv,
    /// H·D to C.
    pub output: Projection,
    /// H.
    pub heads: usize,
    /// G, a divisor of H.
    pub kv_heads: usize,
    /// D.
    pub head_width: usize,
    /// W, or `None` for all tokens so far.
    pub window: Option<usize>,
}

impl GroupedAttention {
    /// The layer on one or more sequences. `x` holds `lengths[b]` new tokens of sequence b, one
    /// sequence after the other, and `caches[b]` the tokens before them; the new keys and values
    /// are added to it.
    ///
    /// The observer gets `attention.q` `[H, T, D]`, `attention.k` and `attention.v` `[G, T, D]`
    /// (new tokens only, rotated), `attention.scores` (scaled, before later tokens are hidden) and
    /// `attention.weights` `[H, T, S]`, `attention.heads` `[H, T, D]`, of each sequence in turn,
    /// then `attention.output` `[T, C]`.
    ///
    /// # Errors
    /// When heads, lengths, caches or shapes do not fit.
    pub fn forward(
        &self,
        x: ArrayView2<'_, f32>,
        lengths: &[usize],
        caches: &mut [KvCache],
        rotary: Option<&RotaryTable>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // x [T, C] -> [T, C]
        let compute = &mut Plain::new(trace);
        let parts = Parts::default();
        self.run(compute, &x.to_owned(), lengths, caches, rotary, parts)
    }

    /// As [`Self::forward`], generic over the executor, with or without scaling and mask. Without
    /// the mask whole texts are read: the caches stay as they are.
    ///
    /// # Errors
    /// As [`Self::forward`], and without the mask when a cache is not empty or heads share keys.
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        x: &C::Matrix,
        lengths: &[usize],
        caches: &mut [KvCache],
        rotary: Option<&RotaryTable>,
        parts: Parts,
    ) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        self.check(compute.dim(x).0, lengths, caches)?;
        let [wide, narrow] = [self.heads, self.kv_heads].map(|heads| heads * self.head_width);
        let [mut q, mut k, v] = self.qkv.run(compute, x, [wide, narrow, narrow])?;
        if let Some(rotary) = rotary {
            q = compute.apply_rotary(q, rotary, self.head_width)?;
            k = compute.apply_rotary(k, rotary, self.head_width)?;
        }
        let q = parts.queries(compute, q, self.head_width);
        let joined = match parts.mask {
            true => compute.attend_causally(self, [q, k, v], lengths, caches)?,
            false => {
                expect("attention", "kv_heads", &[self.heads], &[self.kv_heads])?;
                let before = caches.iter().map(KvCache::len).sum();
                let name = "tokens before an unmasked text";
                expect("attention", name, &[0], &[before])?;
                compute.attend([q, k, v], self.heads, lengths)?
            }
        };
        let mut output = self.output.run(compute, &joined)?;
        compute.trace("attention.output", &mut output);
        Ok(output)
    }

    /// The attention of each sequence over the old and new tokens of its cache; heads side by side.
    pub(super) fn attend_each(
        &self,
        q: &Array2<f32>,
        k: &Array2<f32>,
        v: &Array2<f32>,
        lengths: &[usize],
        caches: &mut [KvCache],
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // q [T, H·D], k, v [T, G·D] -> [T, H·D]
        let mut joined = Array2::zeros(q.raw_dim());
        for (rows, cache) in ranges(lengths).zip(caches) {
            let (start, rows) = (rows.start, s![rows, ..]);
            let heads = self.attend(q.slice(rows), k.slice(rows), v.slice(rows), cache, trace)?;
            join_into(heads.view(), &mut joined, start)?;
        }
        Ok(joined)
    }

    fn check(&self, tokens: usize, lengths: &[usize], caches: &[KvCache]) -> Result<()> {
        let (heads, groups) = (self.heads, self.kv_heads);
        if groups == 0 || !heads.is_multiple_of(groups) || heads == 0 {
            let expected = format!("a divisor of the {heads} heads");
            let name = "kv_heads";
            return Err(EngineError::value("attention", name, expected, groups));
        }
        expect("attention", "caches", &[lengths.len()], &[caches.len()])?;
        expect_tokens(lengths, tokens)?;
        let size = [groups, self.head_width];
        let mut dims = caches.iter().map(KvCache::dim);
        dims.try_for_each(|(heads, width)| expect("attention", "cache", &size, &[heads, width]))
    }

    /// The heads of one sequence.
    fn attend(
        &self,
        q: ArrayView2<'_, f32>,
        k: ArrayView2<'_, f32>,
        v: ArrayView2<'_, f32>,
        cache: &mut KvCache,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array3<f32>> {
        // q [T, H·D], k and v [T, G·D] -> [H, T, D]
        let (tokens, width, before) = (q.nrows(), self.head_width, cache.len());
        let mut q = split(q, self.heads)?;
        observe(trace, "attention.q", &mut q);
        if trace.is_some() {
            let (mut k, mut v) = (split(k, self.kv_heads)?, split(v, self.kv_heads)?);
            observe(trace, "attention.k", &mut k);
            observe(trace, "attention.v", &mut v);
            cache.append(join(k.view()).view(), join(v.view()).view())?;
        } else {
            cache.append(k, v)?;
        }
        let sizes = Blockwise {
            heads: self.heads,
            kv_heads: self.kv_heads,
            tokens,
            width,
            sources: cache.len(),
            scale: scale(width),
            causal: Some(before),
            window: self.window,
            keys_and_values: &|g| (cache.keys(g), cache.values(g)),
        };
        attend(&sizes, q.view(), trace)
    }
}
