//! The interface of tokenizers, which turn text into ids and back.
//!
//! An id is a position in the vocabulary. Text that a reader typed goes through
//! [`Tokenizer::encode`], which never reads a special token in it; text of our own, such as a
//! template with `[MASK]`, goes through [`Tokenizer::encode_marked`].

use std::borrow::Cow;

use super::gguf::GgufVocabulary;
use super::vocabulary::Vocabulary;
use crate::error::{EngineError, Result};

/// The ids that have a meaning of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpecialTokens {
    /// Begins a text: `<s>`, `[CLS]`.
    pub begin: Option<usize>,
    /// Ends a text: `</s>`, `<|endoftext|>`, `[SEP]`.
    pub end: Option<usize>,
    /// Replaces text that the vocabulary cannot write: `<unk>`, `[UNK]`.
    pub unknown: Option<usize>,
    /// Fills a batch up: `[PAD]`.
    pub padding: Option<usize>,
    /// Marks a position to be filled in: `[MASK]`.
    pub mask: Option<usize>,
    /// Whether the model was trained with `begin` before every text.
    pub add_begin: bool,
    /// Whether the model was trained with `end` after every text.
    pub add_end: bool,
}

impl SpecialTokens {
    /// All ids that are known.
    pub(super) fn ids(&self) -> impl Iterator<Item = usize> {
        let ids = [self.begin, self.end, self.unknown, self.padding, self.mask];
        ids.into_iter().flatten()
    }
}

/// Turns text into ids of a vocabulary and back.
pub trait Tokenizer: Send + Sync {
    /// The ids of a text, without tokens before and after it. Where it is `marked`, the names of
    /// special tokens in it (`<|endoftext|>`, `[MASK]`) are read as these tokens.
    ///
    /// # Errors
    /// When the vocabulary cannot write a part of the text, and has no token for the unknown.
    fn encode_as(&self, text: &str, marked: bool) -> Result<Vec<usize>>;

    /// The ids of a text that is read as plain text, without tokens before and after it.
    ///
    /// # Errors
    /// As [`Self::encode_as`].
    fn encode(&self, text: &str) -> Result<Vec<usize>> {
        self.encode_as(text, false)
    }

    /// The ids of a text in which the names of special tokens (`<|endoftext|>`, `[MASK]`) are read
    /// as these tokens.
    ///
    /// # Errors
    /// As [`Self::encode_as`].
    fn encode_marked(&self, text: &str) -> Result<Vec<usize>> {
        self.encode_as(text, true)
    }

    /// The tokens with their ids.
    fn vocabulary(&self) -> &Vocabulary;

    /// The number of tokens: ids are below this.
    fn size(&self) -> usize {
        self.vocabulary().len()
    }

    /// A token in the spelling of the vocabulary's file (a space may be `Ġ` or `▁`); `None` where
    /// there is no such id.
    fn token(&self, id: usize) -> Option<&str> {
        self.vocabulary().token(id)
    }

    /// The id of a token in the spelling of the vocabulary's file.
    fn id(&self, token: &str) -> Option<usize> {
        self.vocabulary().id(token).map(|id| id as usize)
    }

    /// The bytes that a token adds to a text, at its beginning (`first`) or later; `None` for
    /// tokens without text, such as the one that begins a text. The bytes of one token need not be
    /// whole characters.
    ///
    /// # Errors
    /// When there is no such id.
    fn token_bytes(&self, id: usize, first: bool) -> Result<Option<Cow<'_, [u8]>>>;

    /// The ids with a meaning of their own.
    fn special(&self) -> &SpecialTokens;

    /// The vocabulary in the form of GGUF files; `None` where they have no form for it.
    fn gguf(&self) -> Option<GgufVocabulary> {
        None
    }

    /// The ids between those of the begin and end tokens with which the model was trained.
    fn with_ends(&self, ids: &[usize]) -> Vec<usize> {
        let special = self.special();
        let begin = special.begin.filter(|_| special.add_begin);
        between(begin, ids, special.end.filter(|_| special.add_end))
    }

    /// The ids between the tokens that begin and end a text, where there are such tokens: an
    /// encoder reads a text with both, whether or not its vocabulary's file asks for them.
    fn enclosed(&self, ids: &[usize]) -> Vec<usize> {
        between(self.special().begin, ids, self.special().end)
    }

    /// The bytes of a text given by its ids; tokens without text add nothing.
    ///
    /// # Errors
    /// When there is no token of one of these ids.
    fn decode_bytes(&self, ids: &[usize]) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut first = true;
        for &id in ids {
            if let Some(more) = self.token_bytes(id, first)? {
                bytes.extend_from_slice(&more);
                first = false;
            }
        }
        Ok(bytes)
    }

    /// The text given by its ids. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// When there is no token of one of these ids.
    fn decode(&self, ids: &[usize]) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.decode_bytes(ids)?).into_owned())
    }
}

fn between(begin: Option<usize>, ids: &[usize], end: Option<usize>) -> Vec<usize> {
    let ids = begin.into_iter().chain(ids.iter().copied());
    ids.chain(end).collect()
}

/// The error of an id that a vocabulary does not have.
pub(super) fn unknown_id(operation: &'static str, id: usize, size: usize) -> EngineError {
    EngineError::value(operation, "id", format!("below {size}"), id)
}
