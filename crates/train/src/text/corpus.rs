//! Simple English: the English side of the Tatoeba pairs, and a sample of TinyStories.
//!
//! A text is a line: a sentence, or a paragraph of a story. One in twelve is held out for the test
//! and one in 48 for validation, by the hash of its words ([`normalised`]), so that no two
//! spellings of one sentence are on both sides; of those the first in the file is kept.
//!
//! Public originals: see [`super::pairs`]; TinyStories (Eldan and Li 2023, CDLA-Sharing-1.0), an
//! excerpt from github.com/Niklas6/Mini_GPT, `tinystories.txt`, commit
//! 0e9893779c9e2048205ea1339eb588983d72adc1.

use super::pairs;
use crate::{Result, TrainError};
use engine::rng::{fnv1a64, mix};
use engine::translate::normalised;
use std::collections::HashSet;
use std::path::Path;

/// Path of the stories in the folder of data.
pub const STORIES: &str = "tinystories-sample/tinystories.txt";
/// A file of fewer bytes is not the sample.
const FEWEST_BYTES: usize = 100_000;
/// Name that goes into the hash by which the texts are divided.
const SEED: u64 = 6;

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
        let mut lines = pairs::english(data)?;
        let path = data.join(STORIES);
        let text = std::fs::read(&path).map_err(|error| TrainError::file("read", &path, error))?;
        let text = String::from_utf8(text)
            .map_err(|error| TrainError::content(&path, "a text in UTF-8", error))?;
        if text.len() < FEWEST_BYTES {
            let expected = format!("at least {FEWEST_BYTES} bytes");
            return Err(TrainError::content(&path, expected, text.len()));
        }
        lines.extend(text.lines().map(mended).filter(|line| !line.is_empty()));
        let corpus = Self::new(lines);
        eprintln!(
            "{} texts for training, {} for validation, {} for the test",
            corpus.training.len(),
            corpus.validation.len(),
            corpus.test.len()
        );
        Ok(corpus)
    }

    /// Deals out texts.
    pub fn new(lines: Vec<String>) -> Self {
        let (mut corpus, mut seen) = (Self::default(), HashSet::new());
        for line in lines {
            let known = normalised(&line);
            let part = mix(fnv1a64(&known) ^ mix(SEED)) % 48;
            if !seen.insert(known) {
                continue;
            }
            match part {
                0..=3 => corpus.test.push(line),
                4 => corpus.validation.push(line),
                _ => corpus.training.push(line),
            }
        }
        corpus
    }
}

/// A line of the sample, in which signs that were read in the wrong encoding are mended.
fn mended(line: &str) -> String {
    let mut line = line.trim().to_owned();
    for (wrong, right) in [
        ("â€œ", "\""),
        ("â€™", "'"),
        ("â€", "\""),
        ("“", "\""),
        ("”", "\""),
        ("’", "'"),
    ] {
        line = line.replace(wrong, right);
    }
    line
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
    fn signs_in_the_wrong_encoding_are_mended() {
        assert_eq!(mended(" â€œItâ€™s,â€ he said. "), "\"It's,\" he said.");
        assert_eq!(words("\"It's 5,\" he said."), ["it's", "5", "he", "said"]);
    }
}
