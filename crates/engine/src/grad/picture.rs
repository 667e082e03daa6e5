//! Operations of picture models and rotary positions: class tokens before patches, windows of a
//! convolution, rotations.

use super::tape::{Tape, Var, add};
use crate::error::Result;
use crate::nn::plain::expect_multiple;
use crate::nn::position::rope::RotaryTable;
use crate::nn::unfold::Windows;
use crate::shape::{expect, matrix};
use ndarray::Array1;

/// A parameter as a new row before every `every` rows.
pub(super) fn prepend(tape: &mut Tape, x: Var, first: &Array1<f32>, every: usize) -> Result<Var> {
    // x [B·N, C], first [C] -> [B·(1 + N), C]
    let width = x.cols;
    expect("picture", "class token", &[width], first.shape())?;
    expect_multiple("picture", x.rows, every)?;
    let leaf = tape.leaf(first);
    let first = first.to_vec();
    let count = x.rows / every;
    let mut out = Vec::with_capacity(x.len() + count * width);
    for rows in tape.numbers(x).chunks_exact((every * width).max(1)) {
        out.extend_from_slice(&first);
        out.extend_from_slice(rows);
    }
    let dim = (count * (every + 1), width);
    Ok(
        tape.push_with(dim, out, &[x], &[leaf], move |_, grad, into| {
            let step = ((every + 1) * width).max(1);
            if let Some(sum) = into.leaf(leaf, width) {
                for rows in grad.chunks_exact(step) {
                    add(sum, &rows[..width]);
                }
            }
            if let Some(sum) = into.at(x) {
                let sums = sum.chunks_exact_mut((every * width).max(1));
                for (sum, rows) in sums.zip(grad.chunks_exact(step)) {
                    add(sum, &rows[width..]);
                }
            }
        }),
    )
}

/// The windows of a convolution, one a row.
pub(super) fn unfold(tape: &mut Tape, x: Var, windows: &Windows) -> Result<Var> {
    // x [B·H·W, C] -> [B·H'·W', C·P·P]
    let out = windows.unfold(tape.value(&x)?.view())?;
    let (windows, pictures, dim) = (*windows, windows.pictures(x.rows)?, out.dim());
    let (out, _) = out.into_raw_vec_and_offset();
    Ok(tape.push(dim, out, &[x], move |_, grad, into| {
        if let Some(sum) = into.at(x) {
            // The forward pass visited the same elements.
            let _ = windows.places(pictures, x.cols, |[n, at], [pixel, c]| {
                sum[pixel * x.cols + c] += grad[n * dim.1 + at];
            });
        }
    }))
}

/// Rotary positions; the gradient is rotated by the opposite angle.
pub(super) fn apply_rotary(
    tape: &mut Tape,
    x: Var,
    rotary: &RotaryTable,
    head_width: usize,
) -> Result<Var> {
    // x [T, H·D]
    let mut rotated = tape.value(&x)?;
    rotary.apply(&mut rotated, head_width)?;
    let mut back = rotary.clone();
    back.sin.mapv_inplace(|sin| -sin);
    let (out, _) = rotated.into_raw_vec_and_offset();
    Ok(tape.push(x.dim(), out, &[x], move |_, grad, into| {
        // The forward pass rotated the same shapes.
        if let Ok(mut grad) = matrix("rope", x.rows, x.cols, grad)
            && back.apply(&mut grad, head_width).is_ok()
        {
            into.give(x, grad.into_raw_vec_and_offset().0);
        }
    }))
}
