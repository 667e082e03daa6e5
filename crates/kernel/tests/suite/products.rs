//! Checks of matrix products against the plain loops, and of properties that hold to the last bit.

use super::{SUM_TOLERANCE, assert_close, numbers};
use crate::suite::random::Rng;
use kernel::{Kernels, ProductShape, reference};

type Fast = fn(&Kernels, &[f32], &[f32], &mut [f32], usize, usize, usize);
type Plain = fn(&[f32], &[f32], &mut [f32], usize, usize, usize);

fn product(
    kernels: &Kernels,
    fast: Fast,
    plain: Plain,
    a: &[f32],
    b: &[f32],
    [rows, inner, cols]: [usize; 3],
) {
    let (mut found, mut expected, mut sizes) = (
        vec![f32::NAN; rows * cols],
        vec![f32::NAN; rows * cols],
        vec![0.0; rows * cols],
    );
    fast(kernels, a, b, &mut found, rows, inner, cols);
    plain(a, b, &mut expected, rows, inner, cols);
    let absolute = |x: &[f32]| x.iter().map(|x| x.abs()).collect::<Vec<_>>();
    plain(&absolute(a), &absolute(b), &mut sizes, rows, inner, cols);
    for i in 0..rows * cols {
        assert_close(found[i], expected[i], SUM_TOLERANCE * sizes[i], "product");
    }
}

pub(crate) fn matvec(kernels: &Kernels, seed: u64, [rows, inner, _]: [usize; 3]) {
    let (a, x) = (numbers(seed, "a", rows * inner), numbers(seed, "x", inner));
    let (mut found, mut expected) = (vec![f32::NAN; rows], vec![f32::NAN; rows]);
    kernels.matvec(&a, &x, &mut found);
    reference::matvec(&a, &x, &mut expected);
    for row in 0..rows {
        let size: f32 = (0..inner).map(|k| (a[row * inner + k] * x[k]).abs()).sum();
        assert_close(found[row], expected[row], SUM_TOLERANCE * size, "matvec");
    }
}

pub(crate) fn matmul(kernels: &Kernels, seed: u64, sizes: [usize; 3]) {
    let [rows, inner, cols] = sizes;
    let (a, b) = (
        numbers(seed, "a", rows * inner),
        numbers(seed, "b", inner * cols),
    );
    product(kernels, Kernels::matmul, reference::matmul, &a, &b, sizes);
}

/// The product has the bits of that with A transposed before, so its bits do not depend on a row's
/// position either.
pub(crate) fn matmul_tn(kernels: &Kernels, seed: u64, sizes: [usize; 3]) {
    let [rows, inner, cols] = sizes;
    let (a, b) = (
        numbers(seed, "a", rows * inner),
        numbers(seed, "b", inner * cols),
    );
    let (fast, plain) = (Kernels::matmul_tn, reference::matmul_tn);
    product(kernels, fast, plain, &a, &b, sizes);
    let turned: Vec<f32> = (0..rows * inner)
        .map(|at| a[at % inner * rows + at / inner])
        .collect();
    let (mut found, mut expected) = (vec![0.0; rows * cols], vec![0.0; rows * cols]);
    kernels.matmul_tn(&a, &b, &mut found, rows, inner, cols);
    kernels.matmul(&turned, &b, &mut expected, rows, inner, cols);
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found.to_bits(), expected.to_bits());
    }
}

pub(crate) fn matmul_nt(kernels: &Kernels, seed: u64, sizes: [usize; 3]) {
    let [rows, inner, cols] = sizes;
    let (a, b) = (
        numbers(seed, "a", rows * inner),
        numbers(seed, "b", inner * cols),
    );
    product(
        kernels,
        Kernels::matmul_nt,
        reference::matmul_nt,
        &a,
        &b,
        sizes,
    );
}

pub(crate) fn mix(kernels: &Kernels, seed: u64, sizes: [usize; 3]) {
    let [rows, inner, cols] = sizes;
    let (a, b) = (
        numbers(seed, "a", rows * inner),
        numbers(seed, "b", inner * cols),
    );
    product(kernels, Kernels::mix, reference::mix, &a, &b, sizes);
}

/// A product of parts of wider matrices, added to a part of another, has the bits of that of the
/// parts by themselves, and leaves all else alone.
pub(crate) fn strided_product(kernels: &Kernels, seed: u64, sizes: [usize; 3]) {
    let [rows, inner, cols] = sizes;
    let (beside, from) = (3, 2);
    let wide = |name, rows: usize, cols: usize| numbers(seed, name, rows * (cols + beside) + from);
    let part = |x: &[f32], rows: usize, cols: usize| -> Vec<f32> {
        let row = |row: usize| x[from + row * (cols + beside)..][..cols].to_vec();
        (0..rows).flat_map(row).collect()
    };
    let (a, b) = (wide("a", rows, inner), wide("b", inner, cols));
    let before = wide("out", rows, cols);
    let mut expected = vec![0.0; rows * cols];
    let [left, right] = [part(&a, rows, inner), part(&b, inner, cols)];
    kernels.matmul(&left, &right, &mut expected, rows, inner, cols);
    for add in [false, true] {
        let shape = ProductShape {
            a_row: inner + beside,
            b_row: cols + beside,
            out_row: cols + beside,
            add,
            ..ProductShape::new(sizes)
        };
        let mut out = before.clone();
        kernels.product(&a[from..], &b[from..], &mut out[from..], &shape);
        let found = kernels.new_product(&a[from..], &b[from..], &shape);
        let mut left_alone = before.clone();
        for row in 0..rows {
            for col in 0..cols {
                let (at, product) = (from + row * (cols + beside) + col, row * cols + col);
                let sum = before[at] + expected[product];
                let value = if add { sum } else { expected[product] };
                assert_eq!(out[at].to_bits(), value.to_bits());
                assert_eq!(found[product].to_bits(), expected[product].to_bits());
                left_alone[at] = out[at];
            }
        }
        assert!(
            out.iter()
                .zip(&left_alone)
                .all(|(a, b)| a.to_bits() == b.to_bits())
        );
    }
}

/// A row moved to another position gives the same bits there: in every product for rows of A, in A
/// · Bᵀ for rows of B too.
pub(crate) fn place_of_a_row_changes_no_bit(
    kernels: &Kernels,
    seed: u64,
    [rows, inner, cols]: [usize; 3],
) {
    let (a, b) = (
        numbers(seed, "a", rows * inner),
        numbers(seed, "b", inner * cols),
    );
    let order = Rng::new(seed).permutation(rows);
    let moved: Vec<f32> = order
        .iter()
        .flat_map(|&row| &a[row * inner..(row + 1) * inner])
        .copied()
        .collect();
    for fast in [Kernels::matmul as Fast, Kernels::matmul_nt, Kernels::mix] {
        let (mut before, mut after) = (vec![0.0; rows * cols], vec![0.0; rows * cols]);
        fast(kernels, &a, &b, &mut before, rows, inner, cols);
        fast(kernels, &moved, &b, &mut after, rows, inner, cols);
        for (place, &row) in order.iter().enumerate() {
            for col in 0..cols {
                assert_eq!(
                    after[place * cols + col].to_bits(),
                    before[row * cols + col].to_bits()
                );
            }
        }
    }
    let (mut before, mut after) = (vec![0.0; rows * cols], vec![0.0; rows * cols]);
    kernels.matmul_nt(&b, &a, &mut before, cols, inner, rows);
    kernels.matmul_nt(&b, &moved, &mut after, cols, inner, rows);
    for (place, &row) in order.iter().enumerate() {
        for other in 0..cols {
            assert_eq!(
                after[other * rows + place].to_bits(),
                before[other * rows + row].to_bits()
            );
        }
    }
}

/// Values with a weight of exactly 0 change no bit of the sum, NaN and ∞ included.
pub(crate) fn zero_weights_read_nothing(
    kernels: &Kernels,
    seed: u64,
    [rows, inner, cols]: [usize; 3],
) {
    let mut weights = numbers(seed, "w", rows * inner);
    let values = numbers(seed, "v", inner * cols);
    let mut poisoned = values.clone();
    let mut rng = Rng::new(seed);
    for hidden in 0..inner {
        if rng.below(2) == 0 {
            for row in 0..rows {
                weights[row * inner + hidden] = if rng.below(2) == 0 { 0.0 } else { -0.0 };
            }
            let poison = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0][rng.below(4)];
            poisoned[hidden * cols..(hidden + 1) * cols].fill(poison);
        }
    }
    let (mut clean, mut found) = (vec![0.0; rows * cols], vec![0.0; rows * cols]);
    kernels.mix(&weights, &values, &mut clean, rows, inner, cols);
    kernels.mix(&weights, &poisoned, &mut found, rows, inner, cols);
    for i in 0..rows * cols {
        assert_eq!(found[i].to_bits(), clean[i].to_bits());
    }
}
