//! Plain loops for quantizing activations and for the products with packed weights: the
//! documentation of these kernels' computations, and the oracle of the tests.

use std::ops::Range;

use super::packed::{BLOCK, BlockRow, PANEL_ROWS, PackedBlocks, PackedF32, centre};
use super::packed_half::PackedHalf;
use super::quantized_activations::QuantizedActivations;
use super::table::ProductShape;

/// Quantizes blocks of 32; see [`QuantizedActivations`].
pub fn quantize(x: &[f32], numbers: &mut [i8], scales: &mut [f32], sums: &mut [i32]) {
    // x, numbers [N · 32], scales, sums [N]
    let blocks = x.chunks_exact(BLOCK).zip(numbers.chunks_exact_mut(BLOCK));
    for (block, (x, numbers)) in blocks.enumerate() {
        let mut largest = 0.0_f32;
        for x in x {
            if x.is_nan() || x.abs() > largest {
                largest = x.abs();
            }
            if largest.is_nan() {
                break;
            }
        }
        let inverse = 127.0 / largest;
        if inverse > 0.0 && inverse < f32::INFINITY {
            for (number, x) in numbers.iter_mut().zip(x) {
                *number = (x * inverse).round_ties_even() as i8;
            }
            scales[block] = largest / 127.0;
        } else {
            numbers.fill(0);
            // Zeros, nearly zeros, or NaN and infinity.
            scales[block] = if inverse == f32::INFINITY {
                0.0
            } else {
                largest
            };
        }
        sums[block] = numbers.iter().map(|&number| i32::from(number)).sum();
    }
}

/// The product C = A · B, or C + A · B, of matrices whose rows and columns may lie apart.
///
/// # Safety
/// Every element that the shape names exists at its pointer.
pub(crate) unsafe fn product(a: *const f32, b: *const f32, out: *mut f32, shape: &ProductShape) {
    // a [M, K], b [K, N], out [M, N]
    for row in 0..shape.rows {
        for col in 0..shape.cols {
            let mut total = 0.0;
            // SAFETY: row, k and col are below M, K and N.
            unsafe {
                for k in 0..shape.inner {
                    let left = *a.add(row * shape.a_row + k * shape.a_col);
                    total += left * *b.add(k * shape.b_row + col);
                }
                let to = out.add(row * shape.out_row + col);
                *to = if shape.add { *to + total } else { total };
            }
        }
    }
}

/// The product out[t, m] = Σ_b (Σ_k w_mbk x_tbk) · (s_mb · s_tb), b over blocks of 32 in their
/// order, the inner sum in integers; the columns m of the panels asked for. A block of two groups
/// adds one such term for each. Weights s_mb w_mbk + o_mb add (Σ_k x_tbk) · (o_mb · s_tb) to each
/// block.
///
/// # Safety
/// `out` is at [T, M] numbers, the panels exist, and the blocks of `tokens` are as many as those of
/// `weights`.
pub(crate) unsafe fn matmul_blocks(
    weights: &PackedBlocks,
    tokens: &QuantizedActivations,
    panels: Range<usize>,
    out: *mut f32,
) {
    // weights [M, K], tokens [T, K], out [T, M]
    let group = BLOCK / weights.kind.groups();
    let centre = f32::from(centre(weights.kind.bits()));
    for row in panels.start * PANEL_ROWS..(panels.end * PANEL_ROWS).min(weights.rows) {
        for token in 0..tokens.tokens {
            let mut total = 0.0;
            for block in 0..weights.blocks {
                let BlockRow {
                    numbers,
                    scales,
                    least,
                } = weights.block(row, block);
                let at = token * tokens.blocks + block;
                let x = &tokens.numbers[at * BLOCK..(at + 1) * BLOCK];
                let groups = numbers.chunks_exact(group).zip(x.chunks_exact(group));
                for ((numbers, x), scale) in groups.zip(scales) {
                    let mut sum = 0;
                    for k in 0..group {
                        sum += i32::from(numbers[k]) * i32::from(x[k]);
                    }
                    total += sum as f32 * (scale * tokens.scales[at]);
                }
                if let Some(least) = least {
                    // The integers are below the stored ones.
                    let offset = least + centre * scales[0];
                    total += tokens.sums[at] as f32 * (offset * tokens.scales[at]);
                }
            }
            // SAFETY: token < T and row < M.
            unsafe { *out.add(token * weights.rows + row) = total };
        }
    }
}

/// The product out[t, m] = Σ_k w_mk x_tk, k in order; the columns m of the panels asked for.
///
/// # Safety
/// `x` is [T, K], `out` is at [T, M] numbers, and the panels exist.
pub(crate) unsafe fn matmul_f32(
    weights: &PackedF32,
    x: &[f32],
    panels: Range<usize>,
    out: *mut f32,
) {
    // weights [M, K], x [T, K], out [T, M]
    let (rows, cols) = (weights.rows, weights.cols);
    for row in panels.start * PANEL_ROWS..(panels.end * PANEL_ROWS).min(rows) {
        for (token, x) in x.chunks_exact(cols.max(1)).enumerate() {
            let total = (0..cols).fold(0.0, |total, k| total + weights.number(row, k) * x[k]);
            // SAFETY: token < T and row < M.
            unsafe { *out.add(token * rows + row) = total };
        }
    }
}

/// The product of [`matmul_f32`] with the values of numbers with 16 bits.
///
/// # Safety
/// `x` is [T, K], `out` is at [T, M] numbers, and the panels exist.
pub(crate) unsafe fn matmul_half(
    weights: &PackedHalf,
    x: &[f32],
    panels: Range<usize>,
    out: *mut f32,
) {
    // weights [M, K], x [T, K], out [T, M]
    let (rows, cols) = (weights.rows(), weights.cols());
    for row in panels.start * PANEL_ROWS..(panels.end * PANEL_ROWS).min(rows) {
        for (token, x) in x.chunks_exact(cols.max(1)).enumerate() {
            let total = (0..cols).fold(0.0, |total, k| total + weights.number(row, k) * x[k]);
            // SAFETY: token < T and row < M.
            unsafe { *out.add(token * rows + row) = total };
        }
    }
}
