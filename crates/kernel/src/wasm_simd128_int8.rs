//! The int8 kernel of SIMD128, whose narrowest product is of 16 bits: bytes are widened first.

use super::inner_step::InnerStep;
use super::int8_gemm::{Int8Kernel, MAX_STEPS, OneToken, Rows, STEP_TOKEN, Steps};
use super::packed::centre;
use super::wasm::*;

/// The int8 kernel of SIMD128.
pub(crate) struct Simd128Int8;

/// Numbers of rows 0 to 3 and of rows 4 to 7.
type Pair = (v128, v128);

/// Four numbers in half precision, zero-extended to 32 bits, as `f32`.
#[inline(always)]
fn halves(bits: v128) -> v128 {
    let magnitude = v128_and(bits, i32x4_splat(0x7fff));
    let shifted = i32x4_shl(magnitude, 13);
    // The exponent of a normal number moves by 112; that of infinity and NaN becomes all ones.
    let normal = i32x4_add(shifted, i32x4_splat(112 << 23));
    let endless = v128_and(
        i32x4_gt(magnitude, i32x4_splat(0x7bff)),
        i32x4_splat(0x7f80_0000),
    );
    // Below the smallest normal number: multiples of 2⁻²⁴, made without a tiny f32 on the way.
    let one_more = i32x4_add(shifted, i32x4_splat(113 << 23));
    let small = f32x4_sub(one_more, i32x4_splat(113 << 23));
    let is_small = i32x4_lt(magnitude, i32x4_splat(0x400));
    let sign = i32x4_shl(v128_and(bits, i32x4_splat(0x8000)), 16);
    v128_or(
        v128_bitselect(small, v128_or(normal, endless), is_small),
        sign,
    )
}

/// Constants of the inner loops with one token. V8 makes each constant with five instructions
/// wherever it is used, in the loop too; these are hidden from the compiler and stay in registers.
#[derive(Clone, Copy)]
pub(super) struct Constants {
    /// The lower four bits of each byte.
    pub(super) low: v128,
    /// The bits of each byte where the fifth and sixth bits of a number belong.
    high: v128,
    /// The sign of an `f32` and the bits of half precision beside it.
    half: v128,
    /// 2¹¹², the difference of the exponents.
    factor: v128,
}

impl Constants {
    /// The constants for numbers of `BITS` bits.
    #[inline(always)]
    pub(super) fn new<const BITS: usize>() -> Self {
        Self {
            low: u8x16_splat(15),
            high: u8x16_splat(if BITS == 5 { 16 } else { 48 }),
            half: u32x4_splat(0x8fff_e000),
            factor: f32x4_splat(f32::from_bits((127 + 112) << 23)),
        }
    }

    /// The same, hidden from the compiler.
    #[inline(always)]
    pub(super) fn hidden<const BITS: usize>() -> Self {
        std::hint::black_box(Self::new::<BITS>())
    }

    /// Eight numbers in half precision, each 0 or normal, as `f32`.
    ///
    /// # Safety
    /// 16 readable bytes.
    #[inline(always)]
    pub(super) unsafe fn plain_halves(self, from: *const u8) -> Pair {
        // SAFETY: as the caller vouches.
        let all = unsafe { v128_load(from.cast()) };
        // The sign fills the upper half of a lane; of the five bits of it that remain, one counts.
        let widen = |bits| f32x4_mul(v128_and(i32x4_shl(bits, 13), self.half), self.factor);
        (
            widen(i32x4_extend_low_i16x8(all)),
            widen(i32x4_extend_high_i16x8(all)),
        )
    }
}

/// Sums of neighbours: [a0 + a1, a2 + a3, b0 + b1, b2 + b3].
#[inline(always)]
fn join(a: v128, b: v128) -> v128 {
    i32x4_add(
        i32x4_shuffle::<0, 2, 4, 6>(a, b),
        i32x4_shuffle::<1, 3, 5, 7>(a, b),
    )
}

/// 16 bytes, four columns of four rows, as two steps of two columns in 16 bits.
///
/// # Safety
/// 16 readable bytes at the first, 16 writable ones at each of the other two pointers.
#[inline(always)]
unsafe fn widen(bytes: v128, to: *mut u8, next: *mut u8) {
    let parted = i16x8_shuffle::<0, 2, 4, 6, 1, 3, 5, 7>(bytes, bytes);
    // SAFETY: as the caller vouches; wasm asks for no alignment.
    unsafe {
        v128_store(to.cast(), i16x8_extend_low_i8x16(parted));
        v128_store(next.cast(), i16x8_extend_high_i8x16(parted));
    }
}

/// Columns `four` · 4 to `four` · 4 + 3 of rows 0 to 3, and of rows 4 to 7: numbers of 4, 5 or 6
/// bits as they are stored, from 0 on.
///
/// # Safety
/// A block at `from`.
#[inline(always)]
pub(super) unsafe fn stored<const BITS: usize>(
    from: *const u8,
    four: usize,
    constants: Constants,
) -> Pair {
    // SAFETY: as the caller vouches.
    let chunk = unsafe { v128_load(from.add(16 * four).cast()) };
    // V8 shifts bytes on x86 by these two instructions, and makes the constant each time.
    let upper = v128_and(u16x8_shr(chunk, 4), constants.low);
    let low = (v128_and(chunk, constants.low), upper);
    if BITS == 4 {
        return low;
    }
    let at = four * (BITS - 4);
    // SAFETY: as the caller vouches; the upper bits follow 128 bytes of low ones.
    let high = unsafe { v128_load(from.add(128 + at / 4 * 16).cast()) };
    // Bits of other numbers, and of other bytes, are masked.
    let (lower, upper) = (
        i16x8_shl(high, 4 - (at % 4) as u32),
        u16x8_shr(high, (at % 4) as u32),
    );
    (
        v128_or(low.0, v128_and(lower, constants.high)),
        v128_or(low.1, v128_and(upper, constants.high)),
    )
}

/// Columns `four` · 4 to `four` · 4 + 3 as signed bytes.
///
/// # Safety
/// As [`stored`], or a block of bytes.
#[inline(always)]
pub(super) unsafe fn signed<const BITS: usize>(from: *const u8, four: usize) -> Pair {
    // SAFETY: as the caller vouches.
    unsafe {
        if BITS == 8 {
            let from = from.add(32 * four);
            return (v128_load(from.cast()), v128_load(from.add(16).cast()));
        }
        let (lower, upper) = stored::<BITS>(from, four, Constants::new::<BITS>());
        let centre = i8x16_splat(centre(BITS));
        (i8x16_sub(lower, centre), i8x16_sub(upper, centre))
    }
}

impl Rows for Simd128Int8 {
    type Sums = Pair;
    type Totals = Pair;

    #[inline(always)]
    unsafe fn zero() -> Pair {
        (f32x4_splat(0.0), f32x4_splat(0.0))
    }

    #[inline(always)]
    unsafe fn same(sum: i32) -> Pair {
        (i32x4_splat(sum), i32x4_splat(sum))
    }

    #[inline(always)]
    unsafe fn totals(from: *const f32) -> Pair {
        // SAFETY: the caller vouches for eight readable numbers.
        unsafe { (v128_load(from.cast()), v128_load(from.add(4).cast())) }
    }

    #[inline(always)]
    unsafe fn halves(from: *const u8) -> Pair {
        // SAFETY: the caller vouches for 16 readable bytes.
        let all = unsafe { v128_load(from.cast()) };
        (
            halves(u32x4_extend_low_u16x8(all)),
            halves(u32x4_extend_high_u16x8(all)),
        )
    }

    #[inline(always)]
    unsafe fn add_scaled(totals: Pair, sums: Pair, scales: Pair, factor: f32) -> Pair {
        let factor = f32x4_splat(factor);
        let add = |total, sum, scale| {
            let scaled = f32x4_mul(f32x4_convert_i32x4(sum), f32x4_mul(scale, factor));
            f32x4_add(total, scaled)
        };
        (
            add(totals.0, sums.0, scales.0),
            add(totals.1, sums.1, scales.1),
        )
    }

    #[inline(always)]
    unsafe fn store(totals: Pair, to: *mut f32) {
        // SAFETY: the caller vouches for eight writable numbers.
        unsafe {
            v128_store(to.cast(), totals.0);
            v128_store(to.add(4).cast(), totals.1);
        }
    }
}

impl Int8Kernel for Simd128Int8 {
    type OneToken = Self;
    type OneTokenOf4 = Self;
    type ManyTokens = Self;
    type ManyTokensFew = Self;
}

impl OneToken for Simd128Int8 {
    /// 32 activations in 16 bits, eight in each.
    type Block = [v128; 4];
    /// Two columns of two rows in each lane pair: rows 0 1, 2 3, 4 5, 6 7.
    type Accumulator = [v128; 4];
    type Constants = Constants;

    const DOT_Q8: InnerStep = InnerStep::Wide;
    const ADD_HALF: InnerStep = InnerStep::Wide;
    const PANELS_OF_8_BITS: usize = 2;

    #[inline(always)]
    unsafe fn constants<const BITS: usize>() -> Constants {
        Constants::hidden::<BITS>()
    }

    #[inline(always)]
    unsafe fn plain_halves(from: *const u8, constants: Constants) -> Pair {
        // SAFETY: the caller vouches for 16 readable bytes.
        unsafe { constants.plain_halves(from) }
    }

    #[inline(always)]
    unsafe fn block(from: *const i8) -> [v128; 4] {
        // SAFETY: the caller vouches for 32 readable bytes.
        unsafe {
            [
                i16x8_load_extend_i8x8(from),
                i16x8_load_extend_i8x8(from.add(8)),
                i16x8_load_extend_i8x8(from.add(16)),
                i16x8_load_extend_i8x8(from.add(24)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn dot_q8<const P: usize>(
        weights: [*const u8; P],
        block: [v128; 4],
        _sum: i32,
        _constants: Constants,
    ) -> [Pair; P] {
        // Two columns of two rows in each lane pair: rows 0 1, 2 3, 4 5, 6 7.
        let mut sums = [[i32x4_splat(0); 4]; P];
        for four in 0..8 {
            let token = four_columns(block, four);
            for (sums, weights) in sums.iter_mut().zip(weights) {
                for (quad, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: four < 8 and quad < 4 number the 32 halves of chunks at `weights`.
                    // Two loads are quicker than one and its two halves.
                    let wide =
                        unsafe { i16x8_load_extend_i8x8(weights.add(32 * four + 8 * quad).cast()) };
                    *sum = i32x4_add(*sum, i32x4_dot_i16x8(wide, token));
                }
            }
        }
        sums.map(joined)
    }

    #[inline(always)]
    unsafe fn start(sum: i32) -> [v128; 4] {
        // The sums of neighbours are joined at the end.
        [i32x4(sum, 0, sum, 0); 4]
    }

    #[inline(always)]
    unsafe fn add_half<const BITS: usize, const P: usize>(
        mut all: [[v128; 4]; P],
        weights: [*const u8; P],
        block: [v128; 4],
        half: usize,
        constants: Constants,
    ) -> [[v128; 4]; P] {
        for four in 4 * half..4 * half + 4 {
            let token = four_columns(block, four);
            for (sums, weights) in all.iter_mut().zip(weights) {
                // SAFETY: the caller vouches for a block; four < 8.
                let (lower, upper) = unsafe { stored::<BITS>(weights, four, constants) };
                for (quad, bytes) in [lower, upper].into_iter().enumerate() {
                    let (low, high) = (
                        u16x8_extend_low_u8x16(bytes),
                        u16x8_extend_high_u8x16(bytes),
                    );
                    sums[2 * quad] = i32x4_add(sums[2 * quad], i32x4_dot_i16x8(low, token));
                    sums[2 * quad + 1] =
                        i32x4_add(sums[2 * quad + 1], i32x4_dot_i16x8(high, token));
                }
            }
        }
        all
    }

    #[inline(always)]
    unsafe fn finish(sums: [v128; 4]) -> Pair {
        joined(sums)
    }
}

/// Columns `four` · 4 to `four` · 4 + 3 of a block, twice.
#[inline(always)]
fn four_columns(block: [v128; 4], four: usize) -> v128 {
    let eight = block[four / 2];
    if four.is_multiple_of(2) {
        i64x2_shuffle::<0, 0>(eight, eight)
    } else {
        i64x2_shuffle::<1, 1>(eight, eight)
    }
}

/// The sums of eight rows from those of rows 0 1, 2 3, 4 5 and 6 7.
#[inline(always)]
fn joined(sums: [v128; 4]) -> Pair {
    (join(sums[0], sums[1]), join(sums[2], sums[3]))
}

impl Steps for Simd128Int8 {
    type PartialSums = Pair;
    type Weights = Pair;

    const TILE: usize = 4;
    const STEPS: usize = 16;
    const STEP: InnerStep = InnerStep::Wide;

    #[inline(always)]
    unsafe fn prepare_token(from: *const i8, to: *mut u8) {
        for eight in 0..4 {
            // SAFETY: the caller vouches for 32 readable and 64 writable bytes.
            unsafe {
                let wide = i16x8_load_extend_i8x8(from.add(8 * eight));
                v128_store(to.add(16 * eight).cast(), wide);
            }
        }
    }

    /// Transposes four steps of four tokens at a time.
    #[inline(always)]
    unsafe fn interleave<const N: usize>(from: *const u8, steps: usize, to: *mut u8) {
        // SAFETY: the caller vouches for the tokens and for as many bytes at `to`.
        unsafe {
            for step in (0..steps).step_by(4) {
                let load = |n: usize| {
                    v128_load(from.add((n * MAX_STEPS + step) * STEP_TOKEN).cast::<v128>())
                };
                let to = to.add(step * N * STEP_TOKEN).cast::<v128>();
                if N == 1 {
                    v128_store(to, load(0));
                    continue;
                }
                debug_assert!(N == Self::TILE, "tiles have one token or as many as fit");
                let (a, b, c, d) = (load(0), load(1), load(2), load(3));
                let (ab, cd) = (
                    i32x4_shuffle::<0, 4, 1, 5>(a, b),
                    i32x4_shuffle::<0, 4, 1, 5>(c, d),
                );
                v128_store(to, i64x2_shuffle::<0, 2>(ab, cd));
                v128_store(to.add(1), i64x2_shuffle::<1, 3>(ab, cd));
                let (ab, cd) = (
                    i32x4_shuffle::<2, 6, 3, 7>(a, b),
                    i32x4_shuffle::<2, 6, 3, 7>(c, d),
                );
                v128_store(to.add(2), i64x2_shuffle::<0, 2>(ab, cd));
                v128_store(to.add(3), i64x2_shuffle::<1, 3>(ab, cd));
            }
        }
    }

    #[inline(always)]
    unsafe fn prepare<const BITS: usize>(
        from: *const u8,
        four: usize,
        parts: Pair,
        to: *mut u8,
    ) -> Pair {
        // SAFETY: the caller vouches for a block and for 64 writable bytes.
        unsafe {
            let (lower, upper) = signed::<BITS>(from, four);
            widen(lower, to, to.add(32));
            widen(upper, to.add(16), to.add(48));
        }
        parts
    }

    #[inline(always)]
    unsafe fn partial_sums(from: *const i32) -> Pair {
        // SAFETY: the caller vouches for 32 readable bytes.
        unsafe { (v128_load(from.cast()), v128_load(from.add(4).cast())) }
    }

    #[inline(always)]
    unsafe fn store_negative(parts: Pair, to: *mut i32) {
        // SAFETY: the caller vouches for 32 writable bytes.
        unsafe {
            v128_store(to.cast(), i32x4_neg(parts.0));
            v128_store(to.add(4).cast(), i32x4_neg(parts.1));
        }
    }

    #[inline(always)]
    unsafe fn weights(from: *const u8) -> Pair {
        // SAFETY: the caller vouches for 32 readable bytes.
        unsafe { (v128_load(from.cast()), v128_load(from.add(16).cast())) }
    }

    #[inline(always)]
    unsafe fn step(parts: Pair, weights: Pair, token: *const u8) -> Pair {
        // SAFETY: the caller vouches for 4 readable bytes.
        let token = unsafe { v128_load32_splat(token.cast()) };
        (
            i32x4_add(parts.0, i32x4_dot_i16x8(weights.0, token)),
            i32x4_add(parts.1, i32x4_dot_i16x8(weights.1, token)),
        )
    }

    #[inline(always)]
    unsafe fn whole(parts: Pair) -> Pair {
        parts
    }
}
