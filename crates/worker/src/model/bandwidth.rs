//! The speed at which this device reads the weights of a model.

use engine::kernel::{
    BlockType, PackedBlocks, PackedF32, QuantizedActivations, matmul_blocks, matmul_f32,
};

use super::packing::Packing;

/// Rows and columns of the matrix that is multiplied: 36 MB in blocks of 8 bits and 19 MB in those of
/// 4, more than the processor's caches hold.
const ROWS: usize = 16_384;
const COLS: usize = 2048;

/// Number of products; their median counts.
const PRODUCTS: usize = 9;

/// Bytes of weights that products of one token with a matrix of this form read in a second, the
/// median of several: where memory is faster than the processor, they depend on the form. A model
/// that writes reads all of its weights for each token. `now_ms` is a clock in milliseconds.
pub fn bytes_per_s(form: Packing, now_ms: impl Fn() -> f64) -> f64 {
    let (mut out, x) = (vec![0.0; ROWS], vec![1.0; COLS]);
    let kind = match form {
        Packing::F32 | Packing::Stored => {
            let weights = PackedF32::zeros(ROWS, COLS);
            return median(weights.bytes(), now_ms, || {
                matmul_f32(&weights, &x, &mut out);
            });
        }
        Packing::Q8_0 => BlockType::Q8_0,
        Packing::Q4_0 => BlockType::Q4_0,
    };
    let weights = PackedBlocks::zeros(kind, ROWS, COLS);
    let mut token = QuantizedActivations::new();
    token.quantize(&x, COLS);
    median(weights.bytes(), now_ms, || {
        matmul_blocks(&weights, &token, &mut out);
    })
}

/// The bytes that a product reads in a second.
fn median(bytes: usize, now_ms: impl Fn() -> f64, mut product: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..PRODUCTS)
        .map(|_| {
            let begun = now_ms();
            product();
            now_ms() - begun
        })
        .collect();
    times.sort_by(f64::total_cmp);
    // A clock that is too coarse for one product must not say that it takes no time.
    bytes as f64 * 1000.0 / times[PRODUCTS / 2].max(0.1)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{COLS, Packing, ROWS};

    #[test]
    fn the_median_counts() {
        for (form, bytes) in [
            (Packing::F32, ROWS * COLS * 4),
            (Packing::Q8_0, ROWS * COLS / 32 * 34),
            (Packing::Q4_0, ROWS * COLS / 32 * 18),
        ] {
            counts(form, bytes as f64);
        }
    }

    fn counts(form: Packing, bytes: f64) {
        // Each look at the clock: products take 4 ms, but the first takes 100.
        let (time, looks) = (Cell::new(0.0), Cell::new(0));
        let now_ms = || {
            let look = looks.replace(looks.get() + 1);
            if look % 2 == 1 {
                time.set(time.get() + if look == 1 { 100.0 } else { 4.0 });
            }
            time.get()
        };
        let bandwidth = super::bytes_per_s(form, now_ms);
        assert!(
            (bandwidth / (bytes / 0.004) - 1.0).abs() < 0.01,
            "{bandwidth}"
        );
    }
}
