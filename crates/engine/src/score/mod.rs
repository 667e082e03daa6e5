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

    /// The 95 % interval of BLEU, from `draws` draws of a seed ([`bootstrap::interval`]).
    pub fn interval(&self, draws: usize, seed: u64) -> (f64, f64) {
        bootstrap::interval(self.counts.len(), draws, seed, |drawn| {
            drawn.iter().map(|&n| self.counts[n]).sum::<Counts>().bleu()
        })
    }
}
