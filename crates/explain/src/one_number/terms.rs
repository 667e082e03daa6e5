//! The terms and steps of each kind of number.

use engine::error::Result;
use engine::math;
use engine::nn::feed_forward::Activation;
use engine::nn::norm::LayerNorm;
use engine::nn::projection::Projection;
use engine::parameters::Weight;
use ndarray::{Array2, ArrayView1};

use crate::norm_steps::layer_norm_steps;
use crate::softmax_steps::safe;

/// The columns of the terms: of a product its two factors, the product and the running sum.
pub(super) const PROJECTED: &[&str] = &["$x$", "$W$", "product", "running sum"];
pub(super) const SCORED: &[&str] = &["$q$", "$k$", "product", "running sum"];
pub(super) const MIXED: &[&str] = &["weight", "$v$", "product", "running sum"];
pub(super) const JOINED: &[&str] = &["heads", "$W_O$", "product", "running sum"];
pub(super) const WIDENED: &[&str] = &["$x$", "$W_1$", "product", "running sum"];
pub(super) const NARROWED: &[&str] = &["inner", "$W_2$", "product", "running sum"];
pub(super) const READ: &[&str] = &["$x$", "$E$", "product", "running sum"];
pub(super) const EMBEDDED: &[&str] = &["pixel", "$E$", "product", "running sum"];
pub(super) const CLASSIFIED: &[&str] = &["$y$", "$W$", "product", "running sum"];

/// The columns of a softmax.
const SHARED: &[&str] = &["score", "exp", "running sum"];

/// The columns of a sum of two numbers.
const SUM: &[&str] = &["number", "running sum"];

/// What the columns of the terms are, the terms `[K, M]`, and the steps after their sum: see
/// [`super::OneNumber`].
pub type Parts = (
    &'static [&'static str],
    Array2<f32>,
    Vec<(&'static str, f32)>,
);

pub(super) fn none(steps: Vec<(&'static str, f32)>) -> Parts {
    (&[], Array2::zeros((0, 0)), steps)
}

/// The products of two vectors, [K, 4]: factors, product, running sum; and the sum.
pub(super) fn products(
    left: ArrayView1<'_, f32>,
    right: ArrayView1<'_, f32>,
) -> (Array2<f32>, f32) {
    // left [K], right [K] -> [K, 4]
    let mut terms = Array2::zeros((left.len(), 4));
    let mut total = 0.0_f32;
    for (mut term, (&x, &w)) in terms.rows_mut().into_iter().zip(left.iter().zip(right)) {
        let product = x * w;
        total += product;
        term.assign(&ndarray::aview1(&[x, w, product, total]));
    }
    (terms, total)
}

/// One number of a linear layer.
pub(super) fn linear(
    x: ArrayView1<'_, f32>,
    layer: &Projection,
    output: usize,
    columns: &'static [&'static str],
) -> Result<Parts> {
    // x [C_in]
    let weights: &Weight = &layer.weight;
    let (terms, total) = products(x, weights.rows(&[output])?.row(0));
    let mut steps = vec![("sum", total)];
    let bias = layer.bias.as_ref().map(|bias| bias[output]);
    if let Some(bias) = bias {
        steps.push(("+ bias", bias));
    }
    steps.push(("=", total + bias.unwrap_or(0.0)));
    Ok((columns, terms, steps))
}

/// a + b.
pub(super) fn sum(a: f32, b: f32) -> Parts {
    let terms = ndarray::array![[a, a], [b, a + b]];
    (SUM, terms, vec![("= sum", a + b)])
}

/// Number `c` of the softmax of a row.
pub(super) fn softmax(row: ArrayView1<'_, f32>, c: usize) -> Result<Parts> {
    // row [S]
    let all = safe(row, 1.0)?;
    let mut terms = Array2::zeros((row.len(), 3));
    let mut total = 0.0_f32;
    for (k, mut term) in terms.rows_mut().into_iter().enumerate() {
        total += all.exponentials[k];
        term.assign(&ndarray::aview1(&[row[k], all.exponentials[k], total]));
    }
    let own = all.exponentials[c];
    let steps = vec![("exp", own), ("\u{f7} sum", total), ("=", own / total)];
    Ok((SHARED, terms, steps))
}

/// Number `c` of a layer norm.
pub(super) fn norm(x: ArrayView1<'_, f32>, norm: &LayerNorm, c: usize) -> Parts {
    // x [C]
    let steps = layer_norm_steps(x, norm.eps);
    let (gamma, beta) = (norm.gamma[c], norm.beta[c]);
    none(vec![
        ("$x$", x[c]),
        ("\u{2212} mean", steps.mean),
        ("\u{f7} standard deviation", steps.deviation),
        ("\u{d7} $\u{3b3}$", gamma),
        ("+ $\u{3b2}$", beta),
        ("=", steps.output[c] * gamma + beta),
    ])
}

/// The activation of one number; the steps of GELU with the error function (ViT) and as GPT-2
/// computes it.
pub(super) fn activation(x: f32, activation: Activation) -> Parts {
    match activation {
        Activation::Gelu => {
            let share = (1.0 + math::erf(x * std::f32::consts::FRAC_1_SQRT_2)) / 2.0;
            none(vec![
                ("$x$", x),
                ("\u{3a6}($x$) = (1 + erf($x$/\u{221a}2)) / 2", share),
                ("= $x$ \u{3a6}($x$)", x * share),
            ])
        }
        Activation::GeluTanh => {
            let inside = math::sqrt(2.0 / std::f32::consts::PI) * (x + 0.044_715 * x * x * x);
            let tanh = math::tanh(inside);
            none(vec![
                ("$x$", x),
                (
                    "$u$ = \u{221a}(2/\u{3c0}) ($x$ + 0.044715 $x$\u{b3})",
                    inside,
                ),
                ("tanh $u$", tanh),
                ("= $x$ (1 + tanh $u$) / 2", x * (1.0 + tanh) / 2.0),
            ])
        }
        _ => {
            let mut one = ndarray::array![[x]];
            activation.apply(&mut one);
            none(vec![("$x$", x), ("=", one[[0, 0]])])
        }
    }
}
