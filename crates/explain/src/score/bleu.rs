//! BLEU: the share of a translation's words, pairs, triples and quadruples of words that are in one
//! of its references.
//!
//! ```text
//! p_n  = Σ min(times in the candidate, most times in one reference) / Σ times in the candidate      n-grams, n = 1 … 4
//! r    = Σ the length of the reference nearest in length (of two as near, the shorter);  c = Σ the candidate's length
//! BLEU = min(1, exp(1 − r/c)) · (p_1 p_2 p_3 p_4)^(1/4)             sums over all sentences of a corpus
//! ```
//! BLEU is computed from the sums over a corpus: the BLEU of a single sentence says little. Small
//! corpora need smoothing: the k-th order without a match counts as if it had 1/2ᵏ of one (the
//! "exp" method of sacrebleu, which is NIST's). BLEU is 0 where no word matches or no candidate has
//! four words.
//!
//! ```
//! use explain::score::bleu::{Counts, words};
//! let references = [words("il gatto era sul tappeto"), words("c'era un gatto sul tappeto")];
//! let right = Counts::of(&words("Il gatto era sul tappeto."), &references);
//! assert_eq!(right.bleu(), 1.0);
//! let other = Counts::of(&words("il cane era sul tappeto"), &references);
//! assert_eq!((other.matches, other.totals), ([4, 2, 1, 0], [5, 4, 3, 2]));
//! ```
//!
//! Source: Papineni et al. 2002, "BLEU: a method for automatic evaluation of machine translation",
//! section 2; Chen and Cherry 2014, "A systematic comparison of smoothing techniques", smoothing 3.

use engine::math::double;
use engine::token::unicode::is_alphanumeric;
use std::collections::HashMap;

/// The longest n-grams that are counted.
pub const ORDERS: usize = 4;

/// The counts of one or more sentences from which BLEU is computed. The counts of a corpus are the
/// sums of its sentences'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// The number of n-grams of the candidates that a reference has too, for each order.
    pub matches: [usize; ORDERS],
    /// The number of n-grams of the candidates, for each order.
    pub totals: [usize; ORDERS],
    /// c, in words.
    pub candidate: usize,
    /// r, in words.
    pub reference: usize,
}

impl Counts {
    /// The counts of one translation; without a reference nothing matches.
    pub fn of<S: AsRef<str>>(candidate: &[S], references: &[Vec<S>]) -> Self {
        let candidate: Vec<&str> = candidate.iter().map(AsRef::as_ref).collect();
        let references: Vec<Vec<&str>> = (references.iter())
            .map(|words| words.iter().map(AsRef::as_ref).collect())
            .collect();
        let mut counts = Self {
            candidate: candidate.len(),
            ..Self::default()
        };
        let distance = |words: &Vec<&str>| (words.len().abs_diff(candidate.len()), words.len());
        let nearest = references.iter().min_by_key(|words| distance(words));
        counts.reference = nearest.map_or(0, Vec::len);
        for order in 1..=ORDERS {
            let mut most: HashMap<&[&str], usize> = HashMap::new();
            for words in &references {
                for (gram, count) in grams(words, order) {
                    let most = most.entry(gram).or_default();
                    *most = count.max(*most);
                }
            }
            for (gram, count) in grams(&candidate, order) {
                counts.totals[order - 1] += count;
                counts.matches[order - 1] += count.min(most.get(gram).copied().unwrap_or(0));
            }
        }
        counts
    }

    /// BLEU, 0 to 1.
    pub fn bleu(&self) -> f64 {
        if self.matches[0] == 0 || self.totals.contains(&0) {
            return 0.0;
        }
        let (mut logarithms, mut halves) = (0.0, 1.0);
        for (&matches, &total) in self.matches.iter().zip(&self.totals) {
            let matches = if matches == 0 {
                halves /= 2.0;
                halves
            } else {
                matches as f64
            };
            logarithms += double::ln(matches / total as f64);
        }
        self.brevity() * double::exp(logarithms / ORDERS as f64)
    }

    /// The penalty for candidates that are shorter than their references, 0 to 1.
    pub fn brevity(&self) -> f64 {
        if self.candidate >= self.reference {
            return 1.0;
        }
        double::exp(1.0 - self.reference as f64 / self.candidate as f64)
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let add = |to: &mut [usize; ORDERS], from: [usize; ORDERS]| {
            for (to, from) in to.iter_mut().zip(from) {
                *to += from;
            }
        };
        all.fold(Self::default(), |mut sum, one| {
            add(&mut sum.matches, one.matches);
            add(&mut sum.totals, one.totals);
            sum.candidate += one.candidate;
            sum.reference += one.reference;
            sum
        })
    }
}

/// The n-grams of one order, with the number of times that each occurs.
fn grams<'w, 's>(words: &'w [&'s str], order: usize) -> HashMap<&'w [&'s str], usize> {
    let mut counts = HashMap::new();
    for gram in words.windows(order) {
        *counts.entry(gram).or_default() += 1;
    }
    counts
}

/// The words that are compared: those of the normalised sentence
/// ([`engine::translate::normalised`]); each mark of punctuation but the apostrophe and the hyphen
/// is a word by itself.
pub fn words(sentence: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in engine::translate::normalised(sentence).split(' ') {
        let mut inside = false;
        for character in part.chars() {
            let is_word = is_alphanumeric(character) || matches!(character, '\'' | '-');
            match words.last_mut() {
                Some(word) if inside && is_word => word.push(character),
                _ => words.push(character.to_string()),
            }
            inside = is_word;
        }
    }
    words
}

/// Whether a translation is one of the references, word for word.
pub fn exact(candidate: &str, references: &[String]) -> bool {
    let candidate = words(candidate);
    references.iter().any(|known| words(known) == candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(candidate: &str, references: &[&str]) -> Counts {
        let references: Vec<Vec<String>> = references.iter().map(|known| words(known)).collect();
        Counts::of(&words(candidate), &references)
    }

    /// Figures of `sacrebleu.corpus_bleu(candidates, references, smooth_method='exp',
    /// tokenize='none')`, sacrebleu 2.6.0.
    #[test]
    fn corpora_score_as_sacrebleu_says() {
        let corpus = [
            (
                "il gatto era sul tappeto",
                [
                    "il gatto è sul tappeto",
                    "il gatto era seduto sul tappeto rosso",
                ],
            ),
            (
                "la macchina rossa è mia",
                ["la macchina rossa è la mia", "l'auto rossa è mia"],
            ),
            (
                "non so dove abita mia sorella oggi",
                [
                    "non so dove vive mia sorella",
                    "non lo so dove abita mia sorella",
                ],
            ),
            (
                "vediamo il cielo",
                ["noi vediamo il cielo", "vediamo il cielo"],
            ),
            ("ho ho ho ho ho", ["ho fame oggi", "oggi ho ho"]),
        ];
        let sum: Counts = corpus
            .iter()
            .map(|(found, known)| counts(found, known))
            .sum();
        assert_eq!(
            (sum.matches, sum.totals),
            ([21, 15, 9, 3], [25, 20, 15, 10])
        );
        assert_eq!((sum.candidate, sum.reference), (25, 22));
        assert!(
            (sum.bleu() - 0.580_300_926_080_300_6).abs() < 1e-12,
            "{}",
            sum.bleu()
        );

        let smoothed = [
            ("il cane mangia una mela", "il gatto mangia una pera"),
            ("la gatta beve", "il latte bianco"),
        ];
        let sum: Counts = smoothed
            .iter()
            .map(|(found, known)| counts(found, &[known]))
            .sum();
        assert_eq!((sum.matches, sum.totals), ([3, 1, 0, 0], [8, 6, 4, 2]));
        assert!(
            (sum.bleu() - 0.176_776_695_296_636_92).abs() < 1e-12,
            "{}",
            sum.bleu()
        );

        let short = counts("uno due tre quattro", &["uno due tre quattro cinque sei"]);
        assert!((short.bleu() - 0.606_530_659_712_633_6).abs() < 1e-12);
        assert_eq!(short.bleu(), short.brevity());
    }

    #[test]
    fn nothing_in_common_or_nothing_to_count_is_zero() {
        assert_eq!(counts("a b c d", &["e f g h"]).bleu(), 0.0);
        assert_eq!(counts("a b c", &["a b c"]).bleu(), 0.0);
        assert_eq!(counts("", &["a"]).bleu(), 0.0);
        assert_eq!(counts("a b c d", &[]).bleu(), 0.0);
        assert_eq!(Counts::default().bleu(), 0.0);
    }

    #[test]
    fn punctuation_marks_are_words_except_the_apostrophe() {
        assert_eq!(words("L’amico, sì?"), ["l'amico", ",", "sì", "?"]);
        assert_eq!(words("Ciao!"), ["ciao"]);
        assert_eq!(words("3,5 semi-nuovo"), ["3", ",", "5", "semi-nuovo"]);
        assert!(words(" . ").is_empty());
        assert!(exact(
            "Vediamo il cielo.",
            &[
                "noi vediamo il cielo".to_owned(),
                "vediamo il cielo".to_owned()
            ]
        ));
        assert!(!exact("vediamo cielo", &["vediamo il cielo".to_owned()]));
    }
}
