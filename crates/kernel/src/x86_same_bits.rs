//! The operations of `portable.rs` in the same order, and so the same bits, by the instructions of
//! AVX2. `BENCHMARKS.md` compares the two.
//!
//! A sum over the lanes of a vector depends on their number, so those kernels have four lanes. Where
//! each lane is a result of its own, eight lanes give the same bits.

use super::x86_avx2::Avx2;
use super::{
    Kernels, PackedF32, PackedHalf, ProductShape, generic, generic_half, generic_packed,
    generic_rows, vector::Vector,
};
use std::arch::x86_64::*;

/// The table, or `None` where this processor lacks AVX2 or F16C, which widens numbers of 16 bits.
pub(crate) fn detect() -> Option<&'static Kernels> {
    static MIXED: Kernels = Kernels {
        product: product_by_eight,
        mix: mix_by_eight,
        gelu: gelu_by_eight,
        silu: silu_by_eight,
        exp: exp_by_eight,
        gelu_tanh: gelu_tanh_by_eight,
        matmul_f32: matmul_f32_by_eight,
        matmul_half: matmul_half_by_eight,
        ..TABLE
    };
    let both = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c");
    both.then_some(&MIXED)
}

implementation!(@table "portable-avx2", Four, "avx2,f16c", crate::reference_packed::matmul_blocks, crate::inner_step::PLAIN);

/// Eight lanes that round as the four do.
type Eight = Avx2<false>;

/// Defines functions that run a generic algorithm on [`Eight`].
macro_rules! by_eight {
    ($($name:ident = $module:ident::$function:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            #[target_feature(enable = "avx2,f16c")]
            unsafe fn $name($($argument: $type),*) {
                // SAFETY: this function's callers vouch for the instruction set and for the
                // lengths, as the algorithm asks.
                unsafe { $module::$function::<Eight>($($argument),*) }
            }
        )*
    };
}

by_eight! {
    product_by_eight = generic::product(a: *const f32, b: *const f32, out: *mut f32, shape: &ProductShape);
    mix_by_eight = generic::mix(weights: &[f32], values: &[f32], out: &mut [f32], rows: usize, inner: usize, cols: usize);
    gelu_by_eight = generic_rows::gelu(x: &mut [f32]);
    silu_by_eight = generic_rows::silu(x: &mut [f32]);
    exp_by_eight = generic_rows::exp(x: &mut [f32]);
    gelu_tanh_by_eight = generic_rows::gelu_tanh(x: &mut [f32]);
    matmul_f32_by_eight = generic_packed::matmul_f32(weights: &PackedF32, x: &[f32], panels: std::ops::Range<usize>, out: *mut f32);
    matmul_half_by_eight = generic_half::matmul_half(weights: &PackedHalf, x: &[f32], panels: std::ops::Range<usize>, out: *mut f32);
}

/// A vector of four lanes.
#[derive(Clone, Copy)]
struct Four(__m128);

impl Vector for Four {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: the caller vouches for AVX2, here and below.
        unsafe { Self(_mm_set1_ps(x)) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for 4 readable numbers; `loadu` asks for no alignment.
        unsafe { Self(_mm_loadu_ps(from)) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for 4 writable numbers; `storeu` asks for no alignment.
        unsafe { _mm_storeu_ps(to, self.0) }
    }

    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        // SAFETY: arithmetic alone.
        unsafe { Self(_mm_add_ps(self.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        // SAFETY: arithmetic alone.
        unsafe { Self(_mm_sub_ps(self.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn mul(self, b: Self) -> Self {
        // SAFETY: arithmetic alone.
        unsafe { Self(_mm_mul_ps(self.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn div(self, b: Self) -> Self {
        // SAFETY: arithmetic alone.
        unsafe { Self(_mm_div_ps(self.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: arithmetic alone.
        unsafe { self.mul(b).add(c) }
    }

    #[inline(always)]
    unsafe fn max(self, b: Self) -> Self {
        // SAFETY: arithmetic alone.
        unsafe {
            // `max_ps` gives its second argument where either is NaN or both are 0: the two orders
            // differ only there. Of two zeros +0 is the larger, as all of their bits show; where
            // either is NaN, the comparison's ones make a NaN.
            let (one, other) = (_mm_max_ps(self.0, b.0), _mm_max_ps(b.0, self.0));
            let either_nan = _mm_cmpunord_ps(self.0, b.0);
            Self(_mm_or_ps(_mm_and_ps(one, other), either_nan))
        }
    }

    #[inline(always)]
    unsafe fn select_lt(self, limit: Self, then: Self, otherwise: Self) -> Self {
        // SAFETY: arithmetic alone.
        unsafe {
            let is_less = _mm_cmplt_ps(self.0, limit.0);
            Self(_mm_blendv_ps(otherwise.0, then.0, is_less))
        }
    }

    #[inline(always)]
    unsafe fn round(self) -> Self {
        // SAFETY: arithmetic alone.
        unsafe {
            Self(_mm_round_ps::<
                { _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC },
            >(self.0))
        }
    }

    #[inline(always)]
    unsafe fn exp2_whole(self) -> Self {
        // SAFETY: arithmetic alone.
        unsafe {
            // An f32 with an empty mantissa is 2 to the power of its exponent field minus 127.
            let exponent = _mm_add_epi32(_mm_cvtps_epi32(self.0), _mm_set1_epi32(127));
            Self(_mm_castsi128_ps(_mm_slli_epi32::<23>(exponent)))
        }
    }

    #[inline(always)]
    unsafe fn block_largest(from: *const f32) -> f32 {
        // SAFETY: the caller vouches for AVX2 and for 32 readable numbers.
        unsafe { Eight::block_largest(from) }
    }

    #[inline(always)]
    unsafe fn block_round(from: *const f32, factor: f32, to: *mut i8) -> i32 {
        // SAFETY: the caller vouches for AVX2, for 32 readable numbers and 32 writable bytes.
        unsafe { Eight::block_round(from, factor, to) }
    }

    #[inline(always)]
    unsafe fn reduce_add(self) -> f32 {
        // SAFETY: arithmetic alone.
        unsafe {
            let two = _mm_add_ps(self.0, _mm_movehl_ps(self.0, self.0));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }
}
