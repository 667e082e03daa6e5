//! `story-race`: the smoothed 4-gram that tiny-gpt is compared with, on the stories in which the
//! reader guesses hidden words ([`explain::hidden_story`]), and the log that the site ships. The
//! 4-gram itself is far larger than tiny-gpt, so its bits are logged.
//!
//! ```text
//! setting  NAME   VALUE                what was computed, and how
//! token    STORY  0     bits …         of each token of the story
//! gap      STORY  GAP   bits …         of each word to choose from, after the story before it
//! ```
//! The fields of a line are separated by tabs.

use super::language::Language;
use super::ngram::{MOST, Ngrams};
use crate::Result;
use crate::frame::replace;
use engine::token::tokenizer::Tokenizer;
use explain::hidden_story::{COUNT, story};
use std::fmt::Write;
use std::path::Path;

/// The file that the site ships.
pub const FILE: &str = "story-race.tsv";

/// Computes the bits of the 4-gram of tiny-gpt's training texts and writes the log to `out`.
///
/// # Errors
/// When the data cannot be read, or the log cannot be written.
pub fn race(data: &Path, out: &Path) -> Result<()> {
    let log = log(&Language::read(data)?, data)?;
    let path = out.join(FILE);
    replace(&path, log.as_bytes())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// The whole log.
///
/// # Errors
/// When the vocabulary refuses a text.
pub fn log(language: &Language, data: &Path) -> Result<String> {
    let (grams, count) = (language.ngrams(), language.training_texts());
    let command = format!("cargo xtask train story-race --data {}", data.display());
    let mut all = String::new();
    let _ = writeln!(all, "setting\tcommand\t{command}");
    let _ = writeln!(all, "setting\ttexts\t{count}");
    let _ = writeln!(all, "setting\tgrams\t{}", grams.count());
    for n in 0..COUNT {
        let story = story(n);
        let bits = token_bits(language, &grams, "", &story.text)?;
        let _ = writeln!(all, "token\t{n}\t0\t{}", joined(&bits));
        for (place, gap) in story.gaps.iter().enumerate() {
            let word = |word: &String| {
                let bits = token_bits(language, &grams, &gap.before, &format!(" {word}"))?;
                Ok(bits.iter().sum())
            };
            let words = gap.words.iter().map(word).collect::<Result<Vec<f64>>>()?;
            let _ = writeln!(all, "gap\t{n}\t{place}\t{}", joined(&words));
        }
    }
    Ok(all)
}

fn joined(bits: &[f64]) -> String {
    let bits: Vec<String> = bits.iter().map(|bits| format!("{bits:.4}")).collect();
    bits.join("\t")
}

/// The bits of each token of `text` after the text `before`.
fn token_bits(language: &Language, grams: &Ngrams, before: &str, text: &str) -> Result<Vec<f64>> {
    let (tokenizer, end) = language.vocabulary();
    let mut ids = vec![end];
    ids.extend(tokenizer.encode(before)?);
    let from = ids.len();
    ids.extend(tokenizer.encode(text)?);
    let bits = |at: usize| {
        let context = &ids[at.saturating_sub(MOST - 1)..at];
        -grams.probability(context, ids[at]).log2()
    };
    Ok((from..ids.len()).map(bits).collect())
}
