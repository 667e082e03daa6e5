//! The two halves of attention as steps of their own: a softmax, and a product of two results.
//!
//! ```text
//! W = softmax of each row of E:   Ē += W ⊙ (W̄ − Σ_row W ⊙ W̄)
//! C = W H:                        W̄ += C̄ Hᵀ     H̄ += Wᵀ C̄
//! ```
//! Layers have both in one step ([`super::attention`]); these are for models that hand in scores of their own.

use super::linear::product;
use super::tape::{Tape, Var, add};
use crate::error::Result;
use crate::nn::shape::mismatch;

impl Tape {
    /// Softmax of each row.
    pub fn softmax(&mut self, x: &Var) -> Var {
        // x [T, S] -> [T, S]
        let (x, width) = (*x, x.cols.max(1));
        let mut weights = self.numbers(x).to_vec();
        for row in weights.chunks_exact_mut(width) {
            self.kernels.softmax(row);
        }
        let at = self.next();
        let dim = (x.rows, x.cols);
        self.push(dim, weights, &[x], &[], move |past, mut grad, into| {
            let weights = past.value(Var { at, ..x }).chunks_exact(width);
            for (grad, weights) in grad.chunks_exact_mut(width).zip(weights) {
                let along = past.kernels.dot(grad, weights);
                for (grad, weight) in grad.iter_mut().zip(weights) {
                    *grad = weight * (*grad - along);
                }
            }
            into.give(x, grad);
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
        let out = product(self.kernels, left, right, [rows, inner, cols]);
        Ok(
            self.push((rows, cols), out, &[a, b], &[], move |past, grad, into| {
                let kernels = past.kernels;
                if let Some(sum) = into.at(a) {
                    let mut part = vec![0.0; rows * inner];
                    kernels.matmul_nt(&grad, past.value(b), &mut part, rows, cols, inner);
                    add(sum, &part);
                }
                if let Some(sum) = into.at(b) {
                    let mut part = vec![0.0; inner * cols];
                    kernels.matmul_tn(past.value(a), &grad, &mut part, inner, rows, cols);
                    add(sum, &part);
                }
            }),
        )
    }
}
