//! One implementation of all kernels: a table of functions, with methods that check lengths.

use super::inner_step::{InnerStep, InnerSteps};
use super::packed::{BLOCK, BlockType, PANEL_ROWS, PANELS_TOGETHER, PackedBlocks, PackedF32};
use super::packed_half::PackedHalf;
use super::quantized_activations::QuantizedActivations;
use super::threads;
use std::ops::Range;

// The types of the table's functions. A function's contract has two halves. The file that builds a
// table is responsible for one: it returns the table only on a machine that has the instruction
// set. The methods of `Kernels` keep the other: they call a function with arguments for which the
// section "Safety" of its type holds.

/// The dot product Σᵢ aᵢ bᵢ of `a` `[N]` and `b` `[N]`.
///
/// # Safety
/// The machine has the table's instruction set, and both slices have the same length.
type Dot = unsafe fn(&[f32], &[f32]) -> f32;

/// The update y ← y + alpha · x, of `x` `[N]` and `y` `[N]`.
///
/// # Safety
/// The machine has the table's instruction set, and both slices have the same length.
type Axpy = unsafe fn(f32, &[f32], &mut [f32]);

/// The product out = A · x, of `a` `[M, K]`, `x` `[K]` and `out` `[M]`.
///
/// # Safety
/// The machine has the table's instruction set, and `a` has M · K elements.
type Matvec = unsafe fn(&[f32], &[f32], &mut [f32]);

/// A product of two matrices, with their slices, `out` `[M, N]` and the sizes M, K, N.
///
/// # Safety
/// The machine has the table's instruction set, and the slices have M · K, K · N and M · N
/// elements.
type Product = unsafe fn(&[f32], &[f32], &mut [f32], usize, usize, usize);

/// A product of two matrices of any steps, with pointers to their first elements.
///
/// # Safety
/// The machine has the table's instruction set; every element that the shape names exists at its
/// pointer, and no other thread touches those of the last meanwhile; with `add`, `inner` is at most
/// [`DEPTH`].
type StridedProduct = unsafe fn(*const f32, *const f32, *mut f32, &ProductShape);

/// A function of each element, or of a row, in place.
///
/// # Safety
/// The machine has the table's instruction set; any slice will do.
type InPlace = unsafe fn(&mut [f32]);

/// A number computed from a slice.
///
/// # Safety
/// The machine has the table's instruction set; any slice will do.
type Reduction = unsafe fn(&[f32]) -> f32;

/// A layer norm of `x` with `gamma`, `beta` and eps into `out`, all `[C]`.
///
/// # Safety
/// The machine has the table's instruction set, and all slices have the same length.
type LayerNorm = unsafe fn(&[f32], &[f32], &[f32], f32, &mut [f32]);

/// An RMS norm of `x` with `gamma` and eps into `out`, all `[C]`.
///
/// # Safety
/// The machine has the table's instruction set, and all slices have the same length.
type RmsNorm = unsafe fn(&[f32], &[f32], f32, &mut [f32]);

/// The quantization of N blocks of 32: `x` and integers `[N · 32]`, scales and sums `[N]`.
///
/// # Safety
/// The machine has the table's instruction set, and the slices have these lengths.
type Quantize = unsafe fn(&[f32], &mut [i8], &mut [f32], &mut [i32]);

/// The product of `x` `[T, K]` with some panels of a packed matrix `[M, K]`, into `[T, M]` numbers.
///
/// # Safety
/// The machine has the table's instruction set; `x` has T · K elements; the panels exist; the
/// pointer is valid for T · M numbers, and no other thread touches the columns of these panels
/// meanwhile.
type MatmulF32 = unsafe fn(&PackedF32, &[f32], Range<usize>, *mut f32);

/// As [`MatmulF32`], of a packed matrix of numbers with 16 bits.
///
/// # Safety
/// As [`MatmulF32`].
type MatmulHalf = unsafe fn(&PackedHalf, &[f32], Range<usize>, *mut f32);

/// The product of quantized activations `[T, K]` with some panels of a packed matrix `[M, K]`, into
/// `[T, M]` numbers.
///
/// # Safety
/// The machine has the table's instruction set; both factors have the same K; the panels exist; the
/// pointer is valid for T · M numbers, and no other thread touches the columns of these panels
/// meanwhile.
type MatmulBlocks = unsafe fn(&PackedBlocks, &QuantizedActivations, Range<usize>, *mut f32);

/// The most steps of k between two writes of a product's totals: so many rows of a panel of B, and
/// of four rows of A, stay in the first cache. A total that is written and read again has its bits.
pub(crate) const DEPTH: usize = 128;

/// The shape of a product C = A · B, A `[rows, inner]`, B `[inner, cols]`, and the places of its
/// elements: a head of attention is some columns of a matrix, and a transposed matrix is one whose
/// rows and columns change places.
#[derive(Debug, Clone, Copy)]
pub struct ProductShape {
    /// Rows of A and C.
    pub rows: usize,
    /// Columns of A, rows of B.
    pub inner: usize,
    /// Columns of B and C.
    pub cols: usize,
    /// Elements from one row of A to the next.
    pub a_row: usize,
    /// Elements from one column of A to the next.
    pub a_col: usize,
    /// Elements from one row of B to the next; its columns are side by side.
    pub b_row: usize,
    /// Elements from one row of C to the next; its columns are side by side.
    pub out_row: usize,
    /// True to add the product to C, false to replace C by it.
    pub add: bool,
}

impl ProductShape {
    /// Whole matrices, A · B.
    pub fn new([rows, inner, cols]: [usize; 3]) -> Self {
        Self {
            rows,
            inner,
            cols,
            a_row: inner,
            a_col: 1,
            b_row: cols,
            out_row: cols,
            add: false,
        }
    }

    /// Whole matrices, Aᵀ · B: A is stored as `[inner, rows]`.
    pub fn transposed([rows, inner, cols]: [usize; 3]) -> Self {
        Self {
            a_row: 1,
            a_col: rows,
            ..Self::new([rows, inner, cols])
        }
    }

    /// Panics where A, B or C has not all of its elements, or rows of C overlap.
    #[track_caller]
    fn check(&self, lengths: [usize; 3]) {
        let last = |n: usize, step: usize| n.saturating_sub(1).checked_mul(step);
        let length = |rows: usize, row: usize, cols: usize, col: usize| {
            let end = last(rows, row)?
                .checked_add(last(cols, col)?)?
                .checked_add(1)?;
            Some(if rows == 0 || cols == 0 { 0 } else { end })
        };
        let needed = [
            length(self.rows, self.a_row, self.inner, self.a_col),
            length(self.inner, self.b_row, self.cols, 1),
            length(self.rows, self.out_row, self.cols, 1),
        ];
        let fits = |(needed, found): (Option<usize>, usize)| needed.is_some_and(|n| n <= found);
        assert!(
            needed.into_iter().zip(lengths).all(fits)
                && (self.out_row >= self.cols || self.rows < 2),
            "product: lengths {lengths:?} do not fit {self:?}"
        );
    }
}

/// All kernels of one instruction set. Each method computes and panics like the function of the
/// same name in [`crate`].
#[derive(Debug, Clone, Copy)]
pub struct Kernels {
    pub(crate) name: &'static str,
    pub(crate) dot: Dot,
    pub(crate) axpy: Axpy,
    pub(crate) matvec: Matvec,
    pub(crate) product: StridedProduct,
    pub(crate) matmul_nt: Product,
    pub(crate) mix: Product,
    pub(crate) softmax: InPlace,
    pub(crate) layer_norm: LayerNorm,
    pub(crate) rms_norm: RmsNorm,
    pub(crate) gelu: InPlace,
    pub(crate) relu: InPlace,
    pub(crate) sum: Reduction,
    pub(crate) max: Reduction,
    pub(crate) silu: InPlace,
    pub(crate) exp: InPlace,
    pub(crate) gelu_tanh: InPlace,
    pub(crate) quantize: Quantize,
    pub(crate) matmul_f32: MatmulF32,
    pub(crate) matmul_half: MatmulHalf,
    pub(crate) matmul_blocks: MatmulBlocks,
    /// The inner steps of `matmul_blocks`.
    pub(crate) inner_steps: InnerSteps,
}

/// Panics unless the three matrices of a product have the lengths that their shapes say.
#[track_caller]
fn check_product(operation: &str, lengths: [usize; 3], rows: usize, inner: usize, cols: usize) {
    let expected = [
        rows.checked_mul(inner),
        inner.checked_mul(cols),
        rows.checked_mul(cols),
    ];
    assert!(
        lengths.map(Some) == expected,
        "{operation}: lengths {lengths:?} do not fit rows {rows}, inner {inner}, cols {cols}"
    );
}

/// Panics unless all lengths are `expected`.
#[track_caller]
fn check_equal(operation: &str, expected: usize, lengths: &[usize]) {
    assert!(
        lengths.iter().all(|&length| length == expected),
        "{operation}: lengths {lengths:?}, expected {expected}"
    );
}

/// The fewest multiplications for which waking a thread pays.
const LEAST_WORK: usize = 1 << 17;

/// The fewest rows of a product for which a thread copies B's panels.
const LEAST_ROWS: usize = 32;

/// The multiplications of a product `out` with so many columns of weights. With 32 bits a large one
/// has more than fit.
fn work_of(out: &[f32], cols: usize) -> usize {
    out.len().saturating_mul(cols)
}

/// The start of a product, which several threads write to.
struct Out(*mut f32);
// SAFETY: no two threads are given the same rows or panels, so none writes where another reads or
// writes.
unsafe impl Sync for Out {}

/// Runs a product of so many multiplications on all threads, each with panels of rows of its own.
/// They write to different columns of `out` `[T, rows]`.
///
/// One token is multiplied with several panels at a time: a thread gets whole groups of them, of
/// which only the last of the product may be smaller.
fn share(rows: usize, work: usize, out: &mut [f32], run: impl Fn(Range<usize>, *mut f32) + Sync) {
    let panels = rows.div_ceil(PANEL_ROWS);
    let together = if out.len() == rows {
        PANELS_TOGETHER
    } else {
        1
    };
    let groups = panels.div_ceil(together);
    let least = LEAST_WORK.saturating_mul(groups).div_ceil(work.max(1));
    let out = &Out(out.as_mut_ptr());
    threads::ranges(groups, least, |groups| {
        let (start, end) = (groups.start * together, groups.end * together);
        run(start..end.min(panels), out.0);
    });
}

/// Runs the product of `x` `[T, K]` with a packed matrix `[M, K]` of plain numbers on all threads.
///
/// # Panics
/// When a length does not fit its shape.
#[track_caller]
fn share_packed(
    operation: &str,
    [rows, cols]: [usize; 2],
    x: &[f32],
    out: &mut [f32],
    run: impl Fn(Range<usize>, *mut f32) + Sync,
) {
    if cols == 0 {
        return out.fill(0.0);
    }
    let tokens = x.len() / cols;
    let lengths = [x.len(), rows * cols, out.len()];
    check_product(operation, lengths, tokens, cols, rows);
    share(rows, work_of(out, cols), out, run);
}

impl Kernels {
    /// The name of the implementation: `reference`, `portable`, `portable-avx2`, `avx2`,
    /// `avx-vnni`, `avx-512`, `simd128`, `relaxed-wide`, `relaxed-pairs` or `relaxed`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The inner steps of [`Self::matmul_blocks`] with weights of a type: for one token, and for
    /// many. Q4_1 is multiplied as Q4_0, and the offset of a block is added.
    pub fn inner_steps(&self, kind: BlockType) -> [InnerStep; 2] {
        let [eight, four, more] = self.inner_steps;
        match kind.bits() {
            8 => eight,
            4 => four,
            _ => more,
        }
    }

    /// See [`crate::dot`].
    #[track_caller]
    pub fn dot(&self, a: &[f32], b: &[f32]) -> f32 {
        // a [N], b [N] -> scalar
        check_equal("dot", a.len(), &[b.len()]);
        // SAFETY: the lengths are checked; the table is of this machine's instruction set.
        unsafe { (self.dot)(a, b) }
    }

    /// See [`crate::axpy`].
    #[track_caller]
    pub fn axpy(&self, alpha: f32, x: &[f32], y: &mut [f32]) {
        // x [N], y [N]
        check_equal("axpy", x.len(), &[y.len()]);
        // SAFETY: the lengths are checked; the table is of this machine's instruction set.
        unsafe { (self.axpy)(alpha, x, y) }
    }

    /// See [`crate::matvec`].
    #[track_caller]
    pub fn matvec(&self, a: &[f32], x: &[f32], out: &mut [f32]) {
        // a [M, K], x [K], out [M]
        check_product(
            "matvec",
            [a.len(), x.len(), out.len()],
            out.len(),
            x.len(),
            1,
        );
        // SAFETY: the lengths are checked; the table is of this machine's instruction set.
        unsafe { (self.matvec)(a, x, out) }
    }

    /// See [`crate::matmul`].
    #[track_caller]
    pub fn matmul(
        &self,
        a: &[f32],
        b: &[f32],
        out: &mut [f32],
        rows: usize,
        inner: usize,
        cols: usize,
    ) {
        // a [M, K], b [K, N], out [M, N]
        check_product("matmul", [a.len(), b.len(), out.len()], rows, inner, cols);
        self.product(a, b, out, &ProductShape::new([rows, inner, cols]));
    }

    /// See [`crate::matmul_nt`].
    #[track_caller]
    pub fn matmul_nt(
        &self,
        a: &[f32],
        b: &[f32],
        out: &mut [f32],
        rows: usize,
        inner: usize,
        cols: usize,
    ) {
        // a [M, K], b [N, K], out [M, N]
        check_product(
            "matmul_nt",
            [a.len(), b.len(), out.len()],
            rows,
            inner,
            cols,
        );
        // SAFETY: the lengths are checked (K · N is N · K); the table is of this machine's
        // instruction set.
        unsafe { (self.matmul_nt)(a, b, out, rows, inner, cols) }
    }

    /// See [`crate::matmul_tn`].
    #[track_caller]
    pub fn matmul_tn(
        &self,
        a: &[f32],
        b: &[f32],
        out: &mut [f32],
        rows: usize,
        inner: usize,
        cols: usize,
    ) {
        // a [K, M], b [K, N], out [M, N]
        let lengths = [a.len(), b.len(), out.len()];
        check_product("matmul_tn", lengths, rows, inner, cols);
        self.product(a, b, out, &ProductShape::transposed([rows, inner, cols]));
    }

    /// The product C = A · B, or with [`ProductShape::add`] C + A · B, with A and B of any steps.
    /// Each element of C is computed by the same operations in the same order wherever it is, and on
    /// any number of threads: the product as [`crate::matmul`] has it, then the sum.
    ///
    /// # Panics
    /// When a matrix has not all of its elements.
    #[track_caller]
    pub fn product(&self, a: &[f32], b: &[f32], out: &mut [f32], shape: &ProductShape) {
        shape.check([a.len(), b.len(), out.len()]);
        if shape.add && shape.inner > DEPTH {
            // The totals so far would be written over the numbers that they are added to.
            let whole = ProductShape {
                out_row: shape.cols,
                add: false,
                ..*shape
            };
            let parts = self.new_product(a, b, &whole);
            let rows = parts.chunks_exact(shape.cols.max(1));
            for (out, part) in out.chunks_mut(shape.out_row.max(1)).zip(rows) {
                out.iter_mut()
                    .zip(part)
                    .for_each(|(sum, part)| *sum += part);
            }
            return;
        }
        // SAFETY: the lengths are checked.
        unsafe { self.share_product(a, b, out.as_mut_ptr(), shape) }
    }

    /// The product A · B in new memory; the shape's `out_row` and `add` do not count.
    ///
    /// # Panics
    /// When a factor has not all of its elements.
    #[track_caller]
    pub fn new_product(&self, a: &[f32], b: &[f32], shape: &ProductShape) -> Vec<f32> {
        let shape = ProductShape {
            out_row: shape.cols,
            add: false,
            ..*shape
        };
        let length = shape.rows * shape.cols;
        shape.check([a.len(), b.len(), length]);
        let mut out = Vec::with_capacity(length);
        // SAFETY: the lengths are checked, there is room for `length` numbers, and the product
        // writes each of them.
        unsafe {
            self.share_product(a, b, out.as_mut_ptr(), &shape);
            out.set_len(length);
        }
        out
    }

    /// Runs a product on all threads, each with rows of its own.
    ///
    /// # Safety
    /// `a` and `b` have the elements that the shape names, and `out` is valid for those of C.
    unsafe fn share_product(&self, a: &[f32], b: &[f32], out: *mut f32, shape: &ProductShape) {
        let work = shape.inner * shape.cols;
        let least = LEAST_WORK.div_ceil(work.max(1)).max(LEAST_ROWS);
        let out = &Out(out);
        threads::ranges(shape.rows, least, |rows| {
            let part = ProductShape {
                rows: rows.len(),
                ..*shape
            };
            // SAFETY: the rows exist, and no other thread writes to them; the table is of this
            // machine's instruction set.
            unsafe {
                let (from, to) = (rows.start * shape.a_row, rows.start * shape.out_row);
                (self.product)(a.as_ptr().add(from), b.as_ptr(), out.0.add(to), &part);
            }
        });
    }

    /// See [`crate::mix`].
    #[track_caller]
    pub fn mix(
        &self,
        weights: &[f32],
        values: &[f32],
        out: &mut [f32],
        rows: usize,
        inner: usize,
        cols: usize,
    ) {
        // weights [M, K], values [K, N], out [M, N]
        check_product(
            "mix",
            [weights.len(), values.len(), out.len()],
            rows,
            inner,
            cols,
        );
        // SAFETY: the lengths are checked; the table is of this machine's instruction set.
        unsafe { (self.mix)(weights, values, out, rows, inner, cols) }
    }

    /// See [`crate::softmax`].
    pub fn softmax(&self, x: &mut [f32]) {
        // x [N]
        // SAFETY: any slice will do; the table is of this machine's instruction set.
        unsafe { (self.softmax)(x) }
    }

    /// See [`crate::layer_norm`].
    #[track_caller]
    pub fn layer_norm(&self, x: &[f32], gamma: &[f32], beta: &[f32], eps: f32, out: &mut [f32]) {
        // x, gamma, beta, out [C]
        check_equal("layer_norm", x.len(), &[gamma.len(), beta.len(), out.len()]);
        // SAFETY: the lengths are checked; the table is of this machine's instruction set.
        unsafe { (self.layer_norm)(x, gamma, beta, eps, out) }
    }

    /// See [`crate::rms_norm`].
    #[track_caller]
    pub fn rms_norm(&self, x: &[f32], gamma: &[f32], eps: f32, out: &mut [f32]) {
        // x, gamma, out [C]
        check_equal("rms_norm", x.len(), &[gamma.len(), out.len()]);
        // SAFETY: the lengths are checked; the table is of this machine's instruction set.
        unsafe { (self.rms_norm)(x, gamma, eps, out) }
    }

    /// See [`crate::gelu`].
    pub fn gelu(&self, x: &mut [f32]) {
        // x [N]
        // SAFETY: any slice will do; the table is of this machine's instruction set.
        unsafe { (self.gelu)(x) }
    }

    /// See [`crate::relu`].
    pub fn relu(&self, x: &mut [f32]) {
        // x [N]
        // SAFETY: any slice will do; the table is of this machine's instruction set.
        unsafe { (self.relu)(x) }
    }

    /// See [`crate::sum`].
    pub fn sum(&self, x: &[f32]) -> f32 {
        // x [N] -> scalar
        // SAFETY: any slice will do; the table is of this machine's instruction set.
        unsafe { (self.sum)(x) }
    }

    /// See [`crate::max`].
    pub fn max(&self, x: &[f32]) -> f32 {
        // x [N] -> scalar
        // SAFETY: any slice will do; the table is of this machine's instruction set.
        unsafe { (self.max)(x) }
    }

    /// See [`crate::silu`].
    pub fn silu(&self, x: &mut [f32]) {
        // x [N]
        // SAFETY: any slice will do; the table is of this machine's instruction set.
        unsafe { (self.silu)(x) }
    }

    /// The exponential in place, of numbers up to 88; below −87.3, where f32 leaves its normal range,
    /// it may be 0.
    pub fn exp(&self, x: &mut [f32]) {
        // x [N]
        // SAFETY: any slice will do; the table is of this machine's instruction set.
        unsafe { (self.exp)(x) }
    }

    /// See [`crate::gelu_tanh`].
    pub fn gelu_tanh(&self, x: &mut [f32]) {
        // x [N]
        // SAFETY: any slice will do; the table is of this machine's instruction set.
        unsafe { (self.gelu_tanh)(x) }
    }

    /// Quantizes blocks of 32: see [`QuantizedActivations`].
    #[track_caller]
    pub(crate) fn quantize(
        &self,
        x: &[f32],
        numbers: &mut [i8],
        scales: &mut [f32],
        sums: &mut [i32],
    ) {
        // x, numbers [N · 32], scales, sums [N]
        check_equal("quantize", x.len(), &[numbers.len(), scales.len() * BLOCK]);
        check_equal("quantize", scales.len(), &[sums.len()]);
        // SAFETY: the lengths are checked; the table is of this machine's instruction set.
        unsafe { (self.quantize)(x, numbers, scales, sums) }
    }

    /// See [`crate::matmul_f32`].
    #[track_caller]
    pub fn matmul_f32(&self, weights: &PackedF32, x: &[f32], out: &mut [f32]) {
        // weights [M, K], x [T, K], out [T, M]
        let shape = [weights.rows(), weights.cols()];
        share_packed("matmul_f32", shape, x, out, |panels, out| {
            // SAFETY: the lengths are checked, the weights are as many as their shape says, and no
            // other thread writes to the columns of these panels; the table is of this machine's
            // instruction set.
            unsafe { (self.matmul_f32)(weights, x, panels, out) }
        });
    }

    /// See [`crate::matmul_half`].
    #[track_caller]
    pub fn matmul_half(&self, weights: &PackedHalf, x: &[f32], out: &mut [f32]) {
        // weights [M, K], x [T, K], out [T, M]
        let shape = [weights.rows(), weights.cols()];
        share_packed("matmul_half", shape, x, out, |panels, out| {
            // SAFETY: as `matmul_f32`.
            unsafe { (self.matmul_half)(weights, x, panels, out) }
        });
    }

    /// See [`crate::matmul_blocks`].
    #[track_caller]
    pub fn matmul_blocks(
        &self,
        weights: &PackedBlocks,
        tokens: &QuantizedActivations,
        out: &mut [f32],
    ) {
        // weights [M, K], tokens [T, K], out [T, M]
        check_equal("matmul_blocks", weights.cols(), &[tokens.cols()]);
        let places = tokens.tokens().checked_mul(weights.rows());
        assert!(
            Some(out.len()) == places,
            "matmul_blocks: {} places for {} tokens by {weights:?}",
            out.len(),
            tokens.tokens()
        );
        let work = work_of(out, weights.cols());
        share(weights.rows(), work, out, |panels, out| {
            // SAFETY: the shapes fit, both factors hold what their shapes say, and no other thread
            // writes to the columns of these panels; the table is of this machine's instruction
            // set.
            unsafe { (self.matmul_blocks)(weights, tokens, panels, out) }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::work_of;

    #[test]
    fn more_work_than_can_be_counted_is_much_work() {
        assert_eq!(work_of(&[0.0; 6], 5), 30);
        assert_eq!(work_of(&[0.0; 4], usize::MAX / 4 + 1), usize::MAX);
    }
}
