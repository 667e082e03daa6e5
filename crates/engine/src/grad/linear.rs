//! Products with weights.
//!
//! ```text
//! y = x · Wᵀ + b       x̄ += ȳ · W      W̄ += ȳᵀ · x      b̄ += Σ_rows ȳ
//! ```

use super::tape::{Tape, Var, add, add_product, on_threads};
use crate::error::Result;
use crate::kernel::ProductShape;
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
    let shape = ProductShape::new([tokens, inputs, outputs]);
    let (kernels, numbers) = (tape.kernels, tape.numbers(x));
    let mut y = kernels.new_product(numbers, &loaded.transposed, &shape);
    let mut bias_leaf = None;
    if let Some(bias) = bias {
        expect("linear", "bias", &[outputs], bias.shape())?;
        bias_leaf = tape.leaf(bias);
        let bias = bias.to_vec();
        on_threads(&mut y, outputs, |_, rows| {
            for row in rows.chunks_exact_mut(outputs) {
                add(row, &bias);
            }
        });
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
            if let Some(leaf) = loaded.leaf {
                let shape = ProductShape::transposed([outputs, tokens, inputs]);
                let factors = [&*grad, past.value(x)];
                add_product(kernels, &mut into.leaves[leaf], factors, shape);
            }
            let shape = ProductShape::new([tokens, outputs, inputs]);
            into.add_product(kernels, x, [&grad, &loaded.plain], shape);
        }),
    )
}

/// sum += Σ_rows.
pub(super) fn add_rows(sum: &mut [f32], rows: &[f32]) {
    // sum [C], rows [T, C]
    for row in rows.chunks_exact(sum.len().max(1)) {
        add(sum, row);
    }
}
