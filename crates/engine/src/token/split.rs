//! The rules by which byte-level vocabularies cut a text into words before bytes are merged: no
//! token crosses a cut.
//!
//! The rules are published as regular expressions; here they are Rust code. L is a letter and N a
//! number (Unicode's general categories), s white space:
//!
//! ```text
//! Gpt2          's|'t|'re|'ve|'m|'ll|'d| ?L+| ?N+| ?[^sLN]+|s+(?!S)|s+
//! Llama3, Qwen2 (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\nLN]?L+|N{1,k}| ?[^sLN]+[\r\n]*|s*[\r\n]+|s+(?!S)|s+     k = 3, 1
//! ```
//! `s+(?!S)` leaves the last of several spaces to the word after them.
//!
//! ```
//! use engine::token::split::Split;
//! let words: Vec<_> = Split::Gpt2.words("I'll go  in 2 days!").collect();
//! assert_eq!(words, ["I", "'ll", " go", " ", " in", " 2", " days", "!"]);
//! ```
//!
//! Source: Radford et al. 2019, "Language models are unsupervised multitask learners", section 2.2,
//! and its code (`encoder.py`); the `tokenizer.json` of Llama 3 and of Qwen2.

use super::unicode::{is_letter, is_number};

/// The rules for words of a family of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    /// GPT-2, and most models after it.
    #[default]
    Gpt2,
    /// Llama 3: at most three digits to a word.
    Llama3,
    /// Qwen2: each digit alone.
    Qwen2,
}

impl Split {
    /// The name in GGUF files (`tokenizer.ggml.pre`).
    pub fn gguf_name(self) -> &'static str {
        match self {
            Self::Gpt2 => "gpt-2",
            Self::Llama3 => "llama-bpe",
            Self::Qwen2 => "qwen2",
        }
    }

    /// The words of a text, in order; together they are the text.
    pub fn words(self, text: &str) -> impl Iterator<Item = &str> {
        let mut rest = text;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (word, after) = rest.split_at(self.first(rest));
            rest = after;
            Some(word)
        })
    }

    /// The bytes of the first word of a text that is not empty.
    fn first(self, text: &str) -> usize {
        match self {
            Self::Gpt2 => gpt2(text),
            Self::Llama3 => later(text, 3),
            Self::Qwen2 => later(text, 1),
        }
    }
}

fn is_other(character: char) -> bool {
    !(character.is_whitespace() || is_letter(character) || is_number(character))
}

/// The bytes at the start of a text whose characters all are of one kind.
fn run(text: &str, kind: impl Fn(char) -> bool) -> usize {
    text.find(|character| !kind(character))
        .unwrap_or(text.len())
}

fn gpt2(text: &str) -> usize {
    if let Some(length) = contraction(text, |character| character) {
        return length;
    }
    let (space, word) = match text.strip_prefix(' ') {
        Some(word) => (1, word),
        None => (0, text),
    };
    match word.chars().next() {
        Some(next) if is_letter(next) => space + run(word, is_letter),
        Some(next) if is_number(next) => space + run(word, is_number),
        Some(next) if !next.is_whitespace() => space + run(word, is_other),
        _ => spaces(text),
    }
}

fn later(text: &str, digits: usize) -> usize {
    // The long s is another case of s.
    let fold = |character: char| {
        if character == 'ſ' {
            's'
        } else {
            character.to_ascii_lowercase()
        }
    };
    if let Some(length) = contraction(text, fold) {
        return length;
    }
    let mut characters = text.chars();
    let (Some(first), second) = (characters.next(), characters.next()) else {
        return 0;
    };
    if is_letter(first) {
        return run(text, is_letter);
    }
    if is_number(first) {
        let taken = text.chars().take(digits).take_while(|&c| is_number(c));
        return taken.map(char::len_utf8).sum();
    }
    if !matches!(first, '\r' | '\n') && second.is_some_and(is_letter) {
        let length = first.len_utf8();
        return length + run(&text[length..], is_letter);
    }
    let space = usize::from(first == ' ');
    let others = run(&text[space..], is_other);
    if others > 0 {
        let length = space + others;
        return length + run(&text[length..], |c| matches!(c, '\r' | '\n'));
    }
    let white = &text[..run(text, char::is_whitespace)];
    match white.rfind(['\r', '\n']) {
        Some(last) => last + 1,
        None => spaces(text),
    }
}

/// `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` at the start of a text.
fn contraction(text: &str, fold: impl Fn(char) -> char) -> Option<usize> {
    let mut letters = text.strip_prefix('\'')?.chars();
    let first = letters.next()?;
    match fold(first) {
        's' | 't' | 'm' | 'd' => Some(1 + first.len_utf8()),
        'r' | 'v' => (fold(letters.next()?) == 'e').then_some(3),
        'l' => (fold(letters.next()?) == 'l').then_some(3),
        _ => None,
    }
}

/// White space at the start of a text: all of it at the end, otherwise all but the last of several.
fn spaces(text: &str) -> usize {
    let length = run(text, char::is_whitespace);
    let last = text[..length].chars().next_back().map_or(0, char::len_utf8);
    if length == text.len() || length == last {
        length
    } else {
        length - last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(split: Split, text: &str) -> Vec<&str> {
        split.words(text).collect()
    }

    #[test]
    fn gpt2_leaves_the_last_space_to_the_word_after_it() {
        let found = words(Split::Gpt2, "a   b\n\n c \t\nd  ");
        assert_eq!(
            found,
            ["a", "  ", " b", "\n\n", " c", " \t", "\n", "d", "  "]
        );
        assert_eq!(words(Split::Gpt2, " "), [" "]);
        assert_eq!(words(Split::Gpt2, ""), [""; 0]);
    }

    #[test]
    fn gpt2_takes_contractions_in_small_letters_only() {
        let found = words(Split::Gpt2, "we're 'tis WE'RE don't x'y");
        let expected = [
            "we", "'re", " '", "tis", " WE", "'", "RE", " don", "'t", " x", "'", "y",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn later_rules_keep_newlines_with_signs_and_limit_digits() {
        let found = words(Split::Llama3, "x=12345;\n\n  y\tz 'LL\n");
        let expected = [
            "x", "=", "123", "45", ";\n\n", " ", " y", "\tz", " '", "LL", "\n",
        ];
        assert_eq!(found, expected);
        assert_eq!(words(Split::Qwen2, "it'ſ 42"), ["it", "'ſ", " ", "4", "2"]);
        assert_eq!(words(Split::Qwen2, " \n \n  a"), [" \n \n", " ", " a"]);
    }
}
