//! The int8 kernels of x86-64: with AVX2, and with AVX-VNNI or the VNNI of AVX-512 where the
//! processor has it.

use super::inner_step::InnerStep;
use super::int8_gemm::{Int8Kernel, OneToken, Rows, Steps};
use super::packed::centre;
use std::arch::x86_64::*;
use std::marker::PhantomData;

/// The dot product of 32 signed weights with 32 activations, for which the instruction sets have
/// different instructions.
///
/// # Safety
/// The machine has the instruction set of the implementation.
pub(crate) trait Dot {
    /// A number added to the activations of many tokens; each sum starts from a value that
    /// subtracts its share again.
    const BIAS: i8;
    /// The instruction's name.
    const STEP: InnerStep;
    /// The updated sums: sums + |weights| · tokens, in fours; weights as unsigned bytes, none above
    /// 128, and tokens from −127 to 127.
    unsafe fn unsigned(weights: __m256i, tokens: __m256i, sums: __m256i) -> __m256i;
    /// The updated sums: sums + weights · (tokens + bias), in fours.
    unsafe fn dot(weights: __m256i, tokens: __m256i, sums: __m256i) -> __m256i;
}

/// The dot product with AVX2.
pub(crate) struct Avx2;
/// The dot product with AVX-VNNI.
pub(crate) struct Vnni;
/// The same dot product with the VNNI of AVX-512, another encoding of the instruction.
pub(crate) struct Vnni512;

impl Dot for Avx2 {
    const BIAS: i8 = 0;
    const STEP: InnerStep = InnerStep::Avx2;

    #[inline(always)]
    unsafe fn unsigned(weights: __m256i, tokens: __m256i, sums: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2. A sum of two products is at most 2 · 128 · 127 =
        // 32,512 and does not saturate.
        unsafe {
            let twos = _mm256_maddubs_epi16(weights, tokens);
            _mm256_add_epi32(sums, _mm256_madd_epi16(twos, _mm256_set1_epi16(1)))
        }
    }

    #[inline(always)]
    unsafe fn dot(weights: __m256i, tokens: __m256i, sums: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2. The sign goes to the token; −128 has the unsigned
        // magnitude 128.
        unsafe {
            let tokens = _mm256_sign_epi8(tokens, weights);
            Self::unsigned(_mm256_abs_epi8(weights), tokens, sums)
        }
    }
}

impl Dot for Vnni {
    const BIAS: i8 = 127;
    const STEP: InnerStep = InnerStep::Vnni;

    #[inline(always)]
    unsafe fn unsigned(weights: __m256i, tokens: __m256i, sums: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX-VNNI.
        unsafe { _mm256_dpbusd_avx_epi32(sums, weights, tokens) }
    }

    #[inline(always)]
    unsafe fn dot(weights: __m256i, tokens: __m256i, sums: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX-VNNI. The tokens, 0 to 254, are its unsigned operand.
        unsafe { _mm256_dpbusd_avx_epi32(sums, tokens, weights) }
    }
}

impl Dot for Vnni512 {
    const BIAS: i8 = Vnni::BIAS;
    const STEP: InnerStep = Vnni::STEP;

    #[inline(always)]
    unsafe fn unsigned(weights: __m256i, tokens: __m256i, sums: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX-512 VNNI and VL.
        unsafe { _mm256_dpbusd_epi32(sums, weights, tokens) }
    }

    #[inline(always)]
    unsafe fn dot(weights: __m256i, tokens: __m256i, sums: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX-512 VNNI and VL. The tokens, 0 to 254, are its unsigned
        // operand.
        unsafe { _mm256_dpbusd_epi32(sums, tokens, weights) }
    }
}

/// The int8 kernel with the dot product `D`.
pub(crate) struct X86Int8<D>(PhantomData<D>);

/// The halves of 16 bytes: rows 0 to 3 from the low ones, rows 4 to 7 from the high ones. The bytes
/// have other bits above.
///
/// # Safety
/// AVX2 and 16 readable bytes.
#[inline(always)]
unsafe fn halves_of_bytes(from: *const u8) -> __m256i {
    // SAFETY: as the caller vouches.
    unsafe {
        let bytes = _mm_loadu_si128(from.cast());
        _mm256_set_m128i(_mm_srli_epi16::<4>(bytes), bytes)
    }
}

/// Columns `four` · 4 to `four` · 4 + 3 of eight rows, numbers of 4, 5 or 6 bits as they are
/// stored, from 0 on.
///
/// # Safety
/// AVX2 and a block at `from`.
#[inline(always)]
unsafe fn stored<const BITS: usize>(from: *const u8, four: usize) -> __m256i {
    // SAFETY: as the caller vouches; the upper bits follow 128 bytes of low ones.
    unsafe {
        let low = halves_of_bytes(from.add(16 * four));
        let low = _mm256_and_si256(low, _mm256_set1_epi8(15));
        if BITS == 4 {
            return low;
        }
        let at = four * (BITS - 4);
        let high = halves_of_bytes(from.add(128 + at / 4 * 16));
        let shift = _mm_cvtsi32_si128(4 - (at % 4) as i32);
        let mask = _mm256_set1_epi8(if BITS == 5 { 16 } else { 48 });
        let high = _mm256_and_si256(_mm256_sll_epi16(high, shift), mask);
        _mm256_or_si256(low, high)
    }
}

/// The four bytes at `from` in every lane of 32 bits.
///
/// # Safety
/// AVX and 4 readable bytes.
#[inline(always)]
unsafe fn broadcast(from: *const u8) -> __m256i {
    // SAFETY: as the caller vouches.
    unsafe { _mm256_set1_epi32(from.cast::<i32>().read_unaligned()) }
}

impl<D: Dot> Rows for X86Int8<D> {
    type Sums = __m256i;
    type Totals = __m256;

    #[inline(always)]
    unsafe fn zero() -> __m256 {
        // SAFETY: the caller vouches for AVX.
        unsafe { _mm256_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn same(sum: i32) -> __m256i {
        // SAFETY: the caller vouches for AVX.
        unsafe { _mm256_set1_epi32(sum) }
    }

    #[inline(always)]
    unsafe fn totals(from: *const f32) -> __m256 {
        // SAFETY: the caller vouches for AVX and for eight readable numbers.
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn halves(from: *const u8) -> __m256 {
        // SAFETY: the caller vouches for F16C and for 16 readable bytes.
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(from.cast())) }
    }

    #[inline(always)]
    unsafe fn add_scaled(totals: __m256, sums: __m256i, scales: __m256, factor: f32) -> __m256 {
        // SAFETY: the caller vouches for AVX2 and FMA.
        unsafe {
            let scales = _mm256_mul_ps(scales, _mm256_set1_ps(factor));
            _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), scales, totals)
        }
    }

    #[inline(always)]
    unsafe fn store(totals: __m256, to: *mut f32) {
        // SAFETY: the caller vouches for AVX and for eight writable numbers.
        unsafe { _mm256_storeu_ps(to, totals) }
    }
}

impl<D: Dot> Int8Kernel for X86Int8<D> {
    type OneToken = Self;
    type OneTokenOf4 = Self;
    type ManyTokens = Self;
    type ManyTokensFew = Self;
}

impl<D: Dot> OneToken for X86Int8<D> {
    /// The address of the 32 activations: broadcasts from memory cost nothing extra.
    type Block = *const u8;
    /// Two sums, so that one addition need not wait for the other.
    type Accumulator = [__m256i; 2];
    type Constants = ();

    const DOT_Q8: InnerStep = D::STEP;
    const ADD_HALF: InnerStep = D::STEP;
    const PANELS: usize = 4;

    #[inline(always)]
    unsafe fn constants<const BITS: usize>() {}

    #[inline(always)]
    unsafe fn block(from: *const i8) -> *const u8 {
        from.cast()
    }

    #[inline(always)]
    unsafe fn dot_q8<const P: usize>(
        weights: [*const u8; P],
        block: *const u8,
        _sum: i32,
        (): (),
    ) -> [__m256i; P] {
        // SAFETY: the caller vouches for the instruction set, for 256 bytes at each of the weights
        // and for 32 of the block.
        unsafe {
            let mut all = [_mm256_setzero_si256(); P];
            for p in 0..P {
                // Two sums, so that one addition need not wait for the other.
                let mut sums = [_mm256_setzero_si256(); 2];
                for step in 0..8 {
                    let weights = Self::weights(weights[p].add(32 * step));
                    let tokens = _mm256_sign_epi8(broadcast(block.add(4 * step)), weights);
                    sums[step % 2] = D::unsigned(_mm256_abs_epi8(weights), tokens, sums[step % 2]);
                }
                all[p] = _mm256_add_epi32(sums[0], sums[1]);
            }
            all
        }
    }

    #[inline(always)]
    unsafe fn start(sum: i32) -> [__m256i; 2] {
        // SAFETY: the caller vouches for AVX.
        unsafe { [_mm256_set1_epi32(sum), _mm256_setzero_si256()] }
    }

    #[inline(always)]
    unsafe fn add_half<const BITS: usize, const P: usize>(
        mut all: [[__m256i; 2]; P],
        weights: [*const u8; P],
        block: *const u8,
        half: usize,
        (): (),
    ) -> [[__m256i; 2]; P] {
        for four in 4 * half..4 * half + 4 {
            for (sums, weights) in all.iter_mut().zip(weights) {
                // SAFETY: the caller vouches for the instruction set, for blocks of weights and for
                // 32 bytes of the token's.
                unsafe {
                    let weights = stored::<BITS>(weights, four);
                    sums[four % 2] =
                        D::unsigned(weights, broadcast(block.add(4 * four)), sums[four % 2]);
                }
            }
        }
        all
    }

    #[inline(always)]
    unsafe fn finish(sums: [__m256i; 2]) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_add_epi32(sums[0], sums[1]) }
    }
}

impl<D: Dot> Steps for X86Int8<D> {
    type PartialSums = __m256i;
    type Weights = __m256i;

    const TILE: usize = 8;
    const STEPS: usize = 8;
    const STEP: InnerStep = D::STEP;

    #[inline(always)]
    unsafe fn prepare_token(from: *const i8, to: *mut u8) {
        // SAFETY: the caller vouches for AVX2, for 32 readable and for 32 writable bytes.
        unsafe {
            let x = _mm256_loadu_si256(from.cast());
            _mm256_storeu_si256(to.cast(), _mm256_add_epi8(x, _mm256_set1_epi8(D::BIAS)));
        }
    }

    #[inline(always)]
    unsafe fn prepare<const BITS: usize>(
        from: *const u8,
        four: usize,
        parts: __m256i,
        to: *mut u8,
    ) -> __m256i {
        // SAFETY: the caller vouches for the instruction set, for a block and for 32 writable
        // bytes.
        unsafe {
            let weights = if BITS == 8 {
                Self::weights(from.add(32 * four))
            } else {
                _mm256_sub_epi8(stored::<BITS>(from, four), _mm256_set1_epi8(centre(BITS)))
            };
            _mm256_storeu_si256(to.cast(), weights);
            if D::BIAS == 0 {
                parts
            } else {
                D::dot(weights, _mm256_set1_epi8(D::BIAS), parts)
            }
        }
    }

    #[inline(always)]
    unsafe fn partial_sums(from: *const i32) -> __m256i {
        // SAFETY: the caller vouches for AVX and for eight readable numbers.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_negative(parts: __m256i, to: *mut i32) {
        // SAFETY: the caller vouches for AVX2 and for eight writable numbers.
        unsafe { _mm256_storeu_si256(to.cast(), _mm256_sub_epi32(_mm256_setzero_si256(), parts)) }
    }

    #[inline(always)]
    unsafe fn weights(from: *const u8) -> __m256i {
        // SAFETY: the caller vouches for AVX and for 32 readable bytes.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn step(parts: __m256i, weights: __m256i, token: *const u8) -> __m256i {
        // SAFETY: the caller vouches for the instruction set and for 4 readable bytes.
        unsafe { D::dot(weights, broadcast(token), parts) }
    }

    #[inline(always)]
    unsafe fn whole(parts: __m256i) -> __m256i {
        parts
    }
}
