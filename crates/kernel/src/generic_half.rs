//! The fast algorithm for packed weights with 16 bits; `unsafe` for the reasons that
//! [`super::generic`] gives.
//!
//! Every number is widened to the `f32` of its value and then multiplied by the operations of
//! `generic_packed.rs` in their order, so a result has the bits of a product with
//! [`crate::PackedF32`]. For one token the weights are widened in registers. For more, a panel is
//! widened once and then multiplied with all of them.

use std::ops::Range;

use super::generic_packed::{put, quarter, with_tokens};
use super::packed::PANEL_ROWS;
use super::packed_half::{HalfType, PackedHalf};
use super::vector::Vector;

/// A way to widen the eight numbers of a column.
trait Widen {
    /// The weights at `from` as P vectors; `factor` is that of F16.
    ///
    /// # Safety
    /// The machine has the instruction set of `V`; eight numbers are at `from`; P · LANES is 8.
    unsafe fn column<V: Vector, const P: usize>(from: *const u16, factor: V) -> [V; P];
}

/// Finite numbers in F16.
struct F16;

/// Numbers in BF16.
struct Bf16;

impl Widen for F16 {
    #[inline(always)]
    unsafe fn column<V: Vector, const P: usize>(from: *const u16, factor: V) -> [V; P] {
        // SAFETY: as this function.
        unsafe { V::widen_f16(from, factor) }
    }
}

impl Widen for Bf16 {
    #[inline(always)]
    unsafe fn column<V: Vector, const P: usize>(from: *const u16, _: V) -> [V; P] {
        // SAFETY: as this function.
        unsafe { V::widen_bf16(from) }
    }
}

/// The product out = X · Wᵀ for the rows of some panels; see [`crate::matmul_half`].
///
/// # Safety
/// The machine has the instruction set of `V`; `x` is whole tokens of K numbers; the panels exist;
/// `out` is valid for `[T, M]` numbers, and no other thread touches the columns of these panels
/// meanwhile.
#[inline(always)]
pub(crate) unsafe fn matmul_half<V: Vector>(
    weights: &PackedHalf,
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
/// As [`matmul_half`], and P · LANES is 8.
#[inline(always)]
unsafe fn panels<V: Vector, const P: usize, const N: usize>(
    weights: &PackedHalf,
    x: &[f32],
    range: Range<usize>,
    out: *mut f32,
) {
    let (rows, inner) = (weights.rows(), weights.cols());
    let tokens = x.len() / inner.max(1);
    let (from, x) = (weights.bits(), x.as_ptr());
    let end = (range.end * PANEL_ROWS).min(rows);
    // SAFETY: `row` is the first of a panel; `panel` has room for one, and all of it is written
    // before it is read.
    unsafe {
        let factor = V::splat(V::F16_FACTOR * weights.scale());
        let mut row = range.start * PANEL_ROWS;
        if tokens == 1 && weights.is_finite() {
            let apart = quarter(end.saturating_sub(row));
            for first in (row..row + apart).step_by(PANEL_ROWS) {
                let (panels, out) = (from.add(first * inner), out.add(first));
                let sizes = [inner, apart];
                match weights.kind() {
                    HalfType::F16 => four_panels::<V, F16, P>(panels, x, sizes, out, factor),
                    HalfType::Bf16 => four_panels::<V, Bf16, P>(panels, x, sizes, out, factor),
                }
            }
            row += 4 * apart;
        }
        if row >= end {
            return;
        }
        let mut panel = Vec::<f32>::with_capacity(inner * PANEL_ROWS);
        let wide = panel.as_mut_ptr();
        while row < end {
            let bits = from.add(row * inner);
            match weights.kind() {
                HalfType::F16 if !weights.is_finite() => {
                    for n in 0..inner * PANEL_ROWS {
                        *wide.add(n) = super::half_precision::widened(*bits.add(n));
                    }
                }
                HalfType::F16 => widen_panel::<V, F16, P>(bits, inner, wide, factor),
                HalfType::Bf16 => widen_panel::<V, Bf16, P>(bits, inner, wide, factor),
            }
            with_tokens::<V, P, N>(wide, x, [tokens, inner], out.add(row), rows, rows - row);
            row += PANEL_ROWS;
        }
    }
}

/// Writes the values of a panel to `to`.
///
/// # Safety
/// `panel` is at one of `inner` columns, `to` has room for as many numbers; P · LANES is 8.
#[inline(always)]
unsafe fn widen_panel<V: Vector, W: Widen, const P: usize>(
    panel: *const u16,
    inner: usize,
    to: *mut f32,
    factor: V,
) {
    // SAFETY: k < inner stays inside the caller's bounds; P · LANES is 8.
    unsafe {
        for k in 0..inner {
            let weights: [V; P] = W::column(panel.add(k * PANEL_ROWS), factor);
            for p in 0..P {
                weights[p].store(to.add(k * PANEL_ROWS + p * V::LANES));
            }
        }
    }
}

/// The product of four panels with one token.
///
/// # Safety
/// `panels` is at the first of four panels of `inner` columns, `apart` rows from each other, a
/// multiple of 8; `x` is at one token, `out` at 3 · `apart` + 8 numbers; P · LANES is 8.
#[inline(always)]
unsafe fn four_panels<V: Vector, W: Widen, const P: usize>(
    panels: *const u16,
    x: *const f32,
    [inner, apart]: [usize; 2],
    out: *mut f32,
    factor: V,
) {
    // SAFETY: k < inner, n < 4 and p < P stay inside the caller's bounds; P · LANES is 8.
    unsafe {
        let mut totals = [[V::splat(0.0); P]; 4];
        for k in 0..inner {
            let number = V::splat(*x.add(k));
            for n in 0..4 {
                let column = panels.add(n * apart * inner + k * PANEL_ROWS);
                let weights: [V; P] = W::column(column, factor);
                for p in 0..P {
                    totals[n][p] = number.mul_add(weights[p], totals[n][p]);
                }
            }
        }
        for n in 0..4 {
            put(totals[n], out.add(n * apart), PANEL_ROWS);
        }
    }
}
