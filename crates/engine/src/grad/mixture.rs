//! Softmax as a step of its own, and products of two results.
//!
//! ```text
//! W = softmax of each row of E:   Ē += W ⊙ (W̄ − Σ_row W ⊙ W̄)
//! C = W H:                        W̄ += C̄ Hᵀ     H̄ += Wᵀ C̄
//! C = A ⊙ B:                      Ā += C̄ ⊙ B     B̄ += C̄ ⊙ A
//! ```
//! Attention layers have softmax and product in one step ([`super::attention`]); these are for
//! scores that are parameters themselves, for gates and for mixtures of experts.

use super::norm::add_products;
use super::tape::{Tape, Var, add};
use crate::error::Result;
use crate::kernel::{Kernels, ProductShape};
use crate::nn::softmax::{check_top_k, top_indices};
use crate::shape::{expect, mismatch};
use ndarray::ArrayView1;

impl Tape {
    /// Softmax of each row.
    pub fn softmax(&mut self, x: &Var) -> Var {
        // x [T, S] -> [T, S]
        let scores = self.numbers(*x).to_vec();
        self.softmax_of(*x, scores)
    }

    /// Softmax of each row of `weights`: the numbers of `x`, some of them hidden by −∞, through
    /// which no gradient goes.
    fn softmax_of(&mut self, x: Var, mut weights: Vec<f32>) -> Var {
        let width = x.cols.max(1);
        let kernels = self.kernels;
        for row in weights.chunks_exact_mut(width) {
            kernels.softmax(row);
        }
        self.push_like(x, weights, move |past, weights, grad| {
            let weights = weights.chunks_exact(width);
            for (grad, weights) in grad.chunks_exact_mut(width).zip(weights) {
                softmax_back(past.kernels, weights, grad);
            }
        })
    }

    /// a · b.
    ///
    /// # Errors
    /// When `a` has not as many columns as `b` has rows.
    pub fn product(&mut self, a: &Var, b: &Var) -> Result<Var> {
        // a [T, S], b [S, K] -> [T, K]
        let (a, b) = (*a, *b);
        if a.cols != b.rows {
            let expected = "[T, S] · [S, K]";
            return Err(mismatch("product", expected, &a.shape(), &b.shape()));
        }
        let [rows, inner, cols] = [a.rows, a.cols, b.cols];
        let (left, right) = (self.numbers(a), self.numbers(b));
        let shape = ProductShape::new([rows, inner, cols]);
        let out = self.kernels.new_product(left, right, &shape);
        let dim = (rows, cols);
        Ok(self.push(dim, out, &[a, b], move |past, grad, into| {
            let kernels = past.kernels;
            if let Some(sum) = into.at(a) {
                let mut part = vec![0.0; rows * inner];
                kernels.matmul_nt(&grad, past.value(b), &mut part, rows, cols, inner);
                add(sum, &part);
            }
            let shape = ProductShape::transposed([inner, rows, cols]);
            into.add_product(kernels, b, [past.value(a), &grad], shape);
        }))
    }
}

/// a ⊙ b.
pub(super) fn multiply(tape: &mut Tape, a: Var, b: Var) -> Result<Var> {
    expect("multiply", "b", &a.shape(), &b.shape())?;
    let pairs = tape.numbers(a).iter().zip(tape.numbers(b));
    let out = pairs.map(|(a, b)| a * b).collect();
    Ok(tape.push(a.dim(), out, &[a, b], move |past, grad, into| {
        for (own, other) in [(a, b), (b, a)] {
            if let Some(sum) = into.at(own) {
                add_products(sum, &grad, past.value(other));
            }
        }
    }))
}

/// Each row of `x` times its own factor, `[rows, 1]`.
pub(super) fn scale_rows(tape: &mut Tape, x: Var, factors: Var) -> Result<Var> {
    expect("scale_rows", "factors", &[x.rows, 1], &factors.shape())?;
    let width = x.cols.max(1);
    let by_factors = move |values: &mut [f32], factors: &[f32]| {
        for (row, factor) in values.chunks_exact_mut(width).zip(factors) {
            row.iter_mut().for_each(|value| *value *= factor);
        }
    };
    let mut out = tape.numbers(x).to_vec();
    by_factors(&mut out, tape.numbers(factors));
    let from = [x, factors];
    Ok(tape.push(x.dim(), out, &from, move |past, mut grad, into| {
        if let Some(sum) = into.at(factors) {
            let rows = past.value(x).chunks_exact(width);
            for ((sum, row), grad) in sum.iter_mut().zip(rows).zip(grad.chunks_exact(width)) {
                *sum += past.kernels.dot(grad, row);
            }
        }
        by_factors(&mut grad, past.value(factors));
        into.give(x, grad);
    }))
}

/// The gradient of the scores of one softmax from that of its weights, in place: w ⊙ (w̄ − Σ w ⊙
/// w̄).
pub(super) fn softmax_back(kernels: &Kernels, weights: &[f32], grad: &mut [f32]) {
    let along = kernels.dot(grad, weights);
    for (grad, weight) in grad.iter_mut().zip(weights) {
        *grad = weight * (*grad - along);
    }
}

/// Softmax over the `k` largest numbers of each row, 0 elsewhere; the choice itself has no
/// gradient.
pub(super) fn top_k_softmax(tape: &mut Tape, x: Var, k: usize) -> Result<Var> {
    // x [T, E] -> [T, E]
    check_top_k(k, x.cols)?;
    let mut hidden = tape.numbers(x).to_vec();
    for row in hidden.chunks_exact_mut(x.cols) {
        let chosen = top_indices(ArrayView1::from(&*row), k);
        for (n, value) in row.iter_mut().enumerate() {
            if !chosen.contains(&n) {
                *value = f32::NEG_INFINITY;
            }
        }
    }
    Ok(tape.softmax_of(x, hidden))
}
