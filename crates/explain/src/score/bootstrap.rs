//! Confidence intervals of a score over test sentences, by the bootstrap.
//!
//! ```text
//! draw n of the n sentences with replacement and score them; again and again
//! interval = from the 2.5th to the 97.5th percentile of these scores
//! ```
//! For the difference of two systems both are scored on the same draws.
//!
//! ```
//! use explain::score::bootstrap::interval;
//! let ones = [0.0, 1.0, 1.0, 1.0];
//! let (low, high) = interval(4, 1000, 7, |drawn| drawn.iter().map(|&n| ones[n]).sum::<f64>() / 4.0);
//! assert!(low < 0.75 && 0.75 < high && high <= 1.0);
//! ```
//!
//! Source: Koehn 2004, "Statistical significance tests for machine translation evaluation", section
//! 3; Efron and Tibshirani 1993, "An introduction to the bootstrap", chapter 13.

use engine::rng::Rng;

/// The 95 % interval of a score over `sentences`, from `draws` draws of a seed; `score` gets the
/// indices of the sentences drawn. Without draws the interval is −∞ to ∞.
pub fn interval(
    sentences: usize,
    draws: usize,
    seed: u64,
    mut score: impl FnMut(&[usize]) -> f64,
) -> (f64, f64) {
    let mut rng = Rng::named(seed, "bootstrap");
    let mut drawn = vec![0; sentences];
    let mut scores: Vec<f64> = (0..draws)
        .map(|_| {
            drawn.fill_with(|| rng.below(sentences));
            score(&drawn)
        })
        .collect();
    scores.sort_unstable_by(f64::total_cmp);
    // The number of scores below the interval, and of those above it.
    let outside = draws / 40;
    let at = |rank: usize| scores.get(rank).copied();
    let low = at(outside).unwrap_or(f64::NEG_INFINITY);
    let high = draws.checked_sub(outside + 1).and_then(at);
    (low, high.unwrap_or(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::interval;

    /// The mean of n even draws from [0, 1] has a deviation of √(1/12 n); 95 % lie within 1.96 of
    /// it.
    #[test]
    fn the_interval_of_a_mean_is_as_wide_as_theory_says() {
        let n = 400;
        let values: Vec<f64> = (0..n).map(|k| (k as f64 + 0.5) / n as f64).collect();
        let mean = |drawn: &[usize]| drawn.iter().map(|&k| values[k]).sum::<f64>() / n as f64;
        let (low, high) = interval(n, 4000, 3, mean);
        let expected = 2.0 * 1.96 * (1.0 / (12.0 * n as f64)).sqrt();
        assert!(((high - low) / expected - 1.0).abs() < 0.05, "{low} {high}");
        assert!(((low + high) / 2.0 - 0.5).abs() < 0.003, "{low} {high}");
        assert_eq!(interval(n, 4000, 3, mean), (low, high));
    }

    #[test]
    fn without_draws_anything_may_be() {
        let (low, high) = interval(3, 0, 1, |_| 0.0);
        assert_eq!((low, high), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(interval(0, 5, 1, |drawn| drawn.len() as f64), (0.0, 0.0));
    }
}
