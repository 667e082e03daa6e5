//! The fast algorithms for packed `f32` weights and for quantizing activations; `unsafe` for the
//! reasons that [`super::generic`] gives. The products of quantized weights are in `int8_gemm.rs`.

use std::ops::Range;

use super::packed::{BLOCK, PANEL_ROWS, PackedF32};
use super::tiles::{next_tile, opaque};
use super::vector::Vector;

/// Quantizes blocks of 32; see [`crate::QuantizedActivations`].
///
/// # Safety
/// The machine has the instruction set of `V`, and the slices have the lengths that the comment
/// says.
#[inline(always)]
pub(crate) unsafe fn quantize<V: Vector>(
    x: &[f32],
    numbers: &mut [i8],
    scales: &mut [f32],
    sums: &mut [i32],
) {
    // x, numbers [N · 32], scales, sums [N]
    let (x, numbers) = (x.as_ptr(), numbers.as_mut_ptr());
    for block in 0..scales.len() {
        // SAFETY: N blocks of 32 are at both pointers.
        unsafe {
            let (x, numbers) = (x.add(block * BLOCK), numbers.add(block * BLOCK));
            let largest = V::block_largest(x);
            let inverse = 127.0 / largest;
            if inverse > 0.0 && inverse < f32::INFINITY {
                sums[block] = V::block_round(x, inverse, numbers);
                scales[block] = largest / 127.0;
                continue;
            }
            // Zeros, nearly zeros, or NaN and infinity.
            std::ptr::write_bytes(numbers, 0, BLOCK);
            sums[block] = 0;
            scales[block] = if inverse == f32::INFINITY {
                0.0
            } else {
                largest
            };
        }
    }
}

/// The product out = X · Wᵀ for the rows of some panels; see [`crate::matmul_f32`].
///
/// # Safety
/// The machine has the instruction set of `V`; `x` is whole tokens of K numbers; the panels exist;
/// `out` is valid for `[T, M]` numbers, and no other thread touches the columns of these panels
/// meanwhile.
#[inline(always)]
pub(crate) unsafe fn matmul_f32<V: Vector>(
    weights: &PackedF32,
    x: &[f32],
    range: Range<usize>,
    out: *mut f32,
) {
    // weights [M, K], x [T, K], out [T, M], of which the columns of these panels are written
    // SAFETY: as this function; a panel is two vectors of 4 or one of 8.
    unsafe {
        if 2 * V::LANES == PANEL_ROWS {
            panels::<V, 2, 5>(weights, x, range, out);
        } else {
            panels::<V, 1, 12>(weights, x, range, out);
        }
    }
}

/// The product for some panels: `P` vectors make a panel, which is multiplied with `N` tokens at a
/// time.
///
/// # Safety
/// As [`matmul_f32`], and P · LANES is 8.
#[inline(always)]
unsafe fn panels<V: Vector, const P: usize, const N: usize>(
    weights: &PackedF32,
    x: &[f32],
    range: Range<usize>,
    out: *mut f32,
) {
    let (rows, inner) = (weights.rows, weights.cols);
    let tokens = x.len() / inner.max(1);
    let (from, x) = (weights.numbers.as_ptr(), x.as_ptr());
    let end = (range.end * PANEL_ROWS).min(rows);
    // SAFETY: `row` is the first of a panel.
    unsafe {
        let mut row = range.start * PANEL_ROWS;
        // One token: the additions of one panel would wait for each other, those of four panels do
        // not.
        if tokens == 1 {
            let apart = quarter(end.saturating_sub(row));
            for first in (row..row + apart).step_by(PANEL_ROWS) {
                four_panels::<V, P>(from.add(first * inner), x, inner, apart, out.add(first));
            }
            row += 4 * apart;
        }
        while row < end {
            let panel = from.add(row * inner);
            with_tokens::<V, P, N>(panel, x, [tokens, inner], out.add(row), rows, rows - row);
            row += PANEL_ROWS;
        }
    }
}

/// The rows of each of four equal parts, made of whole panels, of `rows` rows; fewer than 32 are
/// left over. One token is multiplied with one panel of each part at a time, so the weights are
/// read in four streams.
#[inline(always)]
pub(super) fn quarter(rows: usize) -> usize {
    rows / (4 * PANEL_ROWS) * PANEL_ROWS
}

/// The product of one panel with all tokens, `N` of them at a time.
///
/// # Safety
/// `panel` is at one of `inner` columns, `x` at the tokens, `out` at as many rows, `stride` apart,
/// with room for `left` numbers each; P · LANES is 8.
#[inline(always)]
pub(super) unsafe fn with_tokens<V: Vector, const P: usize, const N: usize>(
    panel: *const f32,
    x: *const f32,
    [tokens, inner]: [usize; 2],
    out: *mut f32,
    stride: usize,
    left: usize,
) {
    let mut token = 0;
    // SAFETY: `token` + the tile's tokens are at most `tokens`.
    unsafe {
        while token < tokens {
            let (x, to) = (x.add(token * inner), out.add(token * stride));
            token += match next_tile(N, tokens - token) {
                1 => tile::<V, P, 1>(panel, x, inner, to, stride, left),
                4 => tile::<V, P, 4>(panel, x, inner, to, stride, left),
                _ => tile::<V, P, N>(panel, x, inner, to, stride, left),
            };
        }
    }
}

/// The tokens of a tile whose numbers are in registers at once, where a panel is two vectors and
/// the tile has five: ten totals, two vectors of weights and these fill the registers that V8 uses.
const LOADED: usize = 3;

/// The product of one panel with `N` tokens, all totals in registers. Returns `N`.
///
/// The compiler loads the numbers of all tokens of a stretch of code before it uses the first. An
/// exit from the loop that is never taken parts a tile of five into two stretches.
///
/// # Safety
/// `panel` is at one of `inner` columns, `x` at `N` tokens, `out` at `N` rows, `stride` apart, with
/// room for `left` numbers each.
#[inline(always)]
unsafe fn tile<V: Vector, const P: usize, const N: usize>(
    panel: *const f32,
    x: *const f32,
    inner: usize,
    out: *mut f32,
    stride: usize,
    left: usize,
) -> usize {
    // SAFETY: k < inner and n < N stay inside the caller's bounds; P · LANES is 8.
    unsafe {
        let never = opaque(usize::MAX);
        let mut totals = [[V::splat(0.0); P]; N];
        'inner: for k in 0..inner {
            let mut weights = [V::splat(0.0); P];
            for (p, weight) in weights.iter_mut().enumerate() {
                *weight = V::load(panel.add(k * PANEL_ROWS + p * V::LANES));
            }
            for n in 0..N {
                if N == 5 && n == LOADED && k == never {
                    break 'inner;
                }
                let number = V::splat(*x.add(n * inner + k));
                for p in 0..P {
                    totals[n][p] = number.mul_add(weights[p], totals[n][p]);
                }
            }
        }
        for n in 0..N {
            put(totals[n], out.add(n * stride), left);
        }
    }
    N
}

/// The product of four panels with one token.
///
/// # Safety
/// `panels` is at the first of four panels of `inner` columns, `apart` rows from each other, a
/// multiple of 8; `x` is at one token, `out` at 3 · `apart` + 8 numbers; P · LANES is 8.
#[inline(always)]
unsafe fn four_panels<V: Vector, const P: usize>(
    panels: *const f32,
    x: *const f32,
    inner: usize,
    apart: usize,
    out: *mut f32,
) {
    // SAFETY: k < inner, n < 4 and p < P stay inside the caller's bounds; P · LANES is 8.
    unsafe {
        let mut totals = [[V::splat(0.0); P]; 4];
        for k in 0..inner {
            let number = V::splat(*x.add(k));
            for n in 0..4 {
                for p in 0..P {
                    let at = n * apart * inner + k * PANEL_ROWS + p * V::LANES;
                    totals[n][p] = number.mul_add(V::load(panels.add(at)), totals[n][p]);
                }
            }
        }
        for n in 0..4 {
            put(totals[n], out.add(n * apart), PANEL_ROWS);
        }
    }
}

/// Writes the totals of eight rows, or the `left` of them that exist.
///
/// # Safety
/// `out` has room for `left` numbers; P · LANES is 8.
#[inline(always)]
pub(super) unsafe fn put<V: Vector, const P: usize>(totals: [V; P], out: *mut f32, left: usize) {
    // SAFETY: a vector is written where a row of it exists, and no further than `left`.
    unsafe {
        for (p, total) in totals.into_iter().enumerate() {
            let done = p * V::LANES;
            if done < left {
                total.store_up_to(out.add(done), left - done);
            }
        }
    }
}
