//! The trait of a small vector, over which the fast kernels are written, and the macro that turns a
//! vector into a table of kernels.

/// The most lanes that any implementation of this processor has; scratch buffers are this long.
pub(crate) const MAX_LANES: usize = if cfg!(target_arch = "x86_64") { 16 } else { 8 };

/// A vector of `f32` lanes that the machine adds and multiplies at once.
///
/// # Safety
/// The machine has the instruction set of the implementation. `load`, `store` and their variants
/// read or write `LANES`, `count` or `left` numbers at the pointer, which must be valid for that
/// but need not be aligned. `LANES` is at most [`MAX_LANES`].
pub(crate) trait Vector: Copy {
    /// The number of lanes.
    const LANES: usize;
    /// Whether the processor has the registers for products in tiles of eight rows and not of four.
    const EIGHT_ROWS: bool = false;
    /// The factor of [`Self::widen_f16`] that leaves a number as it is.
    const F16_FACTOR: f32 = 1.0;

    /// A vector with `x` in every lane.
    unsafe fn splat(x: f32) -> Self;
    /// The `LANES` numbers at `from`.
    unsafe fn load(from: *const f32) -> Self;
    /// Writes the `LANES` numbers to `to`.
    unsafe fn store(self, to: *mut f32);
    /// The sum a + b.
    unsafe fn add(self, b: Self) -> Self;
    /// The difference a − b.
    unsafe fn sub(self, b: Self) -> Self;
    /// The product a · b.
    unsafe fn mul(self, b: Self) -> Self;
    /// The quotient a / b.
    unsafe fn div(self, b: Self) -> Self;
    /// The sum a · b + c, rounded once or twice.
    unsafe fn mul_add(self, b: Self, c: Self) -> Self;
    /// The larger number; NaN where either is NaN.
    unsafe fn max(self, b: Self) -> Self;
    /// The lanes of `then` where `self` < `limit`, and of `otherwise` elsewhere, also where `self`
    /// is NaN.
    unsafe fn select_lt(self, limit: Self, then: Self, otherwise: Self) -> Self;
    /// The nearest integer, ties to even.
    unsafe fn round(self) -> Self;
    /// The largest magnitude of the 32 numbers at `from`; NaN if any is NaN.
    unsafe fn block_largest(from: *const f32) -> f32;
    /// Writes the integers nearest to the 32 at `from` times `factor`, which lie from −127 to 127,
    /// ties to even, as bytes to `to`. Returns their sum.
    unsafe fn block_round(from: *const f32, factor: f32, to: *mut i8) -> i32;
    /// The power of 2 with each lane as exponent; lanes are integers from −126 to 127 (others give
    /// an unspecified value).
    unsafe fn exp2_whole(self) -> Self;
    /// The sum of the lanes, in an order that depends on nothing but the implementation.
    unsafe fn reduce_add(self) -> f32;

    /// The eight numbers in half precision at `from`, all of them finite, times `factor` /
    /// [`Self::F16_FACTOR`], as P vectors; P · `LANES` is 8.
    #[inline(always)]
    unsafe fn widen_f16<const P: usize>(from: *const u16, factor: Self) -> [Self; P] {
        let mut eight = [0.0; 8];
        // SAFETY: the caller vouches for 8 numbers at `from`, and P · LANES is 8.
        unsafe {
            for (n, number) in eight.iter_mut().enumerate() {
                *number = super::half_precision::widened(*from.add(n));
            }
            let mut all: [Self; P] = load_all(&eight);
            for vector in &mut all {
                *vector = vector.mul(factor);
            }
            all
        }
    }

    /// The eight numbers in bfloat16 at `from` as P vectors; P · `LANES` is 8.
    #[inline(always)]
    unsafe fn widen_bf16<const P: usize>(from: *const u16) -> [Self; P] {
        let mut eight = [0.0; 8];
        // SAFETY: the caller vouches for 8 numbers at `from`, and P · LANES is 8.
        unsafe {
            for (n, number) in eight.iter_mut().enumerate() {
                *number = f32::from_bits(u32::from(*from.add(n)) << 16);
            }
            load_all(&eight)
        }
    }

    /// The first `count` < `LANES` numbers at `from`, the other lanes `fill`.
    #[inline(always)]
    unsafe fn load_part(from: *const f32, count: usize, fill: f32) -> Self {
        let mut lanes = [fill; MAX_LANES];
        // SAFETY: the caller vouches for `count` numbers at `from`; `count` < LANES ≤ MAX_LANES, so
        // both copies stay inside.
        unsafe {
            std::ptr::copy_nonoverlapping(from, lanes.as_mut_ptr(), count);
            Self::load(lanes.as_ptr())
        }
    }

    /// Writes the first `count` < `LANES` numbers to `to`.
    #[inline(always)]
    unsafe fn store_part(self, to: *mut f32, count: usize) {
        let mut lanes = [0.0; MAX_LANES];
        // SAFETY: the caller vouches for `count` numbers at `to`; `count` < LANES ≤ MAX_LANES, so
        // both copies stay inside.
        unsafe {
            self.store(lanes.as_mut_ptr());
            std::ptr::copy_nonoverlapping(lanes.as_ptr(), to, count);
        }
    }

    /// The numbers at `from`, of which `left` remain: a whole vector, or the last ones and `fill`.
    #[inline(always)]
    unsafe fn load_up_to(from: *const f32, left: usize, fill: f32) -> Self {
        // SAFETY: the caller vouches for `left` numbers at `from`; no more than that and no more
        // than LANES are read.
        unsafe {
            if left >= Self::LANES {
                Self::load(from)
            } else {
                Self::load_part(from, left, fill)
            }
        }
    }

    /// Writes the lanes to `to`, where `left` numbers remain.
    #[inline(always)]
    unsafe fn store_up_to(self, to: *mut f32, left: usize) {
        // SAFETY: the caller vouches for `left` numbers at `to`; no more than that and no more than
        // LANES are written.
        unsafe {
            if left >= Self::LANES {
                self.store(to);
            } else {
                self.store_part(to, left);
            }
        }
    }

    /// The largest lane; NaN if any lane is NaN.
    #[inline(always)]
    unsafe fn reduce_max(self) -> f32 {
        let mut lanes = [f32::NEG_INFINITY; MAX_LANES];
        // SAFETY: LANES ≤ MAX_LANES, so the buffer holds all lanes.
        unsafe { self.store(lanes.as_mut_ptr()) };
        super::reference::max(&lanes)
    }
}

/// Eight numbers as P vectors.
///
/// # Safety
/// The machine has the instruction set of `V`, and P · LANES is 8.
#[inline(always)]
unsafe fn load_all<V: Vector, const P: usize>(eight: &[f32; 8]) -> [V; P] {
    // SAFETY: p < P stays inside the eight numbers.
    unsafe {
        let mut all = [V::splat(0.0); P];
        for (p, vector) in all.iter_mut().enumerate() {
            *vector = V::load(eight.as_ptr().add(p * V::LANES));
        }
        all
    }
}

/// Defines the table `KERNELS` of a file: each generic algorithm compiled for one vector type and
/// its instruction set. `axpy` is the plain loop, which the compiler vectorises by itself.
macro_rules! implementation {
    ($name:literal, $vector:ty, $int8:ty, $features:literal) => {
        implementation! { @functions int8_gemm, $int8, $features,
            matmul_blocks(weights: &$crate::PackedBlocks, tokens: &$crate::QuantizedActivations, panels: std::ops::Range<usize>, out: *mut f32) -> ();
        }
        implementation! { @table $name, $vector, $features, matmul_blocks, $crate::int8_gemm::inner_steps::<$int8>() }
        implementation! { @static }
    };
    // Without an int8 kernel: the plain loops multiply quantized weights.
    ($name:literal, $vector:ty, $features:literal) => {
        implementation! { @table $name, $vector, $features, $crate::reference_packed::matmul_blocks, $crate::inner_step::PLAIN }
        implementation! { @static }
    };
    (@static) => {
        /// The table of this instruction set; only for machines that have it.
        pub(crate) static KERNELS: $crate::Kernels = TABLE;
    };
    (@table $name:literal, $vector:ty, $features:literal, $blocks:expr, $steps:expr) => {
        implementation! { @functions generic, $vector, $features,
            dot(a: &[f32], b: &[f32]) -> f32;
            matvec(a: &[f32], x: &[f32], out: &mut [f32]) -> ();
            product(a: *const f32, b: *const f32, out: *mut f32, shape: &$crate::ProductShape) -> ();
            matmul_nt(a: &[f32], b: &[f32], out: &mut [f32], rows: usize, inner: usize, cols: usize) -> ();
            mix(weights: &[f32], values: &[f32], out: &mut [f32], rows: usize, inner: usize, cols: usize) -> ();
            softmax(x: &mut [f32]) -> ();
            layer_norm(x: &[f32], gamma: &[f32], beta: &[f32], eps: f32, out: &mut [f32]) -> ();
            rms_norm(x: &[f32], gamma: &[f32], eps: f32, out: &mut [f32]) -> ();
            gelu(x: &mut [f32]) -> ();
            relu(x: &mut [f32]) -> ();
            sum(x: &[f32]) -> f32;
            max(x: &[f32]) -> f32;
            silu(x: &mut [f32]) -> ();
            exp(x: &mut [f32]) -> ();
            gelu_tanh(x: &mut [f32]) -> ();
        }
        implementation! { @functions generic_packed, $vector, $features,
            quantize(x: &[f32], numbers: &mut [i8], scales: &mut [f32], sums: &mut [i32]) -> ();
            matmul_f32(weights: &$crate::PackedF32, x: &[f32], panels: std::ops::Range<usize>, out: *mut f32) -> ();
        }
        implementation! { @functions generic_half, $vector, $features,
            matmul_half(weights: &$crate::PackedHalf, x: &[f32], panels: std::ops::Range<usize>, out: *mut f32) -> ();
        }

        /// The table, also for tables that differ from it in a function or two.
        pub(crate) const TABLE: $crate::Kernels = $crate::Kernels {
            name: $name, dot, axpy: $crate::reference::axpy, matvec, product, matmul_nt, mix, softmax, layer_norm, rms_norm, gelu, relu, sum, max,
            silu, exp, gelu_tanh, quantize, matmul_f32, matmul_half, matmul_blocks: $blocks, inner_steps: $steps,
        };
    };
    (@functions $module:ident, $vector:ty, $features:literal, $($function:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(
            #[target_feature(enable = $features)]
            unsafe fn $function($($argument: $type),*) -> $result {
                // SAFETY: this function's callers vouch for the instruction set and for the
                // lengths, as the algorithm asks.
                unsafe { $crate::$module::$function::<$vector>($($argument),*) }
            }
        )*
    };
}
