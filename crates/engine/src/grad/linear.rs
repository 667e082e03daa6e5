//! Products with weights.
//!
//! ```text
//! y = x · Wᵀ + b       x̄ += ȳ · W      W̄ += ȳᵀ · x      b̄ += Σ_rows ȳ
//! ```

use super::tape::{Tape, Var, add};
use crate::error::Result;
use crate::kernel::Kernels;
use crate::parameters::Weight;
use crate::shape::{expect, mismatch};
use ndarray::Array1;

/// x · weightᵀ + bias.
pub(super) fn linear(
    tape: &mut Tape,
    x: Var,
    weight: &Weight,
    bias: Option<&Array1<f32>>,
) -> Result<Var> {
    // x [T, C_in], weight [C_out, C_in], bias [C_out] -> [T, C_out]
    let ((outputs, inputs), tokens) = (weight.dim(), x.rows);
    if x.cols != inputs {
        let expected = "[T, K] · [N, K] transposed";
        return Err(mismatch("linear", expected, &x.shape(), &[outputs, inputs]));
    }
    let loaded = tape.weight(weight)?;
    let mut y = vec![0.0; tokens * outputs];
    let (kernels, numbers) = (tape.kernels, tape.numbers(x));
    kernels.matmul(numbers, &loaded.transposed, &mut y, tokens, inputs, outputs);
    let mut bias_leaf = None;
    if let Some(bias) = bias {
        expect("linear", "bias", &[outputs], bias.shape())?;
        bias_leaf = tape.leaf(bias);
        let bias = bias.to_vec();
        for row in y.chunks_exact_mut(outputs.max(1)) {
            add(row, &bias);
        }
    }
    let leaves = [loaded.leaf, bias_leaf];
    let dim = (tokens, outputs);
    Ok(
        tape.push_with(dim, y, &[x], &leaves, move |past, grad, into| {
            // grad [T, C_out]
            let kernels = past.kernels;
            if let Some(sum) = into.leaf(bias_leaf, outputs) {
                add_rows(sum, &grad);
            }
            if let Some(sum) = into.leaf(loaded.leaf, outputs * inputs) {
                let mut part = vec![0.0; outputs * inputs];
                kernels.matmul_tn(&grad, past.value(x), &mut part, outputs, tokens, inputs);
                add(sum, &part);
            }
            if into.wants(x) {
                let sizes = [tokens, outputs, inputs];
                into.give(x, product(kernels, &grad, &loaded.plain, sizes));
            }
        }),
    )
}

/// A · B in new memory.
pub(super) fn product(
    kernels: &Kernels,
    a: &[f32],
    b: &[f32],
    [rows, inner, cols]: [usize; 3],
) -> Vec<f32> {
    // a [M, K], b [K, N] -> [M, N]
    let mut out = vec![0.0; rows * cols];
    kernels.matmul(a, b, &mut out, rows, inner, cols);
    out
}

/// sum += Σ_rows.
pub(super) fn add_rows(sum: &mut [f32], rows: &[f32]) {
    // sum [C], rows [T, C]
    for row in rows.chunks_exact(sum.len().max(1)) {
        add(sum, row);
    }
}
