//! What the reader has selected in a cell: an entry by its indices, or a word of a text. A word is
//! stored by its characters, so it stays selected when another model cuts the text into other
//! tokens.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The kind of thing that a selection points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selectable {
    /// An entry of a tensor with this many axes.
    Entry {
        /// Number of indices.
        axes: usize,
    },
    /// A word, or a part of one, of a text.
    Word,
}

/// A part of a text, found again by what it says and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The characters.
    pub text: String,
    /// Index of the first character in the text; `None` for a token that is not in the text (such
    /// as `[SEP]`), and for the first word that says `text`.
    pub start: Option<usize>,
}

/// A selection, which views read and computations do not.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Selection {
    /// Nothing is selected.
    #[default]
    Nothing,
    /// The indices of an entry, from 0.
    Entry(Vec<usize>),
    /// A word.
    Word(Quote),
}

impl Selection {
    /// The first word of a text that says `text`.
    pub fn word(text: &str) -> Self {
        Self::Word(Quote {
            text: text.to_owned(),
            start: None,
        })
    }

    /// The token at `index`, as the characters of `text` that it covers.
    pub fn of_token(index: usize, tokens: &[String], text: &str) -> Self {
        let span = spans(tokens, text).into_iter().nth(index).flatten();
        match (span, tokens.get(index)) {
            (Some(span), _) => Self::Word(Quote {
                text: text.chars().skip(span.start).take(span.len()).collect(),
                start: Some(span.start),
            }),
            (None, Some(token)) => Self::word(token),
            (None, None) => Self::Nothing,
        }
    }

    /// True where the selection is of this kind; "nothing" is of every kind.
    pub(super) fn fits(&self, kind: Selectable) -> bool {
        match (self, kind) {
            (Self::Nothing, _) | (Self::Word(_), Selectable::Word) => true,
            (Self::Entry(index), Selectable::Entry { axes }) => index.len() == axes,
            _ => false,
        }
    }

    /// Reads `[]`, a list of indices, `"word"` or `["word", START]`.
    pub(super) fn parse(json: &Value) -> Option<Self> {
        let whole = |value: &Value| usize::try_from(value.as_u64()?).ok();
        if let Some(text) = json.as_str() {
            return Some(Self::word(text));
        }
        match json.as_array()?.as_slice() {
            [] => Some(Self::Nothing),
            [Value::String(text), start] => Some(Self::Word(Quote {
                text: text.clone(),
                start: Some(whole(start)?),
            })),
            indices => indices
                .iter()
                .map(whole)
                .collect::<Option<_>>()
                .map(Self::Entry),
        }
    }

    /// The inverse of [`Self::parse`].
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Nothing => json!([]),
            Self::Entry(index) => json!(index),
            Self::Word(Quote { text, start: None }) => json!(text),
            Self::Word(Quote {
                text,
                start: Some(start),
            }) => json!([text, start]),
        }
    }
}

/// The characters of `text` that each token covers; `None` for a token that is not in it. Tokens may
/// differ from the text in case and accents, and may carry the marks of their vocabulary: `##`
/// before a part that continues a word, `␣` for a space.
pub fn spans(tokens: &[String], text: &str) -> Vec<Option<Range<usize>>> {
    let letters: Vec<char> = text.chars().collect();
    let mut from = 0;
    tokens
        .iter()
        .map(|token| {
            let bare: Vec<char> = bare(token).chars().collect();
            let starts = from..(letters.len() + 1).saturating_sub(bare.len());
            let start = starts.into_iter().find(|&start| {
                let here = letters.iter().skip(start);
                !bare.is_empty() && bare.iter().zip(here).all(|(&a, &b)| is_letter_of(a, b))
            })?;
            from = start + bare.len();
            Some(start..from)
        })
        .collect()
}

/// A token without the marks of its vocabulary.
fn bare(token: &str) -> &str {
    let token = token.trim_start_matches(['\u{2423}', '\u{21b5}']);
    let token = token.trim_end_matches(['\u{2423}', '\u{21b5}']);
    match token.strip_prefix("##") {
        Some(rest) if !rest.is_empty() => rest,
        _ => token,
    }
}

/// True where a token's letter can come from a letter of the text: the same but for its case, or
/// a plain letter for one with an accent.
fn is_letter_of(token: char, text: char) -> bool {
    let folded = |letter: char| letter.to_lowercase().next().unwrap_or(letter);
    folded(token) == folded(text)
        || token.is_ascii_alphabetic() && text.is_alphabetic() && !text.is_ascii()
}

impl Quote {
    /// The token that covers the quoted word: where the quote was taken from, else the nearest word
    /// that says the same; `None` where there is none.
    pub fn token(&self, tokens: &[String], text: &str) -> Option<usize> {
        let spans = spans(tokens, text);
        let Some(found) = self.find(text) else {
            let outside = |(i, token): (usize, &String)| spans[i].is_none() && *token == self.text;
            return tokens.iter().enumerate().position(outside);
        };
        spans.iter().position(|span| {
            span.as_ref()
                .is_some_and(|span| span.start < found.end && found.start < span.end)
        })
    }

    fn find(&self, text: &str) -> Option<Range<usize>> {
        let letters: Vec<char> = text.chars().collect();
        let quoted: Vec<char> = self.text.chars().collect();
        let says = |start: usize| {
            letters.get(start..start + quoted.len()) == Some(&quoted[..]) && !quoted.is_empty()
        };
        let joins = |at: Option<usize>| {
            at.and_then(|at| letters.get(at))
                .is_some_and(|l| l.is_alphanumeric())
        };
        let is_word =
            |start: usize| !joins(start.checked_sub(1)) && !joins(Some(start + quoted.len()));
        let start = self.start.filter(|&start| says(start)).or_else(|| {
            (0..letters.len())
                .filter(|&start| says(start) && is_word(start))
                .min_by_key(|start| start.abs_diff(self.start.unwrap_or(0)))
        })?;
        Some(start..start + quoted.len())
    }
}

/// The first token that is in the text.
pub fn first_in_text(tokens: &[String], text: &str) -> Option<usize> {
    spans(tokens, text).iter().position(Option::is_some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(tokens: &[&str]) -> Vec<String> {
        tokens.iter().map(|&t| t.to_owned()).collect()
    }

    fn quote(selection: &Selection) -> &Quote {
        match selection {
            Selection::Word(quote) => quote,
            other => panic!("{other:?} is no word"),
        }
    }

    const TEXT: &str = "The animal sat. It was caf\u{e9}-tired, the animal";

    #[test]
    fn tokens_of_three_vocabularies_cover_the_same_characters() {
        let pieces = owned(&["[CLS]", "the", "an", "##im", "##al", "sat", ".", "[SEP]"]);
        let bytes = owned(&[
            "\u{27e8}start\u{27e9}",
            "The",
            "\u{2423}animal",
            "\u{2423}sat",
        ]);
        assert_eq!(
            spans(&pieces, TEXT),
            [
                None,
                Some(0..3),
                Some(4..6),
                Some(6..8),
                Some(8..10),
                Some(11..14),
                Some(14..15),
                None
            ]
        );
        assert_eq!(
            spans(&bytes, TEXT),
            [None, Some(0..3), Some(4..10), Some(11..14)]
        );
        let accents = owned(&["cafe", "-", "tired"]);
        assert_eq!(
            spans(&accents, TEXT),
            [Some(23..27), Some(27..28), Some(28..33)]
        );
    }

    #[test]
    fn a_word_stays_selected_when_a_model_cuts_the_text_in_another_way() {
        let words = owned(&["The", "animal", "sat"]);
        let pieces = owned(&["[CLS]", "the", "an", "##im", "##al", "sat", "[SEP]"]);
        let word = Selection::of_token(1, &words, TEXT);
        assert_eq!(quote(&word).token(&pieces, TEXT), Some(2));
        let part = Selection::of_token(3, &pieces, TEXT);
        assert_eq!(quote(&part).token(&words, TEXT), Some(1));
        let end = Selection::of_token(6, &pieces, TEXT);
        assert_eq!(end, Selection::word("[SEP]"));
        assert_eq!(quote(&end).token(&pieces, TEXT), Some(6));
        assert_eq!(quote(&end).token(&words, TEXT), None);
    }

    #[test]
    fn a_word_is_found_again_where_the_text_before_it_changed() {
        let words = owned(&["it", "sat", "as", "it", "was"]);
        let second = Selection::of_token(3, &words, "it sat as it was");
        let longer = owned(&["so", "it", "sat", "as", "it", "was"]);
        assert_eq!(
            quote(&second).token(&longer, "so it sat as it was"),
            Some(4)
        );
        // "it" inside another word is not the word.
        let gone = owned(&["a", "bit", "was"]);
        assert_eq!(quote(&second).token(&gone, "a bit was"), None);
        assert_eq!(
            quote(&Selection::word("was")).token(&gone, "a bit was"),
            Some(2)
        );
        assert_eq!(first_in_text(&owned(&["[CLS]", "a"]), "a bit was"), Some(1));
    }

    #[test]
    fn links_hold_every_selection() {
        for selection in [
            Selection::Nothing,
            Selection::Entry(vec![2, 0, 1]),
            Selection::word("[SEP]"),
            Selection::of_token(0, &owned(&["The"]), TEXT),
        ] {
            assert_eq!(Selection::parse(&selection.to_json()), Some(selection));
        }
        for wrong in [
            json!(1),
            json!([-1]),
            json!(["a", "b"]),
            json!({}),
            json!(null),
        ] {
            assert_eq!(Selection::parse(&wrong), None, "{wrong}");
        }
    }
}
