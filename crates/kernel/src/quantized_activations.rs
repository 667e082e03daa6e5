//! Quantized activations: the other factor of the products with quantized weights.

use super::{Kernels, dispatch, packed::BLOCK, threads};
use std::sync::{Mutex, PoisonError};

/// The activations of T tokens, `[T, K]`, quantized to 8 bits in blocks of 32: integers q from −127
/// to 127 and a scale s, with x ≈ s · q.
///
/// s = max |x| / 127 and q is the integer nearest to x · (127 / max |x|), ties to even: the same
/// bits on every machine. A block of zeros, or of magnitudes so small that 127 / max |x| overflows,
/// has s = 0. A block with NaN or ∞ has q = 0 and NaN or ∞ as scale, so its products are NaN.
///
/// A value can be filled many times and reuses its memory.
#[derive(Debug, Clone, Default)]
pub struct QuantizedActivations {
    pub(crate) tokens: usize,
    pub(crate) blocks: usize,
    /// [T, K]
    pub(crate) numbers: Vec<i8>,
    /// [T, K / 32]
    pub(crate) scales: Vec<f32>,
    /// [T, K / 32]: the sum of each block's integers.
    pub(crate) sums: Vec<i32>,
}

impl QuantizedActivations {
    /// Activations of no tokens.
    pub fn new() -> Self {
        Self::default()
    }

    /// Quantizes `x`, tokens of `cols` numbers, and replaces the tokens that were here.
    ///
    /// # Panics
    /// When `cols` is not a multiple of 32, or `x` is not a whole number of tokens.
    #[track_caller]
    pub fn quantize(&mut self, x: &[f32], cols: usize) {
        // x [T, K]
        self.quantize_by(dispatch::best(), x, cols);
    }

    /// As [`QuantizedActivations::quantize`], by the given implementation.
    ///
    /// # Panics
    /// As [`QuantizedActivations::quantize`].
    #[track_caller]
    pub fn quantize_by(&mut self, kernels: &Kernels, x: &[f32], cols: usize) {
        // x [T, K]
        let whole = cols.is_multiple_of(BLOCK) && x.len().is_multiple_of(cols.max(1));
        assert!(
            whole,
            "{} numbers are not tokens of {cols} in whole blocks of {BLOCK}",
            x.len()
        );
        let blocks = x.len() / BLOCK;
        self.tokens = x.len() / cols.max(1);
        self.blocks = cols / BLOCK;
        self.numbers.resize(x.len(), 0);
        self.scales.resize(blocks, 0.0);
        self.sums.resize(blocks, 0);
        self.fill(kernels, x);
    }

    /// Quantizes into the three vectors, which have their lengths by now, on all threads.
    fn fill(&mut self, kernels: &Kernels, x: &[f32]) {
        let each = self
            .scales
            .len()
            .div_ceil(threads::count())
            .max(threads::LEAST_ELEMENTS / BLOCK);
        let sums = self.scales.chunks_mut(each).zip(self.sums.chunks_mut(each));
        let rest = self.numbers.chunks_mut(each * BLOCK).zip(sums);
        // Each part is taken once, so no thread waits for a lock.
        let parts: Vec<_> = x.chunks(each * BLOCK).zip(rest).map(Mutex::new).collect();
        threads::ranges(parts.len(), 1, |range| {
            for part in &parts[range] {
                let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
                let (x, (numbers, (scales, sums))) = &mut *part;
                kernels.quantize(x, numbers, scales, sums);
            }
        });
    }

    /// The number of tokens, T.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// The numbers of a token, K.
    pub fn cols(&self) -> usize {
        self.blocks * BLOCK
    }

    /// The integers `[T, K]`.
    pub fn numbers(&self) -> &[i8] {
        &self.numbers
    }

    /// The scales `[T, K / 32]`.
    pub fn scales(&self) -> &[f32] {
        &self.scales
    }
}
