//! Norms.
//!
//! ```text
//! layer norm: y = x̂ ⊙ γ + β,  x̂ = (x − mean x)/σ,  g = ȳ ⊙ γ:   x̄ += (g − mean g − x̂ · mean(g ⊙ x̂))/σ
//! RMS norm:   y = x̂ ⊙ γ,      x̂ = x/σ:                          x̄ += (g − x̂ · mean(g ⊙ x̂))/σ
//!             γ̄ += Σ_rows ȳ ⊙ x̂     β̄ += Σ_rows ȳ
//! ```
//! Source: Ba, Kiros and Hinton 2016, supplementary material; Zhang and Sennrich 2019, section 4.

use super::linear::add_rows;
use super::tape::{Tape, Var, on_threads};
use crate::error::Result;
use crate::kernel::{Kernels, threads};
use crate::shape::expect;
use ndarray::Array1;

/// Layer norm of each row; without a shift, RMS norm.
pub(super) fn norm(
    tape: &mut Tape,
    x: Var,
    gamma: &Array1<f32>,
    beta: Option<&Array1<f32>>,
    eps: f32,
) -> Result<Var> {
    // x [T, C], gamma, beta [C] -> [T, C]
    let (width, centred) = (x.cols, beta.is_some());
    let operation = if centred { "layer_norm" } else { "rms_norm" };
    expect(operation, "gamma", &[width], gamma.shape())?;
    if let Some(beta) = beta {
        expect(operation, "beta", &[width], beta.shape())?;
    }
    let mut y = vec![0.0; x.len()];
    let leaves = [tape.leaf(gamma), beta.and_then(|beta| tape.leaf(beta))];
    let (gamma, beta) = (gamma.to_vec(), beta.map(|beta| beta.to_vec()));
    let (kernels, numbers) = (tape.kernels, tape.numbers(x));
    on_threads(&mut y, width, |first, out| {
        let rows = numbers[first * width..].chunks_exact(width);
        for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
            match &beta {
                Some(beta) => kernels.layer_norm(row, &gamma, beta, eps, out),
                None => kernels.rms_norm(row, &gamma, eps, out),
            }
        }
    });
    let dim = (x.rows, width);
    Ok(
        tape.push_with(dim, y, &[x], &leaves, move |past, grad, into| {
            if let Some(sum) = into.leaf(leaves[1], width) {
                add_rows(sum, &grad);
            }
            let normal = normalised(past.kernels, past.value(x), width, eps, centred);
            if let Some(sum) = into.leaf(leaves[0], width) {
                add_products(sum, &grad, &normal.rows);
            }
            if into.wants(x) {
                into.give(x, back(past.kernels, grad, &normal, &gamma, centred));
            }
        }),
    )
}

/// Rows that one thread normalises at a time.
const ROWS: usize = 64;

/// x̂ of each row, and 1/σ.
struct Normal {
    rows: Vec<f32>,
    inverse: Vec<f32>,
}

fn normalised(kernels: &Kernels, x: &[f32], width: usize, eps: f32, centred: bool) -> Normal {
    let count = width as f32;
    let mut rows = x.to_vec();
    let mut inverse = vec![0.0; x.len() / width.max(1)];
    let mut parts: Vec<_> = rows
        .chunks_mut((ROWS * width).max(1))
        .zip(inverse.chunks_mut(ROWS))
        .collect();
    threads::chunks(&mut parts, 1, 2, |_, part| {
        for (rows, inverse) in part {
            for (row, inverse) in rows.chunks_exact_mut(width.max(1)).zip(inverse.iter_mut()) {
                if centred {
                    let mean = kernels.sum(row) / count;
                    row.iter_mut().for_each(|value| *value -= mean);
                }
                *inverse = 1.0 / (kernels.dot(row, row) / count + eps).sqrt();
                row.iter_mut().for_each(|value| *value *= *inverse);
            }
        }
    });
    Normal { rows, inverse }
}

/// x̄ from ȳ, which it replaces.
fn back(
    kernels: &Kernels,
    mut grad: Vec<f32>,
    normal: &Normal,
    gamma: &[f32],
    centred: bool,
) -> Vec<f32> {
    let width = gamma.len();
    on_threads(&mut grad, width, |first, rows| {
        back_rows(kernels, rows, normal, first, gamma, centred);
    });
    grad
}

/// The same for the rows from `first` on.
fn back_rows(
    kernels: &Kernels,
    grad: &mut [f32],
    normal: &Normal,
    first: usize,
    gamma: &[f32],
    centred: bool,
) {
    let width = gamma.len();
    let normals = normal.rows[first * width..].chunks_exact(width);
    let rows = normals.zip(&normal.inverse[first..]);
    for (row, (normal, inverse)) in grad.chunks_exact_mut(width).zip(rows) {
        for (value, gamma) in row.iter_mut().zip(gamma) {
            *value *= gamma;
        }
        let mean = match centred {
            true => kernels.sum(row) / width as f32,
            false => 0.0,
        };
        let along = kernels.dot(row, normal) / width as f32;
        for (value, normal) in row.iter_mut().zip(normal) {
            *value = (*value - mean - normal * along) * inverse;
        }
    }
}

/// sum += Σ_rows a ⊙ b.
pub(super) fn add_products(sum: &mut [f32], a: &[f32], b: &[f32]) {
    let width = sum.len().max(1);
    for (a, b) in a.chunks_exact(width).zip(b.chunks_exact(width)) {
        for ((sum, a), b) in sum.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
}
