//! Attention of all heads without an observer: each thread takes heads, and only the scores of a
//! few queries are in memory at a time.
//!
//! ```text
//! out_h[t] = softmax(scale · q_h[t] · k_gᵀ) · v_g      q [H, T, D], k_g and v_g [S, D], g = ⌊h G / H⌋ -> [H, T, D]
//! ```
//! With `causal` the query t is at position `position + t` and later tokens are hidden from it; with
//! a `window` of W, also tokens that are W or more before it.

use super::kv_cache::StoredRows;
use crate::error::Result;
use crate::kernel::{self, threads};
use crate::shape::expect;
use std::ops::Range;

/// Queries that are compared with all keys at once: enough for the products to be fast.
const QUERIES_AT_ONCE: usize = 32;

/// Products below which a thread is not worth waking.
const LEAST_WORK: usize = 1 << 16;

/// The sizes of the heads of one sequence, its keys and values, and the mask.
pub(super) struct Blockwise<'a> {
    /// H.
    pub(super) heads: usize,
    /// G, a divisor of H.
    pub(super) kv_heads: usize,
    /// T.
    pub(super) tokens: usize,
    /// D.
    pub(super) width: usize,
    /// S.
    pub(super) sources: usize,
    /// Factor of the scores.
    pub(super) scale: f32,
    /// Position of the first query, if later tokens are hidden.
    pub(super) causal: Option<usize>,
    /// W, where tokens farther back are hidden too.
    pub(super) window: Option<usize>,
    /// `[S, D]` of key and value head g.
    pub(super) keys_and_values: &'a (dyn Fn(usize) -> (StoredRows<'a>, StoredRows<'a>) + Sync),
}

impl Blockwise<'_> {
    /// The heads' outputs.
    ///
    /// # Errors
    /// When `q` or a head's keys or values have not as many numbers as the sizes say.
    pub(super) fn attend(&self, q: &[f32]) -> Result<Vec<f32>> {
        // q [H, T, D] -> [H, T, D]
        let (group, head) = (self.heads / self.kv_heads, self.tokens * self.width);
        expect("attention", "queries", &[self.heads * head], &[q.len()])?;
        let size = self.sources * self.width;
        for g in 0..self.kv_heads {
            let (keys, values) = (self.keys_and_values)(g);
            let found = [keys.len(), values.len()];
            expect("attention", "keys and values", &[size; 2], &found)?;
        }
        let mut out = vec![0.0; q.len()];
        // The queries of a group lie one after the other: while they are few, one product with the
        // keys that they share.
        let few = self.tokens <= QUERIES_AT_ONCE;
        let together = if few { group } else { 1 };
        let work = 2 * together * self.tokens * size;
        let (chunk, least) = (together * head, LEAST_WORK.div_ceil(work.max(1)));
        threads::chunks(&mut out, chunk, least, |n, out| {
            let q = &q[n * chunk..n * chunk + out.len()];
            let (keys, values) = (self.keys_and_values)(n * together / group);
            let (keys, values) = (&*keys.to_f32(), &*values.to_f32());
            if few {
                return self.rows(q, keys, values, 0, self.tokens, out);
            }
            let step = QUERIES_AT_ONCE * self.width;
            for (part, (q, out)) in q.chunks(step).zip(out.chunks_mut(step)).enumerate() {
                let tokens = q.len() / self.width;
                self.rows(q, keys, values, part * QUERIES_AT_ONCE, tokens, out);
            }
        });
        Ok(out)
    }

    /// The tokens that query `token` attends to.
    pub(super) fn seen(&self, token: usize) -> Range<usize> {
        let Some(position) = self.causal else {
            return 0..self.sources;
        };
        let end = position + token + 1;
        let window = self.window.unwrap_or(end);
        end.saturating_sub(window)..end
    }

    /// Queries that share keys and values: those of tokens `first` to `first + tokens − 1`, of one
    /// head or several.
    fn rows(
        &self,
        q: &[f32],
        keys: &[f32],
        values: &[f32],
        first: usize,
        tokens: usize,
        out: &mut [f32],
    ) {
        // q [R, D], keys and values [S, D], out [R, D]
        let width = self.width;
        let rows = out.len() / width.max(1);
        // What any of these queries sees.
        let start = self.seen(first).start;
        let end = self.seen(first + tokens.saturating_sub(1)).end;
        let sources = end - start;
        let part = start * width..end * width;
        let (keys, values) = (&keys[part.clone()], &values[part]);
        let mut scores = vec![0.0; rows * sources];
        kernel::matmul_nt(q, keys, &mut scores, rows, width, sources);
        for (n, row) in scores.chunks_exact_mut(sources.max(1)).enumerate() {
            let seen = self.seen(first + n % tokens);
            let seen = seen.start - start..seen.end - start;
            row[..seen.start].fill(f32::NEG_INFINITY);
            row[seen.end..].fill(f32::NEG_INFINITY);
            row[seen].iter_mut().for_each(|score| *score *= self.scale);
            kernel::softmax(row);
        }
        if self.causal.is_none() {
            return kernel::matmul(&scores, values, out, rows, sources, width);
        }
        // A hidden token leaves no trace, whatever it holds.
        kernel::mix(&scores, values, out, rows, sources, width);
    }
}
