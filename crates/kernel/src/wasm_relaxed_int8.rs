//! The int8 kernels of relaxed SIMD, with its dot product of bytes.
//!
//! `i32x4_relaxed_dot_i8x16_i7x16_add(a, b, c)` sums a · b in fours. The standard promises one
//! result for b from 0 to 127. Beyond that b counts as signed or as unsigned, and instructions that
//! sum two products in 16 bits saturate or wrap. Which of the two signs it is, and whether a
//! multiply-add is fused, are "global parameters", "constant during the execution of any given
//! program" (core specification 3.0, "Relaxed Operations"). So [`find`] tests it once, with
//! extremes that would saturate or wrap, and products with many tokens use the form that is exact
//! on this machine with all eight bits of an activation q:
//!
//! | [`Choice`] | b | where |
//! |---|---|---|
//! | `Signed` | q | processors that multiply signed bytes: Arm, x86 with AVX-VNNI-INT8 |
//! | `Unsigned` | q + 127, from 0 to 254; each sum starts from −127 Σ w | x86 with AVX-VNNI |
//! | `Neither` | none: numbers of 16 bits, as SIMD128 | other x86, where two dots of 7 bits were slower than that |
//!
//! That test asks with weights of 8 bits. Those of 4 to 6 bits are so small that no sum of two
//! products saturates, and the sums of a block fit in 16 bits, or those of a group of 16 with 6
//! bits. So where `Neither` is found and [`has_pairs`] holds, they are multiplied by
//! `i16x8_relaxed_dot_i8x16_i7x16` and q + 127 ([`RelaxedPairs`]): two instructions for 16 products
//! in place of four.
//!
//! A product with one token and Q8_0 passes the weights as b, `Signed` as they are and `Unsigned` as
//! w + 128, so it needs one dot product too. Where `Neither` is found it stays within the promise:
//! positive and negative activations are multiplied apart, in pairs. All forms give the same
//! integers.

use super::inner_step::InnerStep;
use super::int8_gemm::{Int8Kernel, OneToken, Rows, Steps};
use super::wasm::*;
use super::wasm_simd128_int8::{Constants, Simd128Int8, signed, stored};

/// Numbers of rows 0 to 3 and of rows 4 to 7.
type Pair = (v128, v128);

/// This machine's reading of a second operand of more than 7 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// A signed byte.
    Signed,
    /// An unsigned byte.
    Unsigned,
    /// Neither reading is exact.
    Neither,
}

/// Finds this machine's reading, by all pairs of extreme weights with the activations that could go
/// wrong.
pub(crate) fn find() -> Choice {
    let exact = |tokens: [i8; 6], unsigned: bool| {
        let weights = [-128_i8, -127, -1, 0, 1, 127];
        weights.iter().all(|&a| {
            weights.iter().all(|&b| {
                tokens.iter().all(|&x| {
                    tokens.iter().all(|&y| {
                        // The compiler must not know the arguments: it would compute with a choice
                        // of its own.
                        let (w, t) = std::hint::black_box((
                            i8x16(a, b, a, b, a, a, b, b, b, a, a, b, a, a, a, a),
                            i8x16(x, y, x, y, x, x, y, y, y, x, x, y, x, x, x, x),
                        ));
                        let [a, b, x, y] = [a, b, x, y].map(i32::from);
                        let wide = |x: i32| if unsigned { x & 255 } else { x };
                        let (p, q) = (a * wide(x), b * wide(y));
                        let found = i32x4_relaxed_dot_i8x16_i7x16_add(w, t, i32x4_splat(5));
                        [2 * p + 2 * q + 5, 4 * p + 5]
                            == [
                                i32x4_extract_lane::<0>(found),
                                i32x4_extract_lane::<3>(found),
                            ]
                            && 2 * p + 2 * q + 5 == i32x4_extract_lane::<1>(found)
                            && 2 * p + 2 * q + 5 == i32x4_extract_lane::<2>(found)
                    })
                })
            })
        })
    };
    // 255 as a byte is −1, 254 is −2, 128 is −128.
    if exact([-128, -127, -64, -1, 0, 127], false) {
        Choice::Signed
    } else if exact([-1, -2, -128, -127, 0, 127], true) {
        Choice::Unsigned
    } else {
        Choice::Neither
    }
}

/// True where pairs of products of weights of 4 to 6 bits with unsigned activations are exact in 16
/// bits: on x86, whose `pmaddubsw` saturates with none of them.
pub(crate) fn has_pairs() -> bool {
    (-32..32_i8).all(|weight| {
        // 254 and 128 as bytes, and what is read alike with a sign and without.
        [-2_i8, -128, 127, 0].iter().all(|&token| {
            let (w, t) = std::hint::black_box((i8x16_splat(weight), i8x16_splat(token)));
            let expected = 2 * i16::from(weight) * i16::from(token.cast_unsigned());
            let found = i16x8_relaxed_dot_i8x16_i7x16(w, t);
            i16x8_all_true(i16x8_eq(found, i16x8_splat(expected)))
        })
    })
}

/// The kernel that multiplies many tokens by one dot product for 16 numbers; `BIAS` was added to
/// their activations. One token is multiplied by the same instruction, its weights as the operand
/// that may be unsigned.
pub(crate) struct RelaxedInt8<const BIAS: i8>;

/// The kernel that multiplies many tokens by numbers of 16 bits.
pub(crate) struct RelaxedWide;

/// As [`RelaxedWide`], with weights of fewer than 8 bits multiplied by [`RelaxedPairs`].
pub(crate) struct RelaxedWideAndPairs;

/// The steps for weights of 4 to 6 bits that sum in 16 bits: a lane gets two products a step. The
/// 16 of a block fit with 5 bits, 16 · 16 · 127 = 32,512, and the 8 of a group with 6 bits, whose
/// weights are twice as large. The numbers 127 that were added to activations may overflow on the
/// way and are subtracted again, modulo 2¹⁶. Sums are widened once a group.
pub(crate) struct RelaxedPairs;

/// One token, where neither reading of a second operand of 8 bits is exact: within the standard's
/// promise, by sums of pairs in 16 bits.
pub(crate) struct RelaxedTwice;

/// One token and weights of 4 bits, where the second operand is unsigned. A byte has the numbers of
/// two rows: with b = u + 16 v, Σ v x is Σ (16 v) x / 16, and Σ u x is Σ b x − Σ (16 v) x. So one
/// `and` parts 32 weights, and nothing is shifted in the loop.
pub(crate) struct RelaxedNibbles;

/// Added to the activations of many tokens that are unsigned.
const BIAS: i8 = 127;

/// Adds products of 16 numbers with 16 others in pairs, in 16 bits.
#[inline(always)]
fn add_pairs(a: v128, b: v128, parts: v128) -> v128 {
    i16x8_add(parts, i16x8_relaxed_dot_i8x16_i7x16(a, b))
}

/// Forwards methods to another kernel.
macro_rules! same {
    ($other:ty: $($method:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(
            #[inline(always)]
            unsafe fn $method($($argument: $type),*) -> $result {
                // SAFETY: the caller vouches for the same.
                unsafe { <$other>::$method($($argument),*) }
            }
        )*
    };
}

impl<const BIAS: i8> Rows for RelaxedInt8<BIAS> {
    type Sums = Pair;
    type Totals = Pair;

    same! { Simd128Int8:
        zero() -> Pair;
        same(sum: i32) -> Pair;
        totals(from: *const f32) -> Pair;
        halves(from: *const u8) -> Pair;
        store(totals: Pair, to: *mut f32) -> ();
    }

    #[inline(always)]
    unsafe fn add_scaled(totals: Pair, sums: Pair, scales: Pair, factor: f32) -> Pair {
        let factor = f32x4_splat(factor);
        let add = |total, sum, scale| {
            f32x4_relaxed_madd(f32x4_convert_i32x4(sum), f32x4_mul(scale, factor), total)
        };
        (
            add(totals.0, sums.0, scales.0),
            add(totals.1, sums.1, scales.1),
        )
    }
}

impl Int8Kernel for RelaxedInt8<0> {
    type OneToken = Self;
    type OneTokenOf4 = Self;
    type ManyTokens = Self;
    type ManyTokensFew = Self;
}

impl Int8Kernel for RelaxedInt8<BIAS> {
    type OneToken = Self;
    type OneTokenOf4 = RelaxedNibbles;
    type ManyTokens = Self;
    type ManyTokensFew = Self;
}

impl Int8Kernel for RelaxedWide {
    type OneToken = RelaxedTwice;
    type OneTokenOf4 = RelaxedPairs;
    type ManyTokens = Self;
    type ManyTokensFew = Self;
}

impl Int8Kernel for RelaxedWideAndPairs {
    type OneToken = RelaxedTwice;
    type OneTokenOf4 = RelaxedPairs;
    type ManyTokens = RelaxedWide;
    type ManyTokensFew = RelaxedPairs;
    const SAME_STEPS: bool = false;
}

/// The methods that all kernels of one token share.
macro_rules! one_token {
    () => {
        type Constants = RelaxedConstants;
        const PANELS: usize = 2;
        const PANELS_OF_8_BITS: usize = 4;

        #[inline(always)]
        unsafe fn constants<const BITS: usize>() -> RelaxedConstants {
            RelaxedConstants::hidden::<BITS>()
        }

        #[inline(always)]
        unsafe fn plain_halves(from: *const u8, constants: RelaxedConstants) -> Pair {
            // SAFETY: the caller vouches for 16 readable bytes.
            unsafe { constants.shared.plain_halves(from) }
        }

        #[inline(always)]
        unsafe fn block(from: *const i8) -> *const i8 {
            from
        }
    };
}

/// The constants of [`Constants`], and those of the products of bytes.
#[derive(Clone, Copy)]
pub(crate) struct RelaxedConstants {
    shared: Constants,
    /// The upper bit of each byte.
    top: v128,
    /// The upper four bits of each byte.
    high: v128,
    /// The number 1 in 16 bits.
    ones: v128,
}

impl RelaxedConstants {
    /// The constants for numbers of `BITS` bits, hidden from the compiler.
    #[inline(always)]
    fn hidden<const BITS: usize>() -> Self {
        std::hint::black_box(Self {
            shared: Constants::new::<BITS>(),
            top: u8x16_splat(0x80),
            high: u8x16_splat(0xf0),
            ones: i16x8_splat(1),
        })
    }
}

/// Four activations, number `four` of the eight fours of a block, in all lanes of 32 bits: a load
/// that costs no other instruction.
///
/// # Safety
/// 4 · (`four` + 1) readable bytes.
#[inline(always)]
unsafe fn four_columns(block: *const i8, four: usize) -> v128 {
    // SAFETY: as the caller vouches.
    unsafe { v128_load32_splat(block.add(4 * four).cast()) }
}

/// Adds the products of weights of 4 to 6 bits, the operand of 7 bits.
///
/// # Safety
/// As [`OneToken::add_half`].
#[inline(always)]
unsafe fn add_few<const BITS: usize, const P: usize>(
    mut all: [Pair; P],
    weights: [*const u8; P],
    block: *const i8,
    half: usize,
    constants: RelaxedConstants,
) -> [Pair; P] {
    for four in 4 * half..4 * half + 4 {
        // SAFETY: the caller vouches for 32 activations and for blocks; half < 2.
        unsafe {
            let token = four_columns(block, four);
            for (sums, weights) in all.iter_mut().zip(weights) {
                let (lower, upper) = stored::<BITS>(weights, four, constants.shared);
                sums.0 = i32x4_relaxed_dot_i8x16_i7x16_add(token, lower, sums.0);
                sums.1 = i32x4_relaxed_dot_i8x16_i7x16_add(token, upper, sums.1);
            }
        }
    }
    all
}

impl<const BIAS: i8> OneToken for RelaxedInt8<BIAS> {
    /// The address of the 32 activations.
    type Block = *const i8;
    type Accumulator = Pair;

    const DOT_Q8: InnerStep = match BIAS {
        0 => InnerStep::RelaxedSigned,
        _ => InnerStep::RelaxedUnsignedWeights,
    };
    const ADD_HALF: InnerStep = InnerStep::RelaxedWeights;

    one_token!();

    #[inline(always)]
    unsafe fn dot_q8<const P: usize>(
        weights: [*const u8; P],
        block: *const i8,
        sum: i32,
        constants: RelaxedConstants,
    ) -> [Pair; P] {
        // Where an operand is unsigned it is w + 128, which inverts the upper bit of a byte:
        // Σ w x = Σ (w + 128) x − 128 Σ x.
        let start = i32x4_splat(if BIAS == 0 { 0 } else { -128 * sum });
        let mut all = [(start, start); P];
        for four in 0..8 {
            // SAFETY: the caller vouches for 32 activations and for blocks of 256 bytes.
            unsafe {
                let token = four_columns(block, four);
                for (sums, weights) in all.iter_mut().zip(weights) {
                    let (mut low, mut high) = Self::weights(weights.add(32 * four));
                    if BIAS != 0 {
                        low = v128_xor(low, constants.top);
                        high = v128_xor(high, constants.top);
                    }
                    sums.0 = i32x4_relaxed_dot_i8x16_i7x16_add(token, low, sums.0);
                    sums.1 = i32x4_relaxed_dot_i8x16_i7x16_add(token, high, sums.1);
                }
            }
        }
        all
    }

    #[inline(always)]
    unsafe fn start(sum: i32) -> Pair {
        (i32x4_splat(sum), i32x4_splat(sum))
    }

    #[inline(always)]
    unsafe fn add_half<const BITS: usize, const P: usize>(
        all: [Pair; P],
        weights: [*const u8; P],
        block: *const i8,
        half: usize,
        constants: RelaxedConstants,
    ) -> [Pair; P] {
        // SAFETY: the caller vouches for the same.
        unsafe { add_few::<BITS, P>(all, weights, block, half, constants) }
    }

    #[inline(always)]
    unsafe fn finish(sums: Pair) -> Pair {
        sums
    }
}

impl OneToken for RelaxedNibbles {
    type Block = *const i8;
    /// The sums with whole bytes, and with their upper four bits.
    type Accumulator = Pair;

    const DOT_Q8: InnerStep = RelaxedInt8::<BIAS>::DOT_Q8;
    const ADD_HALF: InnerStep = InnerStep::RelaxedNibbles;

    one_token!();

    #[inline(always)]
    unsafe fn dot_q8<const P: usize>(
        weights: [*const u8; P],
        block: *const i8,
        sum: i32,
        constants: RelaxedConstants,
    ) -> [Pair; P] {
        // SAFETY: the caller vouches for the same.
        unsafe { RelaxedInt8::<BIAS>::dot_q8(weights, block, sum, constants) }
    }

    #[inline(always)]
    unsafe fn start(sum: i32) -> Pair {
        (i32x4_splat(17 * sum), i32x4_splat(16 * sum))
    }

    #[inline(always)]
    unsafe fn add_half<const BITS: usize, const P: usize>(
        mut all: [Pair; P],
        weights: [*const u8; P],
        block: *const i8,
        half: usize,
        constants: RelaxedConstants,
    ) -> [Pair; P] {
        const { assert!(BITS == 4) };
        for four in 4 * half..4 * half + 4 {
            // SAFETY: the caller vouches for 32 activations and for blocks; half < 2.
            unsafe {
                let token = four_columns(block, four);
                for (sums, weights) in all.iter_mut().zip(weights) {
                    let bytes = v128_load(weights.add(16 * four).cast());
                    let upper = v128_and(bytes, constants.high);
                    sums.0 = i32x4_relaxed_dot_i8x16_i7x16_add(token, bytes, sums.0);
                    sums.1 = i32x4_relaxed_dot_i8x16_i7x16_add(token, upper, sums.1);
                }
            }
        }
        all
    }

    #[inline(always)]
    unsafe fn finish((bytes, upper): Pair) -> Pair {
        (i32x4_sub(bytes, upper), i32x4_shr(upper, 4))
    }
}

impl OneToken for RelaxedTwice {
    type Block = *const i8;
    type Accumulator = Pair;

    const DOT_Q8: InnerStep = InnerStep::RelaxedTwice;
    const ADD_HALF: InnerStep = InnerStep::RelaxedPairs;
    const BLOCK_BYTES: usize = 64;

    one_token!();

    /// The positive activations, then the magnitudes of the negative ones.
    #[inline(always)]
    unsafe fn prepare_block(from: *const i8, to: *mut i8) {
        let zero = i8x16_splat(0);
        for half in 0..2 {
            // SAFETY: the caller vouches for 32 readable and 64 writable bytes.
            unsafe {
                let x = v128_load(from.add(16 * half).cast());
                let to = to.add(16 * half);
                v128_store(to.cast(), i8x16_max(x, zero));
                v128_store(to.add(32).cast(), i8x16_max(i8x16_neg(x), zero));
            }
        }
    }

    /// q = max(q, 0) − max(−q, 0), both of 7 bits. A difference of two sums of pairs fits in 16
    /// bits, so it may be taken modulo 2¹⁶.
    #[inline(always)]
    unsafe fn dot_q8<const P: usize>(
        weights: [*const u8; P],
        block: *const i8,
        _sum: i32,
        constants: RelaxedConstants,
    ) -> [Pair; P] {
        let zero = i32x4_splat(0);
        let mut all = [(zero, zero); P];
        for four in 0..8 {
            // SAFETY: the caller vouches for 64 bytes of the token and for blocks of 256 bytes.
            unsafe {
                let plus = four_columns(block, four);
                let minus = four_columns(block, 8 + four);
                let pairs = |weights| {
                    let pairs = i16x8_sub(
                        i16x8_relaxed_dot_i8x16_i7x16(weights, plus),
                        i16x8_relaxed_dot_i8x16_i7x16(weights, minus),
                    );
                    i32x4_dot_i16x8(pairs, constants.ones)
                };
                for (sums, weights) in all.iter_mut().zip(weights) {
                    let weights = weights.add(32 * four);
                    sums.0 = i32x4_add(sums.0, pairs(v128_load(weights.cast())));
                    sums.1 = i32x4_add(sums.1, pairs(v128_load(weights.add(16).cast())));
                }
            }
        }
        all
    }

    #[inline(always)]
    unsafe fn start(sum: i32) -> Pair {
        (i32x4_splat(sum), i32x4_splat(sum))
    }

    /// Sums in 16 bits as many pairs as fit: 4 · 2 · 31 · 127 with 5 bits, 2 · 2 · 63 · 127 with 6.
    #[inline(always)]
    unsafe fn add_half<const BITS: usize, const P: usize>(
        mut all: [Pair; P],
        weights: [*const u8; P],
        block: *const i8,
        half: usize,
        constants: RelaxedConstants,
    ) -> [Pair; P] {
        let pairs = if BITS == 6 { 2 } else { 4 };
        for first in (4 * half..4 * half + 4).step_by(pairs) {
            let zero = i16x8_splat(0);
            let mut narrow = [(zero, zero); P];
            for four in first..first + pairs {
                // SAFETY: the caller vouches for 32 activations and for blocks; half < 2.
                unsafe {
                    let token = four_columns(block, four);
                    for (sums, weights) in narrow.iter_mut().zip(weights) {
                        let (lower, upper) = stored::<BITS>(weights, four, constants.shared);
                        sums.0 = add_pairs(token, lower, sums.0);
                        sums.1 = add_pairs(token, upper, sums.1);
                    }
                }
            }
            for (sums, narrow) in all.iter_mut().zip(narrow) {
                sums.0 = i32x4_add(sums.0, i32x4_dot_i16x8(narrow.0, constants.ones));
                sums.1 = i32x4_add(sums.1, i32x4_dot_i16x8(narrow.1, constants.ones));
            }
        }
        all
    }

    #[inline(always)]
    unsafe fn finish(sums: Pair) -> Pair {
        sums
    }
}

impl<const BIAS: i8> Steps for RelaxedInt8<BIAS> {
    type PartialSums = Pair;
    type Weights = Pair;

    const TILE: usize = 4;
    const STEPS: usize = 8;
    const STEP: InnerStep = match BIAS {
        0 => InnerStep::RelaxedSigned,
        _ => InnerStep::RelaxedUnsigned,
    };

    same! { Simd128Int8:
        partial_sums(from: *const i32) -> Pair;
        store_negative(parts: Pair, to: *mut i32) -> ();
        weights(from: *const u8) -> Pair;
        whole(parts: Pair) -> Pair;
    }

    #[inline(always)]
    unsafe fn prepare_token(from: *const i8, to: *mut u8) {
        for half in 0..2 {
            // SAFETY: the caller vouches for 32 readable and 32 writable bytes.
            unsafe {
                let x = v128_load(from.add(16 * half).cast());
                v128_store(to.add(16 * half).cast(), i8x16_add(x, i8x16_splat(BIAS)));
            }
        }
    }

    #[inline(always)]
    unsafe fn interleave<const N: usize>(from: *const u8, steps: usize, to: *mut u8) {
        // SAFETY: the caller vouches for the same.
        unsafe { Simd128Int8::interleave::<N>(from, steps, to) }
    }

    #[inline(always)]
    unsafe fn prepare<const BITS: usize>(
        from: *const u8,
        four: usize,
        parts: Pair,
        to: *mut u8,
    ) -> Pair {
        // SAFETY: the caller vouches for a block and for 32 writable bytes.
        unsafe {
            let weights = signed::<BITS>(from, four);
            v128_store(to.cast(), weights.0);
            v128_store(to.add(16).cast(), weights.1);
            if BIAS == 0 {
                return parts;
            }
            let bias = i8x16_splat(BIAS);
            (
                i32x4_relaxed_dot_i8x16_i7x16_add(weights.0, bias, parts.0),
                i32x4_relaxed_dot_i8x16_i7x16_add(weights.1, bias, parts.1),
            )
        }
    }

    #[inline(always)]
    unsafe fn step(parts: Pair, weights: Pair, token: *const u8) -> Pair {
        // SAFETY: the caller vouches for 4 readable bytes.
        let token = unsafe { v128_load32_splat(token.cast()) };
        (
            i32x4_relaxed_dot_i8x16_i7x16_add(weights.0, token, parts.0),
            i32x4_relaxed_dot_i8x16_i7x16_add(weights.1, token, parts.1),
        )
    }
}

/// As [`Rows`] for relaxed SIMD: one multiply-add.
macro_rules! relaxed_rows {
    ($($kernel:ty),*) => {
        $(
            impl Rows for $kernel {
                type Sums = Pair;
                type Totals = Pair;

                same! { RelaxedInt8::<0>:
                    zero() -> Pair;
                    same(sum: i32) -> Pair;
                    totals(from: *const f32) -> Pair;
                    halves(from: *const u8) -> Pair;
                    store(totals: Pair, to: *mut f32) -> ();
                    add_scaled(totals: Pair, sums: Pair, scales: Pair, factor: f32) -> Pair;
                }
            }
        )*
    };
}

relaxed_rows!(RelaxedWide, RelaxedPairs, RelaxedTwice, RelaxedNibbles);

impl Steps for RelaxedWide {
    type PartialSums = Pair;
    type Weights = Pair;

    const TILE: usize = Simd128Int8::TILE;
    const STEPS: usize = Simd128Int8::STEPS;
    const STEP: InnerStep = Simd128Int8::STEP;

    same! { Simd128Int8:
        prepare_token(from: *const i8, to: *mut u8) -> ();
        partial_sums(from: *const i32) -> Pair;
        store_negative(parts: Pair, to: *mut i32) -> ();
        weights(from: *const u8) -> Pair;
        step(parts: Pair, weights: Pair, token: *const u8) -> Pair;
        whole(parts: Pair) -> Pair;
    }

    #[inline(always)]
    unsafe fn interleave<const N: usize>(from: *const u8, steps: usize, to: *mut u8) {
        // SAFETY: the caller vouches for the same.
        unsafe { Simd128Int8::interleave::<N>(from, steps, to) }
    }

    #[inline(always)]
    unsafe fn prepare<const BITS: usize>(
        from: *const u8,
        four: usize,
        parts: Pair,
        to: *mut u8,
    ) -> Pair {
        // SAFETY: the caller vouches for the same.
        unsafe { Simd128Int8::prepare::<BITS>(from, four, parts, to) }
    }
}

impl OneToken for RelaxedPairs {
    type Block = *const i8;
    /// Sums in 16 bits, and what is added when they are widened.
    type Accumulator = (Pair, v128);

    const DOT_Q8: InnerStep = RelaxedTwice::DOT_Q8;
    const ADD_HALF: InnerStep = InnerStep::RelaxedPairs;

    one_token!();

    #[inline(always)]
    unsafe fn dot_q8<const P: usize>(
        weights: [*const u8; P],
        block: *const i8,
        sum: i32,
        constants: RelaxedConstants,
    ) -> [Pair; P] {
        // SAFETY: the caller vouches for the same.
        unsafe { RelaxedTwice::dot_q8(weights, block, sum, constants) }
    }

    #[inline(always)]
    unsafe fn start(sum: i32) -> (Pair, v128) {
        let zero = i16x8_splat(0);
        ((zero, zero), i32x4_splat(sum))
    }

    /// For weights of 4 bits: the stored numbers of more bits are too large for sums in 16 bits.
    #[inline(always)]
    unsafe fn add_half<const BITS: usize, const P: usize>(
        mut all: [(Pair, v128); P],
        weights: [*const u8; P],
        block: *const i8,
        half: usize,
        constants: RelaxedConstants,
    ) -> [(Pair, v128); P] {
        const { assert!(BITS == 4) };
        for four in 4 * half..4 * half + 4 {
            // SAFETY: the caller vouches for 32 activations and for blocks; half < 2.
            unsafe {
                let token = four_columns(block, four);
                for ((sums, _), weights) in all.iter_mut().zip(weights) {
                    // The weight, 0 to 15, is the operand of 7 bits: a sum of two products is at
                    // most 2 · 15 · 127, and all eight of a lane fit in 16 bits too.
                    let (lower, upper) = stored::<BITS>(weights, four, constants.shared);
                    sums.0 = add_pairs(token, lower, sums.0);
                    sums.1 = add_pairs(token, upper, sums.1);
                }
            }
        }
        all
    }

    #[inline(always)]
    unsafe fn finish((sums, start): (Pair, v128)) -> Pair {
        // SAFETY: as the caller vouches.
        let (low, high) = unsafe { Self::whole(sums) };
        (i32x4_add(low, start), i32x4_add(high, start))
    }
}

impl Steps for RelaxedPairs {
    type PartialSums = Pair;
    type Weights = Pair;

    const TILE: usize = 4;
    const STEPS: usize = 8;
    const STEP: InnerStep = InnerStep::RelaxedPairs;
    const HAS_8_BITS: bool = false;

    same! { RelaxedInt8::<BIAS>:
        prepare_token(from: *const i8, to: *mut u8) -> ();
        partial_sums(from: *const i32) -> Pair;
        weights(from: *const u8) -> Pair;
    }

    #[inline(always)]
    unsafe fn interleave<const N: usize>(from: *const u8, steps: usize, to: *mut u8) {
        // SAFETY: the caller vouches for the same.
        unsafe { Simd128Int8::interleave::<N>(from, steps, to) }
    }

    #[inline(always)]
    unsafe fn prepare<const BITS: usize>(
        from: *const u8,
        four: usize,
        parts: Pair,
        to: *mut u8,
    ) -> Pair {
        // SAFETY: the caller vouches for a block and for 32 writable bytes.
        unsafe {
            let weights = signed::<BITS>(from, four);
            v128_store(to.cast(), weights.0);
            v128_store(to.add(16).cast(), weights.1);
            let bias = i8x16_splat(BIAS);
            (
                add_pairs(weights.0, bias, parts.0),
                add_pairs(weights.1, bias, parts.1),
            )
        }
    }

    #[inline(always)]
    unsafe fn store_negative(parts: Pair, to: *mut i32) {
        // SAFETY: the caller vouches for 32 writable bytes.
        unsafe {
            v128_store(to.cast(), i16x8_neg(parts.0));
            v128_store(to.add(4).cast(), i16x8_neg(parts.1));
        }
    }

    #[inline(always)]
    unsafe fn step(parts: Pair, weights: Pair, token: *const u8) -> Pair {
        // SAFETY: the caller vouches for 4 readable bytes.
        let token = unsafe { v128_load32_splat(token.cast()) };
        (
            add_pairs(weights.0, token, parts.0),
            add_pairs(weights.1, token, parts.1),
        )
    }

    #[inline(always)]
    unsafe fn whole(parts: Pair) -> Pair {
        let ones = i16x8_splat(1);
        (
            i32x4_dot_i16x8(parts.0, ones),
            i32x4_dot_i16x8(parts.1, ones),
        )
    }
}
