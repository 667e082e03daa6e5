//! The kernels of x86-64 with AVX-512: products and functions of single elements with 16 lanes,
//! chosen at run time where the processor has them.
//!
//! Every result has the bits that AVX2 gives it: these functions compute each element by the same
//! operations in the same order for any number of lanes. Those that add lanes up stay with AVX2's
//! eight. So it makes no difference to a trained model which processor trained it.

use super::x86_avx2::{self, Avx2};
use super::x86_int8::{Vnni512, X86Int8};
use super::{Kernels, int8_gemm, vector::Vector};
use std::arch::x86_64::*;

/// The table of AVX-512, or `None` where this processor lacks one of its parts F, VL and VNNI.
pub(crate) fn detect() -> Option<&'static Kernels> {
    x86_avx2::detect()?;
    let all = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni");
    all.then_some(&KERNELS)
}

static KERNELS: Kernels = Kernels {
    name: "avx-512",
    product,
    mix,
    gelu,
    relu,
    silu,
    exp,
    gelu_tanh,
    matmul_blocks,
    inner_steps: int8_gemm::inner_steps::<X86Int8<Vnni512>>(),
    ..x86_avx2::TABLE
};

implementation! { @functions generic, Avx512, "avx512f,avx512vl,avx2,fma,f16c",
    product(a: *const f32, b: *const f32, out: *mut f32, shape: &crate::ProductShape) -> ();
    mix(weights: &[f32], values: &[f32], out: &mut [f32], rows: usize, inner: usize, cols: usize) -> ();
    gelu(x: &mut [f32]) -> ();
    relu(x: &mut [f32]) -> ();
    silu(x: &mut [f32]) -> ();
    exp(x: &mut [f32]) -> ();
    gelu_tanh(x: &mut [f32]) -> ();
}
implementation! { @functions int8_gemm, X86Int8<Vnni512>, "avx512f,avx512vl,avx512vnni,avx2,fma,f16c",
    matmul_blocks(weights: &crate::PackedBlocks, tokens: &crate::QuantizedActivations, panels: std::ops::Range<usize>, out: *mut f32) -> ();
}

/// The first `count` of sixteen lanes.
#[inline(always)]
fn first(count: usize) -> __mmask16 {
    ((1_u32 << count) - 1) as __mmask16
}

/// A vector of sixteen lanes.
#[derive(Clone, Copy)]
struct Avx512(__m512);

impl Vector for Avx512 {
    const LANES: usize = 16;
    const EIGHT_ROWS: bool = true;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: the caller vouches for AVX-512, here and below.
        unsafe { Self(_mm512_set1_ps(x)) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for 16 readable numbers; `loadu` asks for no alignment.
        unsafe { Self(_mm512_loadu_ps(from)) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for 16 writable numbers; `storeu` asks for no alignment.
        unsafe { _mm512_storeu_ps(to, self.0) }
    }

    #[inline(always)]
    unsafe fn load_part(from: *const f32, count: usize, fill: f32) -> Self {
        // SAFETY: the caller vouches for `count` readable numbers; a masked load reads no others.
        unsafe {
            let fill = _mm512_set1_ps(fill);
            Self(_mm512_mask_loadu_ps(fill, first(count), from))
        }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut f32, count: usize) {
        // SAFETY: the caller vouches for `count` writable numbers; a masked store writes no others.
        unsafe { _mm512_mask_storeu_ps(to, first(count), self.0) }
    }

    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        // SAFETY: as `splat`.
        unsafe { Self(_mm512_add_ps(self.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        // SAFETY: as `splat`.
        unsafe { Self(_mm512_sub_ps(self.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn mul(self, b: Self) -> Self {
        // SAFETY: as `splat`.
        unsafe { Self(_mm512_mul_ps(self.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn div(self, b: Self) -> Self {
        // SAFETY: as `splat`.
        unsafe { Self(_mm512_div_ps(self.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: as `splat`.
        unsafe { Self(_mm512_fmadd_ps(self.0, b.0, c.0)) }
    }

    #[inline(always)]
    unsafe fn max(self, b: Self) -> Self {
        // SAFETY: as `splat`.
        unsafe {
            // `max_ps` drops a NaN in its first argument. All ones are the NaN that AVX2 gives.
            let either_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(self.0, b.0);
            let nan = _mm512_castsi512_ps(_mm512_set1_epi32(-1));
            Self(_mm512_mask_mov_ps(
                _mm512_max_ps(self.0, b.0),
                either_nan,
                nan,
            ))
        }
    }

    #[inline(always)]
    unsafe fn select_lt(self, limit: Self, then: Self, otherwise: Self) -> Self {
        // SAFETY: as `splat`.
        unsafe {
            let less = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, limit.0);
            Self(_mm512_mask_mov_ps(otherwise.0, less, then.0))
        }
    }

    #[inline(always)]
    unsafe fn round(self) -> Self {
        // SAFETY: as `splat`.
        unsafe {
            Self(_mm512_roundscale_ps::<
                { _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC },
            >(self.0))
        }
    }

    #[inline(always)]
    unsafe fn exp2_whole(self) -> Self {
        // SAFETY: as `splat`.
        unsafe {
            // An f32 with an empty mantissa is 2 to the power of its exponent field minus 127.
            let exponent = _mm512_add_epi32(_mm512_cvtps_epi32(self.0), _mm512_set1_epi32(127));
            Self(_mm512_castsi512_ps(_mm512_slli_epi32::<23>(exponent)))
        }
    }

    #[inline(always)]
    unsafe fn block_largest(from: *const f32) -> f32 {
        // SAFETY: the caller vouches for 32 readable numbers; AVX2 comes with AVX-512.
        unsafe { Avx2::<true>::block_largest(from) }
    }

    #[inline(always)]
    unsafe fn block_round(from: *const f32, factor: f32, to: *mut i8) -> i32 {
        // SAFETY: the caller vouches for 32 readable numbers and 32 writable bytes; AVX2 comes with
        // AVX-512.
        unsafe { Avx2::<true>::block_round(from, factor, to) }
    }

    #[inline(always)]
    unsafe fn reduce_add(self) -> f32 {
        // SAFETY: as `splat`.
        unsafe { _mm512_reduce_add_ps(self.0) }
    }
}
