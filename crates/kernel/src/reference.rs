//! The plain loops: the documentation of each kernel's computation, the oracle of the tests, and
//! the fallback.
//!
//! Shapes are checked by the callers in [`crate`]; here a wrong length panics at the index.

use super::inner_step::PLAIN;
pub use super::reference_packed::quantize;
use super::reference_packed::{matmul_blocks, matmul_f32, matmul_half, product};
use super::table::Kernels;
use crate::math;

/// The table of these loops.
pub static KERNELS: Kernels = Kernels {
    name: "reference",
    dot,
    axpy,
    matvec,
    product,
    matmul_nt,
    mix,
    softmax,
    layer_norm,
    rms_norm,
    gelu,
    relu,
    sum,
    max,
    silu,
    exp,
    gelu_tanh,
    quantize,
    matmul_f32,
    matmul_half,
    matmul_blocks,
    inner_steps: PLAIN,
};

/// The dot product Σᵢ aᵢ bᵢ.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    // a [N], b [N] -> scalar
    let mut total = 0.0;
    for i in 0..a.len() {
        total += a[i] * b[i];
    }
    total
}

/// The update y ← y + alpha · x.
pub fn axpy(alpha: f32, x: &[f32], y: &mut [f32]) {
    // x [N], y [N]
    for i in 0..x.len() {
        y[i] += alpha * x[i];
    }
}

/// The product out = A · x.
pub fn matvec(a: &[f32], x: &[f32], out: &mut [f32]) {
    // a [M, K], x [K], out [M]
    let inner = x.len();
    for row in 0..out.len() {
        out[row] = dot(&a[row * inner..(row + 1) * inner], x);
    }
}

/// The product C = A · B.
pub fn matmul(a: &[f32], b: &[f32], out: &mut [f32], rows: usize, inner: usize, cols: usize) {
    // a [M, K], b [K, N], out [M, N]
    for row in 0..rows {
        for col in 0..cols {
            let mut total = 0.0;
            for k in 0..inner {
                total += a[row * inner + k] * b[k * cols + col];
            }
            out[row * cols + col] = total;
        }
    }
}

/// The product C = A · Bᵀ.
pub fn matmul_nt(a: &[f32], b: &[f32], out: &mut [f32], rows: usize, inner: usize, cols: usize) {
    // a [M, K], b [N, K], out [M, N]
    for row in 0..rows {
        for col in 0..cols {
            let mut total = 0.0;
            for k in 0..inner {
                total += a[row * inner + k] * b[col * inner + k];
            }
            out[row * cols + col] = total;
        }
    }
}

/// The product C = Aᵀ · B.
pub fn matmul_tn(a: &[f32], b: &[f32], out: &mut [f32], rows: usize, inner: usize, cols: usize) {
    // a [K, M], b [K, N], out [M, N]
    for row in 0..rows {
        for col in 0..cols {
            let mut total = 0.0;
            for k in 0..inner {
                total += a[k * rows + row] * b[k * cols + col];
            }
            out[row * cols + col] = total;
        }
    }
}

/// The weighted sum C = W · B, where a weight of exactly 0 leaves its row of B unread.
pub fn mix(
    weights: &[f32],
    values: &[f32],
    out: &mut [f32],
    rows: usize,
    inner: usize,
    cols: usize,
) {
    // weights [M, K], values [K, N], out [M, N]
    for row in 0..rows {
        for col in 0..cols {
            let mut total = 0.0;
            for k in 0..inner {
                let weight = weights[row * inner + k];
                if weight != 0.0 {
                    total += weight * values[k * cols + col];
                }
            }
            out[row * cols + col] = total;
        }
    }
}

/// The softmax in place: exp(xᵢ − max x) / Σⱼ exp(xⱼ − max x).
pub fn softmax(x: &mut [f32]) {
    // x [N]
    let largest = max(x);
    if largest == f32::NEG_INFINITY {
        // Everything is masked. 0/0 has no value; weights of 0 are the documented choice.
        x.fill(0.0);
        return;
    }
    let mut total = 0.0;
    for value in x.iter_mut() {
        *value = math::exp(*value - largest);
        total += *value;
    }
    for value in x.iter_mut() {
        *value /= total;
    }
}

/// The layer norm out = (x − mean x) / √(var x + eps) · gamma + beta, with the variance over N (not
/// N − 1).
pub fn layer_norm(x: &[f32], gamma: &[f32], beta: &[f32], eps: f32, out: &mut [f32]) {
    // x, gamma, beta, out [C]
    let width = x.len() as f32;
    let mean = sum(x) / width;
    let mut variance = 0.0;
    for value in x {
        variance += (value - mean) * (value - mean);
    }
    let inverse = 1.0 / math::sqrt(variance / width + eps);
    for i in 0..x.len() {
        out[i] = (x[i] - mean) * inverse * gamma[i] + beta[i];
    }
}

/// The RMS norm out = x / √(mean x² + eps) · gamma.
pub fn rms_norm(x: &[f32], gamma: &[f32], eps: f32, out: &mut [f32]) {
    // x, gamma, out [C]
    let inverse = 1.0 / math::sqrt(dot(x, x) / x.len() as f32 + eps);
    for i in 0..x.len() {
        out[i] = x[i] * inverse * gamma[i];
    }
}

/// GELU in place: x · Φ(x), Φ(x) = (1 + erf(x/√2)) / 2.
pub fn gelu(x: &mut [f32]) {
    // x [N]
    for value in x {
        *value *= 0.5 * (1.0 + math::erf(*value * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// SiLU in place: x / (1 + exp(−x)).
pub fn silu(x: &mut [f32]) {
    // x [N]
    for value in x {
        *value /= 1.0 + math::exp(-*value);
    }
}

/// The exponential in place, of numbers up to 88.
pub fn exp(x: &mut [f32]) {
    // x [N]
    for value in x {
        *value = math::exp(*value);
    }
}

/// GELU in place, by the approximation x · (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2.
pub fn gelu_tanh(x: &mut [f32]) {
    // x [N]
    const FACTOR: f32 = 0.797_884_6;
    for value in x {
        let inner = FACTOR * (*value + 0.044_715 * *value * *value * *value);
        *value *= 0.5 * (1.0 + math::tanh(inner));
    }
}

/// ReLU in place: max(x, 0); NaN stays NaN.
pub fn relu(x: &mut [f32]) {
    // x [N]
    for value in x {
        if *value < 0.0 {
            *value = 0.0;
        }
    }
}

/// The sum Σᵢ xᵢ.
pub fn sum(x: &[f32]) -> f32 {
    // x [N] -> scalar
    let mut total = 0.0;
    for value in x {
        total += value;
    }
    total
}

/// The largest element; −∞ for an empty slice, NaN if any element is NaN.
pub fn max(x: &[f32]) -> f32 {
    // x [N] -> scalar
    let mut largest = f32::NEG_INFINITY;
    for &value in x {
        if value.is_nan() {
            return value;
        }
        if value > largest {
            largest = value;
        }
    }
    largest
}
