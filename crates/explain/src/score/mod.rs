//! Measures of translations: BLEU and exact matches, with confidence intervals.
//!
//! ```
//! use explain::score::Score;
//! let mut score = Score::default();
//! score.push("il gatto dorme", &["la gatta dorme".to_owned(), "il gatto dorme".to_owned()]);
//! score.push("vedo il cielo blu", &["vediamo il cielo azzurro".to_owned()]);
//! assert_eq!(score.exact(), 0.5);
//! assert!(0.3 < score.bleu() && score.bleu() < 0.7);
//! ```

pub mod bleu;
pub mod bootstrap;

use bleu::{Counts, exact, words};

/// The score of some translations.
#[derive(Debug, Clone, Default)]
pub struct Score {
    /// The counts that BLEU is computed from, for each translation.
    pub counts: Vec<Counts>,
    /// Whether each translation is one of its references.
    pub exact: Vec<bool>,
}

impl Score {
    /// Compares one more translation with its references.
    pub fn push(&mut self, found: &str, references: &[String]) {
        let known: Vec<Vec<String>> = references.iter().map(|known| words(known)).collect();
        self.counts.push(Counts::of(&words(found), &known));
        self.exact.push(exact(found, references));
    }

    /// BLEU of all together, 0 to 1.
    pub fn bleu(&self) -> f64 {
        self.counts.iter().copied().sum::<Counts>().bleu()
    }

    /// The share of translations that are one of their references.
    pub fn exact(&self) -> f64 {
        let right = self.exact.iter().filter(|&&right| right).count();
        right as f64 / self.exact.len().max(1) as f64
    }

    /// The 95 % interval of the difference between this BLEU and that of other translations of the
    /// same sentences, both scored on the same `draws` draws of a seed.
    pub fn lead_interval(&self, other: &Self, draws: usize, seed: u64) -> (f64, f64) {
        bootstrap::interval(self.counts.len(), draws, seed, |drawn| {
            self.bleu_of(drawn) - other.bleu_of(drawn)
        })
    }

    /// The 95 % interval of BLEU, from `draws` draws of a seed ([`bootstrap::interval`]).
    pub fn interval(&self, draws: usize, seed: u64) -> (f64, f64) {
        bootstrap::interval(self.counts.len(), draws, seed, |drawn| self.bleu_of(drawn))
    }

    /// BLEU of the translations drawn, by their indices.
    fn bleu_of(&self, drawn: &[usize]) -> f64 {
        let counts = drawn.iter().filter_map(|&n| self.counts.get(n).copied());
        counts.sum::<Counts>().bleu()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(found: &[&str]) -> Score {
        let known = "il gatto dorme sul tappeto rosso".to_owned();
        let mut score = Score::default();
        for found in found {
            score.push(found, std::slice::from_ref(&known));
        }
        score
    }

    /// Translations have no lead over themselves; right ones lead over wrong ones on every draw.
    #[test]
    fn a_lead_is_measured_on_the_same_draws() {
        let right = score(&["il gatto dorme sul tappeto rosso"; 12]);
        let wrong = score(&["il gatto dorme su un tappeto"; 12]);
        assert_eq!(right.lead_interval(&right, 50, 1), (0.0, 0.0));
        let (low, high) = right.lead_interval(&wrong, 50, 1);
        assert_eq!((low, high), (1.0 - wrong.bleu(), 1.0 - wrong.bleu()));
        assert!(low > 0.3);
        let mixed = score(&["il gatto dorme sul tappeto rosso", "il cane dorme"]);
        let (low, high) = mixed.lead_interval(&wrong, 200, 1);
        assert!(low < high);
    }
}
