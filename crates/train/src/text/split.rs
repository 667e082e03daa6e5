//! The division of sentences into training, validation and test sets.
//!
//! ```text
//! h = mix(fnv1a64(normalised English) ^ mix(SEED)) mod 96        0 … 7 test, 8 … 9 validation, others training
//! ```
//! The sentences that the site shows ([`SHOWN`]) and those of its own evaluation set are in none of
//! the three. No Italian side of anything held out, shown or in the evaluation set is trained on: a
//! training sentence loses such versions, and is left out where it has no other. Of the versions
//! left, training takes one (`chosen`).

use crate::Result;
use engine::rng::{fnv1a64, mix};
use engine::translate::{Pair, read_set};
use std::collections::HashSet;

/// Name that goes into the hash by which the sentences are divided.
const SEED: u64 = 5;
/// Sentences that the pages use as examples.
pub const SHOWN: [&str; 1] = ["we see the sky"];
/// The site's own evaluation set, which pages load too.
pub const OWN: &str = include_str!("../../../../public/models/eval-en-it.tsv");

/// The pairs, dealt out.
#[derive(Debug, Clone, Default)]
pub struct Split {
    /// English with the one version that is trained on.
    pub training: Vec<(String, String)>,
    /// The validation set, by which the best step is chosen.
    pub validation: Vec<Pair>,
    /// The test set, for the scores.
    pub test: Vec<Pair>,
    /// Sentences of the collection that are in none of these because the site shows them or
    /// measures on them.
    pub withheld: usize,
    /// Training sentences without a version that is not held out.
    pub without_version: usize,
}

impl Split {
    /// Deals out pairs. `own` are the pairs of the site's evaluation set.
    pub fn new(pairs: Vec<Pair>, own: &[Pair]) -> Self {
        let shown = SHOWN.iter().copied();
        let away: HashSet<&str> = own
            .iter()
            .map(|pair| pair.english.as_str())
            .chain(shown)
            .collect();
        let mut split = Self::default();
        let mut italian: HashSet<String> = own
            .iter()
            .flat_map(|pair| pair.italian.iter().cloned())
            .collect();
        let mut training = Vec::new();
        for pair in pairs {
            let part = mix(fnv1a64(&pair.english) ^ mix(SEED)) % 96;
            let is_away = away.contains(pair.english.as_str());
            if is_away || part < 10 {
                italian.extend(pair.italian.iter().cloned());
            }
            match part {
                _ if is_away => split.withheld += 1,
                0..=7 => split.test.push(pair),
                8..=9 => split.validation.push(pair),
                _ => training.push(pair),
            }
        }
        for mut pair in training {
            pair.italian.retain(|version| !italian.contains(version));
            match chosen(&pair) {
                Some(version) => split.training.push((pair.english, version)),
                None => split.without_version += 1,
            }
        }
        split
    }

    /// The counts in a line.
    pub fn described(&self) -> String {
        let long = |pairs: &[Pair]| (pairs.iter()).filter(|pair| is_long(pair)).count();
        format!(
            "{} sentences for training, {} for validation, {} for the test ({} of 9 and 10 words); {} withheld, {} without a version of their own",
            self.training.len(),
            self.validation.len(),
            self.test.len(),
            long(&self.test),
            self.withheld,
            self.without_version,
        )
    }
}

/// Returns whether a pair counts for the comparison of the models: 9 or 10 English words.
pub fn is_long(pair: &Pair) -> bool {
    (9..=10).contains(&pair.words())
}

/// Subjects, which Italian leaves out.
const SUBJECTS: [&str; 8] = ["io", "tu", "lui", "lei", "noi", "voi", "loro", "egli"];
/// Words by which "you" is one person whom one knows.
const FAMILIAR: [&str; 22] = [
    "sei", "hai", "ti", "tuo", "tua", "tuoi", "tue", "te", "stai", "vuoi", "puoi", "devi", "sai",
    "fai", "vai", "dici", "eri", "avevi", "pensi", "vieni", "sarai", "avrai",
];

/// The version of a pair that is trained on, so that one way of speaking is learned and not a
/// mixture: without a subject at its beginning where there is one, then that with most signs of the
/// familiar singular, then the first in the file.
fn chosen(pair: &Pair) -> Option<String> {
    let rank = |version: &String| {
        let mut words = version.split(' ');
        let has_subject = words.next().is_some_and(|first| SUBJECTS.contains(&first));
        let word =
            |word: &&str| FAMILIAR.contains(&word.trim_matches(|c: char| !c.is_alphabetic()));
        let familiar = version.split(' ').filter(word).count();
        (has_subject, std::cmp::Reverse(familiar))
    };
    pair.italian
        .iter()
        .min_by_key(|version| rank(version))
        .cloned()
}

/// The pairs of the site's own evaluation set.
///
/// # Errors
/// When a line of it has another form.
pub fn own() -> Result<Vec<Pair>> {
    Ok(read_set(OWN)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(english: &str, italian: &[&str]) -> Pair {
        Pair {
            english: english.to_owned(),
            italian: italian.iter().map(|&version| version.to_owned()).collect(),
        }
    }

    #[test]
    fn one_way_of_speaking_is_chosen() {
        let versions = [
            "tu hai ragione",
            "ha ragione",
            "avete ragione",
            "hai ragione",
        ];
        let found = chosen(&pair("you are right", &versions));
        assert_eq!(found.as_deref(), Some("hai ragione"));
        let found = chosen(&pair("i sleep", &["io dormo", "dormo", "sto dormendo"]));
        assert_eq!(found.as_deref(), Some("dormo"));
        assert_eq!(chosen(&pair("nothing", &[])), None);
    }

    #[test]
    fn italian_sides_that_are_held_out_are_not_trained_on() {
        let number = |n: usize| {
            pair(
                &format!("sentence {n}"),
                &["la stessa frase", &format!("frase {n}")],
            )
        };
        let mut pairs: Vec<Pair> = (0..960).map(number).collect();
        pairs.push(pair(SHOWN[0], &["vediamo il cielo"]));
        let own = [pair("sentence 7", &["frase 8"])];
        let split = Split::new(pairs, &own);
        assert_eq!(split.withheld, 2);
        let all = split.training.len() + split.test.len() + split.validation.len();
        assert_eq!(all + split.without_version + split.withheld, 961);
        assert!(
            (55..105).contains(&split.test.len()),
            "{}",
            split.test.len()
        );
        assert!((8..35).contains(&split.validation.len()));
        // Held out with others, this version is nobody's.
        assert!(
            split
                .training
                .iter()
                .all(|(_, italian)| italian != "la stessa frase")
        );
        assert!(
            split
                .training
                .iter()
                .all(|(_, italian)| italian != "frase 8")
        );
    }
}
