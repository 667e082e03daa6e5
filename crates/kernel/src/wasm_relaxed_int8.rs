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
//! A product with one token stays within the promise everywhere: memory is slower than two dots.
//! All forms give the same integers.

use super::int8_gemm::{Int8Kernel, opaque};
use super::wasm_simd128_int8::Simd128Int8;
use core::arch::wasm32::*;

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

/// The kernel that multiplies many tokens by one dot product for 16 numbers; `BIAS` was added to
/// their activations.
pub(crate) struct RelaxedInt8<const BIAS: i8>;

/// The kernel that multiplies many tokens by numbers of 16 bits.
pub(crate) struct RelaxedWide;

/// Adds products of 16 weights with 16 activations, whose positive and negative parts come
/// separately.
#[inline(always)]
fn dot_parts(weights: v128, (plus, minus): Pair, (p, n): &mut Pair) {
    *p = i32x4_relaxed_dot_i8x16_i7x16_add(weights, plus, *p);
    *n = i32x4_relaxed_dot_i8x16_i7x16_add(weights, minus, *n);
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

impl<const BIAS: i8> RelaxedInt8<BIAS> {
    /// The updated sums: sums + the bias times the weights; a sum starts from the negative of it.
    #[inline(always)]
    fn start(weights: v128, sums: v128) -> v128 {
        if BIAS == 0 {
            return sums;
        }
        i32x4_relaxed_dot_i8x16_i7x16_add(weights, i8x16_splat(BIAS), sums)
    }
}

impl<const BIAS: i8> Int8Kernel for RelaxedInt8<BIAS> {
    type Sums = Pair;
    type Totals = Pair;
    type Weights = Pair;
    /// The address of the 32 activations.
    type Block = *const i8;

    const TILE: usize = 4;
    const STEPS: usize = 8;

    same! { Simd128Int8:
        zero() -> Pair;
        totals(from: *const f32) -> Pair;
        halves(from: *const u8) -> Pair;
        store(totals: Pair, to: *mut f32) -> ();
        sums(from: *const i32) -> Pair;
        store_sums(sums: Pair, to: *mut i32) -> ();
        weights(from: *const u8) -> Pair;
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
    unsafe fn dot_q4(weights: *const u8, block: *const i8, sum: i32) -> Pair {
        // The weight, 0 to 15, is the operand of 7 bits: Σ (w − 8) x = Σ w x − 8 Σ x.
        let start = i32x4_splat(-8 * sum);
        let (mut low, mut high) = (start, start);
        for half in 0..opaque(2) {
            // SAFETY: half < 2 stays inside the 32 activations and the 8 chunks at `weights`.
            unsafe {
                let tokens = splats(v128_load(block.add(16 * half).cast()));
                for four in 0..4 {
                    let chunk = v128_load(weights.add(64 * half + 16 * four).cast());
                    let lower = v128_and(chunk, u8x16_splat(15));
                    low = i32x4_relaxed_dot_i8x16_i7x16_add(tokens[four], lower, low);
                    let upper = u8x16_shr(chunk, 4);
                    high = i32x4_relaxed_dot_i8x16_i7x16_add(tokens[four], upper, high);
                }
            }
        }
        (low, high)
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
    unsafe fn prepare_q8(from: *const u8, to: *mut u8) -> Pair {
        let mut sums = (i32x4_splat(0), i32x4_splat(0));
        for four in 0..8 {
            // SAFETY: the caller vouches for 256 readable and 256 writable bytes.
            unsafe {
                let (low, high) = Self::weights(from.add(32 * four));
                sums = (Self::start(low, sums.0), Self::start(high, sums.1));
                v128_store(to.add(32 * four).cast(), low);
                v128_store(to.add(32 * four + 16).cast(), high);
            }
        }
        (i32x4_neg(sums.0), i32x4_neg(sums.1))
    }

    #[inline(always)]
    unsafe fn prepare_q4(from: *const u8, to: *mut u8) -> Pair {
        let mut sums = (i32x4_splat(0), i32x4_splat(0));
        for four in 0..8 {
            // SAFETY: the caller vouches for 128 readable and 256 writable bytes.
            unsafe {
                let chunk = v128_load(from.add(16 * four).cast());
                let low = i8x16_sub(v128_and(chunk, u8x16_splat(15)), i8x16_splat(8));
                let high = i8x16_sub(u8x16_shr(chunk, 4), i8x16_splat(8));
                sums = (Self::start(low, sums.0), Self::start(high, sums.1));
                v128_store(to.add(32 * four).cast(), low);
                v128_store(to.add(32 * four + 16).cast(), high);
            }
        }
        (i32x4_neg(sums.0), i32x4_neg(sums.1))
    }

    #[inline(always)]
    unsafe fn step(sums: Pair, weights: Pair, token: *const u8) -> Pair {
        // SAFETY: the caller vouches for 4 readable bytes.
        let token = unsafe { v128_load32_splat(token.cast()) };
        (
            i32x4_relaxed_dot_i8x16_i7x16_add(weights.0, token, sums.0),
            i32x4_relaxed_dot_i8x16_i7x16_add(weights.1, token, sums.1),
        )
    }
}

impl Int8Kernel for RelaxedWide {
    type Sums = Pair;
    type Totals = Pair;
    type Weights = Pair;
    type Block = *const i8;

    const TILE: usize = Simd128Int8::TILE;
    const STEPS: usize = Simd128Int8::STEPS;

    same! { RelaxedInt8::<0>:
        add_scaled(totals: Pair, sums: Pair, scales: Pair, factor: f32) -> Pair;
        block(from: *const i8) -> *const i8;
        dot_q8(weights: *const u8, block: *const i8) -> Pair;
        dot_q4(weights: *const u8, block: *const i8, sum: i32) -> Pair;
    }

    same! { Simd128Int8:
        zero() -> Pair;
        totals(from: *const f32) -> Pair;
        halves(from: *const u8) -> Pair;
        store(totals: Pair, to: *mut f32) -> ();
        prepare_token(from: *const i8, to: *mut u8) -> ();
        prepare_q8(from: *const u8, to: *mut u8) -> Pair;
        prepare_q4(from: *const u8, to: *mut u8) -> Pair;
        sums(from: *const i32) -> Pair;
        store_sums(sums: Pair, to: *mut i32) -> ();
        weights(from: *const u8) -> Pair;
        step(sums: Pair, weights: Pair, token: *const u8) -> Pair;
    }
}
