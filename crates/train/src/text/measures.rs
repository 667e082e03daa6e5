//! Measurements of the language model besides its bits: the texts that it writes, and the attention
//! of its heads.

use super::corpus::words;
use super::ngram::{MOST, Ngrams, Runs};
use crate::Result;
use engine::generate::{Generation, Options};
use engine::model::decoder::{DecoderExt, Session};
use engine::model::gpt2::Gpt2;
use engine::ndarray::ArrayD;
use engine::rng::Rng;
use engine::sample::Sampling;
use engine::token::byte_bpe::ByteBpe;
use engine::token::tokenizer::Tokenizer;
use engine::trace::Recorder;
use explain::induction::twice;
use std::collections::HashSet;

/// Samples that are written.
const SAMPLES: u64 = 100;
/// The temperature of samples.
const TEMPERATURE: f32 = 0.8;
/// Stories that are begun for each name, and the most tokens of one.
const STORIES: u64 = 5;
const STORY_TOKENS: usize = 100;
/// Names of the stories: of girls, then of boys.
const NAMES: [[&str; 5]; 2] = [
    ["Lily", "Sue", "Mia", "Anna", "Sara"],
    ["Tim", "Tom", "Ben", "Max", "Sam"],
];
/// Tokens of a random sequence that is repeated, and how many such sequences.
const REPEATED: usize = 24;
const SEQUENCES: u64 = 20;

/// The 4-gram of some texts, each after the end token.
pub fn ngrams(texts: &[Vec<usize>], end: usize, vocabulary: usize) -> Ngrams {
    let begun: Vec<Vec<usize>> = texts.iter().map(|text| begun(text, end)).collect();
    Ngrams::new(begun.iter().map(Vec::as_slice), MOST, vocabulary)
}

/// The bits of some texts by n-grams.
pub fn bits(grams: &Ngrams, texts: &[Vec<usize>], end: usize) -> f64 {
    texts.iter().map(|text| grams.bits(&begun(text, end))).sum()
}

fn begun(text: &[usize], end: usize) -> Vec<usize> {
    std::iter::once(end).chain(text.iter().copied()).collect()
}

/// Texts that the model writes from nothing, each to its end, or until its context is full.
///
/// # Errors
/// When the model refuses.
pub fn samples(model: &Gpt2, tokenizer: &ByteBpe, end: usize) -> Result<Vec<String>> {
    let sampling = Sampling {
        temperature: TEMPERATURE,
        ..Sampling::default()
    };
    let one = |seed| {
        let mut session = Session::new(model);
        let options = Options {
            sampling: sampling.clone(),
            seed,
            ..Options::default()
        };
        let generation = Generation::new(&mut session, tokenizer, &[end], options)?;
        let pieces: engine::Result<Vec<String>> = generation.map(|piece| Ok(piece?.text)).collect();
        Ok(pieces?.concat())
    };
    (1..=SAMPLES).map(one).collect()
}

/// The share of stories that say the name of their hero again in the second half of what the model
/// writes, at most 100 tokens. They begin "Once upon a time, there was a little girl named Lily.",
/// with ten names, five times each.
///
/// # Errors
/// When the model refuses.
pub fn names_kept(model: &Gpt2, tokenizer: &ByteBpe, end: usize) -> Result<f64> {
    let children = ["girl", "boy"].into_iter().zip(NAMES);
    let names = children.flat_map(|(child, names)| names.map(|name| (child, name)));
    let (mut all, mut kept) = (0usize, 0usize);
    for (child, name) in names {
        let beginning = format!("Once upon a time, there was a little {child} named {name}.");
        let mut prompt = vec![end];
        prompt.extend(tokenizer.encode(&beginning)?);
        for seed in 1..=STORIES {
            let mut session = Session::new(model);
            let options = Options {
                sampling: Sampling {
                    temperature: TEMPERATURE,
                    ..Sampling::default()
                },
                seed,
                max_tokens: STORY_TOKENS,
                ..Options::default()
            };
            let generation = Generation::new(&mut session, tokenizer, &prompt, options)?;
            let pieces: engine::Result<Vec<String>> =
                generation.map(|piece| Ok(piece?.text)).collect();
            let pieces = pieces?;
            let second_half = pieces[pieces.len() / 2..].concat();
            all += 1;
            kept += usize::from(second_half.contains(name));
        }
    }
    Ok(kept as f64 / all as f64)
}

/// The overlap of samples with the training text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Written {
    /// The share of their words that are in it.
    pub known: f64,
    /// The longest run of words that is in it too, at most [`Runs::LONGEST`].
    pub longest: usize,
}

/// Compares samples with the training text. The last word of a sample, which may be cut, does not
/// count.
pub fn written(samples: &[String], training: &[String]) -> Written {
    let training: Vec<Vec<String>> = training.iter().map(|text| words(text)).collect();
    let known: HashSet<&String> = training.iter().flatten().collect();
    let runs = Runs::new(training.iter().map(Vec::as_slice));
    let (mut all, mut found, mut longest) = (0usize, 0usize, 0);
    for sample in samples {
        let mut words = words(sample);
        words.pop();
        all += words.len();
        found += words.iter().filter(|word| known.contains(word)).count();
        longest = runs.longest(&words).max(longest);
    }
    Written {
        known: found as f64 / all.max(1) as f64,
        longest,
    }
}

/// The attention of the heads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heads {
    /// The mean weight of the token before, over all positions that have one, in the head where it
    /// is largest.
    pub previous: f64,
    /// The mean weight, in the best head, of the token that came after the same token before: over
    /// the second halves of random sequences that are written twice (prefix matching, Olsson et al.
    /// 2022, "In-context learning and induction heads").
    pub induction: f64,
}

/// Measures all heads, the first on some texts.
///
/// # Errors
/// When the model refuses.
pub fn heads(model: &Gpt2, texts: &[Vec<usize>], end: usize) -> Result<Heads> {
    let previous = |row: usize| row.checked_sub(1);
    let begun_all: Vec<Vec<usize>> = texts.iter().map(|text| begun(text, end)).collect();
    let repeated: Vec<Vec<usize>> = (1..=SEQUENCES)
        .map(|seed| twice(end, REPEATED, &mut Rng::named(seed, "induction")))
        .collect();
    let after = |row: usize| {
        row.checked_sub(REPEATED)
            .filter(|&row| row > 0)
            .map(|row| row + 1)
    };
    Ok(Heads {
        previous: best(model, &begun_all, previous)?,
        induction: best(model, &repeated, after)?,
    })
}

/// The largest mean over the heads of the weight that each row gives to the column `place` names
/// for it.
fn best(model: &Gpt2, texts: &[Vec<usize>], place: impl Fn(usize) -> Option<usize>) -> Result<f64> {
    let heads = model.config().heads;
    let mut sums = vec![(0.0, 0usize); model.config().layers * heads];
    for text in texts {
        let mut seen = Recorder::default();
        model.forward(&text[..text.len() - 1], Some(&mut seen))?;
        let weights = seen
            .iter()
            .filter(|(name, _)| name.ends_with("attention.weights"));
        for ((_, weights), sums) in weights.zip(sums.chunks_mut(heads)) {
            add(weights, sums, &place);
        }
    }
    let means = sums.iter().map(|&(sum, count)| sum / count.max(1) as f64);
    Ok(means.fold(0.0, f64::max))
}

/// Adds the weights of one layer's heads to their sums.
fn add(weights: &ArrayD<f32>, sums: &mut [(f64, usize)], place: impl Fn(usize) -> Option<usize>) {
    // weights [H, T, T], sums [H]
    for (weights, (sum, count)) in weights.outer_iter().zip(sums) {
        for (row, weights) in weights.outer_iter().enumerate() {
            if let Some(column) = place(row) {
                *sum += f64::from(weights[[column]]);
                *count += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::ndarray::Array3;

    #[test]
    fn weights_are_read_where_they_should_lie() {
        let mut weights = Array3::<f32>::zeros((2, 3, 3));
        weights[[1, 1, 0]] = 0.5;
        weights[[1, 2, 1]] = 0.7;
        let mut sums = [(0.0, 0); 2];
        add(&weights.into_dyn(), &mut sums, |row| row.checked_sub(1));
        assert_eq!(sums[0], (0.0, 2));
        assert!((sums[1].0 - 1.2).abs() < 1e-6 && sums[1].1 == 2);
    }

    #[test]
    fn words_that_were_not_trained_on_and_long_copies_are_found() {
        let training = ["The cat sat on the mat.".to_owned()];
        let samples = ["A cat sat on the floor today".to_owned()];
        let found = written(&samples, &training);
        assert_eq!(
            found,
            Written {
                known: 4.0 / 6.0,
                longest: 4
            }
        );
    }
}
