//! The kernels of WebAssembly with relaxed SIMD: as SIMD128, but a · b + c may be one instruction
//! that rounds once.
//!
//! The processor decides if it rounds once or twice, so results may differ between machines in the
//! last bits.

use super::int8_gemm;
use super::table::Kernels;
use super::vector::Vector;
use super::wasm::f32x4_relaxed_madd;
use super::wasm_relaxed_int8::{
    Choice, RelaxedInt8, RelaxedWide, RelaxedWideAndPairs, find, has_pairs,
};
use super::wasm_simd128::Simd128;

implementation!("relaxed-wide", Relaxed, RelaxedWide, "simd128,relaxed-simd");

/// The table that fits this machine's dot product of bytes.
pub(crate) fn detect() -> &'static Kernels {
    static SIGNED: Kernels = Kernels {
        name: "relaxed",
        matmul_blocks: int8_gemm::matmul_blocks::<RelaxedInt8<0>>,
        inner_steps: int8_gemm::inner_steps::<RelaxedInt8<0>>(),
        ..TABLE
    };
    static UNSIGNED: Kernels = Kernels {
        name: "relaxed",
        matmul_blocks: int8_gemm::matmul_blocks::<RelaxedInt8<127>>,
        inner_steps: int8_gemm::inner_steps::<RelaxedInt8<127>>(),
        ..TABLE
    };
    static PAIRS: Kernels = Kernels {
        name: "relaxed",
        matmul_blocks: int8_gemm::matmul_blocks::<RelaxedWideAndPairs>,
        inner_steps: int8_gemm::inner_steps::<RelaxedWideAndPairs>(),
        ..TABLE
    };
    static NEITHER: Kernels = Kernels {
        name: "relaxed",
        ..TABLE
    };
    match find() {
        Choice::Signed => &SIGNED,
        Choice::Unsigned => &UNSIGNED,
        Choice::Neither if has_pairs() => &PAIRS,
        Choice::Neither => &NEITHER,
    }
}

/// The table that multiplies weights of fewer than 8 bits by sums of pairs in 16 bits, where they are
/// exact, also where [`detect`] has a better one: for tests and measurements.
pub(crate) fn detect_pairs() -> Option<&'static Kernels> {
    static PAIRS: Kernels = Kernels {
        name: "relaxed-pairs",
        matmul_blocks: int8_gemm::matmul_blocks::<RelaxedWideAndPairs>,
        inner_steps: int8_gemm::inner_steps::<RelaxedWideAndPairs>(),
        ..TABLE
    };
    has_pairs().then_some(&PAIRS)
}

/// A vector of four lanes.
#[derive(Clone, Copy)]
struct Relaxed(Simd128);

/// Forwards methods to SIMD128.
macro_rules! same {
    ($($method:ident($($argument:ident),*);)*) => {
        $(
            #[inline(always)]
            unsafe fn $method(self $(, $argument: Self)*) -> Self {
                // SAFETY: the caller vouches for SIMD128.
                unsafe { Self(self.0.$method($($argument.0),*)) }
            }
        )*
    };
}

impl Vector for Relaxed {
    const LANES: usize = Simd128::LANES;
    const F16_FACTOR: f32 = Simd128::F16_FACTOR;

    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        Self(Simd128(f32x4_relaxed_madd(self.0.0, b.0.0, c.0.0)))
    }

    same! {
        add(b);
        sub(b);
        mul(b);
        div(b);
        max(b);
        select_lt(limit, then, otherwise);
        round();
        exp2_whole();
    }

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: the caller vouches for SIMD128.
        unsafe { Self(Simd128::splat(x)) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for SIMD128 and for 4 readable numbers.
        unsafe { Self(Simd128::load(from)) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for SIMD128 and for 4 writable numbers.
        unsafe { self.0.store(to) }
    }

    #[inline(always)]
    unsafe fn widen_f16<const P: usize>(from: *const u16, factor: Self) -> [Self; P] {
        // SAFETY: the caller vouches for SIMD128 and for 8 readable numbers.
        unsafe { Simd128::widen_f16(from, factor.0).map(Self) }
    }

    #[inline(always)]
    unsafe fn widen_bf16<const P: usize>(from: *const u16) -> [Self; P] {
        // SAFETY: the caller vouches for SIMD128 and for 8 readable numbers.
        unsafe { Simd128::widen_bf16(from).map(Self) }
    }

    #[inline(always)]
    unsafe fn block_largest(from: *const f32) -> f32 {
        // SAFETY: the caller vouches for SIMD128 and for 32 readable numbers.
        unsafe { Simd128::block_largest(from) }
    }

    #[inline(always)]
    unsafe fn block_round(from: *const f32, factor: f32, to: *mut i8) -> i32 {
        // SAFETY: the caller vouches for SIMD128, for 32 readable numbers and 32 writable bytes.
        unsafe { Simd128::block_round(from, factor, to) }
    }

    #[inline(always)]
    unsafe fn reduce_add(self) -> f32 {
        // SAFETY: the caller vouches for SIMD128.
        unsafe { self.0.reduce_add() }
    }
}
