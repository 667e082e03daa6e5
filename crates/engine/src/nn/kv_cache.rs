//! Keys and values of the tokens that were read, so each new token costs one row and not the whole
//! text again.
//!
//! ```text
//! append: k, v [T, H·D]  ->  each head's keys and values [S + T, D]
//! ```
//! `H` counts the heads of keys and values, which grouped-query attention has fewer of. Each head's
//! rows lie one after the other, so one product compares a query with all of them. Memory grows
//! with the text, not with the longest text allowed, and by an eighth at a time, since a long text
//! needs most of its memory for it.
//!
//! ```
//! use engine::nn::kv_cache::KvCache;
//! use ndarray::array;
//! let mut cache = KvCache::new(2, 1);
//! cache.append(array![[1.0, 2.0]].view(), array![[3.0, 4.0]].view())?;
//! cache.append(array![[5.0, 6.0]].view(), array![[7.0, 8.0]].view())?;
//! assert_eq!(cache.keys(1), [2.0, 6.0]);
//! assert_eq!(cache.values(0), [3.0, 7.0]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Shazeer 2019, "Fast Transformer decoding: one write-head is all you need", section 2.4.1
//! (incremental attention).

use crate::error::{EngineError, Result};
use crate::shape::expect;
use ndarray::{ArrayView2, s};

/// The keys and values of one sequence in one layer.
#[derive(Debug, Clone, PartialEq)]
pub struct KvCache {
    head_width: usize,
    tokens: usize,
    keys: Vec<Vec<f32>>,
    values: Vec<Vec<f32>>,
}

impl KvCache {
    /// An empty cache for `heads` heads of keys and values, each `head_width` wide.
    pub fn new(heads: usize, head_width: usize) -> Self {
        Self {
            head_width,
            tokens: 0,
            keys: vec![Vec::new(); heads],
            values: vec![Vec::new(); heads],
        }
    }

    /// S: how many tokens it holds.
    pub fn len(&self) -> usize {
        self.tokens
    }

    /// True when it holds none.
    pub fn is_empty(&self) -> bool {
        self.tokens == 0
    }

    /// Heads and their width.
    pub fn dim(&self) -> (usize, usize) {
        (self.keys.len(), self.head_width)
    }

    /// Adds the keys and values of new tokens, heads side by side.
    ///
    /// # Errors
    /// When `k` or `v` is not `[T, H·D]`.
    pub fn append(&mut self, k: ArrayView2<'_, f32>, v: ArrayView2<'_, f32>) -> Result<()> {
        // k [T, H·D], v [T, H·D]
        let (heads, width) = self.dim();
        expect("kv_cache", "keys", &[k.nrows(), heads * width], k.shape())?;
        expect("kv_cache", "values", k.shape(), v.shape())?;
        for (rows, stores) in [(k, &mut self.keys), (v, &mut self.values)] {
            for (head, store) in stores.iter_mut().enumerate() {
                make_room(store, k.nrows() * width);
                store.extend(rows.slice(s![.., head * width..(head + 1) * width]));
            }
        }
        self.tokens += k.nrows();
        Ok(())
    }

    /// The keys of one head, `[S, D]` row by row.
    ///
    /// # Panics
    /// When there is no such head.
    pub fn keys(&self, head: usize) -> &[f32] {
        &self.keys[head]
    }

    /// The values of one head, `[S, D]` row by row.
    ///
    /// # Panics
    /// When there is no such head.
    pub fn values(&self, head: usize) -> &[f32] {
        &self.values[head]
    }

    /// Forgets all tokens but the first `tokens`.
    pub fn truncate(&mut self, tokens: usize) {
        self.tokens = self.tokens.min(tokens);
        for store in self.keys.iter_mut().chain(&mut self.values) {
            store.truncate(self.tokens * self.head_width);
        }
    }
}

/// Reserves room for `more` numbers. By itself a vector would double.
fn make_room(store: &mut Vec<f32>, more: usize) {
    if store.capacity() - store.len() < more {
        store.reserve_exact(more + store.len() / 8);
    }
}

/// The caches of all layers of a model, for one or several sequences.
#[derive(Debug, Clone, PartialEq)]
pub struct KvCaches {
    /// `layers[n][b]`: layer n, sequence b.
    layers: Vec<Vec<KvCache>>,
    sequences: usize,
}

impl KvCaches {
    /// Empty caches.
    pub fn new(layers: usize, sequences: usize, heads: usize, head_width: usize) -> Self {
        let one = KvCache::new(heads, head_width);
        Self {
            layers: vec![vec![one; sequences]; layers],
            sequences,
        }
    }

    /// B: how many sequences they are for.
    pub fn sequences(&self) -> usize {
        self.sequences
    }

    /// The number of tokens of sequence `b`; 0 for a sequence that they do not have.
    pub fn position(&self, b: usize) -> usize {
        let first = self.layers.first().and_then(|caches| caches.get(b));
        first.map_or(0, KvCache::len)
    }

    /// The caches of one layer, one for each sequence.
    ///
    /// # Errors
    /// When there is no such layer.
    pub fn layer(&mut self, n: usize) -> Result<&mut [KvCache]> {
        let count = self.layers.len();
        let caches = self.layers.get_mut(n).map(Vec::as_mut_slice);
        caches.ok_or_else(|| EngineError::value("kv_cache", "layer", format!("below {count}"), n))
    }

    /// The sequences that `order` names, in that order; one may come several times. Beam search
    /// keeps its best beams with it.
    ///
    /// # Errors
    /// When `order` names a sequence that does not exist.
    pub fn gather(&self, order: &[usize]) -> Result<Self> {
        if let Some(&b) = order.iter().find(|&&b| b >= self.sequences) {
            let expected = format!("below {}", self.sequences);
            return Err(EngineError::value("kv_cache", "sequence", expected, b));
        }
        let chosen = |caches: &Vec<KvCache>| order.iter().map(|&b| caches[b].clone()).collect();
        Ok(Self {
            layers: self.layers.iter().map(chosen).collect(),
            sequences: order.len(),
        })
    }

    /// Forgets all tokens of every sequence but the first `tokens`.
    pub fn truncate(&mut self, tokens: usize) {
        for cache in self.layers.iter_mut().flatten() {
            cache.truncate(tokens);
        }
    }

    /// Bytes of all keys and values.
    pub fn size_bytes(&self) -> usize {
        let numbers = |cache: &KvCache| 2 * cache.tokens * cache.keys.len() * cache.head_width;
        let all: usize = self.layers.iter().flatten().map(numbers).sum();
        all * size_of::<f32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    #[test]
    fn caches_are_gathered_cut_and_measured() {
        let mut caches = KvCaches::new(2, 2, 1, 2);
        for layer in 0..2 {
            let second = &mut caches.layer(layer).unwrap()[1];
            let rows = array![[1.0, 2.0], [3.0, 4.0]];
            second.append(rows.view(), rows.view()).unwrap();
        }
        assert_eq!((caches.position(0), caches.position(1)), (0, 2));
        assert_eq!(caches.size_bytes(), 2 * 2 * 2 * 2 * 4);
        let mut beams = caches.gather(&[1, 1, 0]).unwrap();
        assert_eq!(beams.sequences(), 3);
        beams.truncate(1);
        assert_eq!(beams.layer(1).unwrap()[0].keys(0), [1.0, 2.0]);
        assert_eq!(caches.position(1), 2);
        assert!(caches.gather(&[2]).is_err());
        assert!(caches.layer(2).is_err());
    }

    #[test]
    fn rows_of_another_width_are_refused() {
        let mut cache = KvCache::new(2, 3);
        let (right, wrong) = (Array2::zeros((1, 6)), Array2::zeros((1, 5)));
        assert!(cache.append(wrong.view(), wrong.view()).is_err());
        assert!(cache.append(right.view(), wrong.view()).is_err());
        assert!(cache.is_empty());
    }
}
