//! BERT's rules for cleaning a text and cutting it into words, before the words are cut into
//! tokens.
//!
//! 1. Invisible characters go; white space of any kind becomes a space.
//! 2. Each Chinese character becomes a word of its own.
//! 3. Uncased vocabularies: accents go (canonical decomposition without its marks), then letters
//!    become lower case.
//! 4. Cut at spaces, and around each punctuation character.
//!
//! Source: Devlin et al. 2019, "BERT: Pre-training of deep bidirectional transformers for language
//! understanding", code (`tokenization.py`).

use super::unicode::{is_invisible, is_punctuation, lowercase, push_without_accents};

/// The rules for cleaning a text before it is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BertText {
    /// Drop invisible characters and make all white space plain spaces.
    pub clean: bool,
    /// Cut around Chinese characters.
    pub cut_chinese: bool,
    /// Drop accents.
    pub strip_accents: bool,
    /// Write in lower case.
    pub lower_case: bool,
}

impl BertText {
    /// The rules of the published uncased and cased vocabularies.
    pub fn new(uncased: bool) -> Self {
        Self {
            clean: true,
            cut_chinese: true,
            strip_accents: uncased,
            lower_case: uncased,
        }
    }

    /// The words of a text.
    pub fn words(&self, text: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut letters = String::new();
        for character in text.chars() {
            if self.clean && is_dropped(character) {
                continue;
            }
            if character.is_whitespace() {
                words.push(String::new());
                continue;
            }
            letters.clear();
            if self.strip_accents {
                push_without_accents(character, &mut letters);
            } else {
                letters.push(character);
            }
            if self.lower_case {
                letters = lowercase(&letters);
            }
            let alone = self.cut_chinese && is_chinese(character);
            for letter in letters.chars() {
                push(&mut words, letter, alone);
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }
}

/// Adds a character to the last word, or makes it a word of its own.
fn push(words: &mut Vec<String>, character: char, alone: bool) {
    if alone || character.is_ascii_punctuation() || is_punctuation(character) {
        words.push(character.to_string());
        words.push(String::new());
    } else if let Some(word) = words.last_mut() {
        word.push(character);
    }
}

fn is_dropped(character: char) -> bool {
    !matches!(character, '\t' | '\n' | '\r')
        && (is_invisible(character) || character == char::REPLACEMENT_CHARACTER)
}

/// The blocks of Chinese characters, not those of Japanese and Korean letters.
fn is_chinese(character: char) -> bool {
    matches!(u32::from(character),
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x2_A6DF | 0x2_A700..=0x2_B73F
        | 0x2_B740..=0x2_B81F | 0x2_B820..=0x2_CEAF | 0x2_F800..=0x2_FA1F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uncased_text_loses_accents_capitals_and_invisible_characters() {
        let found = BertText::new(true).words("  Füh\u{AD}rer's\tCAFE\u{301}\u{0}, İ\u{2003}Ω…");
        assert_eq!(found, ["fuhrer", "'", "s", "cafe", ",", "i", "ω", "…"]);
    }

    #[test]
    fn cased_text_keeps_them() {
        let found = BertText::new(false).words("Führer\u{200D}s $5~ 我想ab天");
        assert_eq!(found, ["Führers", "$", "5", "~", "我", "想", "ab", "天"]);
        assert!(BertText::new(false).words(" \n").is_empty());
    }
}
