//! Functions of each element.
//!
//! ```text
//! y = max(x, 0):      x̄ += ȳ where y > 0, 0 elsewhere
//! y = x · s(x):       x̄ += ȳ · (s + x · s'),  s = y / x
//! GELU:       s = Φ(x),     s' = exp(−x²/2)/√(2π)
//! SiLU:       s = σ(x),     s' = s (1 − s)
//! quick GELU: s = σ(a x),   s' = a s (1 − s),                       a = 1.702
//! GELU, tanh: s = σ(2u),    s' = 2 s (1 − s) u',  u = √(2/π) (x + 0.044715 x³)
//! y = tanh(x):        x̄ += ȳ · (1 − y²)
//! ```
//! s is read back from y, which the quick kernels computed: y is a product of x and s, so y / x has
//! all of s's digits.

use super::tape::{Tape, Var, on_threads};
use crate::kernel::Kernels;
use crate::nn::feed_forward::Activation;

/// Elements that are changed together: whole vectors of every set of kernels.
const SPAN: usize = 256;
/// √(2/π) and the cubic's factor of GELU's tanh form.
const TANH_SCALE: f32 = 0.797_884_6;
const TANH_CUBE: f32 = 0.044_715;
/// 1/√(2π).
const NORMAL_PEAK: f32 = 0.398_942_3;
/// The factor of GELU by a sigmoid.
const QUICK: f32 = 1.702;
/// Below this y / x may be 0/0; s is 1/2 there to the last bit.
const TINY: f32 = 1e-20;

/// An activation of each element.
pub(super) fn activate(tape: &mut Tape, x: Var, activation: Activation) -> Var {
    let mut y = tape.numbers(x).to_vec();
    let kernels = tape.kernels;
    on_threads(&mut y, SPAN, |_, y| match activation {
        Activation::Relu => kernels.relu(y),
        Activation::Gelu => kernels.gelu(y),
        Activation::GeluTanh => kernels.gelu_tanh(y),
        Activation::Silu => kernels.silu(y),
        Activation::QuickGelu => {
            // x σ(a x) = silu(a x) / a.
            y.iter_mut().for_each(|value| *value *= QUICK);
            kernels.silu(y);
            y.iter_mut().for_each(|value| *value /= QUICK);
        }
    });
    tape.push_like(x, y, move |past, y, grad| {
        let (kernels, x) = (past.kernels, past.value(x));
        match activation {
            Activation::Relu => slope(grad, x, y, |grad, _, y| if y > 0.0 { grad } else { 0.0 }),
            Activation::Gelu => on_threads(grad, SPAN, |first, grad| {
                let here = first * SPAN..first * SPAN + grad.len();
                gelu_slope(kernels, grad, &x[here.clone()], &y[here]);
            }),
            Activation::GeluTanh => slope(grad, x, y, |grad, x, y| {
                let s = share(y, x);
                let inner = TANH_SCALE * (1.0 + 3.0 * TANH_CUBE * x * x);
                grad * (s + 2.0 * y * (1.0 - s) * inner)
            }),
            Activation::Silu => slope(grad, x, y, |grad, x, y| {
                let s = share(y, x);
                grad * (s + y * (1.0 - s))
            }),
            Activation::QuickGelu => slope(grad, x, y, |grad, x, y| {
                let s = share(y, x);
                grad * (s + QUICK * y * (1.0 - s))
            }),
        }
    })
}

/// The same for GELU, whose exponentials are computed a span at a time.
fn gelu_slope(kernels: &Kernels, grad: &mut [f32], x: &[f32], y: &[f32]) {
    let mut bell = [0.0; SPAN];
    let all = grad
        .chunks_mut(SPAN)
        .zip(x.chunks(SPAN))
        .zip(y.chunks(SPAN));
    for ((grad, x), y) in all {
        let bell = &mut bell[..x.len()];
        for (bell, x) in bell.iter_mut().zip(x) {
            *bell = -0.5 * x * x;
        }
        kernels.exp(bell);
        for (((grad, &x), &y), bell) in grad.iter_mut().zip(x).zip(y).zip(bell) {
            *grad *= share(y, x) + x * NORMAL_PEAK * *bell;
        }
    }
}

/// Replaces each gradient of a result by that of its argument, from the gradient, x and y.
fn slope(grad: &mut [f32], x: &[f32], y: &[f32], of: impl Fn(f32, f32, f32) -> f32 + Sync) {
    on_threads(grad, 1, |first, grad| {
        for ((grad, &x), &y) in grad.iter_mut().zip(&x[first..]).zip(&y[first..]) {
            *grad = of(*grad, x, y);
        }
    });
}

/// Hyperbolic tangent of each element.
pub(super) fn tanh(tape: &mut Tape, x: Var) -> Var {
    let mut y = tape.numbers(x).to_vec();
    tanh_in_place(tape.kernels, &mut y);
    tape.push_like(x, y, |_, y, grad| {
        for (grad, y) in grad.iter_mut().zip(y) {
            *grad *= 1.0 - y * y;
        }
    })
}

/// σ(x) = silu(x) / x of each element.
pub(super) fn sigmoid_in_place(kernels: &Kernels, x: &mut [f32]) {
    let before = x.to_vec();
    kernels.silu(x);
    for (value, before) in x.iter_mut().zip(before) {
        *value = share(*value, before);
    }
}

/// tanh(x) = 2 σ(2x) − 1 of each element.
pub(super) fn tanh_in_place(kernels: &Kernels, x: &mut [f32]) {
    x.iter_mut().for_each(|value| *value *= 2.0);
    sigmoid_in_place(kernels, x);
    x.iter_mut().for_each(|value| *value = 2.0 * *value - 1.0);
}

/// s = y / x, 1/2 at 0.
fn share(y: f32, x: f32) -> f32 {
    if x.abs() < TINY { 0.5 } else { y / x }
}
