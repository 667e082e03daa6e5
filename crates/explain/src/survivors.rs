//! The choice of the next token before it is drawn, as it is written on paper: temperature, top-k
//! and top-p. [`engine::sample`] draws from the same distribution.
//!
//! ```text
//! tempered = softmax(scores / τ)
//! top-k    only the k highest stay
//! top-p    of these, the highest that together have at least the share p stay
//! kept     = what is left, divided by its sum
//! ```
//!
//! ```
//! use explain::survivors::survivors;
//! use ndarray::array;
//! let scores = array![2.0, 2.0, 1.0, 0.0];
//! assert_eq!(survivors(scores.view(), 1.0, 2, 1.0).kept.to_vec(), [0.5, 0.5, 0.0, 0.0]);
//! ```
//!
//! Source: Fan, Lewis and Dauphin 2018, "Hierarchical neural story generation", section 5 (top-k);
//! Holtzman et al. 2020, "The curious case of neural text degeneration", equation 2 (top-p).

use engine::nn::softmax::softmax;
use ndarray::{Array1, ArrayView1};

/// Probabilities of the next token before and after the cuts.
#[derive(Debug, Clone, PartialEq)]
pub struct Survivors {
    /// `[V]`: at the temperature, nothing cut.
    pub tempered: Array1<f32>,
    /// `[V]`: what a token is drawn from.
    pub kept: Array1<f32>,
}

/// The probabilities at temperature `tau`, with all but the `k` highest cut, and of those all after
/// the first ones that have the share `p`. Of equal scores the first stays.
pub fn survivors(scores: ArrayView1<'_, f32>, tau: f32, k: usize, p: f32) -> Survivors {
    // scores [V] -> tempered, kept [V]
    let tempered = softmax((&scores / tau).view());
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order.truncate(k);
    let total: f32 = order.iter().map(|&id| tempered[id]).sum();
    let (mut kept, mut sum) = (Array1::zeros(scores.len()), 0.0);
    for id in order {
        if sum < p * total {
            kept[id] = tempered[id];
            sum += tempered[id];
        }
    }
    kept /= sum;
    Survivors { tempered, kept }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::math;
    use engine::sample::{Sampler, Sampling};
    use ndarray::array;

    /// As in the engine's own tests: 0.1, 0.2, 0.3 and 0.4.
    fn kept(tau: f32, k: usize, p: f32) -> Vec<f32> {
        let scores = array![0.1f32, 0.2, 0.3, 0.4].mapv(math::ln);
        let found = survivors(scores.view(), tau, k, p).kept;
        found.mapv(|x| (x * 1e4).round() / 1e4).to_vec()
    }

    #[test]
    fn the_cuts_keep_the_highest() {
        assert_eq!(kept(1.0, 4, 1.0), [0.1, 0.2, 0.3, 0.4]);
        assert_eq!(kept(0.5, 4, 1.0), [0.0333, 0.1333, 0.3, 0.5333]);
        assert_eq!(kept(1.0, 2, 1.0), [0.0, 0.0, 0.4286, 0.5714]);
        assert_eq!(kept(1.0, 4, 0.39), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(kept(1.0, 4, 0.8), [0.0, 0.2222, 0.3333, 0.4444]);
        assert_eq!(kept(1.0, 2, 0.5), [0.0, 0.0, 0.0, 1.0]);
    }

    /// The engine draws what is kept, and as often.
    #[test]
    fn the_engine_draws_from_it() {
        let scores = array![1.0, 0.2, 2.0, -1.0, 1.5, 0.7];
        for (tau, k, p) in [(1.0, 6, 1.0), (0.7, 4, 1.0), (2.0, 6, 0.6), (1.3, 5, 0.8)] {
            let kept = survivors(scores.view(), tau, k, p).kept;
            let sampling = Sampling {
                temperature: tau,
                top_k: Some(k),
                top_p: Some(p),
                ..Sampling::default()
            };
            let mut sampler = Sampler::new(sampling, 3).unwrap();
            let mut counts = [0.0f32; 6];
            for _ in 0..4000 {
                counts[sampler.next(scores.view(), &[]).unwrap()] += 1.0;
            }
            for (count, &share) in counts.iter().zip(&kept) {
                assert!((count / 4000.0 - share).abs() < 0.04);
                assert_eq!(*count == 0.0, share == 0.0);
            }
        }
    }
}
