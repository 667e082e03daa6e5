//! Words and punctuation marks as tokens: the simplest split, for lessons without a trained
//! vocabulary.
//!
//! A token is a run of letters and digits (an apostrophe or hyphen between two letters belongs to
//! the word), or one other character that is not white space. Ids come from a hash of the
//! lower-cased word, so every word has one without a list; two words may share an id, with
//! probability 1/V for each pair.
//!
//! ```
//! use engine::token::words;
//! assert_eq!(words::split("The cat didn't sit.", 100), ["The", "cat", "didn't", "sit", "."]);
//! assert_eq!(words::id("Cat", 5_000), words::id("cat", 5_000));
//! ```

use super::unicode::{is_alphanumeric, lowercase};
use crate::rng::{fnv1a64, mix};

/// The first `max` tokens of `text`, in their own spelling. Work and memory are bounded by `max`,
/// for a text of any length.
pub fn split(text: &str, max: usize) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if tokens.len() >= max {
            break;
        }
        let length = if is_alphanumeric(first) {
            word_length(rest)
        } else {
            cluster_length(rest)
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    tokens
}

/// The number of bytes of the word at the start of `text`.
fn word_length(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next_is_letter = characters
            .peek()
            .is_some_and(|&(_, next)| is_alphanumeric(next));
        let joins = matches!(character, '\'' | '’' | '-') && next_is_letter;
        if !(is_alphanumeric(character) || is_joined(character) || joins) {
            return at;
        }
    }
    text.len()
}

/// The number of bytes of one sign at the start of `text`, with its marks and joiners, so an emoji
/// stays whole.
fn cluster_length(text: &str) -> usize {
    let mut after_joiner = true;
    for (at, character) in text.char_indices() {
        if !after_joiner && !is_joined(character) {
            return at;
        }
        after_joiner = character == '\u{200D}';
    }
    text.len()
}

/// True for a character that only changes the one before it: combining marks, variation selectors,
/// the joiner, skin tones. (The ranges used in practice; the full Unicode table would outweigh the
/// lesson.)
fn is_joined(character: char) -> bool {
    matches!(character,
        '\u{0300}'..='\u{036F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}'
        | '\u{200D}' | '\u{FE00}'..='\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}')
}

/// The id of a word in 0..`vocabulary`, from a hash of its lower-case form; 0 when `vocabulary` is
/// 0.
pub fn id(word: &str, vocabulary: usize) -> usize {
    let hash = mix(fnv1a64(&lowercase(word)));
    ((u128::from(hash) * vocabulary as u128) >> 64) as usize
}

/// The ids of several words, each as [`id`] gives it.
pub fn ids<S: AsRef<str>>(words: &[S], vocabulary: usize) -> Vec<usize> {
    words
        .iter()
        .map(|word| id(word.as_ref(), vocabulary))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_words_punctuation_and_emoji() {
        assert_eq!(
            split("  Well-known: it's 3.5 °C!\n", 99),
            ["Well-known", ":", "it's", "3", ".", "5", "°", "C", "!"]
        );
        assert_eq!(
            split("rock 'n' roll -- ok", 99),
            ["rock", "'", "n", "'", "roll", "-", "-", "ok"]
        );
        assert_eq!(
            split("perché cafe\u{301} 猫 👩🏽‍🚀👍", 99),
            ["perché", "cafe\u{301}", "猫", "👩🏽‍🚀", "👍"]
        );
    }

    #[test]
    fn stops_at_the_limit_and_gives_no_tokens_for_white_space() {
        assert_eq!(split("a b c d", 2), ["a", "b"]);
        assert_eq!(split("a b", 0), Vec::<String>::new());
        assert_eq!(split(" \n\t ", 9), Vec::<String>::new());
    }

    #[test]
    fn ids_ignore_case_and_stay_inside() {
        let found = ids(&["dog", "bites", "man", "DOG"], 1_000);
        assert_eq!(found[0], found[3]);
        assert!(found.iter().all(|&id| id < 1_000));
        assert!(found[0] != found[1] && found[1] != found[2] && found[0] != found[2]);
        assert_eq!(id("x", 0), 0);
    }
}
