//! A text that a decoder writes to a fixed length, and how much of it repeats what it wrote before.
//!
//! ```text
//! repeated(ids, n) = n-grams of ids that were in it before / all n-grams of ids
//! ```
//!
//! ```
//! use explain::writing::repeated;
//! assert_eq!(repeated(&[1, 2, 3, 4, 5], 2), 0.0);
//! assert_eq!(repeated(&[1, 2, 1, 2, 1], 2), 0.5);
//! ```
//!
//! Source: Holtzman et al. 2020, "The curious case of neural text degeneration", figure 1 (loops);
//! Welleck et al. 2020, "Neural text generation with unlikelihood training" (seq-rep-n).

use engine::error::Result;
use engine::model::decoder::Session;
use engine::model::gpt2::Gpt2;
use engine::sample::{Sampler, Sampling};

/// Writes `count` tokens after the tokens `ids`; `end`, the token that would end the text, is never
/// chosen.
///
/// # Errors
/// When there is no token, the context is full, or a parameter of the sampling is out of range.
pub fn write(
    model: &Gpt2,
    ids: &[usize],
    count: usize,
    end: usize,
    (sampling, seed): (&Sampling, u64),
) -> Result<Vec<usize>> {
    // ids [T] -> [count]
    let mut session = Session::new(model);
    let mut sampler = Sampler::new(sampling.clone(), seed)?;
    let mut logits = session.feed(ids)?;
    let mut written = Vec::with_capacity(count);
    while written.len() < count {
        if let Some(end) = logits.get_mut(end) {
            *end = f32::NEG_INFINITY;
        }
        let id = sampler.next(logits.view(), &[])?;
        written.push(id);
        if written.len() < count {
            logits = session.feed(&[id])?;
        }
    }
    Ok(written)
}

/// The share of runs of `n` tokens that were in the text before; 0 where there is none.
pub fn repeated(ids: &[usize], n: usize) -> f64 {
    let runs: Vec<&[usize]> = ids.windows(n.max(1)).collect();
    let again = runs.iter().enumerate();
    let again = again.filter(|(at, run)| runs[..*at].contains(run)).count();
    again as f64 / runs.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small_decoder::small_decoder;
    use engine::model::gpt2::Config;

    #[test]
    fn a_seed_gives_a_text_and_the_end_is_never_written() {
        let config = Config {
            vocabulary: 30,
            width: 16,
            heads: 2,
            layers: 2,
            inner: 32,
            context: 24,
            norm_eps: 1e-5,
        };
        let model = small_decoder(&config, 5).unwrap();
        let hot = Sampling {
            temperature: 3.0,
            ..Sampling::default()
        };
        let text = |seed| write(&model, &[3, 1], 20, 7, (&hot, seed)).unwrap();
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
        assert!(text(1).len() == 20 && !text(1).contains(&7));
        let greedy = |seed| write(&model, &[3, 1], 20, 7, (&Sampling::greedy(), seed)).unwrap();
        assert_eq!(greedy(1), greedy(2));
        assert!(write(&model, &[3, 1], 40, 7, (&hot, 1)).is_err());
    }

    #[test]
    fn a_loop_repeats_itself() {
        let looped: Vec<usize> = (0..40).map(|n| n % 5).collect();
        assert!(repeated(&looped, 4) > 0.85);
        assert_eq!(repeated(&[1, 2, 3], 4), 0.0);
        assert_eq!(repeated(&[], 4), 0.0);
    }
}
