//! The vocabulary of Llama: SentencePiece's byte-pair encoding, with a score for each token and
//! bytes to fall back on.
//!
//! Spaces are written `▁`, one is put before the text, and the characters are merged: of all
//! neighbours that together are a token the one with the highest score, again and again. A
//! character that is not a token is written in its bytes, `<0xE6>` and so on.
//!
//! ```
//! use engine::token::{llama::{Llama, LlamaFiles}, tokenizer::Tokenizer};
//! let tokens = ["<unk>", "<s>", "</s>", "<0x21>", "▁", "a", "b", "ab", "▁ab"];
//! let mut files = LlamaFiles::named(tokens.map(str::to_owned).to_vec(), vec![0.0; 9]);
//! files.scores[8] = -1.0;
//! let tokenizer = Llama::new(files)?;
//! assert_eq!(tokenizer.encode("ab b!")?, [8, 4, 6, 3]);
//! assert_eq!(tokenizer.with_ends(&[8]), [1, 8]);
//! assert_eq!(tokenizer.decode(&[1, 8, 8, 3])?, "ab ab!");
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Kudo and Richardson 2018, "SentencePiece: A simple and language independent subword
//! tokenizer", and its code; Touvron et al. 2023, "LLaMA: Open and efficient foundation language
//! models", section 2.1.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::added::{AddedToken, AddedTokens};
use super::gguf::GgufVocabulary;
use super::merge::merge;
use super::tokenizer::{SpecialTokens, Tokenizer, unknown_id};
use super::vocabulary::Vocabulary;
use crate::error::{EngineError, Result};

/// The spelling of a space in the vocabulary: U+2581.
const SPACE: char = '\u{2581}';

/// The text of the unknown token, as SentencePiece decodes it.
const UNKNOWN_TEXT: &str = " \u{2047} ";

/// The kind of a token, with its number in SentencePiece's and GGUF files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TokenKind {
    /// Text.
    #[default]
    Normal = 1,
    /// Replaces text that the vocabulary cannot write.
    Unknown = 2,
    /// Has a meaning of its own and no text.
    Control = 3,
    /// Text that becomes this token before anything is merged.
    UserDefined = 4,
    /// Never used.
    Unused = 5,
    /// One byte.
    Byte = 6,
}

impl TokenKind {
    /// The kind with a number in SentencePiece's and GGUF files; unknown numbers are
    /// [`Self::Normal`].
    pub fn from_number(number: i32) -> Self {
        use TokenKind::{Byte, Control, Unknown, Unused, UserDefined};
        let all = [Unknown, Control, UserDefined, Unused, Byte];
        let known = all.into_iter().find(|kind| kind.number() == number);
        known.unwrap_or_default()
    }

    /// The number of the kind in SentencePiece's and GGUF files.
    pub fn number(self) -> i32 {
        self as i32
    }

    /// The kind of a token with this usual name, for files that do not give kinds.
    pub fn from_name(token: &str) -> Self {
        match token {
            "<unk>" => Self::Unknown,
            "<s>" | "</s>" | "<pad>" => Self::Control,
            _ if byte_of(token).is_some() => Self::Byte,
            _ => Self::Normal,
        }
    }
}

/// The byte 0x0A of a token called `<0x0A>`.
fn byte_of(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    let is_number = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u8::from_str_radix(digits, 16).ok().filter(|_| is_number)
}

/// The content of the files of a Llama vocabulary.
#[derive(Debug, Clone, Default)]
pub struct LlamaFiles {
    /// The tokens in the order of their ids, spaces written `▁`.
    pub tokens: Vec<String>,
    /// The score of each token: higher ones are merged first.
    pub scores: Vec<f32>,
    /// The kind of each token.
    pub kinds: Vec<TokenKind>,
    /// The ids with a meaning of their own.
    pub special: SpecialTokens,
    /// Whether a space is put before the text.
    pub space_before: bool,
}

impl LlamaFiles {
    /// A vocabulary whose special tokens are known by their usual names (`<unk>`, `<s>`, `</s>`,
    /// `<0x00>`), with a space before the text and the begin token before every text, as Llama has
    /// it.
    pub fn named(tokens: Vec<String>, scores: Vec<f32>) -> Self {
        let id = |name: &str| tokens.iter().position(|token| token == name);
        let special = SpecialTokens {
            begin: id("<s>"),
            end: id("</s>"),
            unknown: id("<unk>"),
            padding: id("<pad>"),
            add_begin: true,
            ..SpecialTokens::default()
        };
        Self {
            kinds: tokens
                .iter()
                .map(|token| TokenKind::from_name(token))
                .collect(),
            tokens,
            scores,
            special,
            space_before: true,
        }
    }
}

/// A vocabulary of scored tokens.
#[derive(Debug, Clone)]
pub struct Llama {
    vocabulary: Vocabulary,
    scores: Vec<f32>,
    kinds: Vec<TokenKind>,
    byte_ids: [Option<u32>; 256],
    added: AddedTokens,
    special: SpecialTokens,
    space_before: bool,
}

impl Llama {
    /// A tokenizer from the content of its files.
    ///
    /// # Errors
    /// When there is no token, or not one score and one kind for each.
    pub fn new(files: LlamaFiles) -> Result<Self> {
        let size = files.tokens.len();
        for (name, found) in [("scores", files.scores.len()), ("kinds", files.kinds.len())] {
            if found != size {
                let expected = format!("one for each of {size} tokens");
                return Err(EngineError::value("Llama::new", name, expected, found));
            }
        }
        let vocabulary = Vocabulary::new(files.tokens)?;
        let mut byte_ids = [None; 256];
        let mut added = Vec::new();
        for (id, (token, &kind)) in vocabulary.tokens().iter().zip(&files.kinds).enumerate() {
            match kind {
                TokenKind::Byte => {
                    if let Some(byte) = byte_of(token) {
                        byte_ids[usize::from(byte)].get_or_insert(id as u32);
                    }
                }
                TokenKind::Control | TokenKind::UserDefined => added.push(AddedToken {
                    text: token.replace(SPACE, " "),
                    id,
                    special: kind == TokenKind::Control,
                    ..AddedToken::default()
                }),
                TokenKind::Normal | TokenKind::Unknown | TokenKind::Unused => {}
            }
        }
        Ok(Self {
            vocabulary,
            scores: files.scores,
            kinds: files.kinds,
            byte_ids,
            added: AddedTokens::new(added),
            special: files.special,
            space_before: files.space_before,
        })
    }

    /// The score of a token, by which tokens are merged; `None` where there is no such id.
    pub fn score(&self, id: usize) -> Option<f32> {
        self.scores.get(id).copied()
    }

    /// The id of a token that is plain text.
    fn text_id(&self, token: &str) -> Option<usize> {
        let id = self.vocabulary.id(token)? as usize;
        matches!(self.kinds[id], TokenKind::Normal | TokenKind::UserDefined).then_some(id)
    }

    fn encode_text(&self, text: &str, ids: &mut Vec<usize>) -> Result<()> {
        let mut written = String::with_capacity(text.len() + SPACE.len_utf8());
        written.extend(self.space_before.then_some(SPACE));
        written.extend(text.chars().map(|c| if c == ' ' { SPACE } else { c }));
        // A symbol is a range of bytes of `written`.
        let characters: Vec<(usize, usize)> = (written.char_indices())
            .map(|(at, character)| (at, at + character.len_utf8()))
            .collect();
        let join = |left: (usize, usize), right: (usize, usize)| {
            let id = self.text_id(&written[left.0..right.1])?;
            Some((Reverse(Score(self.scores[id])), (left.0, right.1)))
        };
        let mut after_unknown = false;
        for (start, end) in merge(&characters, join) {
            let symbol = &written[start..end];
            after_unknown = match self.text_id(symbol) {
                Some(id) => {
                    ids.push(id);
                    false
                }
                None => self.write_bytes(symbol, after_unknown, ids)?,
            };
        }
        Ok(())
    }

    /// Appends a character in bytes, or as the unknown token where the vocabulary lacks one of
    /// them; returns whether it was unknown. Several unknown characters in a row are one unknown
    /// token.
    fn write_bytes(&self, symbol: &str, after_unknown: bool, ids: &mut Vec<usize>) -> Result<bool> {
        let bytes: Option<Vec<u32>> = (symbol.bytes())
            .map(|byte| self.byte_ids[usize::from(byte)])
            .collect();
        match (bytes, self.special.unknown) {
            (Some(bytes), _) => {
                ids.extend(bytes.into_iter().map(|id| id as usize));
                Ok(false)
            }
            (None, Some(unknown)) => {
                ids.extend((!after_unknown).then_some(unknown));
                Ok(true)
            }
            (None, None) => Err(EngineError::value(
                "Llama::encode",
                "text",
                "written in the tokens of the vocabulary",
                format!("{symbol:?}"),
            )),
        }
    }
}

/// A score in the total order of numbers.
struct Score(f32);

impl Ord for Score {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // Adding 0 makes −0 and 0 equal: files write the first score as either.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Score {}

impl Tokenizer for Llama {
    fn encode_as(&self, text: &str, marked: bool) -> Result<Vec<usize>> {
        let encode = |text, ids: &mut Vec<usize>| self.encode_text(text, ids);
        self.added.encode(text, marked, encode)
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn token_bytes(&self, id: usize, first: bool) -> Result<Option<Cow<'_, [u8]>>> {
        let unknown = || unknown_id("Llama", id, self.size());
        let token = self.token(id).ok_or_else(unknown)?;
        let text = match self.kinds[id] {
            TokenKind::Control => return Ok(None),
            TokenKind::Unknown => return Ok(Some(Cow::Borrowed(UNKNOWN_TEXT.as_bytes()))),
            TokenKind::Byte => {
                byte_of(token).map_or_else(|| token.as_bytes().to_vec(), |byte| vec![byte])
            }
            TokenKind::Normal | TokenKind::UserDefined | TokenKind::Unused => {
                // The space that encoding put before the text.
                let added = first && self.space_before;
                let token = token.strip_prefix(SPACE).filter(|_| added).unwrap_or(token);
                token.replace(SPACE, " ").into_bytes()
            }
        };
        Ok(Some(Cow::Owned(text)))
    }

    fn special(&self) -> &SpecialTokens {
        &self.special
    }

    fn gguf(&self) -> Option<GgufVocabulary> {
        Some(GgufVocabulary {
            tokens: self.vocabulary.tokens().to_vec(),
            scores: Some(self.scores.clone()),
            token_types: Some(self.kinds.iter().map(|kind| kind.number()).collect()),
            add_space_before: Some(self.space_before),
            ..GgufVocabulary::with_special("llama", &self.special)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(tokens: &[&str], scores: &[f32]) -> LlamaFiles {
        LlamaFiles::named(
            tokens.iter().map(|&token| token.to_owned()).collect(),
            scores.to_vec(),
        )
    }

    #[test]
    fn the_highest_score_is_merged_first_then_the_leftmost() {
        let mut files = small(&["a", "b", "ab", "ba", "bb"], &[0.0, 0.0, -2.0, -1.0, -0.0]);
        files.space_before = false;
        let tokenizer = Llama::new(files).unwrap();
        assert_eq!(tokenizer.encode("aba").unwrap(), [0, 3]);
        assert_eq!(tokenizer.encode("abbb").unwrap(), [0, 4, 1]);
        assert_eq!(tokenizer.encode("").unwrap(), [0usize; 0]);
    }

    #[test]
    fn characters_without_a_token_are_one_unknown_token_or_an_error() {
        let tokenizer = Llama::new(small(&["<unk>", "▁", "a"], &[0.0; 3])).unwrap();
        assert_eq!(tokenizer.encode("a我我a我").unwrap(), [1, 2, 0, 2, 0]);
        assert_eq!(tokenizer.decode(&[1, 2, 0, 2]).unwrap(), "a \u{2047} a");
        let tokenizer = Llama::new(small(&["▁", "a"], &[0.0; 2])).unwrap();
        let error = tokenizer.encode("a!").unwrap_err();
        assert!(error.to_string().ends_with("found \"!\""), "{error}");
    }

    #[test]
    fn control_tokens_are_found_in_marked_text_only() {
        let tokens = ["<s>", "▁", "<", "s", ">", "a", "<0xFF>"];
        let tokenizer = Llama::new(small(&tokens, &[0.0; 7])).unwrap();
        assert_eq!(tokenizer.encode("<s>").unwrap(), [1, 2, 3, 4]);
        assert_eq!(tokenizer.encode_marked("<s>a").unwrap(), [0, 1, 5]);
        assert_eq!(tokenizer.decode_bytes(&[0, 6]).unwrap(), [0xFF]);
    }

    #[test]
    fn errors_name_the_missing_part() {
        let error = Llama::new(small(&["a"], &[])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Llama::new: scores must be one for each of 1 tokens, found 0"
        );
    }
}
