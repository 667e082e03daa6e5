//! How good translations are: BLEU and exact matches, with the interval that other sentences would move them in.
//!
//! ```
//! use engine::score::Score;
//! let mut score = Score::default();
//! score.push("il gatto dorme", &["la gatta dorme".to_owned(), "il gatto dorme".to_owned()]);
//! score.push("vedo il cielo blu", &["vediamo il cielo azzurro".to_owned()]);
//! assert_eq!(score.exact(), 0.5);
//! assert!(0.3 < score.bleu() && score.bleu() < 0.7);
//! ```

pub mod bleu;
pub mod bootstrap;

use bleu::{Counts, exact, words};

/// What is right of some translations.
#[derive(Debug, Clone, Default)]
pub struct Score {
    /// What BLEU is computed from, for each translation.
    pub counts: Vec<Counts>,
    /// Whether each is one of its references.
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

    /// The 95 % interval of how much higher this BLEU is than that of other translations of the same sentences, both scored on the same
    /// `draws` draws of a seed.
    pub fn lead_interval(&self, other: &Self, draws: usize, seed: u64) -> (f64, f64) {
        let bleu = |score: &Self, drawn: &[usize]| {
            let counts = drawn.iter().filter_map(|&n| score.counts.get(n).copied());
            counts.sum::<Counts>().bleu()
        };
        bootstrap::interval(self.counts.len(), draws, seed, |drawn| {
            bleu(self, drawn) - bleu(other, drawn)
        })
    }

    /// The 95 % interval of BLEU, from `draws` draws of a seed ([`bootstrap::interval`]).
    pub fn interval(&self, draws: usize, seed: u64) -> (f64, f64) {
        bootstrap::interval(self.counts.len(), draws, seed, |drawn| {
            drawn.iter().map(|&n| self.counts[n]).sum::<Counts>().bleu()
        })
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

    /// Nobody leads over themselves; who is right everywhere leads on every draw over who is wrong everywhere.
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
