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

use super::table::{DEPTH, ProductShape};
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

/// The number of rows from which a panel of B is copied into one piece.
const LEAST_ROWS: usize = 16;

/// The most columns of a panel: two vectors.
const WIDEST: usize = 2 * super::vector::MAX_LANES;

/// The product C = A · B or the sum C + A · B, of matrices whose rows may lie apart.
///
/// # Safety
/// The machine has the instruction set of `V`; every element that the shape names exists at its
/// pointer; nothing else touches those of `out` meanwhile. With `add`, `inner` is at most [`DEPTH`].
#[inline(always)]
pub(crate) unsafe fn product<V: Vector>(
    a: *const f32,
    b: *const f32,
    out: *mut f32,
    shape: &ProductShape,
) {
    // A's columns side by side in memory: rows of four tiles at a time go into one piece.
    let turned = shape.a_row == 1 && shape.rows >= 4 && shape.inner * shape.a_col > TURNED;
    let whole = shape.rows / 4 * 4;
    let mut piece = Vec::<f32>::with_capacity(if turned {
        whole * shape.inner.min(DEPTH)
    } else {
        0
    });
    let mut from = 0;
    // SAFETY: `from` and `depth` stay inside `inner`; `piece` has room for the rows of whole tiles.
    unsafe {
        loop {
            let depth = (shape.inner - from).min(DEPTH);
            let (a, b) = (a.add(from * shape.a_col), b.add(from * shape.b_row));
            let start = match from {
                0 => Start::Zero,
                _ => Start::Partial,
            };
            if turned {
                gather_tiles(a, shape.a_col, piece.as_mut_ptr(), whole, depth);
                let tiles = piece.as_ptr();
                panels::<V>(a, Some(tiles), b, out, depth, start, shape);
            } else {
                panels::<V>(a, None, b, out, depth, start, shape);
            }
            from += depth;
            if from == shape.inner {
                return;
            }
        }
    }
}

/// The number of elements that A has between its first and its last column, above which its tiles
/// are copied.
const TURNED: usize = 1 << 12;

/// What the totals of a tile begin with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Zero,
    /// The totals over the steps of k before, in `out`.
    Partial,
}

/// Copies the rows of a transposed A, side by side in memory, in tiles of four, each k by k.
///
/// # Safety
/// `a` has `rows` rows, a multiple of four, and `depth` columns, `k_step` apart; `tiles` has room
/// for all.
#[inline(always)]
unsafe fn gather_tiles(a: *const f32, k_step: usize, tiles: *mut f32, rows: usize, depth: usize) {
    // Sixteen rows, a line of the cache, are read at once.
    for first in (0..rows).step_by(16) {
        for k in 0..depth {
            for row in (first..(first + 16).min(rows)).step_by(4) {
                // SAFETY: row + 3 < rows and k < depth.
                unsafe {
                    let to = tiles.add(row * depth + 4 * k).cast::<[f32; 4]>();
                    let from = a.add(row + k * k_step).cast::<[f32; 4]>();
                    to.write_unaligned(from.read_unaligned());
                }
            }
        }
    }
}

/// The share of `depth` steps of k in the product; `tiles` holds A's rows in tiles of four.
///
/// # Safety
/// As `product`, of which `a` and `b` are at a step of k.
#[inline(always)]
unsafe fn panels<V: Vector>(
    a: *const f32,
    tiles: Option<*const f32>,
    b: *const f32,
    out: *mut f32,
    depth: usize,
    start: Start,
    shape: &ProductShape,
) {
    let mut copy = std::mem::MaybeUninit::<[f32; WIDEST * DEPTH]>::uninit();
    let copy = copy.as_mut_ptr().cast::<f32>();
    // Columns outside, rows inside: one panel of B stays in cache while all rows are multiplied
    // with it.
    let mut col = 0;
    while col < shape.cols {
        let left = shape.cols - col;
        let lanes = if left > V::LANES { 2 } else { 1 } * V::LANES;
        // SAFETY: the columns from `col` on exist, `left` of them; `copy` has room for `depth` rows
        // of the widest panel.
        unsafe {
            let (mut panel, mut step) = (b.add(col), shape.b_row);
            if left < lanes || (shape.rows >= LEAST_ROWS && step > lanes) {
                copy_panel::<V>(panel, step, copy, lanes, left, depth);
                (panel, step) = (copy.cast_const(), lanes);
            }
            let tile = Panel {
                a,
                tiles,
                b: panel,
                b_step: step,
                out: out.add(col),
                left,
                depth,
                start,
            };
            if lanes == V::LANES {
                rows::<V, 1>(&tile, shape);
            } else {
                rows::<V, 2>(&tile, shape);
            }
        }
        col += lanes;
    }
}

/// Copies a panel of B, row after row of `lanes` numbers, of which `left` exist; the others are 0.
///
/// # Safety
/// `b` has `depth` rows, `step` apart, of `left` numbers; `to` has room for `depth` times `lanes`.
#[inline(always)]
unsafe fn copy_panel<V: Vector>(
    b: *const f32,
    step: usize,
    to: *mut f32,
    lanes: usize,
    left: usize,
    depth: usize,
) {
    for k in 0..depth {
        let mut at = 0;
        while at < lanes {
            // SAFETY: at most `left` − `at` numbers are read, where there are any, and a vector
            // written at `at` < `lanes`.
            unsafe {
                let from = b.add(k * step + at.min(left));
                let values = V::load_up_to(from, left.saturating_sub(at), 0.0);
                values.store(to.add(k * lanes + at));
            }
            at += V::LANES;
        }
    }
}

/// A panel of B with what is multiplied with it.
struct Panel {
    a: *const f32,
    tiles: Option<*const f32>,
    b: *const f32,
    b_step: usize,
    out: *mut f32,
    /// Columns of `out` from here on.
    left: usize,
    depth: usize,
    start: Start,
}

/// All rows of C in the `N` vectors of columns of a panel.
///
/// # Safety
/// As `product`.
#[inline(always)]
unsafe fn rows<V: Vector, const N: usize>(panel: &Panel, shape: &ProductShape) {
    // SAFETY: each tile starts at a row below `rows` and holds R rows.
    unsafe {
        let mut row = 0;
        while V::EIGHT_ROWS && row + 8 <= shape.rows {
            tile::<V, 8, N>(row, panel, shape);
            row += 8;
        }
        while row + 4 <= shape.rows {
            tile::<V, 4, N>(row, panel, shape);
            row += 4;
        }
        while row < shape.rows {
            tile::<V, 1, N>(row, panel, shape);
            row += 1;
        }
    }
}

/// A tile of C, `R` rows from `row` on by `N` vectors, kept in registers over all steps of k.
///
/// # Safety
/// As `product`, which has `R` rows from `row` on.
#[inline(always)]
unsafe fn tile<V: Vector, const R: usize, const N: usize>(
    row: usize,
    panel: &Panel,
    shape: &ProductShape,
) {
    // SAFETY: k < depth and r < R stay inside A, whose tiles hold all rows but those of tiles of one
    // row; rows of the panel hold N vectors, those of `out` the numbers that are left.
    unsafe {
        // From one row of A to the next, from four to the next four, from one step of k to the next.
        let (a, row_step, four_step, k_step) = match panel.tiles {
            Some(tiles) if R > 1 => (tiles.add(row * panel.depth), 1, 4 * panel.depth, 4),
            _ => {
                let a = panel.a.add(row * shape.a_row);
                (a, shape.a_row, 4 * shape.a_row, shape.a_col)
            }
        };
        let out = panel.out.add(row * shape.out_row);
        let mut totals = [[V::splat(0.0); N]; R];
        if panel.start == Start::Partial {
            for r in 0..R {
                for n in 0..N {
                    let (at, left) = (n * V::LANES, panel.left - n * V::LANES);
                    totals[r][n] = V::load_up_to(out.add(r * shape.out_row + at), left, 0.0);
                }
            }
        }
        for k in 0..panel.depth {
            let from = panel.b.add(k * panel.b_step);
            let mut values = [V::splat(0.0); N];
            for (n, value) in values.iter_mut().enumerate() {
                *value = V::load(from.add(n * V::LANES));
            }
            for r in 0..R {
                let factor = V::splat(*a.add(r / 4 * four_step + r % 4 * row_step + k * k_step));
                for n in 0..N {
                    totals[r][n] = factor.mul_add(values[n], totals[r][n]);
                }
            }
        }
        for r in 0..R {
            for n in 0..N {
                let (at, left) = (n * V::LANES, panel.left - n * V::LANES);
                let to = out.add(r * shape.out_row + at);
                let mut total = totals[r][n];
                if shape.add {
                    total = V::load_up_to(to, left, 0.0).add(total);
                }
                total.store_up_to(to, left);
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
    exp, gelu, gelu_tanh, layer_norm, max, relu, rms_norm, silu, softmax, sum,
};
