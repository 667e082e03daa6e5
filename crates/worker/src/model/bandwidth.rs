//! The speed at which this device reads the weights of a model.

use engine::kernel::{BlockType, PackedBlocks, QuantizedActivations, matmul_blocks};

/// Rows and columns of the matrix that is multiplied: 36 MB in blocks of 8 bits, more than the
/// processor's caches hold.
const ROWS: usize = 16_384;
const COLS: usize = 2048;

/// Number of products; their median counts.
const PRODUCTS: usize = 9;

/// Bytes of weights that products of one token with an 8-bit matrix read in a second, the median of
/// several. A model that writes reads all of its weights for each token. `now_ms` is a clock in
/// milliseconds.
pub fn bytes_per_s(now_ms: impl Fn() -> f64) -> f64 {
    let weights = PackedBlocks::zeros(BlockType::Q8_0, ROWS, COLS);
    let mut token = QuantizedActivations::new();
    token.quantize(&vec![1.0; COLS], COLS);
    let mut out = vec![0.0; ROWS];
    let mut times: Vec<f64> = (0..PRODUCTS)
        .map(|_| {
            let begun = now_ms();
            matmul_blocks(&weights, &token, &mut out);
            now_ms() - begun
        })
        .collect();
    times.sort_by(f64::total_cmp);
    // A clock that is too coarse for one product must not say that it takes no time.
    weights.bytes() as f64 * 1000.0 / times[PRODUCTS / 2].max(0.1)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    #[test]
    fn the_median_counts() {
        // Each look at the clock: products take 4 ms, but the first takes 100.
        let (time, looks) = (Cell::new(0.0), Cell::new(0));
        let now_ms = || {
            let look = looks.replace(looks.get() + 1);
            if look % 2 == 1 {
                time.set(time.get() + if look == 1 { 100.0 } else { 4.0 });
            }
            time.get()
        };
        let bandwidth = super::bytes_per_s(now_ms);
        let bytes = (super::ROWS * super::COLS / 32 * 34) as f64;
        assert!(
            (bandwidth / (bytes / 0.004) - 1.0).abs() < 0.01,
            "{bandwidth}"
        );
    }
}
