//! One implementation of all kernels: a table of functions, with methods that check lengths.

use super::packed::{BLOCK, PANEL_ROWS, PackedBlocks, PackedF32};
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

/// The product of quantized activations `[T, K]` with some panels of a packed matrix `[M, K]`, into
/// `[T, M]` numbers.
///
/// # Safety
/// The machine has the table's instruction set; both factors have the same K; the panels exist; the
/// pointer is valid for T · M numbers, and no other thread touches the columns of these panels
/// meanwhile.
type MatmulBlocks = unsafe fn(&PackedBlocks, &QuantizedActivations, Range<usize>, *mut f32);

/// All kernels of one instruction set. Each method computes and panics like the function of the
/// same name in [`crate`].
#[derive(Debug, Clone, Copy)]
pub struct Kernels {
    pub(crate) name: &'static str,
    pub(crate) dot: Dot,
    pub(crate) axpy: Axpy,
    pub(crate) matvec: Matvec,
    pub(crate) matmul: Product,
    pub(crate) matmul_nt: Product,
    pub(crate) matmul_tn: Product,
    pub(crate) mix: Product,
    pub(crate) softmax: InPlace,
    pub(crate) layer_norm: LayerNorm,
    pub(crate) rms_norm: RmsNorm,
    pub(crate) gelu: InPlace,
    pub(crate) relu: InPlace,
    pub(crate) sum: Reduction,
    pub(crate) max: Reduction,
    pub(crate) silu: InPlace,
    pub(crate) gelu_tanh: InPlace,
    pub(crate) quantize: Quantize,
    pub(crate) matmul_f32: MatmulF32,
    pub(crate) matmul_blocks: MatmulBlocks,
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

/// Runs a product on all threads, each with panels of rows of its own. They write to different
/// columns of `out` `[T, rows]`.
fn share(rows: usize, work: usize, out: &mut [f32], run: impl Fn(Range<usize>, *mut f32) + Sync) {
    /// The start of the product, which several threads write to.
    struct Out(*mut f32);
    // SAFETY: no two threads are given the same panel, so none writes where another reads or
    // writes.
    unsafe impl Sync for Out {}

    let panels = rows.div_ceil(PANEL_ROWS);
    let least = (LEAST_WORK * panels).div_ceil(work.max(1));
    let out = &Out(out.as_mut_ptr());
    threads::ranges(panels, least, |panels| run(panels, out.0));
}

impl Kernels {
    /// The name of the implementation: `reference`, `portable`, `avx2`, `avx-vnni`, `simd128`,
    /// `relaxed-wide` or `relaxed`.
    pub fn name(&self) -> &'static str {
        self.name
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
        // SAFETY: the lengths are checked; the table is of this machine's instruction set.
        unsafe { (self.matmul)(a, b, out, rows, inner, cols) }
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
        check_product(
            "matmul_tn",
            [a.len(), b.len(), out.len()],
            rows,
            inner,
            cols,
        );
        // SAFETY: the lengths are checked (M · K is K · M); the table is of this machine's
        // instruction set.
        unsafe { (self.matmul_tn)(a, b, out, rows, inner, cols) }
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
        let (rows, cols) = (weights.rows(), weights.cols());
        if cols == 0 {
            return out.fill(0.0);
        }
        let tokens = x.len() / cols;
        let lengths = [x.len(), weights.rows() * weights.cols(), out.len()];
        check_product("matmul_f32", lengths, tokens, cols, rows);
        let work = out.len() * cols;
        share(rows, work, out, |panels, out| {
            // SAFETY: the lengths are checked, the weights are as many as their shape says, and no
            // other thread writes to the columns of these panels; the table is of this machine's
            // instruction set.
            unsafe { (self.matmul_f32)(weights, x, panels, out) }
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
        let work = out.len() * weights.cols();
        share(weights.rows(), work, out, |panels, out| {
            // SAFETY: the shapes fit, both factors hold what their shapes say, and no other thread
            // writes to the columns of these panels; the table is of this machine's instruction
            // set.
            unsafe { (self.matmul_blocks)(weights, tokens, panels, out) }
        });
    }
}
