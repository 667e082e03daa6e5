//! A vector of four lanes in plain Rust: natively the same bits as SIMD128 gives in wasm.
//!
//! Each lane is rounded as WebAssembly does it: a product and a sum are rounded separately, a
//! reduction adds the halves first. So a training run in the tab can be repeated natively, to the
//! last bit, without falling back to the plain loops. Miri runs the generic algorithms on this
//! vector.

use super::vector::Vector;
use std::array::from_fn;

implementation!("portable", Portable, "sse2");

/// A vector of four lanes.
#[derive(Clone, Copy)]
struct Portable([f32; 4]);

impl Portable {
    #[inline(always)]
    fn zip(self, b: Self, join: impl Fn(f32, f32) -> f32) -> Self {
        Self(from_fn(|n| join(self.0[n], b.0[n])))
    }
}

/// The larger number as `f32x4.max` defines it: NaN where either is, and +0 above −0.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b {
        a
    } else if b > a {
        b
    } else if a == b {
        f32::from_bits(a.to_bits() & b.to_bits())
    } else {
        f32::NAN
    }
}

impl Vector for Portable {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        Self([x; 4])
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for 4 readable numbers; an unaligned read asks for no more.
        Self(unsafe { from.cast::<[f32; 4]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for 4 writable numbers; an unaligned write asks for no more.
        unsafe { to.cast::<[f32; 4]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        self.zip(b, |a, b| a + b)
    }

    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        self.zip(b, |a, b| a - b)
    }

    #[inline(always)]
    unsafe fn mul(self, b: Self) -> Self {
        self.zip(b, |a, b| a * b)
    }

    #[inline(always)]
    unsafe fn div(self, b: Self) -> Self {
        self.zip(b, |a, b| a / b)
    }

    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        Self(from_fn(|n| self.0[n] * b.0[n] + c.0[n]))
    }

    #[inline(always)]
    unsafe fn max(self, b: Self) -> Self {
        self.zip(b, larger)
    }

    #[inline(always)]
    unsafe fn select_lt(self, limit: Self, then: Self, otherwise: Self) -> Self {
        let pick = |n: usize| match self.0[n] < limit.0[n] {
            true => then.0[n],
            false => otherwise.0[n],
        };
        Self(from_fn(pick))
    }

    #[inline(always)]
    unsafe fn round(self) -> Self {
        Self(self.0.map(f32::round_ties_even))
    }

    #[inline(always)]
    unsafe fn exp2_whole(self) -> Self {
        // An f32 with an empty mantissa is 2 to the power of its exponent field minus 127.
        let power = |x: f32| f32::from_bits(((x as i32).wrapping_add(127) << 23).cast_unsigned());
        Self(self.0.map(power))
    }

    #[inline(always)]
    unsafe fn block_largest(from: *const f32) -> f32 {
        // SAFETY: the caller vouches for 32 readable numbers.
        let block = unsafe { from.cast::<[f32; 32]>().read_unaligned() };
        // Magnitudes are ordered as their bits, NaN above all.
        f32::from_bits(
            block
                .iter()
                .fold(0, |most, x| most.max(x.to_bits() & 0x7fff_ffff)),
        )
    }

    #[inline(always)]
    unsafe fn block_round(from: *const f32, factor: f32, to: *mut i8) -> i32 {
        // SAFETY: the caller vouches for 32 readable numbers and 32 writable bytes.
        unsafe {
            let block = from.cast::<[f32; 32]>().read_unaligned();
            let rounded = block.map(|x| (x * factor).round_ties_even() as i8);
            to.cast::<[i8; 32]>().write_unaligned(rounded);
            rounded.iter().map(|&x| i32::from(x)).sum()
        }
    }

    #[inline(always)]
    unsafe fn reduce_add(self) -> f32 {
        let [a, b, c, d] = self.0;
        (a + c) + (b + d)
    }
}
