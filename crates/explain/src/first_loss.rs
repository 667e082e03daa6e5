//! The loss of a classifier before its first step, and what a zero-initialised head makes of it.
//!
//! ```text
//! logits = h · Wᵀ              h [B, C], W [K, C] -> [B, K]
//! loss   = mean over the rows of −ln softmax(logits)_label
//! W = 0: every class gets 1/K, so the loss is ln K, and ∂loss/∂h = (p − y) · W / B = 0
//! ```
//!
//! ```
//! use explain::first_loss::first_loss;
//! use ndarray::Array2;
//! let (h, w) = (Array2::ones((3, 4)), Array2::zeros((10, 4)));
//! assert_eq!(first_loss(h.view(), w.view(), &[0, 5, 9])?, 10.0_f32.ln());
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Dosovitskiy et al. 2021, section 3.2: for fine-tuning, the head is replaced by a
//! zero-initialised one.

use engine::error::{EngineError, Result};
use engine::math;
use engine::nn::linear::linear;
use engine::nn::softmax::softmax;
use ndarray::{Array2, ArrayView2};

/// The mean cross-entropy in nats of a head `w` on the vectors `h` of a batch.
///
/// # Errors
/// When there is not one label below K for each vector, or the widths differ.
pub fn first_loss(h: ArrayView2<'_, f32>, w: ArrayView2<'_, f32>, labels: &[usize]) -> Result<f32> {
    // h [B, C], w [K, C], labels [B] -> scalar
    let logits = linear(h, w, None)?;
    check(logits.view(), labels)?;
    let rows = logits.outer_iter().zip(labels);
    let losses = rows.map(|(row, &label)| -math::ln(softmax(row)[label]));
    let total: f64 = losses.map(f64::from).sum();
    Ok((total / labels.len() as f64) as f32)
}

/// The gradient of that loss with respect to `h`: what the body of the network learns from.
///
/// # Errors
/// As [`first_loss`].
pub fn gradient(
    h: ArrayView2<'_, f32>,
    w: ArrayView2<'_, f32>,
    labels: &[usize],
) -> Result<Array2<f32>> {
    // h [B, C], w [K, C], labels [B] -> [B, C]
    let mut slopes = linear(h, w, None)?;
    check(slopes.view(), labels)?;
    for (mut row, &label) in slopes.outer_iter_mut().zip(labels) {
        let weights = softmax(row.view());
        row.assign(&weights);
        row[label] -= 1.0;
    }
    let count = labels.len() as f32;
    Ok(engine::nn::linear::project(slopes.view(), w)?.mapv(|x| x / count))
}

fn check(logits: ArrayView2<'_, f32>, labels: &[usize]) -> Result<()> {
    let (rows, classes) = logits.dim();
    engine::shape::expect("first_loss", "labels", &[rows], &[labels.len()])?;
    if rows == 0 {
        return Err(EngineError::value("first_loss", "vectors", "at least 1", 0));
    }
    match labels.iter().find(|&&label| label >= classes) {
        Some(label) => {
            let expected = format!("below {classes}");
            Err(EngineError::value("first_loss", "label", expected, label))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::grad::Tape;
    use engine::nn::compute::Compute;
    use engine::rng::normal_matrix;

    /// The same as the loss that networks are trained with.
    #[test]
    fn the_loss_is_the_tapes() {
        let (h, w) = (
            normal_matrix(1, "h", 4, 6, 1.0),
            normal_matrix(1, "w", 5, 6, 0.7),
        );
        let labels = [0, 4, 2, 2];
        let mut tape = Tape::new();
        let logits = linear(h.view(), w.view(), None).unwrap();
        let x = tape.constant(logits.view());
        let loss = tape.cross_entropy(&x, &labels.map(Some), 0.0).unwrap();
        let expected = tape.value(&loss).unwrap()[[0, 0]];
        let found = first_loss(h.view(), w.view(), &labels).unwrap();
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }

    /// The gradient against central differences; with a head of zeros there is none.
    #[test]
    fn the_gradient_is_the_slope() {
        let (h, w) = (
            normal_matrix(2, "h", 3, 4, 1.0),
            normal_matrix(2, "w", 5, 4, 0.7),
        );
        let labels = [1, 0, 3];
        let found = gradient(h.view(), w.view(), &labels).unwrap();
        for at in [[0, 0], [1, 3], [2, 2]] {
            let beside = [0.01f32, -0.01].map(|step| {
                let mut moved = h.clone();
                moved[at] += step;
                first_loss(moved.view(), w.view(), &labels).unwrap()
            });
            assert!(((beside[0] - beside[1]) / 0.02 - found[at]).abs() < 1e-3);
        }
        let zeros = Array2::zeros((5, 4));
        let none = gradient(h.view(), zeros.view(), &labels).unwrap();
        assert!(none.iter().all(|&x| x == 0.0));
    }

    #[test]
    fn labels_that_do_not_fit_are_refused() {
        let (h, w) = (Array2::zeros((2, 3)), Array2::zeros((4, 3)));
        for labels in [&[0][..], &[0, 4]] {
            assert!(first_loss(h.view(), w.view(), labels).is_err());
            assert!(gradient(h.view(), w.view(), labels).is_err());
        }
        assert!(first_loss(Array2::zeros((0, 3)).view(), w.view(), &[]).is_err());
    }
}
