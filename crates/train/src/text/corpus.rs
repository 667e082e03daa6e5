//! Simple English: the English side of the Tatoeba pairs, stories, and sentences of our own.
//!
//! A text is a sentence or a whole story on one line. One in twelve is held out for the test and
//! one in 48 for validation, by the hash of its words ([`normalised`]), so that no two spellings of
//! one text are on both sides; of those the first is kept.
//!
//! The first version of the models had the sentences and the paragraphs of a sample of the stories,
//! dealt out in the same way ([`Corpus::first`]). What was held out then stays so: a story that
//! contains such a text is in the test set.

use super::{own, pairs, stories};
use crate::Result;
use engine::rng::{fnv1a64, mix};
use engine::translate::{length, normalised};
use std::collections::HashSet;
use std::path::Path;

/// Name that goes into the hash by which the texts are divided.
const SEED: u64 = 6;
/// A held-out sentence of fewer words says nothing of the story that contains it.
const FEWEST_WORDS: usize = 5;

/// Texts, dealt out.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    /// The training set.
    pub training: Vec<String>,
    /// The validation set, by which the best step is chosen.
    pub validation: Vec<String>,
    /// The test set, for the figures of the card.
    pub test: Vec<String>,
}

impl Corpus {
    /// The texts in the folder of data.
    ///
    /// # Errors
    /// When a file is missing or not what it should be.
    pub fn read(data: &Path) -> Result<Self> {
        let (first, stories) = (Self::first(data)?, stories::stories(data)?);
        let mut sentences = pairs::english(data)?;
        sentences.extend(own::sentences());
        let corpus = Self::with_stories(sentences, stories, &first);
        eprintln!(
            "{} texts for training, {} for validation, {} for the test",
            corpus.training.len(),
            corpus.validation.len(),
            corpus.test.len()
        );
        Ok(corpus)
    }

    /// The texts of the first version of the models: sentences, and paragraphs of the sample.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn first(data: &Path) -> Result<Self> {
        let mut lines = pairs::english(data)?;
        lines.extend(stories::paragraphs(data)?);
        Ok(Self::new(lines))
    }

    /// Deals out texts.
    pub fn new(texts: Vec<String>) -> Self {
        Self::with_stories(texts, Vec::new(), &Self::default())
    }

    /// Deals out sentences and then stories; a story that contains a text that is held out in
    /// `first` comes into the test set.
    fn with_stories(sentences: Vec<String>, stories: Vec<String>, first: &Self) -> Self {
        let held = Held::new(first);
        let (mut corpus, mut seen) = (Self::default(), HashSet::new());
        let stories = stories.into_iter().map(|story| (held.is_in(&story), story));
        let sentences = sentences.into_iter().map(|sentence| (false, sentence));
        for (is_held, text) in sentences.chain(stories) {
            let known = normalised(&text);
            let part = mix(fnv1a64(&known) ^ mix(SEED)) % 48;
            if !seen.insert(known) {
                continue;
            }
            match part {
                _ if is_held => corpus.test.push(text),
                0..=3 => corpus.test.push(text),
                4 => corpus.validation.push(text),
                _ => corpus.training.push(text),
            }
        }
        corpus
    }
}

/// What was held out in the first version, normalised.
struct Held {
    /// Texts of one sentence.
    sentences: HashSet<String>,
    /// Texts of more than one.
    paragraphs: Vec<String>,
}

impl Held {
    fn new(first: &Corpus) -> Self {
        let held = first.test.iter().chain(&first.validation);
        let (paragraphs, sentences): (Vec<&String>, Vec<&String>) =
            held.partition(|text| stories::sentences(text).len() > 1);
        let sentences = sentences.into_iter().map(|text| normalised(text));
        let paragraphs = paragraphs.into_iter().map(|text| normalised(text));
        Self {
            sentences: sentences
                .filter(|text| length(text) >= FEWEST_WORDS)
                .collect(),
            paragraphs: paragraphs
                .filter(|text| length(text) >= FEWEST_WORDS)
                .collect(),
        }
    }

    /// Returns whether a story contains a held-out text.
    fn is_in(&self, story: &str) -> bool {
        let sentences = stories::sentences(story).into_iter().map(normalised);
        let whole = normalised(story);
        sentences.into_iter().any(|s| self.sentences.contains(&s))
            || self.paragraphs.iter().any(|text| whole.contains(text))
    }
}

/// The words of a text in lower case, without punctuation.
pub fn words(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '\'';
    let words = text
        .split(|c: char| !is_part(c))
        .map(|word| word.trim_matches('\''));
    words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_sentence_are_kept_once() {
        let lines = ["I am here.", "i am here!", "You are here."].map(str::to_owned);
        let corpus = Corpus::new(lines.to_vec());
        let all = [&corpus.training, &corpus.validation, &corpus.test];
        let mut all: Vec<&String> = all.into_iter().flatten().collect();
        all.sort();
        assert_eq!(all, ["I am here.", "You are here."]);
    }

    #[test]
    fn about_one_in_twelve_is_held_out() {
        let lines: Vec<String> = (0..4800).map(|n| format!("number {n}")).collect();
        let corpus = Corpus::new(lines);
        assert!(
            (340..460).contains(&corpus.test.len()),
            "{}",
            corpus.test.len()
        );
        assert!((70..135).contains(&corpus.validation.len()));
    }

    #[test]
    fn stories_with_held_out_texts_are_held_out() {
        let first = Corpus {
            test: ["The old cat sat down.", "It ran far away. Then it slept."]
                .map(str::to_owned)
                .to_vec(),
            ..Corpus::default()
        };
        let held = Held::new(&first);
        assert!(held.is_in("A dog came. The old cat sat down! It slept."));
        assert!(held.is_in("Once it ran. It ran far away. Then it slept. The end."));
        assert!(!held.is_in("It ran far away. The cat sat down. Then it slept."));
    }

    #[test]
    fn words_are_in_lower_case_without_punctuation() {
        assert_eq!(words("\"It's 5,\" he said."), ["it's", "5", "he", "said"]);
    }
}
