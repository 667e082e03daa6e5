//! The speed at which this device reads the weights of a model.

use engine::kernel::{
    BlockType, HalfType, PANEL_ROWS, PackedBlocks, PackedF32, PackedHalf, QuantizedActivations,
    matmul_blocks, matmul_f32, matmul_half,
};
use engine::ndarray::Array2;
use engine::quant::{Matrix, QuantError, Type};

/// Columns of the matrices that are multiplied.
const COLS: usize = 2048;

/// The most bytes of a matrix, and the most matrices: together 128 MB, more than the caches of most
/// processors hold. A matrix is out of the caches again when its next product comes.
const MATRIX_BYTES: usize = 16_000_000;
const MATRICES: usize = 8;

/// The most products: two with each matrix.
const PRODUCTS: usize = 2 * MATRICES;

/// Milliseconds after which no further matrix is made, and no further product begun: on a slow
/// device fewer of them are enough.
const MAKING_MS: f64 = 40.0;
const MEASURING_MS: f64 = 50.0;

/// Bytes of weights that products of one token with matrices of a type read in a second, with all
/// threads of this program: where memory is faster than the processor, they depend on the type. A
/// model that writes reads all of its weights for each token. `now_ms` is a clock in milliseconds.
///
/// # Errors
/// When the build has no matrices of the type.
pub fn bytes_per_s(kind: Type, now_ms: impl Fn() -> f64) -> Result<f64, QuantError> {
    let rows = rows(kind);
    let begun = now_ms();
    let mut matrices = vec![Weights::zeros(kind, rows)?];
    while matrices.len() < MATRICES && now_ms() - begun < MAKING_MS && has_room(MATRIX_BYTES) {
        matrices.push(Weights::zeros(kind, rows)?);
    }
    let mut token = Token::new(rows);
    let mut times = Vec::with_capacity(PRODUCTS);
    let measuring = now_ms();
    for weights in matrices.iter().cycle().take(PRODUCTS) {
        let begun = now_ms();
        weights.multiply(&mut token);
        let ended = now_ms();
        times.push(ended - begun);
        if ended - measuring > MEASURING_MS {
            break;
        }
    }
    // A clock that is too coarse for one product must not say that it takes no time.
    Ok(bytes(kind, rows) as f64 * 1000.0 / middle_mean(&mut times).max(0.1))
}

/// The rows of a matrix of a type: whole panels.
fn rows(kind: Type) -> usize {
    MATRIX_BYTES / bytes(kind, 1) / PANEL_ROWS * PANEL_ROWS
}

/// The bytes of so many rows of a type.
fn bytes(kind: Type, rows: usize) -> usize {
    rows * (COLS / kind.block_len()) * kind.block_bytes()
}

/// The mean of the middle half of some times: a first product, which wakes the threads, does not
/// count, nor does one that the system interrupts, and the ticks of a coarse clock even out.
fn middle_mean(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    let cut = times.len() / 4;
    let middle = &times[cut..times.len() - cut];
    middle.iter().sum::<f64>() / middle.len() as f64
}

/// Returns whether there is memory for so many more bytes: an allocation that fails would end the
/// worker.
fn has_room(bytes: usize) -> bool {
    // The compiler may leave out an allocation that nobody sees.
    let mut probe = std::hint::black_box(Vec::<u8>::new());
    let is_there = probe.try_reserve_exact(bytes).is_ok();
    drop(std::hint::black_box(probe));
    is_there
}

/// A matrix `[rows, COLS]` as a model keeps it. Its numbers are zeros, which are multiplied as fast
/// as others; wasm's allocator writes them, so each page has its own memory.
enum Weights {
    Plain(PackedF32),
    Half(PackedHalf),
    Blocks(PackedBlocks),
    /// Of a type without a product of its own.
    Stored(Matrix),
}

impl Weights {
    fn zeros(kind: Type, rows: usize) -> Result<Self, QuantError> {
        let blocks = |kind| Self::Blocks(PackedBlocks::zeros(kind, rows, COLS));
        let half = |kind| Self::Half(PackedHalf::zeros(kind, rows, COLS));
        Ok(match kind {
            Type::F32 => Self::Plain(PackedF32::zeros(rows, COLS)),
            Type::F16 => half(HalfType::F16),
            Type::Bf16 => half(HalfType::Bf16),
            Type::Q8_0 => blocks(BlockType::Q8_0),
            Type::Q4_0 => blocks(BlockType::Q4_0),
            Type::Q4_1 => blocks(BlockType::Q4_1),
            Type::Q5_1 => blocks(BlockType::Q5_1),
            Type::Q6 => blocks(BlockType::Q6),
            _ => Self::Stored(Matrix::new(kind, rows, COLS, vec![0; bytes(kind, rows)])?),
        })
    }

    fn multiply(&self, token: &mut Token) {
        match self {
            Self::Plain(weights) => matmul_f32(weights, &token.plain, &mut token.out),
            Self::Half(weights) => matmul_half(weights, &token.plain, &mut token.out),
            Self::Blocks(weights) => matmul_blocks(weights, &token.quantized, &mut token.out),
            Self::Stored(matrix) => drop(matrix.linear(token.row.view(), None)),
        }
    }
}

/// The activations of one token in the forms that products take, and room for a product.
struct Token {
    plain: Vec<f32>,
    /// `[1, COLS]`
    row: Array2<f32>,
    quantized: QuantizedActivations,
    /// `[rows]`
    out: Vec<f32>,
}

impl Token {
    fn new(rows: usize) -> Self {
        let plain = vec![1.0; COLS];
        let mut quantized = QuantizedActivations::new();
        quantized.quantize(&plain, COLS);
        Self {
            plain,
            row: Array2::ones((1, COLS)),
            quantized,
            out: vec![0.0; rows],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A clock that goes on by the same time at each look, and counts the looks.
    fn clock(step_ms: f64, looks: &Cell<u32>) -> impl Fn() -> f64 {
        move || {
            looks.set(looks.get() + 1);
            f64::from(looks.get()) * step_ms
        }
    }

    #[test]
    fn each_type_is_measured_by_its_bytes() {
        for (kind, block, numbers) in [
            (Type::F32, 4, 1),
            (Type::F16, 2, 1),
            (Type::Bf16, 2, 1),
            (Type::Q8_0, 34, 32),
            (Type::Q4_0, 18, 32),
            (Type::Q4_1, 20, 32),
            (Type::Q5_1, 24, 32),
            (Type::Q6, 28, 32),
            (Type::Q6K, 210, 256),
        ] {
            let looks = Cell::new(0);
            let found = bytes_per_s(kind, clock(2.0, &looks)).unwrap();
            let bytes = rows(kind) * COLS / numbers * block;
            assert!(bytes <= MATRIX_BYTES && bytes * 100 > MATRIX_BYTES * 99);
            // From a look to the next one is a product.
            let share = found / (bytes as f64 / 0.002);
            assert!((share - 1.0).abs() < 1e-9, "{}: {share}", kind.name());
            // All matrices are made, and there are at least as many products.
            let needed = 1 + (MATRICES as u32 - 1) + 1 + 2 * MATRICES as u32;
            assert!(looks.get() >= needed, "{} looks", looks.get());
        }
    }

    #[test]
    fn one_product_is_enough_on_a_slow_device() {
        let looks = Cell::new(0);
        let found = bytes_per_s(Type::F32, clock(60.0, &looks)).unwrap();
        let share = found / (bytes(Type::F32, rows(Type::F32)) as f64 / 0.060);
        assert!((share - 1.0).abs() < 1e-9, "{share}");
        // One matrix is made: two looks. Then the measuring begins, and a product begins and ends.
        assert_eq!(looks.get(), 5);
    }

    #[test]
    fn matrices_of_zeros_have_the_bytes_of_their_type() {
        for kind in [
            Type::F32,
            Type::F16,
            Type::Bf16,
            Type::Q8_0,
            Type::Q4_0,
            Type::Q4_1,
            Type::Q5_1,
            Type::Q6,
            Type::Q5K,
        ] {
            let size = match Weights::zeros(kind, 16).unwrap() {
                Weights::Plain(weights) => weights.bytes(),
                Weights::Half(weights) => weights.bytes(),
                Weights::Blocks(weights) => weights.bytes(),
                Weights::Stored(matrix) => matrix.size(),
            };
            assert_eq!(size, bytes(kind, 16), "{}", kind.name());
        }
    }

    #[test]
    fn products_that_were_held_up_do_not_count() {
        let mut times = [100.0, 4.0, 5.0, 4.0, 0.0, 5.0, 30.0, 3.0];
        assert_eq!(middle_mean(&mut times), 4.5);
        assert_eq!(middle_mean(&mut [7.0]), 7.0);
    }
}
