//! The kernels of x86-64 with AVX2 and FMA: 8 lanes, chosen at run time where the processor has
//! them.

use super::x86_int8::{self, Vnni, X86Int8};
use super::{Kernels, PackedBlocks, QuantizedActivations, int8_gemm, vector::Vector};
use std::arch::x86_64::*;

/// The table of AVX2, or `None` where this processor lacks AVX2, FMA or F16C.
pub(crate) fn detect() -> Option<&'static Kernels> {
    let all = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c");
    all.then_some(&KERNELS)
}

/// The table of AVX2 with the dot product of bytes of AVX-VNNI, or `None` where this processor
/// lacks it.
pub(crate) fn detect_vnni() -> Option<&'static Kernels> {
    static VNNI: Kernels = Kernels {
        name: "avx-vnni",
        matmul_blocks: matmul_blocks_vnni,
        inner_steps: int8_gemm::inner_steps::<X86Int8<Vnni>>(),
        ..TABLE
    };
    detect()?;
    is_x86_feature_detected!("avxvnni").then_some(&VNNI)
}

implementation!("avx2", Avx2<true>, X86Int8<x86_int8::Avx2>, "avx2,fma,f16c");

#[target_feature(enable = "avx2,fma,f16c,avxvnni")]
unsafe fn matmul_blocks_vnni(
    weights: &PackedBlocks,
    tokens: &QuantizedActivations,
    panels: std::ops::Range<usize>,
    out: *mut f32,
) {
    // SAFETY: this function's callers vouch for the instruction set and for the shapes, as the
    // algorithm asks.
    unsafe { int8_gemm::matmul_blocks::<X86Int8<Vnni>>(weights, tokens, panels, out) }
}

/// All bits set in the first `count` of eight lanes.
///
/// # Safety
/// The machine has AVX, and `count` is at most 8.
#[inline(always)]
unsafe fn first(count: usize) -> __m256i {
    const MASKS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
    // SAFETY: eight of the sixteen numbers are read, from 8 − count on.
    unsafe { _mm256_loadu_si256(MASKS.as_ptr().add(8 - count).cast()) }
}

/// A vector of eight lanes. `FUSED` ones round a product and a sum together, others each apart.
#[derive(Clone, Copy)]
pub(crate) struct Avx2<const FUSED: bool>(pub(crate) __m256);

impl<const FUSED: bool> Vector for Avx2<FUSED> {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: the caller vouches for AVX.
        unsafe { Self(_mm256_set1_ps(x)) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for AVX and for 8 readable numbers; `loadu` asks for no
        // alignment.
        unsafe { Self(_mm256_loadu_ps(from)) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for AVX and for 8 writable numbers; `storeu` asks for no
        // alignment.
        unsafe { _mm256_storeu_ps(to, self.0) }
    }

    #[inline(always)]
    unsafe fn load_part(from: *const f32, count: usize, fill: f32) -> Self {
        // SAFETY: the caller vouches for AVX and for `count` readable numbers; a masked load reads
        // no others.
        unsafe {
            let mask = first(count);
            let values = _mm256_maskload_ps(from, mask);
            let fill = _mm256_set1_ps(fill);
            Self(_mm256_blendv_ps(fill, values, _mm256_castsi256_ps(mask)))
        }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut f32, count: usize) {
        // SAFETY: the caller vouches for AVX and for `count` writable numbers; a masked store
        // writes no others.
        unsafe { _mm256_maskstore_ps(to, first(count), self.0) }
    }

    #[inline(always)]
    unsafe fn widen_f16<const P: usize>(from: *const u16, factor: Self) -> [Self; P] {
        // SAFETY: the caller vouches for F16C and for 8 readable numbers; `loadu` asks for no
        // alignment.
        unsafe { [Self(_mm256_cvtph_ps(_mm_loadu_si128(from.cast()))).mul(factor); P] }
    }

    #[inline(always)]
    unsafe fn widen_bf16<const P: usize>(from: *const u16) -> [Self; P] {
        // SAFETY: the caller vouches for AVX2 and for 8 readable numbers; `loadu` asks for no
        // alignment.
        unsafe {
            let bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast()));
            [Self(_mm256_castsi256_ps(_mm256_slli_epi32::<16>(bits))); P]
        }
    }

    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        // SAFETY: the caller vouches for AVX.
        unsafe { Self(_mm256_add_ps(self.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        // SAFETY: the caller vouches for AVX.
        unsafe { Self(_mm256_sub_ps(self.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn mul(self, b: Self) -> Self {
        // SAFETY: the caller vouches for AVX.
        unsafe { Self(_mm256_mul_ps(self.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn div(self, b: Self) -> Self {
        // SAFETY: the caller vouches for AVX.
        unsafe { Self(_mm256_div_ps(self.0, b.0)) }
    }

    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: the caller vouches for AVX, and for FMA where the two are fused.
        unsafe {
            match FUSED {
                true => Self(_mm256_fmadd_ps(self.0, b.0, c.0)),
                false => self.mul(b).add(c),
            }
        }
    }

    #[inline(always)]
    unsafe fn max(self, b: Self) -> Self {
        // SAFETY: the caller vouches for AVX.
        unsafe {
            // `max_ps` drops a NaN in its first argument. The comparison is all ones, itself a NaN,
            // where either is NaN.
            let either_nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(self.0, b.0);
            Self(_mm256_or_ps(_mm256_max_ps(self.0, b.0), either_nan))
        }
    }

    #[inline(always)]
    unsafe fn select_lt(self, limit: Self, then: Self, otherwise: Self) -> Self {
        // SAFETY: the caller vouches for AVX.
        unsafe {
            Self(_mm256_blendv_ps(
                otherwise.0,
                then.0,
                _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, limit.0),
            ))
        }
    }

    #[inline(always)]
    unsafe fn round(self) -> Self {
        // SAFETY: the caller vouches for AVX.
        unsafe {
            Self(_mm256_round_ps::<
                { _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC },
            >(self.0))
        }
    }

    #[inline(always)]
    unsafe fn exp2_whole(self) -> Self {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            // An f32 with an empty mantissa is 2 to the power of its exponent field minus 127.
            let exponent = _mm256_add_epi32(_mm256_cvtps_epi32(self.0), _mm256_set1_epi32(127));
            Self(_mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponent)))
        }
    }

    #[inline(always)]
    unsafe fn block_largest(from: *const f32) -> f32 {
        // SAFETY: the caller vouches for AVX2 and for 32 readable numbers.
        unsafe {
            // Magnitudes are ordered as their bits, NaN above all.
            let magnitude = _mm256_set1_epi32(0x7fff_ffff);
            let mut largest = _mm256_setzero_si256();
            for at in 0..4 {
                let value = _mm256_loadu_si256(from.add(8 * at).cast());
                largest = _mm256_max_epi32(largest, _mm256_and_si256(value, magnitude));
            }
            let four = _mm_max_epi32(
                _mm256_castsi256_si128(largest),
                _mm256_extracti128_si256::<1>(largest),
            );
            let two = _mm_max_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
            let one = _mm_max_epi32(two, _mm_shuffle_epi32::<0b00_00_00_01>(two));
            f32::from_bits(_mm_cvtsi128_si32(one).cast_unsigned())
        }
    }

    #[inline(always)]
    unsafe fn block_round(from: *const f32, factor: f32, to: *mut i8) -> i32 {
        // SAFETY: the caller vouches for AVX2, for 32 readable numbers and 32 writable bytes.
        unsafe {
            let factor = _mm256_set1_ps(factor);
            let mut sums = _mm256_setzero_si256();
            for at in 0..4 {
                let value = _mm256_mul_ps(_mm256_loadu_ps(from.add(8 * at)), factor);
                let wide = _mm256_cvtps_epi32(value);
                sums = _mm256_add_epi32(sums, wide);
                let (low, high) = (
                    _mm256_castsi256_si128(wide),
                    _mm256_extracti128_si256::<1>(wide),
                );
                let short = _mm_packs_epi32(low, high);
                _mm_storel_epi64(to.add(8 * at).cast(), _mm_packs_epi16(short, short));
            }
            let four = _mm_add_epi32(
                _mm256_castsi256_si128(sums),
                _mm256_extracti128_si256::<1>(sums),
            );
            let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
            let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b00_00_00_01>(two));
            _mm_cvtsi128_si32(one)
        }
    }

    #[inline(always)]
    unsafe fn reduce_add(self) -> f32 {
        // SAFETY: the caller vouches for AVX.
        unsafe {
            let four = _mm_add_ps(
                _mm256_castps256_ps128(self.0),
                _mm256_extractf128_ps::<1>(self.0),
            );
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }
}
