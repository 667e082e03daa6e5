//! The figures of a translator's card.

use super::split::is_long;
use crate::Result;
use crate::frame::Figure;
use engine::translate::{Pair, Translator};
use explain::score::Score;
use std::ops::RangeInclusive;

/// Number of resamplings of the sentences for an interval, and the seed of their draws.
pub(super) const DRAWS: usize = 1000;
pub(super) const SEED: u64 = 1;
/// Lengths in English words that are stated by themselves.
const LENGTHS: [RangeInclusive<usize>; 3] = [1..=4, 5..=8, 11..=14];
/// The most sentences of such lengths that are translated.
const MOST: usize = 400;

/// Translates pairs, always taking the most likely token, and compares with all their versions.
///
/// # Errors
/// When a sentence cannot be written in the vocabulary.
pub fn scored<'a>(translator: &Translator, pairs: impl Iterator<Item = &'a Pair>) -> Result<Score> {
    let mut score = Score::default();
    for pair in pairs {
        score.push(&translator.translate(&pair.english)?, &pair.italian);
    }
    Ok(score)
}

/// The figures of a translator's card: on test sentences of 9 and 10 words, on other lengths, and
/// on the site's own set.
///
/// # Errors
/// See [`scored`].
pub fn figures(translator: &Translator, test: &[Pair], own: &[Pair]) -> Result<Vec<Figure>> {
    let mut all = Vec::new();
    let mut push = |name: String, share: f64| {
        all.push(Figure {
            name,
            value: 100.0 * share,
            decimals: 1,
            tolerance: 0.3,
            allowed: -0.3..=f64::INFINITY,
        });
    };
    let long = scored(translator, test.iter().filter(|pair| is_long(pair)))?;
    let count = long.counts.len();
    let (low, high) = long.interval(DRAWS, SEED);
    let sentences = format!("{count} held-out sentences of 9 and 10 words");
    push(format!("BLEU, {sentences}"), long.bleu());
    push("lower end of its 95 % interval".to_owned(), low);
    push("upper end of its 95 % interval".to_owned(), high);
    push(format!("exact, %, {sentences}"), long.exact());
    for lengths in LENGTHS {
        let of = || test.iter().filter(|pair| lengths.contains(&pair.words()));
        // The collection is sorted by length: evenly spread over it.
        let every = of().count().div_ceil(MOST).max(1);
        let score = scored(translator, of().step_by(every))?;
        let (first, last, count) = (lengths.start(), lengths.end(), score.counts.len());
        let name = format!("BLEU, {count} held-out sentences of {first} to {last} words");
        push(name, score.bleu());
    }
    for (name, share) in own_figures(translator, own)? {
        push(name, share);
    }
    Ok(all)
}

/// BLEU and exact matches on the site's own set, 0 to 1, with their names.
///
/// # Errors
/// See [`scored`].
pub fn own_figures(translator: &Translator, own: &[Pair]) -> Result<[(String, f64); 2]> {
    let score = scored(translator, own.iter())?;
    let count = own.len();
    Ok([
        (
            format!("BLEU, the site's own {count} sentences"),
            score.bleu(),
        ),
        (
            format!("exact, %, the site's own {count} sentences"),
            score.exact(),
        ),
    ])
}
