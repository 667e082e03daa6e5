//! The kernels of WebAssembly with SIMD128: 4 lanes, chosen when the module is built.

use super::vector::Vector;
use super::wasm::*;
use super::wasm_simd128_int8::Simd128Int8;

implementation!("simd128", Simd128, Simd128Int8, "simd128");

/// A vector of four lanes.
#[derive(Clone, Copy)]
pub(crate) struct Simd128(pub(crate) v128);

/// The first four numbers of 32 bits with these lower and upper halves.
#[inline(always)]
fn lower_four(lower: v128, upper: v128) -> v128 {
    i16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(lower, upper)
}

/// The last four numbers of 32 bits with these lower and upper halves.
#[inline(always)]
fn upper_four(lower: v128, upper: v128) -> v128 {
    i16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(lower, upper)
}

/// Two vectors as P of them; P is 2.
#[inline(always)]
fn pair<const P: usize>(first: v128, second: v128) -> [Simd128; P] {
    let mut both = [Simd128(first); P];
    for vector in both.iter_mut().skip(1) {
        *vector = Simd128(second);
    }
    both
}

impl Vector for Simd128 {
    const LANES: usize = 4;
    const F16_FACTOR: f32 = super::half_precision::BIAS;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        Self(f32x4_splat(x))
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for 4 readable numbers; wasm asks for no alignment.
        unsafe { Self(v128_load(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for 4 writable numbers; wasm asks for no alignment.
        unsafe { v128_store(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn widen_f16<const P: usize>(from: *const u16, factor: Self) -> [Self; P] {
        // SAFETY: the caller vouches for 8 readable numbers; wasm asks for no alignment.
        let x = unsafe { v128_load(from.cast()) };
        // The two halves of each `f32`: the sign stays at its place, the exponent is 112 too small.
        let upper = v128_and(i16x8_shr(x, 3), u16x8_splat(0x8fff));
        let lower = i16x8_shl(x, 13);
        pair(
            f32x4_mul(lower_four(lower, upper), factor.0),
            f32x4_mul(upper_four(lower, upper), factor.0),
        )
    }

    #[inline(always)]
    unsafe fn widen_bf16<const P: usize>(from: *const u16) -> [Self; P] {
        // SAFETY: the caller vouches for 8 readable numbers; wasm asks for no alignment.
        let x = unsafe { v128_load(from.cast()) };
        let zero = i16x8_splat(0);
        pair(lower_four(zero, x), upper_four(zero, x))
    }

    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        Self(f32x4_add(self.0, b.0))
    }

    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        Self(f32x4_sub(self.0, b.0))
    }

    #[inline(always)]
    unsafe fn mul(self, b: Self) -> Self {
        Self(f32x4_mul(self.0, b.0))
    }

    #[inline(always)]
    unsafe fn div(self, b: Self) -> Self {
        Self(f32x4_div(self.0, b.0))
    }

    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        Self(f32x4_add(f32x4_mul(self.0, b.0), c.0))
    }

    #[inline(always)]
    unsafe fn max(self, b: Self) -> Self {
        Self(f32x4_max(self.0, b.0))
    }

    #[inline(always)]
    unsafe fn select_lt(self, limit: Self, then: Self, otherwise: Self) -> Self {
        Self(v128_bitselect(
            then.0,
            otherwise.0,
            f32x4_lt(self.0, limit.0),
        ))
    }

    #[inline(always)]
    unsafe fn round(self) -> Self {
        Self(f32x4_nearest(self.0))
    }

    #[inline(always)]
    unsafe fn exp2_whole(self) -> Self {
        // An f32 with an empty mantissa is 2 to the power of its exponent field minus 127.
        Self(i32x4_shl(
            i32x4_add(i32x4_trunc_sat_f32x4(self.0), i32x4_splat(127)),
            23,
        ))
    }

    #[inline(always)]
    unsafe fn block_largest(from: *const f32) -> f32 {
        // Magnitudes are ordered as their bits, NaN above all.
        let magnitude = i32x4_splat(0x7fff_ffff);
        let mut largest = i32x4_splat(0);
        for at in 0..8 {
            // SAFETY: the caller vouches for 32 readable numbers; wasm asks for no alignment.
            let value = unsafe { v128_load(from.add(4 * at).cast()) };
            largest = i32x4_max(largest, v128_and(value, magnitude));
        }
        let largest = i32x4_max(largest, i32x4_shuffle::<2, 3, 0, 1>(largest, largest));
        let largest = i32x4_max(largest, i32x4_shuffle::<1, 0, 3, 2>(largest, largest));
        f32::from_bits(i32x4_extract_lane::<0>(largest).cast_unsigned())
    }

    #[inline(always)]
    unsafe fn block_round(from: *const f32, factor: f32, to: *mut i8) -> i32 {
        // From 2²³ to 2²⁴ neighbouring f32 are 1 apart: adding 1.5 · 2²³ rounds, and the number is
        // in the lowest bits.
        let (shift, bits) = (f32x4_splat(12_582_912.0), i32x4_splat(0x4b40_0000));
        let factor = f32x4_splat(factor);
        let whole = |at: usize| {
            // SAFETY: the caller vouches for 32 readable numbers; wasm asks for no alignment.
            let value = unsafe { v128_load(from.add(4 * at).cast()) };
            i32x4_sub(f32x4_add(f32x4_mul(value, factor), shift), bits)
        };
        let mut sums = i16x8_splat(0);
        for half in 0..2 {
            let first = i16x8_narrow_i32x4(whole(4 * half), whole(4 * half + 1));
            let second = i16x8_narrow_i32x4(whole(4 * half + 2), whole(4 * half + 3));
            sums = i16x8_add(sums, i16x8_add(first, second));
            // SAFETY: the caller vouches for 32 writable bytes; wasm asks for no alignment.
            unsafe { v128_store(to.add(16 * half).cast(), i8x16_narrow_i16x8(first, second)) }
        }
        let sums = i32x4_extadd_pairwise_i16x8(sums);
        let sums = i32x4_add(sums, i32x4_shuffle::<2, 3, 0, 1>(sums, sums));
        i32x4_extract_lane::<0>(sums) + i32x4_extract_lane::<1>(sums)
    }

    #[inline(always)]
    unsafe fn reduce_add(self) -> f32 {
        let two = f32x4_add(self.0, i32x4_shuffle::<2, 3, 0, 1>(self.0, self.0));
        f32x4_extract_lane::<0>(two) + f32x4_extract_lane::<1>(two)
    }
}
