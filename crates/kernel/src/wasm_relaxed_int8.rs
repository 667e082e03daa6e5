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
//! A product with one token stays within the promise everywhere: memory is slower than two dots.
//! All forms give the same integers.

use super::inner_step::InnerStep;
use super::int8_gemm::{Int8Kernel, OneToken, Rows, Steps, opaque};
use super::wasm::*;
use super::wasm_simd128_int8::{Simd128Int8, signed, stored};

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
    let exact = |tokens: [i8; 5], unsigned: bool| {
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
    // 254 as a byte is −2, 128 is −128.
    if exact([-127, -64, -1, 0, 127], false) {
        Choice::Signed
    } else if exact([-2, -128, -127, 0, 127], true) {
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
/// their activations. Without it, also the products with one token.
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

/// Added to the activations of many tokens that are unsigned.
const BIAS: i8 = 127;

/// Adds products of 16 weights with 16 activations, whose positive and negative parts come
/// separately.
#[inline(always)]
fn dot_parts(weights: v128, (plus, minus): Pair, (p, n): &mut Pair) {
    *p = i32x4_relaxed_dot_i8x16_i7x16_add(weights, plus, *p);
    *n = i32x4_relaxed_dot_i8x16_i7x16_add(weights, minus, *n);
}

/// Adds products of 16 numbers with 16 others in pairs, in 16 bits.
#[inline(always)]
fn add_pairs(a: v128, b: v128, parts: v128) -> v128 {
    i16x8_add(parts, i16x8_relaxed_dot_i8x16_i7x16(a, b))
}

/// Each lane of 32 bits in all lanes: four activations, for four rows.
#[inline(always)]
fn splats(x: v128) -> [v128; 4] {
    [
        i32x4_shuffle::<0, 0, 0, 0>(x, x),
        i32x4_shuffle::<1, 1, 1, 1>(x, x),
        i32x4_shuffle::<2, 2, 2, 2>(x, x),
        i32x4_shuffle::<3, 3, 3, 3>(x, x),
    ]
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

impl<const BIAS: i8> Int8Kernel for RelaxedInt8<BIAS> {
    type OneToken = RelaxedInt8<0>;
    type OneTokenOf4 = RelaxedInt8<0>;
    type ManyTokens = Self;
    type ManyTokensFew = Self;
}

impl Int8Kernel for RelaxedWide {
    type OneToken = RelaxedInt8<0>;
    type OneTokenOf4 = RelaxedInt8<0>;
    type ManyTokens = Self;
    type ManyTokensFew = Self;
}

impl Int8Kernel for RelaxedWideAndPairs {
    type OneToken = RelaxedInt8<0>;
    type OneTokenOf4 = RelaxedPairs;
    type ManyTokens = RelaxedWide;
    type ManyTokensFew = RelaxedPairs;
    const SAME_STEPS: bool = false;
}

impl OneToken for RelaxedInt8<0> {
    /// The address of the 32 activations.
    type Block = *const i8;
    type Accumulator = Pair;

    const DOT_Q8: InnerStep = InnerStep::RelaxedTwice;
    const ADD_HALF: InnerStep = InnerStep::RelaxedWeights;

    #[inline(always)]
    unsafe fn halves_of_block() -> usize {
        opaque(2)
    }

    #[inline(always)]
    unsafe fn block(from: *const i8) -> *const i8 {
        from
    }

    #[inline(always)]
    unsafe fn dot_q8(weights: *const u8, block: *const i8) -> Pair {
        // q = max(q, 0) − max(−q, 0), both of 7 bits.
        let zero = i8x16_splat(0);
        let (mut low, mut high) = ((zero, zero), (zero, zero));
        for half in 0..opaque(2) {
            // SAFETY: half < 2 stays inside the 32 activations and the 8 pairs of chunks at
            // `weights`.
            unsafe {
                let x = v128_load(block.add(16 * half).cast());
                let plus = splats(i8x16_max(x, zero));
                let minus = splats(i8x16_max(i8x16_neg(x), zero));
                for four in 0..4 {
                    let (w_low, w_high) = Self::weights(weights.add(128 * half + 32 * four));
                    dot_parts(w_low, (plus[four], minus[four]), &mut low);
                    dot_parts(w_high, (plus[four], minus[four]), &mut high);
                }
            }
        }
        (i32x4_sub(low.0, low.1), i32x4_sub(high.0, high.1))
    }

    #[inline(always)]
    unsafe fn start(sum: i32) -> Pair {
        (i32x4_splat(sum), i32x4_splat(sum))
    }

    #[inline(always)]
    unsafe fn add_half<const BITS: usize>(
        (mut low, mut high): Pair,
        weights: *const u8,
        block: *const i8,
        half: usize,
    ) -> Pair {
        // SAFETY: the caller vouches for 32 activations and for a block; half < 2.
        unsafe {
            let tokens = splats(v128_load(block.add(16 * half).cast()));
            for four in 0..4 {
                // The weight, 0 to 63 at most, is the operand of 7 bits.
                let (lower, upper) = stored::<BITS>(weights, 4 * half + four);
                low = i32x4_relaxed_dot_i8x16_i7x16_add(tokens[four], lower, low);
                high = i32x4_relaxed_dot_i8x16_i7x16_add(tokens[four], upper, high);
            }
        }
        (low, high)
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

relaxed_rows!(RelaxedWide, RelaxedPairs);

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

    const DOT_Q8: InnerStep = RelaxedInt8::<0>::DOT_Q8;
    const ADD_HALF: InnerStep = InnerStep::RelaxedPairs;

    same! { RelaxedInt8::<0>:
        halves_of_block() -> usize;
        block(from: *const i8) -> *const i8;
        dot_q8(weights: *const u8, block: *const i8) -> Pair;
    }

    #[inline(always)]
    unsafe fn start(sum: i32) -> (Pair, v128) {
        let zero = i16x8_splat(0);
        ((zero, zero), i32x4_splat(sum))
    }

    /// For weights of 4 bits: the stored numbers of more bits are too large for sums in 16 bits.
    #[inline(always)]
    unsafe fn add_half<const BITS: usize>(
        ((mut low, mut high), start): (Pair, v128),
        weights: *const u8,
        block: *const i8,
        half: usize,
    ) -> (Pair, v128) {
        const { assert!(BITS == 4) };
        // SAFETY: the caller vouches for 32 activations and for a block; half < 2.
        unsafe {
            let tokens = splats(v128_load(block.add(16 * half).cast()));
            for four in 0..4 {
                // The weight, 0 to 15, is the operand of 7 bits: a sum of two products is at most
                // 2 · 15 · 127, and all eight of a lane fit in 16 bits too.
                let (lower, upper) = stored::<BITS>(weights, 4 * half + four);
                low = add_pairs(tokens[four], lower, low);
                high = add_pairs(tokens[four], upper, high);
            }
        }
        ((low, high), start)
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
