//! Checks of products with packed weights against the plain loops. Whole numbers must be equal,
//! `f32` within a bound.

use super::{SUM_TOLERANCE, assert_close, numbers};
use crate::suite::random::Rng;
use kernel::{BLOCK, BlockType, Kernels, PackedBlocks, PackedF32, QuantizedActivations, reference};

/// Numbers in half precision: 0, the smallest, 1, the largest, and numbers of the size of weights.
const SCALES: [u16; 8] = [0, 1, 0x03ff, 0x3c00, 0x7bff, 0x9004, 0x1234, 0x0c01];

/// The number 1 in half precision.
const ONE: u16 = 0x3c00;

/// The numbers 0, 1, −1, −8, 5 and −64 in half precision.
const WHOLE: [u16; 6] = [0, ONE, 0xbc00, 0xc800, 0x4500, 0xd400];

/// The numbers 0, 2, −1 and 5 in half precision: scales of a second group.
const WHOLE_SCALES: [u16; 4] = [0, 0x4000, 0xbc00, 0x4500];

/// Miri looks for undefined behaviour. For each type a product of some tokens and one of a single
/// token show it all of the kernels; results are compared natively and in browsers, a thousand times
/// as fast.
const UNDER_MIRI: bool = cfg!(miri);

/// The numbers of rows, blocks of a row and tokens of a product, drawn from the sizes of a check: up
/// to thirteen panels of eight rows, of which one token is multiplied with at most four at a time.
fn shape([a, b, c]: [usize; 3]) -> [usize; 3] {
    [a % 101, b % 6, c % 11]
}

/// True where a block has a least weight.
fn has_least(kind: BlockType) -> bool {
    matches!(kind, BlockType::Q4_1 | BlockType::Q5_1)
}

/// Bytes of a block before its numbers: its scale, and a least weight or a second scale.
fn head_bytes(kind: BlockType) -> usize {
    let has_two = has_least(kind) || kind == BlockType::Q6;
    if has_two { 4 } else { 2 }
}

/// Random blocks in the form of a file: extreme bytes, zeros, and other bytes. `second` draws the
/// least weight or the second scale.
fn blocks(
    rng: &mut Rng,
    kind: BlockType,
    count: usize,
    scale: impl Fn(&mut Rng) -> u16,
    second: impl Fn(&mut Rng) -> u16,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..count {
        bytes.extend(scale(rng).to_le_bytes());
        if head_bytes(kind) == 4 {
            bytes.extend(second(rng).to_le_bytes());
        }
        let form = rng.below(6);
        for _ in head_bytes(kind)..kind.block_bytes() {
            bytes.push(match form {
                0 => 0x80,
                1 => 0x7f,
                2 => 0,
                3 => [0x80, 0x7f, 0xff, 0x0f][rng.below(4)],
                _ => rng.below(256) as u8,
            });
        }
    }
    bytes
}

/// Whole numbers with 127 in every block, so its scale is 1.
fn whole(rng: &mut Rng, count: usize) -> Vec<f32> {
    let mut x = Vec::new();
    for _ in 0..count {
        let form = rng.below(4);
        let mut block: Vec<f32> = (0..BLOCK)
            .map(|_| match form {
                0 => 127.0,
                1 => -127.0,
                2 => [127.0, -127.0][rng.below(2)],
                _ => rng.below(255) as f32 - 127.0,
            })
            .collect();
        block[rng.below(BLOCK)] = 127.0;
        x.extend(block);
    }
    x
}

fn quantized(kernels: &Kernels, x: &[f32], cols: usize) -> QuantizedActivations {
    let mut tokens = QuantizedActivations::new();
    tokens.quantize_by(kernels, x, cols);
    tokens
}

fn product(kernels: &Kernels, weights: &PackedBlocks, tokens: &QuantizedActivations) -> Vec<f32> {
    let mut out = vec![f32::NAN; tokens.tokens() * weights.rows()];
    kernels.matmul_blocks(weights, tokens, &mut out);
    out
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// With whole scales the result is a whole number below 2²⁴ and shows the integer part to the last
/// unit.
pub(crate) fn whole_numbers_are_exact(kernels: &Kernels, seed: u64, sizes: [usize; 3]) {
    if UNDER_MIRI {
        return;
    }
    let [rows, count, tokens] = shape(sizes);
    for kind in BlockType::ALL {
        let mut rng = Rng::new(seed);
        let whole_number = |rng: &mut Rng| match kind {
            BlockType::Q6 => WHOLE_SCALES[rng.below(4)],
            _ => WHOLE[rng.below(6)],
        };
        let bytes = blocks(&mut rng, kind, rows * count, |_| ONE, whole_number);
        let weights = PackedBlocks::new(kind, &bytes, rows, count * BLOCK);
        let x = whole(&mut rng, tokens * count);
        let tokens = quantized(kernels, &x, count * BLOCK);
        assert!(
            tokens
                .numbers()
                .iter()
                .zip(&x)
                .all(|(q, x)| f32::from(*q) == *x)
        );
        let found = product(kernels, &weights, &tokens);

        let mut row = vec![0.0; count * BLOCK];
        for m in 0..rows {
            weights.unpack_row(m, &mut row);
            for t in 0..tokens.tokens() {
                let x = &x[t * row.len()..(t + 1) * row.len()];
                let expected: f32 = row.iter().zip(x).map(|(w, x)| w * x).sum();
                assert_eq!(
                    found[t * rows + m],
                    expected,
                    "{kind:?}, row {m}, token {t}"
                );
            }
        }
    }
}

pub(crate) fn matmul_blocks(kernels: &Kernels, seed: u64, sizes: [usize; 3]) {
    let [rows, count, tokens] = shape(sizes);
    for kind in BlockType::ALL {
        let mut rng = Rng::new(seed);
        let any = |rng: &mut Rng| SCALES[rng.below(8)];
        let bytes = blocks(&mut rng, kind, rows * count, any, any);
        let weights = PackedBlocks::new(kind, &bytes, rows, count * BLOCK);
        let x = numbers(seed, "x", tokens * count * BLOCK);
        let tokens = quantized(kernels, &x, count * BLOCK);
        let found = product(kernels, &weights, &tokens);
        if UNDER_MIRI {
            let alone = &x[..x.len().min(count * BLOCK)];
            product(kernels, &weights, &quantized(kernels, alone, count * BLOCK));
            continue;
        }
        // The weights of the smallest and the largest numbers: with these sizes those of types with
        // a least weight are computed, whatever the numbers are.
        let [least, most] = [0x00, 0xff].map(|number| {
            let mut bytes = bytes.clone();
            for block in bytes.chunks_exact_mut(kind.block_bytes()) {
                block[head_bytes(kind)..].fill(number);
            }
            PackedBlocks::new(kind, &bytes, rows, count * BLOCK)
        });
        let mut expected = vec![f32::NAN; found.len()];
        reference::KERNELS.matmul_blocks(&weights, &tokens, &mut expected);

        let [mut row, mut lowest, mut highest] = [(); 3].map(|()| vec![0.0; count * BLOCK]);
        for m in 0..rows {
            weights.unpack_row(m, &mut row);
            least.unpack_row(m, &mut lowest);
            most.unpack_row(m, &mut highest);
            if has_least(kind) {
                for (w, (low, high)) in row.iter_mut().zip(lowest.iter().zip(&highest)) {
                    *w = 2.0 * (low.abs() + high.abs());
                }
            }
            for t in 0..tokens.tokens() {
                // Each block is rounded a few times, for any sum of its terms.
                let at = |k: usize| t * row.len() + k;
                let term = |k: usize| {
                    let x = f32::from(tokens.numbers()[at(k)]) * tokens.scales()[at(k) / BLOCK];
                    (row[k] * x).abs()
                };
                let size: f32 = (0..row.len()).map(term).sum();
                let at = t * rows + m;
                assert_close(found[at], expected[at], SUM_TOLERANCE * size, "blocks");
            }
        }
    }
}

/// Tokens have the same bits one at a time and all together, beside any rows and tokens. A row of
/// NaN changes no other row.
pub(crate) fn neighbours_change_no_bit(kernels: &Kernels, seed: u64, sizes: [usize; 3]) {
    let [rows, count, tokens] = shape(sizes);
    let cols = count * BLOCK;
    if UNDER_MIRI || rows * count * tokens == 0 {
        return;
    }
    for kind in BlockType::ALL {
        let mut rng = Rng::new(seed);
        let any = |rng: &mut Rng| SCALES[rng.below(8)];
        let mut bytes = blocks(&mut rng, kind, rows * count, any, any);
        let x = numbers(seed, "x", tokens * cols);
        let weights = PackedBlocks::new(kind, &bytes, rows, cols);
        let all = product(kernels, &weights, &quantized(kernels, &x, cols));
        for (t, x) in x.chunks_exact(cols).enumerate() {
            let alone = product(kernels, &weights, &quantized(kernels, x, cols));
            assert_eq!(bits(&alone), bits(&all[t * rows..(t + 1) * rows]));
        }

        // Some rows by themselves.
        let row_bytes = count * kind.block_bytes();
        let first = rng.below(rows);
        let part = PackedBlocks::new(kind, &bytes[first * row_bytes..], rows - first, cols);
        let found = product(kernels, &part, &quantized(kernels, &x, cols));
        for t in 0..tokens {
            assert_eq!(
                bits(&found[t * part.rows()..(t + 1) * part.rows()]),
                bits(&all[t * rows + first..(t + 1) * rows])
            );
        }

        // One row and one token of NaN.
        let (row, token) = (rng.below(rows), rng.below(tokens));
        bytes[row * row_bytes..row * row_bytes + 2].copy_from_slice(&0x7e00_u16.to_le_bytes());
        let mut x = x;
        x[token * cols + rng.below(cols)] = [f32::NAN, f32::INFINITY][rng.below(2)];
        let weights = PackedBlocks::new(kind, &bytes, rows, cols);
        let found = product(kernels, &weights, &quantized(kernels, &x, cols));
        for t in 0..tokens {
            for m in 0..rows {
                let at = t * rows + m;
                if m == row || t == token {
                    assert!(found[at].is_nan(), "{}", found[at]);
                } else {
                    assert_eq!(found[at].to_bits(), all[at].to_bits());
                }
            }
        }
    }
}

/// Quantized activations have the same bits everywhere, also those of NaN and infinities.
pub(crate) fn quantize(kernels: &Kernels, seed: u64, sizes: [usize; 3]) {
    let [_, count, tokens] = shape(sizes);
    let cols = count * BLOCK;
    let mut rng = Rng::new(seed);
    let mut x = numbers(seed, "x", tokens * cols);
    for block in x.chunks_exact_mut(BLOCK) {
        let factor = [1.0, 1e-3, 1e30, 1e-30, 1e-38, 1e-42, 0.0, 0.5][rng.below(8)];
        block.iter_mut().for_each(|x| *x *= factor);
        if rng.below(8) == 0 {
            let strange = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX];
            block[rng.below(BLOCK)] = strange[rng.below(4)];
        }
        if rng.below(8) == 0 {
            // Ties: 127 / 254 is a half.
            block.iter_mut().for_each(|x| *x = rng.below(255) as f32);
            block[rng.below(BLOCK)] = 254.0;
        }
    }
    let found = quantized(kernels, &x, cols);
    let (mut q, mut scales, mut sums) = (
        vec![1; x.len()],
        vec![1.0; x.len() / BLOCK],
        vec![1; x.len() / BLOCK],
    );
    reference::quantize(&x, &mut q, &mut scales, &mut sums);
    assert_eq!(found.numbers(), q);
    for (found, expected) in found.scales().iter().zip(&scales) {
        let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(same, "scale {found}, expected {expected}");
    }
    for ((x, q), scale) in x.chunks(BLOCK).zip(q.chunks(BLOCK)).zip(scales) {
        if x.iter().all(|x| x.is_finite()) {
            for (x, q) in x.iter().zip(q) {
                // In f64: 127 of the largest scale are more than f32 holds.
                let (x, scale) = (f64::from(*x), f64::from(scale));
                let error = (scale * f64::from(*q) - x).abs();
                assert!(
                    error <= 0.500_01 * scale + 1e-36,
                    "{x} became {q} of {scale}"
                );
            }
        }
    }
}

pub(crate) fn matmul_f32(kernels: &Kernels, seed: u64, [rows, inner, tokens]: [usize; 3]) {
    let tokens = tokens % 30;
    let w = numbers(seed, "w", rows * inner);
    let x = numbers(seed, "x", tokens * inner);
    let weights = PackedF32::new(&w, rows, inner);
    let mut found = vec![f32::NAN; tokens * rows];
    kernels.matmul_f32(&weights, &x, &mut found);
    for t in 0..tokens {
        let x = &x[t * inner..(t + 1) * inner];
        let mut alone = vec![f32::NAN; rows];
        kernels.matmul_f32(&weights, x, &mut alone);
        assert_eq!(bits(&alone), bits(&found[t * rows..(t + 1) * rows]));
        for m in 0..rows {
            let terms = w[m * inner..(m + 1) * inner]
                .iter()
                .zip(x)
                .map(|(w, x)| w * x);
            let size: f32 = terms.clone().map(f32::abs).sum();
            let expected: f32 = terms.sum();
            assert_close(alone[m], expected, SUM_TOLERANCE * size, "matmul_f32");
        }
    }
    let mut row = vec![f32::NAN; inner];
    for m in 0..rows {
        weights.unpack_row(m, &mut row);
        assert_eq!(bits(&row), bits(&w[m * inner..(m + 1) * inner]));
    }
}
