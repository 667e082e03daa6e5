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
//! assert_eq!(cache.keys(1).to_f32()[..], [2.0, 6.0]);
//! assert_eq!(cache.values(0).to_f32()[..], [3.0, 7.0]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Shazeer 2019, "Fast Transformer decoding: one write-head is all you need", section 2.4.1
//! (incremental attention).

use crate::error::{EngineError, Result};
use crate::kernel;
use crate::shape::expect;
use ndarray::{ArrayView2, s};
use std::borrow::Cow;

/// The form in which keys and values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// 32 bits a number, as they are computed.
    #[default]
    Single,
    /// 16 bits a number (IEEE 754 binary16), which takes half the memory: each number is rounded to
    /// 11 significant bits, one above 65,504 becomes 65,504, and one below 2⁻¹⁴ loses more.
    Half,
}

/// The keys or values of one head, `[S, D]` row by row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StoredRows<'a> {
    /// In single precision.
    Single(&'a [f32]),
    /// In half precision, as their bits.
    Half(&'a [u16]),
}

impl<'a> StoredRows<'a> {
    /// Count of numbers.
    pub fn len(self) -> usize {
        match self {
            Self::Single(numbers) => numbers.len(),
            Self::Half(numbers) => numbers.len(),
        }
    }

    /// Returns whether there is none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The numbers in single precision.
    pub fn to_f32(self) -> Cow<'a, [f32]> {
        match self {
            Self::Single(numbers) => Cow::Borrowed(numbers),
            Self::Half(numbers) => {
                let mut wide = vec![0.0; numbers.len()];
                kernel::widen(numbers, &mut wide);
                Cow::Owned(wide)
            }
        }
    }
}

/// The keys or values of one head, which grow.
#[derive(Debug, Clone, PartialEq)]
enum Store {
    Single(Vec<f32>),
    Half(Vec<u16>),
}

impl Store {
    fn new(precision: Precision) -> Self {
        match precision {
            Precision::Single => Self::Single(Vec::new()),
            Precision::Half => Self::Half(Vec::new()),
        }
    }

    fn append(&mut self, rows: ArrayView2<'_, f32>) {
        match self {
            Self::Single(numbers) => {
                make_room(numbers, rows.len());
                numbers.extend(rows);
            }
            Self::Half(numbers) => {
                make_room(numbers, rows.len());
                numbers.extend(rows.iter().map(|&number| narrowed(number)));
            }
        }
    }

    fn rows(&self) -> StoredRows<'_> {
        match self {
            Self::Single(numbers) => StoredRows::Single(numbers),
            Self::Half(numbers) => StoredRows::Half(numbers),
        }
    }

    fn truncate(&mut self, numbers: usize) {
        match self {
            Self::Single(all) => all.truncate(numbers),
            Self::Half(all) => all.truncate(numbers),
        }
    }
}

/// The nearest number in half precision.
fn narrowed(number: f32) -> u16 {
    let largest = half::f16::MAX.to_f32();
    half::f16::from_f32(number.clamp(-largest, largest)).to_bits()
}

/// Reserves room for `more` numbers. By itself a vector would double.
fn make_room<T>(store: &mut Vec<T>, more: usize) {
    if store.capacity() - store.len() < more {
        store.reserve_exact(more + store.len() / 8);
    }
}

/// The keys and values of one sequence in one layer.
#[derive(Debug, Clone, PartialEq)]
pub struct KvCache {
    head_width: usize,
    tokens: usize,
    precision: Precision,
    keys: Vec<Store>,
    values: Vec<Store>,
}

impl KvCache {
    /// An empty cache in single precision for `heads` heads of keys and values, each `head_width`
    /// wide.
    pub fn new(heads: usize, head_width: usize) -> Self {
        Self::in_precision(heads, head_width, Precision::default())
    }

    /// As [`Self::new`], in any precision.
    pub fn in_precision(heads: usize, head_width: usize, precision: Precision) -> Self {
        Self {
            head_width,
            tokens: 0,
            precision,
            keys: vec![Store::new(precision); heads],
            values: vec![Store::new(precision); heads],
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
                store.append(rows.slice(s![.., head * width..(head + 1) * width]));
            }
        }
        self.tokens += k.nrows();
        Ok(())
    }

    /// The keys of one head.
    ///
    /// # Panics
    /// When there is no such head.
    pub fn keys(&self, head: usize) -> StoredRows<'_> {
        self.keys[head].rows()
    }

    /// The values of one head.
    ///
    /// # Panics
    /// When there is no such head.
    pub fn values(&self, head: usize) -> StoredRows<'_> {
        self.values[head].rows()
    }

    /// Forgets all tokens but the first `tokens`.
    pub fn truncate(&mut self, tokens: usize) {
        self.tokens = self.tokens.min(tokens);
        for store in self.keys.iter_mut().chain(&mut self.values) {
            store.truncate(self.tokens * self.head_width);
        }
    }

    /// Bytes of its keys and values.
    fn size_bytes(&self) -> usize {
        let number = match self.precision {
            Precision::Single => size_of::<f32>(),
            Precision::Half => size_of::<u16>(),
        };
        2 * self.tokens * self.keys.len() * self.head_width * number
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
    /// Empty caches in single precision.
    pub fn new(layers: usize, sequences: usize, heads: usize, head_width: usize) -> Self {
        let one = KvCache::new(heads, head_width);
        Self {
            layers: vec![vec![one; sequences]; layers],
            sequences,
        }
    }

    /// Empty caches of the same sizes, in any precision.
    #[must_use]
    pub fn emptied(&self, precision: Precision) -> Self {
        let empty = |cache: &KvCache| {
            let (heads, width) = cache.dim();
            KvCache::in_precision(heads, width, precision)
        };
        let layers = self.layers.iter();
        Self {
            layers: layers
                .map(|caches| caches.iter().map(empty).collect())
                .collect(),
            sequences: self.sequences,
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
        self.layers.iter().flatten().map(KvCache::size_bytes).sum()
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
        assert_eq!(
            beams.layer(1).unwrap()[0].keys(0),
            StoredRows::Single(&[1.0, 2.0])
        );
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

    #[test]
    fn half_precision_rounds_and_takes_half_the_memory() {
        let single = KvCaches::new(1, 1, 1, 3);
        let mut half = single.emptied(Precision::Half);
        let rows = array![[1.0, -0.1, 1e9], [2.0_f32.powi(-24), 0.0, 65_504.0]];
        let layer = &mut half.layer(0).unwrap()[0];
        layer.append(rows.view(), rows.view()).unwrap();
        let kept = layer.values(0).to_f32().into_owned();
        assert_eq!((kept[0], kept[2]), (1.0, 65_504.0));
        assert_eq!(kept[3..], [2.0_f32.powi(-24), 0.0, 65_504.0]);
        // Half a unit in the last of eleven bits.
        assert!(kept[1] != -0.1 && (kept[1] + 0.1).abs() <= 0.1 * 2.0_f32.powi(-11));
        assert_eq!(half.size_bytes(), 2 * 2 * 3 * 2);
        half.truncate(1);
        assert_eq!(half.layer(0).unwrap()[0].keys(0).len(), 3);
        assert_eq!(half.emptied(Precision::Single), single);
        let nothing = array![[f32::NAN, 0.0, 0.0]];
        let layer = &mut half.layer(0).unwrap()[0];
        layer.append(nothing.view(), nothing.view()).unwrap();
        assert!(
            layer.keys(0).to_f32()[3].is_nan(),
            "nothing hides a failure"
        );
    }
}
