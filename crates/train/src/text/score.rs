//! How good a translator is: BLEU and exact matches, by length, with the interval that other sentences would move them in.

use super::pairs::Pair;
use super::split::is_long;
use crate::Result;
use crate::frame::Figure;
use engine::score::bleu::{Counts, exact, words};
use engine::score::bootstrap::interval;
use engine::translate::Translator;
use std::ops::RangeInclusive;

/// How often sentences are drawn again for an interval.
const DRAWS: usize = 1000;
/// What the draws depend on.
const SEED: u64 = 1;
/// Lengths in English words that are stated by themselves.
const LENGTHS: [RangeInclusive<usize>; 3] = [1..=4, 5..=8, 11..=14];
/// The most sentences of a length that are translated for a figure.
const MOST: usize = 800;

/// What a translator gets right of some pairs.
#[derive(Debug, Clone, Default)]
pub struct Score {
    /// What BLEU is computed from, for each pair.
    pub counts: Vec<Counts>,
    /// Whether each translation is one of the listed versions.
    pub exact: Vec<bool>,
}

impl Score {
    /// Translates pairs, always taking the likeliest token, and compares with all their versions.
    ///
    /// # Errors
    /// When a sentence cannot be written in the vocabulary.
    pub fn of<'a>(translator: &Translator, pairs: impl Iterator<Item = &'a Pair>) -> Result<Self> {
        let mut score = Self::default();
        for pair in pairs {
            let found = translator.translate(&pair.english)?;
            let references: Vec<Vec<String>> =
                pair.italian.iter().map(|known| words(known)).collect();
            score.counts.push(Counts::of(&words(&found), &references));
            score.exact.push(exact(&found, &pair.italian));
        }
        Ok(score)
    }

    /// BLEU of all pairs, 0 to 1.
    pub fn bleu(&self) -> f64 {
        self.counts.iter().copied().sum::<Counts>().bleu()
    }

    /// The share of translations that are one of the listed versions.
    pub fn exact(&self) -> f64 {
        let right = self.exact.iter().filter(|&&right| right).count();
        right as f64 / self.exact.len().max(1) as f64
    }

    /// The 95 % interval of BLEU.
    pub fn interval(&self) -> (f64, f64) {
        interval(self.counts.len(), DRAWS, SEED, |drawn| {
            drawn.iter().map(|&n| self.counts[n]).sum::<Counts>().bleu()
        })
    }
}

/// The figures of a translator's card: on test sentences of 9 and 10 words, on other lengths, and on the site's own set.
///
/// # Errors
/// As [`Score::of`].
pub fn figures(translator: &Translator, test: &[Pair], own: &[Pair]) -> Result<Vec<Figure>> {
    let mut all = Vec::new();
    let mut push = |name: String, value: f64, decimals| {
        all.push(Figure {
            name,
            value,
            decimals,
            tolerance: 0.3,
        });
    };
    let long = Score::of(translator, test.iter().filter(|pair| is_long(pair)))?;
    let count = long.counts.len();
    let (low, high) = long.interval();
    push(
        format!("BLEU, {count} held-out sentences of 9 and 10 words"),
        100.0 * long.bleu(),
        1,
    );
    push("lower end of its 95 % interval".to_owned(), 100.0 * low, 1);
    push("upper end of its 95 % interval".to_owned(), 100.0 * high, 1);
    push(
        format!("exact, %, of these {count}"),
        100.0 * long.exact(),
        1,
    );
    for lengths in LENGTHS {
        let of = test.iter().filter(|pair| lengths.contains(&pair.words()));
        let score = Score::of(translator, of.take(MOST))?;
        let (first, last, count) = (lengths.start(), lengths.end(), score.counts.len());
        push(
            format!("BLEU, {count} held-out sentences of {first} to {last} words"),
            100.0 * score.bleu(),
            1,
        );
    }
    let score = Score::of(translator, own.iter())?;
    push(
        format!("BLEU, the site's own {} sentences", own.len()),
        100.0 * score.bleu(),
        1,
    );
    push(
        format!("exact, %, the site's own {} sentences", own.len()),
        100.0 * score.exact(),
        1,
    );
    Ok(all)
}
