//! Checks of kernels on one row against the plain loops.

use super::{ACTIVATION_TOLERANCE, SUM_TOLERANCE, WEIGHT_TOLERANCE, assert_close, numbers};
use kernel::{Kernels, reference};

pub(crate) fn dot(kernels: &Kernels, seed: u64, [length, ..]: [usize; 3]) {
    let (a, b) = (numbers(seed, "a", length), numbers(seed, "b", length));
    let size: f32 = a.iter().zip(&b).map(|(a, b)| (a * b).abs()).sum();
    assert_close(
        kernels.dot(&a, &b),
        reference::dot(&a, &b),
        SUM_TOLERANCE * size,
        "dot",
    );
}

pub(crate) fn axpy(kernels: &Kernels, seed: u64, [length, ..]: [usize; 3]) {
    let (x, y) = (numbers(seed, "x", length), numbers(seed, "y", length));
    let alpha = numbers(seed, "alpha", 1)[0];
    let (mut found, mut expected) = (y.clone(), y.clone());
    kernels.axpy(alpha, &x, &mut found);
    reference::axpy(alpha, &x, &mut expected);
    for i in 0..length {
        let size = (alpha * x[i]).abs() + y[i].abs();
        assert_close(found[i], expected[i], SUM_TOLERANCE * size, "axpy");
    }
}

pub(crate) fn sum(kernels: &Kernels, seed: u64, [length, ..]: [usize; 3]) {
    let x = numbers(seed, "x", length);
    let size: f32 = x.iter().map(|x| x.abs()).sum();
    assert_close(
        kernels.sum(&x),
        reference::sum(&x),
        SUM_TOLERANCE * size,
        "sum",
    );
}

pub(crate) fn max(kernels: &Kernels, seed: u64, [length, ..]: [usize; 3]) {
    let x = numbers(seed, "x", length);
    assert_eq!(kernels.max(&x), reference::max(&x));
}

pub(crate) fn softmax(kernels: &Kernels, seed: u64, [length, ..]: [usize; 3]) {
    let mut x = numbers(seed, "x", length);
    for hidden in x.iter_mut().skip(1).step_by(5) {
        *hidden = f32::NEG_INFINITY;
    }
    let (mut found, mut expected) = (x.clone(), x.clone());
    kernels.softmax(&mut found);
    reference::softmax(&mut expected);
    for i in 0..length {
        // Each addition may round the sum by half a unit in its last place, in either of the two.
        let of_the_sum = length as f32 * f32::EPSILON * expected[i];
        let allowed = WEIGHT_TOLERANCE + of_the_sum;
        assert_close(found[i], expected[i], allowed, "softmax");
        assert!(
            x[i] > f32::NEG_INFINITY || found[i].to_bits() == 0,
            "a hidden entry has weight {}",
            found[i]
        );
    }
}

pub(crate) fn layer_norm(kernels: &Kernels, seed: u64, [length, ..]: [usize; 3]) {
    let (x, gamma, beta) = (
        numbers(seed, "x", length),
        numbers(seed, "g", length),
        numbers(seed, "b", length),
    );
    let (mut found, mut expected) = (vec![0.0; length], vec![0.0; length]);
    kernels.layer_norm(&x, &gamma, &beta, 1e-5, &mut found);
    reference::layer_norm(&x, &gamma, &beta, 1e-5, &mut expected);
    let spread = spread(&x);
    for i in 0..length {
        // The rounding error of the mean is divided by the deviation and scaled by gamma.
        let size = 1.0 + gamma[i].abs() * spread + beta[i].abs();
        assert_close(
            found[i],
            expected[i],
            4.0 * WEIGHT_TOLERANCE * size,
            "layer_norm",
        );
    }
}

pub(crate) fn rms_norm(kernels: &Kernels, seed: u64, [length, ..]: [usize; 3]) {
    let (x, gamma) = (numbers(seed, "x", length), numbers(seed, "g", length));
    let (mut found, mut expected) = (vec![0.0; length], vec![0.0; length]);
    kernels.rms_norm(&x, &gamma, 1e-5, &mut found);
    reference::rms_norm(&x, &gamma, 1e-5, &mut expected);
    for i in 0..length {
        assert_close(
            found[i],
            expected[i],
            4.0 * WEIGHT_TOLERANCE * (1.0 + expected[i].abs()),
            "rms_norm",
        );
    }
}

/// The largest magnitude over the deviation: the factor by which normalisation amplifies a rounding
/// error.
fn spread(x: &[f32]) -> f32 {
    let mean = x.iter().sum::<f32>() / x.len().max(1) as f32;
    let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / x.len().max(1) as f32;
    let largest = x.iter().fold(0.0, |largest: f32, x| largest.max(x.abs()));
    largest / (variance + 1e-5).sqrt()
}

pub(crate) fn gelu(kernels: &Kernels, seed: u64, [length, ..]: [usize; 3]) {
    activation(
        kernels,
        Kernels::gelu,
        reference::gelu,
        &numbers(seed, "x", length),
    );
}

pub(crate) fn silu(kernels: &Kernels, seed: u64, [length, ..]: [usize; 3]) {
    activation(
        kernels,
        Kernels::silu,
        reference::silu,
        &numbers(seed, "x", length),
    );
}

pub(crate) fn exp(kernels: &Kernels, seed: u64, [length, _, _]: [usize; 3]) {
    // exp(−87.3); a smaller result may be 0.
    const LEAST: f32 = 1.22e-38;
    let x: Vec<f32> = numbers(seed, "x", length)
        .into_iter()
        .map(|x| x.min(88.0))
        .collect();
    let (mut found, mut expected) = (x.clone(), x);
    kernels.exp(&mut found);
    reference::exp(&mut expected);
    for (found, expected) in found.iter().zip(expected) {
        let tolerance = ACTIVATION_TOLERANCE * expected + LEAST;
        assert_close(*found, expected, tolerance, "exp");
    }
}

pub(crate) fn gelu_tanh(kernels: &Kernels, seed: u64, [length, ..]: [usize; 3]) {
    activation(
        kernels,
        Kernels::gelu_tanh,
        reference::gelu_tanh,
        &numbers(seed, "x", length),
    );
}

pub(crate) fn relu(kernels: &Kernels, seed: u64, [length, ..]: [usize; 3]) {
    activation(
        kernels,
        Kernels::relu,
        reference::relu,
        &numbers(seed, "x", length),
    );
}

fn activation(kernels: &Kernels, fast: fn(&Kernels, &mut [f32]), plain: fn(&mut [f32]), x: &[f32]) {
    let (mut found, mut expected) = (x.to_vec(), x.to_vec());
    fast(kernels, &mut found);
    plain(&mut expected);
    for i in 0..x.len() {
        assert_close(
            found[i],
            expected[i],
            ACTIVATION_TOLERANCE * x[i].abs().max(1.0),
            "activation",
        );
    }
}
