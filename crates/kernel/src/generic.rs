//! The fast algorithms for products, each written once over [`Vector`]; those on single rows are in
//! `generic_rows.rs`.
//!
//! Every function here is `unsafe` for the same two reasons: the machine must have the vector's
//! instruction set, and slices must have the lengths that the comment under the signature says (a
//! product's `rows`, `inner`, `cols` describe its slices). All pointers are offsets into those
//! slices, at most up to those lengths.
//!
//! Each element of a product is accumulated over k = 0, 1, 2, … by the same operations wherever its
//! row (and in `matmul_nt` its column) is, in a whole tile or in a remainder. So moving a token
//! moves its results and changes no bit of them.
//!
//! There are no closures between these functions and the vector's methods: a closure is compiled
//! without the instruction set, and each method in it may remain a call.

use super::vector::Vector;

/// The number of vectors in one step of a long reduction, whose additions do not wait for each
/// other.
const UNROLL: usize = 4;

/// The dot product Σᵢ aᵢ bᵢ.
///
/// # Safety
/// The machine has the instruction set of `V`, and both slices have the same length.
#[inline(always)]
pub(crate) unsafe fn dot<V: Vector>(a: &[f32], b: &[f32]) -> f32 {
    // a [N], b [N] -> scalar
    let (length, a, b) = (a.len(), a.as_ptr(), b.as_ptr());
    // SAFETY: every load reads at `at` + lanes ≤ length of both slices.
    unsafe {
        let mut totals = [V::splat(0.0); UNROLL];
        let mut at = 0;
        while at + UNROLL * V::LANES <= length {
            for (n, total) in totals.iter_mut().enumerate() {
                let offset = at + n * V::LANES;
                *total = V::load(a.add(offset)).mul_add(V::load(b.add(offset)), *total);
            }
            at += UNROLL * V::LANES;
        }
        while at + V::LANES <= length {
            totals[0] = V::load(a.add(at)).mul_add(V::load(b.add(at)), totals[0]);
            at += V::LANES;
        }
        if at < length {
            let (left, a, b) = (length - at, a.add(at), b.add(at));
            totals[1] = V::load_part(a, left, 0.0).mul_add(V::load_part(b, left, 0.0), totals[1]);
        }
        totals[0]
            .add(totals[1])
            .add(totals[2].add(totals[3]))
            .reduce_add()
    }
}

/// The product out = A · x.
///
/// # Safety
/// The machine has the instruction set of `V`, and the slices have the lengths of their shapes.
#[inline(always)]
pub(crate) unsafe fn matvec<V: Vector>(a: &[f32], x: &[f32], out: &mut [f32]) {
    // a [M, K], x [K], out [M]: the one row x times A transposed
    let (inner, cols) = (x.len(), out.len());
    // SAFETY: x is [1, K], a is [M, K] and out is [1, M], as the product asks.
    unsafe { matmul_nt::<V>(x, a, out, 1, inner, cols) }
}

/// The product C = A · B.
///
/// # Safety
/// The machine has the instruction set of `V`, and the slices have the lengths of their shapes.
#[inline(always)]
pub(crate) unsafe fn matmul<V: Vector>(
    a: &[f32],
    b: &[f32],
    out: &mut [f32],
    rows: usize,
    inner: usize,
    cols: usize,
) {
    // a [M, K], b [K, N], out [M, N]
    // SAFETY: A's rows are `inner` apart, its columns 1.
    unsafe { product::<V, false>(a, b, out, rows, inner, cols) }
}

/// The product C = Aᵀ · B.
///
/// # Safety
/// The machine has the instruction set of `V`, and the slices have the lengths of their shapes.
#[inline(always)]
pub(crate) unsafe fn matmul_tn<V: Vector>(
    a: &[f32],
    b: &[f32],
    out: &mut [f32],
    rows: usize,
    inner: usize,
    cols: usize,
) {
    // a [K, M], b [K, N], out [M, N]
    // SAFETY: A's columns are the product's rows.
    unsafe { product::<V, true>(a, b, out, rows, inner, cols) }
}

/// The product C = A · B, or with `TRANSPOSED` C = Aᵀ · B.
///
/// # Safety
/// As `matmul` and `matmul_tn`.
#[inline(always)]
unsafe fn product<V: Vector, const TRANSPOSED: bool>(
    a: &[f32],
    b: &[f32],
    out: &mut [f32],
    rows: usize,
    inner: usize,
    cols: usize,
) {
    let (a, b, out) = (a.as_ptr(), b.as_ptr(), out.as_mut_ptr());
    // SAFETY: `panel` is called with col + N · LANES ≤ cols, or with the `cols` < LANES columns
    // that there are.
    unsafe {
        if cols < V::LANES {
            panel::<V, 1, true, TRANSPOSED>(a, b, out, rows, inner, cols, 0);
            return;
        }
        // Columns outside, rows inside: one panel of B stays in cache while all rows are multiplied
        // with it.
        let mut col = 0;
        while col + 2 * V::LANES <= cols {
            panel::<V, 2, false, TRANSPOSED>(a, b, out, rows, inner, cols, col);
            col += 2 * V::LANES;
        }
        while col < cols {
            // The last vector may overlap columns that are done; it writes the same bits there
            // again.
            let last = col.min(cols - V::LANES);
            panel::<V, 1, false, TRANSPOSED>(a, b, out, rows, inner, cols, last);
            col += V::LANES;
        }
    }
}

/// All rows of C in `N` vectors of columns from `col` on; with `PART` in the `cols` < LANES columns
/// of a narrow matrix.
///
/// # Safety
/// As `product`, and the columns must exist.
#[inline(always)]
unsafe fn panel<V: Vector, const N: usize, const PART: bool, const TRANSPOSED: bool>(
    a: *const f32,
    b: *const f32,
    out: *mut f32,
    rows: usize,
    inner: usize,
    cols: usize,
    col: usize,
) {
    // The distances to the next row and the next k in `a`.
    let (row_step, k_step) = if TRANSPOSED { (1, rows) } else { (inner, 1) };
    // SAFETY: each tile starts at a row below `rows` and holds R rows; the columns are the caller's
    // promise.
    unsafe {
        let mut row = 0;
        while row + 4 <= rows {
            tile::<V, 4, N, PART>(
                a.add(row * row_step),
                [row_step, k_step],
                b.add(col),
                out.add(row * cols + col),
                inner,
                cols,
            );
            row += 4;
        }
        while row < rows {
            tile::<V, 1, N, PART>(
                a.add(row * row_step),
                [row_step, k_step],
                b.add(col),
                out.add(row * cols + col),
                inner,
                cols,
            );
            row += 1;
        }
    }
}

/// A tile of C, `R` rows by `N` vectors, kept in registers over all of K.
///
/// # Safety
/// `a` is at `R` rows of `inner`, as far apart as the steps say, `b` and `out` at columns of which
/// N · LANES (with `PART`: `cols`) exist.
#[inline(always)]
unsafe fn tile<V: Vector, const R: usize, const N: usize, const PART: bool>(
    a: *const f32,
    [row_step, k_step]: [usize; 2],
    b: *const f32,
    out: *mut f32,
    inner: usize,
    cols: usize,
) {
    // SAFETY: k < inner and r < R stay inside `a`; rows of `b` and `out` are `cols` apart and hold
    // the columns read and written.
    unsafe {
        let mut totals = [[V::splat(0.0); N]; R];
        for k in 0..inner {
            let from = b.add(k * cols);
            let mut values = [V::splat(0.0); N];
            for (n, value) in values.iter_mut().enumerate() {
                *value = if PART {
                    V::load_part(from, cols, 0.0)
                } else {
                    V::load(from.add(n * V::LANES))
                };
            }
            for r in 0..R {
                let factor = V::splat(*a.add(r * row_step + k * k_step));
                for n in 0..N {
                    totals[r][n] = factor.mul_add(values[n], totals[r][n]);
                }
            }
        }
        for r in 0..R {
            for n in 0..N {
                let to = out.add(r * cols + n * V::LANES);
                if PART {
                    totals[r][n].store_part(to, cols);
                } else {
                    totals[r][n].store(to);
                }
            }
        }
    }
}

/// The product C = A · Bᵀ.
///
/// # Safety
/// The machine has the instruction set of `V`, and the slices have the lengths of their shapes.
#[inline(always)]
pub(crate) unsafe fn matmul_nt<V: Vector>(
    a: &[f32],
    b: &[f32],
    out: &mut [f32],
    rows: usize,
    inner: usize,
    cols: usize,
) {
    // a [M, K], b [N, K], out [M, N]
    let (a, b, out) = (a.as_ptr(), b.as_ptr(), out.as_mut_ptr());
    // SAFETY: `strip` is called with col + N ≤ cols.
    unsafe {
        let mut col = 0;
        while col + 4 <= cols {
            strip::<V, 4>(a, b.add(col * inner), out.add(col), rows, inner, cols);
            col += 4;
        }
        while col < cols {
            strip::<V, 1>(a, b.add(col * inner), out.add(col), rows, inner, cols);
            col += 1;
        }
    }
}

/// All rows of A · Bᵀ in `N` columns.
///
/// # Safety
/// As `matmul_nt`; `b` is at `N` rows of `inner`, `out` at a column of which `N` exist.
#[inline(always)]
unsafe fn strip<V: Vector, const N: usize>(
    a: *const f32,
    b: *const f32,
    out: *mut f32,
    rows: usize,
    inner: usize,
    cols: usize,
) {
    // SAFETY: each tile starts at a row below `rows` and holds R rows.
    unsafe {
        let mut row = 0;
        while row + 2 <= rows {
            tile_nt::<V, 2, N>(a.add(row * inner), b, out.add(row * cols), inner, cols);
            row += 2;
        }
        if row < rows {
            tile_nt::<V, 1, N>(a.add(row * inner), b, out.add(row * cols), inner, cols);
        }
    }
}

/// A tile of A · Bᵀ, `R` rows by `N` columns: R · N dot products that share their loads.
///
/// # Safety
/// `a` is at `R` rows of `inner`, `b` at `N` rows of `inner`, `out` at R rows, `cols` apart, of
/// which N columns exist.
#[inline(always)]
unsafe fn tile_nt<V: Vector, const R: usize, const N: usize>(
    a: *const f32,
    b: *const f32,
    out: *mut f32,
    inner: usize,
    cols: usize,
) {
    // SAFETY: every load reads at k + lanes ≤ inner of a row that exists.
    unsafe {
        let mut totals = [[V::splat(0.0); N]; R];
        let mut k = 0;
        while k < inner {
            let left = inner - k;
            let mut keys = [V::splat(0.0); N];
            for (n, key) in keys.iter_mut().enumerate() {
                *key = V::load_up_to(b.add(n * inner + k), left, 0.0);
            }
            for r in 0..R {
                let query = V::load_up_to(a.add(r * inner + k), left, 0.0);
                for n in 0..N {
                    totals[r][n] = query.mul_add(keys[n], totals[r][n]);
                }
            }
            k += V::LANES;
        }
        for r in 0..R {
            for n in 0..N {
                *out.add(r * cols + n) = totals[r][n].reduce_add();
            }
        }
    }
}

/// The weighted sum C = W · B, where a weight of exactly 0 leaves its row of B unread.
///
/// # Safety
/// The machine has the instruction set of `V`, and the slices have the lengths of their shapes.
#[inline(always)]
pub(crate) unsafe fn mix<V: Vector>(
    weights: &[f32],
    values: &[f32],
    out: &mut [f32],
    rows: usize,
    inner: usize,
    cols: usize,
) {
    // weights [M, K], values [K, N], out [M, N]
    let (values, out) = (values.as_ptr(), out.as_mut_ptr());
    for row in 0..rows {
        let weights = &weights[row * inner..(row + 1) * inner];
        // SAFETY: `mix_row` is called with col + N · LANES ≤ cols, or with the `cols` < LANES
        // columns that there are.
        unsafe {
            let out = out.add(row * cols);
            if cols < V::LANES {
                mix_row::<V, 1, true>(weights, values, out, cols);
                continue;
            }
            let mut col = 0;
            while col + UNROLL * V::LANES <= cols {
                mix_row::<V, UNROLL, false>(weights, values.add(col), out.add(col), cols);
                col += UNROLL * V::LANES;
            }
            while col < cols {
                // The last vector may overlap columns that are done; it writes the same bits there
                // again.
                let from = col.min(cols - V::LANES);
                mix_row::<V, 1, false>(weights, values.add(from), out.add(from), cols);
                col += V::LANES;
            }
        }
    }
}

/// One row of W · B in `N` vectors of columns; a weight of exactly 0 is skipped.
///
/// # Safety
/// `values` and `out` are at columns of which N · LANES (with `PART`: `cols`) exist, in one row for
/// each weight.
#[inline(always)]
unsafe fn mix_row<V: Vector, const N: usize, const PART: bool>(
    weights: &[f32],
    values: *const f32,
    out: *mut f32,
    cols: usize,
) {
    // SAFETY: k counts the weights, so row k of `values` exists; the columns are the caller's
    // promise.
    unsafe {
        let mut totals = [V::splat(0.0); N];
        for (k, &weight) in weights.iter().enumerate() {
            if weight == 0.0 {
                continue;
            }
            let (factor, from) = (V::splat(weight), values.add(k * cols));
            for (n, total) in totals.iter_mut().enumerate() {
                let value = if PART {
                    V::load_part(from, cols, 0.0)
                } else {
                    V::load(from.add(n * V::LANES))
                };
                *total = factor.mul_add(value, *total);
            }
        }
        for (n, total) in totals.iter().enumerate() {
            if PART {
                total.store_part(out, cols);
            } else {
                total.store(out.add(n * V::LANES));
            }
        }
    }
}

pub(crate) use super::generic_rows::{
    gelu, gelu_tanh, layer_norm, max, relu, rms_norm, silu, softmax, sum,
};
