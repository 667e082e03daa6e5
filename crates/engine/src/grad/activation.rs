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

use super::tape::{Tape, Var};
use crate::kernel::Kernels;
use crate::math;
use crate::nn::feed_forward::Activation;

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
    match activation {
        Activation::Relu => kernels.relu(&mut y),
        Activation::Gelu => kernels.gelu(&mut y),
        Activation::GeluTanh => kernels.gelu_tanh(&mut y),
        Activation::Silu => kernels.silu(&mut y),
        Activation::QuickGelu => {
            // x σ(a x) = silu(a x) / a.
            y.iter_mut().for_each(|value| *value *= QUICK);
            kernels.silu(&mut y);
            y.iter_mut().for_each(|value| *value /= QUICK);
        }
    }
    tape.push_like(x, y, move |past, y, grad| {
        let x = past.value(x);
        match activation {
            Activation::Relu => slope(grad, x, y, |grad, _, y| if y > 0.0 { grad } else { 0.0 }),
            Activation::Gelu => slope(grad, x, y, |grad, x, y| {
                grad * (share(y, x) + x * NORMAL_PEAK * math::exp(-0.5 * x * x))
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

/// Replaces each gradient of a result by that of its argument, from the gradient, x and y.
fn slope(grad: &mut [f32], x: &[f32], y: &[f32], of: impl Fn(f32, f32, f32) -> f32) {
    for ((grad, &x), &y) in grad.iter_mut().zip(x).zip(y) {
        *grad = of(*grad, x, y);
    }
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
