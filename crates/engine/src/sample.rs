//! The choice of the next token from a model's scores.
//!
//! ```text
//! penalised  xᵢ / θ where xᵢ > 0, xᵢ · θ where xᵢ < 0, for every id i in the text so far; θ = 1 changes nothing
//! tempered   wᵢ = exp((xᵢ − max x) / τ)                               τ = 0 is greedy: the highest score, of equal ones the lowest id
//! top-k      wᵢ = 0 for all but the k highest, of equal ones those of the lowest ids
//! top-p      wᵢ = 0 after the first of the highest that together have at least p of the sum
//! drawn      id i with probability wᵢ / Σⱼ wⱼ
//! ```
//! in this order. Sums are plain loops in `f64` and the draws are [`crate::rng`]'s, so equal scores
//! and an equal seed give the same ids natively and in wasm.
//!
//! ```
//! use engine::sample::{Sampler, Sampling, greedy};
//! use ndarray::array;
//! let scores = array![1.0, 3.0, 3.0, 0.5];
//! assert_eq!(greedy(scores.view())?, 1);
//! let sampling = Sampling { top_k: Some(2), ..Sampling::default() };
//! let mut sampler = Sampler::new(sampling, 7)?;
//! assert!([1, 2].contains(&sampler.next(scores.view(), &[])?));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Ackley, Hinton and Sejnowski 1985, "A learning algorithm for Boltzmann machines"
//! (temperature); Fan, Lewis and Dauphin 2018, "Hierarchical neural story generation", section 5
//! (top-k); Holtzman et al. 2020, "The curious case of neural text degeneration", equation 2
//! (top-p); Keskar et al. 2019, "CTRL", section 4.1 (penalty). CTRL divides every score by θ, which
//! would raise a negative score: here these are multiplied, as in other implementations.

use ndarray::{Array1, ArrayView1};

use crate::decimal::decimal;
use crate::error::{EngineError, Result};
use crate::math;
use crate::rng::Rng;

/// The parameters of the choice of the next token.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    /// τ: 0 is greedy, 1 the model's own distribution.
    pub temperature: f32,
    /// k: only the k highest scores are kept.
    pub top_k: Option<usize>,
    /// p: only the highest scores that together have at least this probability are kept.
    pub top_p: Option<f32>,
    /// θ: 1 is no penalty; above it, tokens in the text so far become less probable.
    pub repetition_penalty: f32,
}

impl Default for Sampling {
    /// The model's own distribution.
    fn default() -> Self {
        Self {
            temperature: 1.0,
            top_k: None,
            top_p: None,
            repetition_penalty: 1.0,
        }
    }
}

impl Sampling {
    /// Always the highest score.
    pub fn greedy() -> Self {
        Self {
            temperature: 0.0,
            ..Self::default()
        }
    }

    fn check(&self) -> Result<()> {
        let (tau, theta) = (self.temperature, self.repetition_penalty);
        let p = self.top_p.unwrap_or(1.0);
        if !(tau.is_finite() && tau >= 0.0) {
            return Err(refuse("temperature", "0 or above", tau));
        }
        if self.top_k == Some(0) {
            return Err(refuse("top_k", "at least 1", 0));
        }
        if !(p > 0.0 && p <= 1.0) {
            return Err(refuse("top_p", "above 0 and at most 1", p));
        }
        if !(theta.is_finite() && theta > 0.0) {
            return Err(refuse("repetition_penalty", "above 0", theta));
        }
        Ok(())
    }
}

fn refuse(argument: &'static str, expected: &str, found: impl ToString) -> EngineError {
    EngineError::value("sample", argument, expected, found)
}

/// The id of the highest score, of equal ones the lowest.
///
/// # Errors
/// When no score is above −∞, or one is NaN or +∞.
pub fn greedy(scores: ArrayView1<'_, f32>) -> Result<usize> {
    // scores [V] -> id
    highest(scores).map(|(id, _)| id)
}

/// The highest score and its id, of equal ones the lowest.
fn highest(scores: ArrayView1<'_, f32>) -> Result<(usize, f32)> {
    let mut best = (0, f32::NEG_INFINITY);
    for (id, &score) in scores.iter().enumerate() {
        if score.is_nan() || score == f32::INFINITY {
            let found = format!("{} for token {id}", decimal(score.into()));
            return Err(refuse("scores", "numbers or -inf", found));
        }
        if score > best.1 {
            best = (id, score);
        }
    }
    if best.1 == f32::NEG_INFINITY {
        let found = format!("{} scores of -inf", scores.len());
        return Err(refuse("scores", "not all -inf", found));
    }
    Ok(best)
}

/// Lowers the scores of the tokens in a text, each once.
///
/// # Errors
/// When there is no score for one of the ids.
pub fn penalize(scores: &mut Array1<f32>, seen: &[usize], penalty: f32) -> Result<()> {
    // scores [V], seen [T]
    let size = scores.len();
    if let Some(&id) = seen.iter().find(|&&id| id >= size) {
        let expected = format!("below {size}");
        return Err(EngineError::value("penalize", "id", expected, id));
    }
    let mut ids = seen.to_vec();
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        let score = scores[id];
        scores[id] = if score > 0.0 {
            score / penalty
        } else {
            score * penalty
        };
    }
    Ok(())
}

/// The ids that may be drawn with their weights wᵢ.
fn kept(
    sampling: &Sampling,
    scores: ArrayView1<'_, f32>,
    seen: &[usize],
) -> Result<Vec<(usize, f64)>> {
    let mut scores = scores.to_owned();
    if sampling.repetition_penalty != 1.0 {
        penalize(&mut scores, seen, sampling.repetition_penalty)?;
    }
    let (best, largest) = highest(scores.view())?;
    if sampling.temperature == 0.0 {
        return Ok(vec![(best, 1.0)]);
    }
    let tau = f64::from(sampling.temperature);
    let weight = |score: f32| math::double::exp((f64::from(score) - f64::from(largest)) / tau);
    let mut kept: Vec<(usize, f64)> = (scores.iter().enumerate())
        .map(|(id, &score)| (id, weight(score)))
        .filter(|&(_, weight)| weight > 0.0)
        .collect();
    if sampling.top_k.is_none() && sampling.top_p.is_none() {
        return Ok(kept);
    }
    // Highest score first, of equal ones the lowest id. The scores decide, not the weights, which
    // round more of them to one.
    kept.sort_unstable_by(|&(a, _), &(b, _)| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    if let Some(k) = sampling.top_k {
        kept.truncate(k);
    }
    if let Some(p) = sampling.top_p {
        let total: f64 = kept.iter().map(|(_, weight)| weight).sum();
        let mut sum = 0.0;
        let mut before = |&(_, weight): &(usize, f64)| {
            let is_needed = sum < f64::from(p) * total;
            sum += weight;
            is_needed
        };
        let count = kept.iter().take_while(|&entry| before(entry)).count();
        kept.truncate(count.max(1));
    }
    Ok(kept)
}

/// A source of drawn tokens, one after the other.
#[derive(Debug, Clone)]
pub struct Sampler {
    sampling: Sampling,
    rng: Rng,
}

impl Sampler {
    /// A sampler whose draws start at `seed`.
    ///
    /// # Errors
    /// When a parameter of the sampling is out of range.
    pub fn new(sampling: Sampling, seed: u64) -> Result<Self> {
        sampling.check()?;
        Ok(Self {
            sampling,
            rng: Rng::named(seed, "sample"),
        })
    }

    /// The next token after the text `seen`. Every call takes one draw, a greedy one none.
    ///
    /// # Errors
    /// When a score is NaN or +∞ or all are −∞, or there is no score for an id of the text.
    pub fn next(&mut self, scores: ArrayView1<'_, f32>, seen: &[usize]) -> Result<usize> {
        // scores [V], seen [T] -> id
        let kept = kept(&self.sampling, scores, seen)?;
        if self.sampling.temperature == 0.0 {
            return Ok(kept[0].0);
        }
        let total: f64 = kept.iter().map(|(_, weight)| weight).sum();
        let drawn = f64::from(self.rng.uniform()) * total;
        let mut sum = 0.0;
        let reached = kept.iter().find(|(_, weight)| {
            sum += weight;
            drawn < sum
        });
        // Only rounding of the sum could leave none.
        let last = kept.last().map_or(0, |&(id, _)| id);
        Ok(reached.map_or(last, |&(id, _)| id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn with(temperature: f32, top_k: Option<usize>, top_p: Option<f32>, theta: f32) -> Sampling {
        Sampling {
            temperature,
            top_k,
            top_p,
            repetition_penalty: theta,
        }
    }

    /// The probabilities from which the next token is drawn, to four digits.
    fn shown(sampling: Sampling, scores: &Array1<f32>, seen: &[usize]) -> Vec<f32> {
        let kept = kept(&sampling, scores.view(), seen).unwrap();
        let total: f64 = kept.iter().map(|(_, weight)| weight).sum();
        let mut found = vec![0.0; scores.len()];
        for (id, weight) in kept {
            found[id] = ((weight / total) as f32 * 1e4).round() / 1e4;
        }
        found
    }

    /// ln of 1, 2, 3 and 4 tenths.
    fn tenths() -> Array1<f32> {
        array![0.1f32, 0.2, 0.3, 0.4].mapv(math::ln)
    }

    #[test]
    fn temperature_sharpens_and_flattens() {
        let at = |tau| shown(with(tau, None, None, 1.0), &tenths(), &[]);
        assert_eq!(at(1.0), [0.1, 0.2, 0.3, 0.4]);
        // Squares: 1, 4, 9, 16 of 30.
        assert_eq!(at(0.5), [0.0333, 0.1333, 0.3, 0.5333]);
        assert_eq!(at(0.0), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(at(1e-38), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn top_k_and_top_p_keep_the_highest() {
        let top = |k, p| shown(with(1.0, k, p, 1.0), &tenths(), &[]);
        assert_eq!(top(Some(2), None), [0.0, 0.0, 0.4286, 0.5714]);
        assert_eq!(top(Some(9), None), [0.1, 0.2, 0.3, 0.4]);
        assert_eq!(top(None, Some(0.39)), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(top(None, Some(0.6)), [0.0, 0.0, 0.4286, 0.5714]);
        assert_eq!(top(None, Some(0.8)), [0.0, 0.2222, 0.3333, 0.4444]);
        assert_eq!(top(None, Some(1.0)), [0.1, 0.2, 0.3, 0.4]);
        // p counts within the tokens that k has kept: 0.4286 and 0.5714.
        assert_eq!(top(Some(2), Some(0.5)), [0.0, 0.0, 0.0, 1.0]);
        // Of equal scores the lowest ids stay.
        let two = with(1.0, Some(2), None, 1.0);
        let equal = array![0.0, 1.0, 1.0, 1.0];
        assert_eq!(shown(two, &equal, &[]), [0.0, 0.5, 0.5, 0.0]);
    }

    #[test]
    fn the_penalty_lowers_each_token_of_the_text_once() {
        let mut scores = array![2.0, -1.0, 2.0, 0.0];
        penalize(&mut scores, &[0, 1, 1, 0], 2.0).unwrap();
        assert_eq!(scores, array![1.0, -2.0, 2.0, 0.0]);
        let error = penalize(&mut scores, &[4], 2.0).unwrap_err();
        assert_eq!(error.to_string(), "penalize: id must be below 4, found 4");
        let sampling = with(0.0, None, None, 2.0);
        assert_eq!(shown(sampling, &array![2.0, 1.5], &[0]), [0.0, 1.0]);
    }

    #[test]
    fn draws_follow_the_distribution_and_the_seed() {
        let sampling = with(1.0, Some(3), None, 1.0);
        let draw = |seed| {
            let mut sampler = Sampler::new(sampling.clone(), seed).unwrap();
            let scores = tenths();
            (0..9_000)
                .map(|_| sampler.next(scores.view(), &[]).unwrap())
                .collect::<Vec<_>>()
        };
        let ids = draw(1);
        assert_eq!(ids, draw(1));
        assert_ne!(ids, draw(2));
        // 2, 3 and 4 ninths of 9,000; four standard deviations are below 190.
        for (id, expected) in [(0, 0), (1, 2_000), (2, 3_000), (3, 4_000)] {
            let count = ids.iter().filter(|&&drawn| drawn == id).count();
            assert!(count.abs_diff(expected) < 190, "{id}: {count}");
        }
    }

    #[test]
    fn scores_and_parameters_out_of_range_are_errors() {
        let error = greedy(array![0.0, f32::NAN].view()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "sample: scores must be numbers or -inf, found NaN for token 1"
        );
        for scores in [array![], array![f32::NEG_INFINITY], array![f32::INFINITY]] {
            assert!(kept(&Sampling::default(), scores.view(), &[]).is_err());
        }
        assert_eq!(
            greedy(array![f32::NEG_INFINITY, -5.0, -5.0].view()).unwrap(),
            1
        );
        for sampling in [
            with(-1.0, None, None, 1.0),
            with(1.0, Some(0), None, 1.0),
            with(1.0, None, Some(0.0), 1.0),
            with(1.0, None, None, f32::NAN),
        ] {
            assert!(Sampler::new(sampling, 0).is_err());
        }
    }
}
