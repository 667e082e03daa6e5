//! Label smoothing: a target that is not quite certain, and the loss against it.
//!
//! ```text
//! t = (1 − ε) one-hot(target) + ε/V      p = softmax(logits)      loss = −Σ_v t_v ln p_v      ∂loss/∂logits = p − t
//! least possible loss: that of p = t, the entropy −Σ_v t_v ln t_v
//! ```
//!
//! ```
//! use explain::smoothed::smoothed;
//! use ndarray::array;
//! let plain = smoothed(array![2.0, 1.0, 0.0].view(), 0, 0.0)?;
//! assert!((plain.loss - 0.407_606).abs() < 1e-5);
//! let soft = smoothed(array![2.0, 1.0, 0.0].view(), 0, 0.3)?;
//! assert!(soft.loss > plain.loss && (soft.target[1] - 0.1).abs() < 1e-6);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Szegedy et al. 2016, "Rethinking the inception architecture for computer vision", section
//! 7; Vaswani et al. 2017, section 5.4.

use engine::error::{EngineError, Result};
use engine::math;
use engine::nn::softmax::softmax;
use ndarray::{Array1, ArrayView1};

/// What [`smoothed`] finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Smoothed {
    /// `[V]`: p.
    pub probabilities: Array1<f32>,
    /// `[V]`: t.
    pub target: Array1<f32>,
    /// `[V]`: the gradient of the loss with respect to the logits.
    pub gradient: Array1<f32>,
    /// In nats.
    pub loss: f32,
    /// The loss that no logits get below.
    pub least: f32,
}

/// The loss of some logits against the token `right`, smoothed by `epsilon`.
///
/// # Errors
/// When there is no token `right`, or `epsilon` is not in [0, 1).
pub fn smoothed(logits: ArrayView1<'_, f32>, right: usize, epsilon: f32) -> Result<Smoothed> {
    // logits [V]
    if right >= logits.len() {
        let expected = format!("below {}", logits.len());
        return Err(EngineError::value("smoothed", "right", expected, right));
    }
    if !(0.0..1.0).contains(&epsilon) {
        let expected = "at least 0 and below 1";
        return Err(EngineError::value("smoothed", "epsilon", expected, epsilon));
    }
    let probabilities = softmax(logits);
    let mut target = Array1::from_elem(logits.len(), epsilon / logits.len() as f32);
    target[right] += 1.0 - epsilon;
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = logits.iter().map(|&x| math::exp(x - largest)).sum();
    let log_sum = largest + math::ln(total);
    let losses = target.iter().zip(logits).map(|(&t, &x)| t * (log_sum - x));
    let entropy = target
        .iter()
        .filter(|&&t| t > 0.0)
        .map(|&t| -t * math::ln(t));
    Ok(Smoothed {
        gradient: &probabilities - &target,
        loss: losses.sum(),
        least: entropy.sum(),
        probabilities,
        target,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::grad::Tape;
    use engine::nn::compute::Compute;
    use ndarray::array;

    /// The loss and its gradient are those of the engine's training.
    #[test]
    fn it_is_the_loss_of_training() {
        let logits = array![[1.5_f32, -0.5, 0.25, 3.0]];
        for (right, epsilon) in [(0, 0.0), (3, 0.1), (1, 0.4)] {
            let mut tape = Tape::new();
            let x = tape.constant(logits.view());
            let loss = tape.cross_entropy(&x, &[Some(right)], epsilon).unwrap();
            let expected = tape.value(&loss).unwrap()[[0, 0]];
            let found = smoothed(logits.row(0), right, epsilon).unwrap();
            assert!((found.loss - expected).abs() < 1e-5, "{right}, {epsilon}");
            assert!(found.gradient.sum().abs() < 1e-6);
            // At p = t nothing pulls, and the loss is the least.
            let best = found.target.mapv(f32::ln);
            if epsilon > 0.0 {
                let at_best = smoothed(best.view(), right, epsilon).unwrap();
                assert!((at_best.loss - at_best.least).abs() < 1e-5);
                assert!(at_best.gradient.iter().all(|x| x.abs() < 1e-6));
            }
        }
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        let logits = array![0.0_f32, 1.0];
        assert!(smoothed(logits.view(), 2, 0.1).is_err());
        assert!(smoothed(logits.view(), 0, 1.0).is_err());
    }
}
