//! Cross-entropy with label smoothing and positions that do not count, and with whole distributions as
//! targets.
//!
//! ```text
//! t = (1 − ε) one-hot(target) + ε/V        p = softmax(logits)
//! loss = mean over the positions that count of −Σ_v t_v ln p_v        ∂loss/∂logits = (p − t)/count
//! ```
//! Targets that are distributions themselves, such as a teacher's, are the rows of t:
//!
//! ```text
//! loss = mean over the rows of −Σ_v t_v ln p_v                            ∂loss/∂logits = (Σ_v t_v · p − t)/count
//! ```
//! Source: Szegedy et al. 2016, "Rethinking the inception architecture", section 7 (label
//! smoothing); Vaswani et al. 2017, section 5.4; Hinton et al. 2015, "Distilling the knowledge in a
//! neural network", section 2 (soft targets).

use super::tape::{Tape, Var, on_threads};
use crate::error::{EngineError, Result};
use crate::kernel::threads;
use crate::math;
use crate::shape::{contiguous, expect};
use ndarray::ArrayView2;

impl Tape {
    /// The mean cross-entropy in nats, `[1, 1]`. A row whose target is `None` does not count
    /// (padding, words that were not masked).
    ///
    /// # Errors
    /// When there is not one target for each row, none counts, one is outside the vocabulary, or
    /// `smoothing` is not in [0, 1).
    pub fn cross_entropy(
        &mut self,
        logits: &Var,
        targets: &[Option<usize>],
        smoothing: f32,
    ) -> Result<Var> {
        // logits [T, V], targets [T] -> [1, 1]
        let (logits, classes) = (*logits, logits.cols);
        check(logits, targets, smoothing)?;
        let count = targets.iter().flatten().count();
        self.counted += count;
        let mut slopes = self.numbers(logits).to_vec();
        let (kernels, even) = (self.kernels, smoothing / classes as f32);
        let rows = slopes.chunks_exact_mut(classes).zip(targets);
        let mut rows: Vec<_> = rows.map(|row| (row, 0.0f32)).collect();
        let least = threads::LEAST_ELEMENTS / classes + 1;
        threads::chunks(&mut rows, 1, least, |_, rows| {
            for ((row, target), loss) in rows {
                let Some(target) = **target else {
                    row.fill(0.0);
                    continue;
                };
                let largest = kernels.max(row);
                let mean = kernels.sum(row) / classes as f32;
                let chosen = row[target];
                kernels.softmax(row);
                // exp(largest − largest) = 1, so the largest weight is 1 over the sum that softmax
                // divided by.
                let log_sum = largest - math::ln(kernels.max(row));
                let aim = (1.0 - smoothing) * chosen + smoothing * mean;
                *loss = log_sum - aim;
                row.iter_mut().for_each(|p| *p -= even);
                row[target] -= 1.0 - smoothing;
            }
        });
        // Added in order, whoever computed them.
        let total: f64 = rows.iter().map(|(_, loss)| f64::from(*loss)).sum();
        let loss = vec![(total / count as f64) as f32];
        Ok(self.push((1, 1), loss, &[logits], move |_, grad, into| {
            let factor = grad[0] / count as f32;
            on_threads(&mut slopes, 1, |_, slopes| {
                slopes.iter_mut().for_each(|slope| *slope *= factor);
            });
            into.give(logits, slopes);
        }))
    }

    /// The mean cross-entropy in nats of targets that are distributions, `[1, 1]`.
    ///
    /// # Errors
    /// When the targets have another shape than the logits, or there is no row.
    pub fn soft_cross_entropy(
        &mut self,
        logits: &Var,
        targets: ArrayView2<'_, f32>,
    ) -> Result<Var> {
        // logits [T, V], targets [T, V] -> [1, 1]
        let logits = *logits;
        let operation = "soft_cross_entropy";
        expect(operation, "targets", &logits.shape(), targets.shape())?;
        let (count, classes) = logits.dim();
        if count == 0 || classes == 0 {
            return Err(EngineError::value(operation, "rows", "at least 1", 0));
        }
        self.counted += count;
        let mut slopes = self.numbers(logits).to_vec();
        let (kernels, mut total) = (self.kernels, 0.0f64);
        let aims = contiguous(&targets);
        let rows = slopes.chunks_exact_mut(classes);
        for (row, aim) in rows.zip(aims.chunks_exact(classes)) {
            let largest = kernels.max(row);
            let (sum, meant) = (kernels.sum(aim), kernels.dot(row, aim));
            kernels.softmax(row);
            // As above: the largest weight is 1 over the sum that softmax divided by.
            let log_sum = largest - math::ln(kernels.max(row));
            total += f64::from(sum * log_sum - meant);
            for (p, t) in row.iter_mut().zip(aim) {
                *p = sum * *p - t;
            }
        }
        let loss = vec![(total / count as f64) as f32];
        Ok(self.push((1, 1), loss, &[logits], move |_, grad, into| {
            let factor = grad[0] / count as f32;
            slopes.iter_mut().for_each(|slope| *slope *= factor);
            into.give(logits, slopes);
        }))
    }

    /// Σ x ⊙ weights, `[1, 1]`: a loss that weighs every number of a result by itself, as checks of
    /// gradients need.
    ///
    /// # Errors
    /// When there is not one weight for each number.
    pub fn weighted_sum(&mut self, x: &Var, weights: &[f32]) -> Result<Var> {
        let x = *x;
        expect("weighted_sum", "weights", &[x.len()], &[weights.len()])?;
        let weights = weights.to_vec();
        let products = self.numbers(x).iter().zip(&weights);
        let total: f64 = products.map(|(&x, &w)| f64::from(x) * f64::from(w)).sum();
        let value = vec![total as f32];
        Ok(self.push((1, 1), value, &[x], move |_, grad, into| {
            into.give(x, weights.iter().map(|weight| weight * grad[0]).collect());
        }))
    }
}

fn check(logits: Var, targets: &[Option<usize>], smoothing: f32) -> Result<()> {
    let operation = "cross_entropy";
    expect(operation, "targets", &[logits.rows], &[targets.len()])?;
    if targets.iter().all(Option::is_none) {
        let expected = "at least 1 that counts";
        return Err(EngineError::value(operation, "targets", expected, "none"));
    }
    if let Some(target) = targets.iter().flatten().find(|&&id| id >= logits.cols) {
        let expected = format!("below {}", logits.cols);
        return Err(EngineError::value(operation, "target", expected, target));
    }
    if !(0.0..1.0).contains(&smoothing) {
        let (name, expected) = ("smoothing", "at least 0 and below 1");
        return Err(EngineError::value(operation, name, expected, smoothing));
    }
    Ok(())
}
