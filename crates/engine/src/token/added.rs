//! Tokens that are found in a text before it is split: special tokens and those that were added to
//! a trained vocabulary.

use std::collections::HashMap;

use super::trie::Trie;
use crate::error::Result;

/// A token that is found in a text by its exact spelling.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedToken {
    /// The token's spelling.
    pub text: String,
    /// The token's id.
    pub id: usize,
    /// Whether it has a meaning of its own: then it is found in marked text only, and decoding
    /// leaves it out.
    pub special: bool,
    /// Whether the white space before it is left out.
    pub strips_left: bool,
    /// Whether the white space after it is left out.
    pub strips_right: bool,
}

/// A part of a text: one added token, or text between them.
enum Part<'a> {
    Text(&'a str),
    Token(usize),
}

/// All added tokens of a vocabulary.
#[derive(Debug, Clone, Default)]
pub(super) struct AddedTokens {
    plain: Trie,
    marked: Trie,
    by_id: HashMap<usize, AddedToken>,
}

impl AddedTokens {
    pub(super) fn new(tokens: Vec<AddedToken>) -> Self {
        let mut added = Self::default();
        for token in tokens {
            let id = token.id as u32;
            added.marked.insert(token.text.as_bytes(), id);
            if !token.special {
                added.plain.insert(token.text.as_bytes(), id);
            }
            added.by_id.entry(token.id).or_insert(token);
        }
        added
    }

    pub(super) fn get(&self, id: usize) -> Option<&AddedToken> {
        self.by_id.get(&id)
    }

    /// The ids of a text: those of the added tokens in it, and those that `encode_text` appends for
    /// the text between them.
    pub(super) fn encode<'a>(
        &self,
        text: &'a str,
        marked: bool,
        mut encode_text: impl FnMut(&'a str, &mut Vec<usize>) -> Result<()>,
    ) -> Result<Vec<usize>> {
        let mut ids = Vec::new();
        for part in self.cut(text, marked) {
            match part {
                Part::Token(id) => ids.push(id),
                Part::Text(text) => encode_text(text, &mut ids)?,
            }
        }
        Ok(ids)
    }

    /// Cuts a text at the added tokens in it: the leftmost first, the longest of those that begin
    /// there. Special tokens are found only where the text is `marked`.
    fn cut<'a>(&self, text: &'a str, marked: bool) -> Vec<Part<'a>> {
        let trie = if marked { &self.marked } else { &self.plain };
        let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
        while at < text.len() && !trie.is_empty() {
            // A token begins with the first byte of a character, so the cut is between characters.
            let Some((length, id)) = trie.longest(&text.as_bytes()[at..]) else {
                at += 1;
                continue;
            };
            let strips = self.get(id as usize);
            let mut before = &text[start..at];
            if strips.is_some_and(|token| token.strips_left) {
                before = before.trim_end();
            }
            if !before.is_empty() {
                parts.push(Part::Text(before));
            }
            parts.push(Part::Token(id as usize));
            at += length;
            if strips.is_some_and(|token| token.strips_right) {
                at = text.len() - text[at..].trim_start().len();
            }
            start = at;
        }
        if start < text.len() {
            parts.push(Part::Text(&text[start..]));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(tokens: Vec<AddedToken>, text: &str, marked: bool) -> Vec<String> {
        let parts = AddedTokens::new(tokens);
        let parts = parts.cut(text, marked);
        let show = |part: &Part<'_>| match part {
            Part::Text(text) => format!("{text:?}"),
            Part::Token(id) => id.to_string(),
        };
        parts.iter().map(show).collect()
    }

    fn token(text: &str, id: usize, special: bool) -> AddedToken {
        AddedToken {
            text: text.to_owned(),
            id,
            special,
            ..AddedToken::default()
        }
    }

    #[test]
    fn special_tokens_are_found_in_marked_text_only() {
        let tokens = || {
            vec![
                token("<a>", 1, true),
                token("<a><b>", 2, true),
                token("é", 3, false),
            ]
        };
        assert_eq!(
            shown(tokens(), "x<a>é<a><b>", true),
            ["\"x\"", "1", "3", "2"]
        );
        assert_eq!(
            shown(tokens(), "x<a>é<a>", false),
            ["\"x<a>\"", "3", "\"<a>\""]
        );
        assert_eq!(shown(tokens(), "", true), [""; 0]);
    }

    #[test]
    fn a_token_may_take_the_white_space_around_it() {
        let mask = AddedToken {
            strips_left: true,
            strips_right: true,
            ..token("<mask>", 4, true)
        };
        assert_eq!(
            shown(vec![mask], " a <mask>  b", true),
            ["\" a\"", "4", "\"b\""]
        );
    }
}
