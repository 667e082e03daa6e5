//! One suite for every implementation of the kernels, natively and in the browser.
//!
//! A check takes an implementation, a seed and three sizes, computes the same results with the
//! plain loops, and panics where the two differ by more than rounding. `stamp!` turns the list of
//! checks into the tests of one implementation.

pub(crate) mod fingerprint;
mod half;
mod packed;
mod products;
pub(crate) mod random;
mod rows;
mod special;

use kernel::Kernels;
use random::Rng;

pub(crate) use half::{halves_are_widened_exactly, matmul_half};
pub(crate) use packed::{
    matmul_blocks, matmul_f32, neighbours_change_no_bit, quantize, whole_numbers_are_exact,
};
pub(crate) use products::{
    matmul, matmul_nt, matmul_tn, matvec, mix, place_of_a_row_changes_no_bit, strided_product,
    zero_weights_read_nothing,
};
pub(crate) use rows::{
    axpy, dot, exp, gelu, gelu_tanh, layer_norm, max, relu, rms_norm, silu, softmax, sum,
};
pub(crate) use special::{activations_keep_nan, max_special, softmax_special};

/// A check of one property, on one implementation, for one seed and sizes.
pub(crate) type Check = fn(&Kernels, u64, [usize; 3]);

/// The largest size that is drawn: more than four times four times eight lanes, and every
/// remainder.
#[cfg(not(miri))]
pub(crate) const LARGEST: usize = 130;

/// The allowed difference of two sums, as a share of the sum of the absolute terms: 130 roundings
/// of 2⁻²⁴ at worst, usually few.
pub(crate) const SUM_TOLERANCE: f32 = 2e-6;

/// The allowed difference of softmax weights and of normalised numbers, absolute.
pub(crate) const WEIGHT_TOLERANCE: f32 = 1e-6;

/// The allowed difference of activations, as a share of max(1, |x|): the error of formula 7.1.26
/// and of rounding.
pub(crate) const ACTIVATION_TOLERANCE: f32 = 5e-7;

/// A list of `length` normal numbers, some of them made 0, −0, large or small.
pub(crate) fn numbers(seed: u64, name: &str, length: usize) -> Vec<f32> {
    let mut rng = Rng::named(seed, name);
    (0..length)
        .map(|_| match rng.below(16) {
            0 => 0.0,
            1 => -0.0,
            2 => rng.normal() * 1e3,
            3 => rng.normal() * 1e-3,
            _ => rng.normal(),
        })
        .collect()
}

/// Panics unless `found` is within `tolerance` of `expected` (two equal infinities are close, NaN
/// never is).
#[track_caller]
pub(crate) fn assert_close(found: f32, expected: f32, tolerance: f32, place: &str) {
    let close = found == expected || (found - expected).abs() <= tolerance;
    assert!(
        close,
        "{place}: found {found}, expected {expected}, allowed difference {tolerance}"
    );
}

/// Writes the tests of one implementation, one for each check: `stamp!(run, module = "name",
/// #[test])` calls `run("name", check)`. All attributes come before the test.
#[macro_export]
macro_rules! stamp {
    ($run:path, $module:ident = $name:literal, $(#[$attribute:meta])+) => {
        $crate::stamp!(@checks $run, $module, $name, [$(#[$attribute])+];
            dot, axpy, matvec, matmul, matmul_nt, matmul_tn, strided_product, mix, softmax, layer_norm, rms_norm, gelu, relu, sum, max,
            silu, exp, gelu_tanh, quantize, matmul_blocks, matmul_f32, matmul_half, halves_are_widened_exactly, whole_numbers_are_exact, neighbours_change_no_bit,
            softmax_special, max_special, activations_keep_nan, place_of_a_row_changes_no_bit, zero_weights_read_nothing);
    };
    (@checks $run:path, $module:ident, $name:literal, $attributes:tt; $($check:ident),*) => {
        mod $module {
            use super::*;
            $($crate::stamp!(@test $run, $name, $attributes, $check);)*
        }
    };
    (@test $run:path, $name:literal, [$($attributes:tt)+], $check:ident) => {
        $($attributes)+
        fn $check() {
            $run($name, $crate::suite::$check);
        }
    };
}
