//! Bare loops: the most operations that one instruction allows on this machine, without memory.
//!
//! Each loop keeps a few independent sums in registers and repeats one inner step of the kernels on
//! them, with operands that the compiler does not know. A step without accumulation multiplies its
//! own sum, because the compiler would compute a product of constants once, before the loop.

use core::arch::wasm32::*;
use std::hint::black_box;

/// A bare loop.
pub(crate) struct Loop {
    /// The number of independent sums.
    pub(crate) sums: usize,
    /// Runs some turns.
    pub(crate) run: fn(usize),
}

/// The steps of each sum in one turn, so that counting the turns costs little.
const UNROLLED: usize = 4;

/// The turns of one call, a fraction of a millisecond.
pub(crate) const TURNS: usize = 10_000;

/// The multiplications and additions of one call with `sums` sums, where a step has `products`
/// products.
pub(crate) fn operations(sums: usize, products: usize) -> f64 {
    (2 * TURNS * UNROLLED * sums * products) as f64
}

/// One bare loop for each number of sums: too few wait for the last result, too many do not fit
/// into the registers. The fastest is the ceiling.
macro_rules! loops {
    ($name:ident, |$sum:ident, $a:ident, $b:ident| $step:expr) => {
        pub(crate) fn $name() -> Vec<Loop> {
            fn run<const SUMS: usize>(turns: usize) {
                let mut sums = black_box([i8x16_splat(1); SUMS]);
                let ($a, $b) = black_box((f32x4_splat(1.0), f32x4_splat(0.5)));
                for _ in 0..turns {
                    for _ in 0..UNROLLED {
                        for sum in &mut sums {
                            let $sum = *sum;
                            *sum = $step;
                        }
                    }
                }
                black_box(sums);
            }
            let loops: [(usize, fn(usize)); 5] = [
                (8, run::<8>),
                (9, run::<9>),
                (10, run::<10>),
                (11, run::<11>),
                (12, run::<12>),
            ];
            loops.map(|(sums, run)| Loop { sums, run }).into()
        }
    };
}

loops!(mul_add, |sum, a, b| f32x4_add(f32x4_mul(sum, b), a));
loops!(wide, |sum, a, b| i32x4_add(i32x4_dot_i16x8(sum, b), a));
#[cfg(target_feature = "relaxed-simd")]
loops!(relaxed_mul_add, |sum, a, b| f32x4_relaxed_madd(a, b, sum));
#[cfg(target_feature = "relaxed-simd")]
loops!(dot, |sum, a, b| i32x4_relaxed_dot_i8x16_i7x16_add(
    a, b, sum
));
#[cfg(target_feature = "relaxed-simd")]
loops!(pairs, |sum, a, b| i16x8_add(
    i16x8_relaxed_dot_i8x16_i7x16(b, sum),
    a
));

/// The steps of a block of 32 columns, four columns a step.
pub(crate) const BLOCK_STEPS: usize = 8;

/// The multiplications and additions of the steps of one call of whole blocks.
pub(crate) fn block_operations(sums: usize, products: usize) -> f64 {
    (2 * TURNS * BLOCK_STEPS * sums * products) as f64
}

/// Loops of whole blocks of 32 columns: after the steps of a block each sum becomes a number, and is
/// multiplied by two scales and added to a total. The format asks for that, whatever the kernel.
macro_rules! blocks {
    ($name:ident, |$sum:ident, $a:ident, $b:ident| $step:expr, |$whole:ident, $with:ident| $end:expr) => {
        pub(crate) fn $name() -> Vec<Loop> {
            fn run<const SUMS: usize>(turns: usize) {
                let mut sums = black_box([i8x16_splat(1); SUMS]);
                let mut totals = black_box([f32x4_splat(0.0); SUMS]);
                let ($a, $b) = black_box((f32x4_splat(1.0), f32x4_splat(0.5)));
                for _ in 0..turns {
                    for _ in 0..BLOCK_STEPS {
                        for sum in &mut sums {
                            let $sum = *sum;
                            *sum = $step;
                        }
                    }
                    let $with = $b;
                    for (total, $whole) in totals.iter_mut().zip(sums) {
                        let number = f32x4_mul(f32x4_convert_i32x4($end), $a);
                        *total = multiply_add(number, $b, *total);
                    }
                }
                black_box((sums, totals));
            }
            let loops: [(usize, fn(usize)); 3] = [(8, run::<8>), (10, run::<10>), (12, run::<12>)];
            loops.map(|(sums, run)| Loop { sums, run }).into()
        }
    };
}

/// The sum a · b + c by the instruction of the build.
#[inline(always)]
fn multiply_add(a: v128, b: v128, c: v128) -> v128 {
    #[cfg(target_feature = "relaxed-simd")]
    return f32x4_relaxed_madd(a, b, c);
    #[cfg(not(target_feature = "relaxed-simd"))]
    f32x4_add(f32x4_mul(a, b), c)
}

// Two steps of four columns each make a step of eight products.
blocks!(
    wide_blocks,
    |sum, a, b| i32x4_add(
        i32x4_add(i32x4_dot_i16x8(sum, b), a),
        i32x4_dot_i16x8(sum, a)
    ),
    |sum, _ones| sum
);
#[cfg(target_feature = "relaxed-simd")]
blocks!(
    dot_blocks,
    |sum, a, b| i32x4_relaxed_dot_i8x16_i7x16_add(a, b, sum),
    |sum, _ones| sum
);
#[cfg(target_feature = "relaxed-simd")]
blocks!(
    pairs_blocks,
    |sum, a, b| i16x8_add(i16x8_relaxed_dot_i8x16_i7x16(b, sum), a),
    |sum, ones| i32x4_dot_i16x8(sum, ones)
);

/// Reads all of `numbers` once, in `STREAMS` parts side by side.
pub(crate) fn read<const STREAMS: usize>(numbers: &[v128]) {
    let part = numbers.len() / STREAMS;
    let parts: [_; STREAMS] =
        std::array::from_fn(|n| numbers[n * part..(n + 1) * part].as_chunks::<4>().0);
    let mut sums = [[i8x16_splat(0); 4]; STREAMS];
    for at in 0..part / 4 {
        for (sums, part) in sums.iter_mut().zip(parts) {
            for (sum, number) in sums.iter_mut().zip(part[at]) {
                *sum = v128_xor(*sum, number);
            }
        }
    }
    black_box(sums);
}
