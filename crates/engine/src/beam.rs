//! Beam search: the most probable texts so far are continued by every token, and the most probable
//! of the continuations are kept.
//!
//! ```text
//! log P(Y) = Σₜ ln softmax(scores after Y₁ … Yₜ₋₁)[Yₜ]
//! score(Y) = log P(Y) / lp(Y),   lp(Y) = (5 + |Y|)^α / (5 + 1)^α
//! ```
//! |Y| counts the tokens after the prompt, the one that ends a text included. α = 0 ranks by probability alone, which favours short
//! texts. A width of 1 with α = 0 is greedy choice.
//!
//! ```
//! use engine::beam::{Beam, NextToken, search};
//! use ndarray::{Array1, array};
//! struct Coin;
//! impl NextToken for Coin {
//!     fn logits(&mut self, _ids: &[usize]) -> engine::Result<Array1<f32>> {
//!         Ok(array![3.0, 1.0].mapv(f32::ln))
//!     }
//! }
//! let found = search(&mut Coin, &[], &Beam { width: 2, length_penalty: 0.0, max_tokens: 2, end: None })?;
//! assert_eq!((found[0].ids.as_slice(), found[1].ids.as_slice()), (&[0, 0][..], &[0, 1][..]));
//! assert!((found[0].log_probability - (9.0f64 / 16.0).ln()).abs() < 1e-6);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Wu et al. 2016, "Google's neural machine translation system", section 7 and equation 14,
//! without its coverage penalty.

use ndarray::Array1;

use crate::error::{EngineError, Result};
use crate::math::double;

/// A model that scores every token as the next one of a text.
pub trait NextToken {
    /// The scores `[V]` of the next token after the ids of a text, its prompt included.
    ///
    /// # Errors
    /// When the model cannot take this text.
    fn logits(&mut self, ids: &[usize]) -> Result<Array1<f32>>;
}

/// The parameters of a beam search.
#[derive(Debug, Clone, PartialEq)]
pub struct Beam {
    /// The number of texts that are kept.
    pub width: usize,
    /// α, 0 or above.
    pub length_penalty: f32,
    /// The most tokens after the prompt.
    pub max_tokens: usize,
    /// The token that ends a text.
    pub end: Option<usize>,
}

/// A text that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    /// The tokens after the prompt, with the one that ends the text.
    pub ids: Vec<usize>,
    /// log P, in nats.
    pub log_probability: f64,
    /// log P / lp, by which the texts are ranked.
    pub score: f64,
    /// Whether the last token ends the text.
    pub ended: bool,
}

impl Beam {
    /// The length penalty lp of a text of some tokens.
    pub fn penalty(&self, tokens: usize) -> f64 {
        let base = (5.0 + tokens as f64) / 6.0;
        double::exp(f64::from(self.length_penalty) * double::ln(base))
    }

    fn check(&self) -> Result<()> {
        if self.width == 0 {
            return Err(EngineError::value("beam", "width", "at least 1", 0));
        }
        if !(self.length_penalty.is_finite() && self.length_penalty >= 0.0) {
            let (name, found) = ("length_penalty", self.length_penalty);
            return Err(EngineError::value("beam", name, "0 or above", found));
        }
        Ok(())
    }
}

/// A text that has not ended.
struct Live {
    ids: Vec<usize>,
    log_probability: f64,
}

/// One more token for one of the live texts.
#[derive(Clone, Copy)]
struct Continuation {
    log_probability: f64,
    live: usize,
    id: usize,
}

/// The best texts after a prompt, best first, at most `width` of them. Equally probable texts are
/// in the order of the probability of their beginnings, then of their last ids.
///
/// # Errors
/// When a parameter of the search is out of range, or the model refuses or gives scores that are
/// NaN.
pub fn search(model: &mut dyn NextToken, prompt: &[usize], beam: &Beam) -> Result<Vec<Hypothesis>> {
    search_watched(model, prompt, beam, &mut |_| {})
}

/// As [`search`]. `watch` gets, after each token, the texts that the search keeps: those that this
/// token has ended, then those that continue, best first.
///
/// # Errors
/// As [`search`].
pub fn search_watched(
    model: &mut dyn NextToken,
    prompt: &[usize],
    beam: &Beam,
    watch: &mut dyn FnMut(&[Hypothesis]),
) -> Result<Vec<Hypothesis>> {
    beam.check()?;
    let mut live = vec![Live {
        ids: Vec::new(),
        log_probability: 0.0,
    }];
    let mut ended: Vec<Hypothesis> = Vec::new();
    for _ in 0..beam.max_tokens {
        let steps = best_steps(model, prompt, &live, beam.width.saturating_mul(2))?;
        let (next, done) = advance(&live, &steps, beam);
        live = next;
        let open = live
            .iter()
            .map(|text| hypothesis(text.ids.clone(), text.log_probability, false, beam));
        watch(&done.iter().cloned().chain(open).collect::<Vec<_>>());
        ended.extend(done);
        rank(&mut ended, beam.width);
        // log P only falls and lp only grows: no live text can become better than this.
        let most = (live.first()).map(|best| best.log_probability / beam.penalty(beam.max_tokens));
        let worst = ended.get(beam.width - 1).map(|hypothesis| hypothesis.score);
        if live.is_empty() || most.zip(worst).is_some_and(|(most, worst)| most <= worst) {
            break;
        }
    }
    if beam.max_tokens > 0 {
        let open = |text: Live| hypothesis(text.ids, text.log_probability, false, beam);
        ended.extend(live.into_iter().map(open));
        rank(&mut ended, beam.width);
    }
    Ok(ended)
}

/// The most probable continuations of all live texts, best first.
fn best_steps(
    model: &mut dyn NextToken,
    prompt: &[usize],
    live: &[Live],
    count: usize,
) -> Result<Vec<Continuation>> {
    let mut steps = Vec::new();
    for (n, text) in live.iter().enumerate() {
        let ids = [prompt, &text.ids].concat();
        let scores = model.logits(&ids)?;
        let total = log_sum(&scores)?;
        steps.extend(scores.iter().enumerate().map(|(id, &score)| Continuation {
            log_probability: text.log_probability + (f64::from(score) - total),
            live: n,
            id,
        }));
    }
    steps.retain(|step| step.log_probability > f64::NEG_INFINITY);
    let better = |a: &Continuation, b: &Continuation| {
        let order = (a.live, a.id).cmp(&(b.live, b.id));
        b.log_probability.total_cmp(&a.log_probability).then(order)
    };
    if count < steps.len() {
        steps.select_nth_unstable_by(count, better);
        steps.truncate(count);
    }
    steps.sort_unstable_by(better);
    Ok(steps)
}

/// ln Σ exp, in f64 and from the first to the last.
fn log_sum(scores: &Array1<f32>) -> Result<f64> {
    let largest = crate::sample::greedy(scores.view()).map(|id| f64::from(scores[id]))?;
    let sum: f64 = scores
        .iter()
        .map(|&score| double::exp(f64::from(score) - largest))
        .sum();
    Ok(largest + double::ln(sum))
}

/// The live texts after the best steps, at most `width` of them, and the texts that a step ends.
/// Only one of the `width` best steps may end a text.
fn advance(live: &[Live], steps: &[Continuation], beam: &Beam) -> (Vec<Live>, Vec<Hypothesis>) {
    let (mut next, mut ended) = (Vec::with_capacity(beam.width), Vec::new());
    for (n, step) in steps.iter().enumerate() {
        let mut ids = live[step.live].ids.clone();
        ids.push(step.id);
        if beam.end == Some(step.id) {
            if n < beam.width {
                ended.push(hypothesis(ids, step.log_probability, true, beam));
            }
        } else if next.len() < beam.width {
            next.push(Live {
                ids,
                log_probability: step.log_probability,
            });
        }
    }
    (next, ended)
}

fn hypothesis(ids: Vec<usize>, log_probability: f64, ended: bool, beam: &Beam) -> Hypothesis {
    Hypothesis {
        score: log_probability / beam.penalty(ids.len()),
        ids,
        log_probability,
        ended,
    }
}

/// Sorts texts, best first, and keeps `width` of them; equal ones stay in the order in which they
/// were found.
fn rank(found: &mut Vec<Hypothesis>, width: usize) {
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(width);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use ndarray::array;

    /// The probabilities of the next token by the tokens so far; all others end the text at once.
    struct Table(Vec<(Vec<usize>, [f32; 3])>);

    impl NextToken for Table {
        fn logits(&mut self, ids: &[usize]) -> Result<Array1<f32>> {
            let row = self.0.iter().find(|(known, _)| known == ids);
            let probabilities = row.map_or([0.0, 0.0, 1.0], |(_, row)| *row);
            Ok(Array1::from_iter(probabilities).mapv(f32::ln))
        }
    }

    /// A table in which token 2 ends a text. Greedy choice takes 0, after which no token is likely;
    /// 1 leads to the most probable text.
    fn trap() -> Table {
        Table(vec![
            (vec![7], [0.5, 0.4, 0.1]),
            (vec![7, 0], [0.35, 0.35, 0.3]),
            (vec![7, 1], [0.9, 0.05, 0.05]),
        ])
    }

    fn beam(width: usize, length_penalty: f32) -> Beam {
        Beam {
            width,
            length_penalty,
            max_tokens: 4,
            end: Some(2),
        }
    }

    #[test]
    fn two_beams_find_what_one_misses() {
        let one = search(&mut trap(), &[7], &beam(1, 0.0)).unwrap();
        assert_eq!(one[0].ids, [0, 0, 2]);
        assert!((one[0].log_probability - 0.175f64.ln()).abs() < 1e-6);
        let two = search(&mut trap(), &[7], &beam(2, 0.0)).unwrap();
        assert_eq!(two[0].ids, [1, 0, 2]);
        assert!((two[0].log_probability - 0.36f64.ln()).abs() < 1e-6);
        assert!(two.iter().all(|found| found.ended) && two.len() == 2);
    }

    #[test]
    fn the_length_penalty_is_that_of_the_paper() {
        assert_eq!(beam(1, 0.0).penalty(9), 1.0);
        assert!((beam(1, 1.0).penalty(7) - 2.0).abs() < 1e-12);
        assert!((beam(1, 0.5).penalty(13) - 3f64.sqrt()).abs() < 1e-12);
        // One token of probability 0.4, or three of 0.36 together: ln 0.4 = −0.916, ln 0.36 · 6/8 =
        // −0.766.
        let table = || {
            let mut table = trap();
            table.0[0].1 = [0.2, 0.4, 0.4];
            table
        };
        assert_eq!(
            search(&mut table(), &[7], &beam(3, 0.0)).unwrap()[0].ids,
            [2]
        );
        let found = search(&mut table(), &[7], &beam(3, 1.0)).unwrap();
        assert_eq!(found[0].ids, [1, 0, 2]);
        assert!((found[0].score - 0.36f64.ln() * 0.75).abs() < 1e-6);
    }

    /// The trap, token by token: the text that wins is not the first for a while.
    #[test]
    fn a_watcher_sees_the_texts_that_are_kept() {
        let mut rounds = Vec::new();
        let mut watch = |kept: &[Hypothesis]| {
            let ids = kept.iter().map(|text| (text.ids.clone(), text.ended));
            rounds.push(ids.collect::<Vec<_>>());
        };
        let found = search_watched(&mut trap(), &[7], &beam(2, 0.0), &mut watch).unwrap();
        assert_eq!(found, search(&mut trap(), &[7], &beam(2, 0.0)).unwrap());
        assert_eq!(rounds[0], [(vec![0], false), (vec![1], false)]);
        assert_eq!(rounds[1][0], (vec![1, 0], false));
        assert_eq!(rounds[2][0], (vec![1, 0, 2], true));
    }

    /// A model whose scores are random, but always the same after the same text.
    struct Random(u64);

    impl NextToken for Random {
        fn logits(&mut self, ids: &[usize]) -> Result<Array1<f32>> {
            let mut rng = Rng::named(self.0, &format!("{ids:?}"));
            Ok(Array1::from_shape_simple_fn(3, || 2.0 * rng.normal()))
        }
    }

    /// Every text of at most four tokens, by trying all.
    fn all(
        model: &mut Random,
        ids: &[usize],
        log_probability: f64,
        beam: &Beam,
    ) -> Vec<Hypothesis> {
        let ended = ids.last() == beam.end.as_ref();
        if ended || ids.len() == beam.max_tokens {
            return vec![hypothesis(ids.to_vec(), log_probability, ended, beam)];
        }
        let scores = model.logits(ids).unwrap();
        let total = log_sum(&scores).unwrap();
        let mut found = Vec::new();
        for id in 0..3 {
            let more = log_probability + f64::from(scores[id]) - total;
            found.extend(all(model, &[ids, &[id]].concat(), more, beam));
        }
        found
    }

    #[test]
    fn a_beam_wide_enough_finds_the_best_of_all() {
        for seed in 0..40 {
            for alpha in [0.0, 0.6, 2.0] {
                let beam = beam(81, alpha);
                let mut expected = all(&mut Random(seed), &[], 0.0, &beam);
                rank(&mut expected, 81);
                let found = search(&mut Random(seed), &[], &beam).unwrap();
                assert_eq!(found.len(), expected.len());
                assert!(
                    found
                        .iter()
                        .zip(&expected)
                        .all(|(a, b)| (a.score - b.score).abs() < 1e-9)
                );
                assert_eq!(found[0].ids, expected[0].ids);
                // A narrow beam may find less, never more.
                let narrow = search(&mut Random(seed), &[], &Beam { width: 2, ..beam }).unwrap();
                assert!(narrow[0].score <= found[0].score + 1e-9);
            }
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        assert!(search(&mut trap(), &[7], &beam(0, 0.0)).is_err());
        assert!(search(&mut trap(), &[7], &beam(1, -1.0)).is_err());
        struct Nan;
        impl NextToken for Nan {
            fn logits(&mut self, _ids: &[usize]) -> Result<Array1<f32>> {
                Ok(array![f32::NAN])
            }
        }
        assert!(search(&mut Nan, &[], &beam(1, 0.0)).is_err());
        let none = Beam {
            max_tokens: 0,
            ..beam(1, 0.0)
        };
        assert!(search(&mut Nan, &[], &none).unwrap().is_empty());
    }
}
