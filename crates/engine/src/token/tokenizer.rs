//! Tokenizers: text to ids and back.
//!
//! Ids are places in the vocabulary. Text that a reader typed goes through [`Tokenizer::encode`], which never makes a special
//! token of it; text of our own, such as a template with `[MASK]`, through [`Tokenizer::encode_marked`].

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
    /// Stands for what the vocabulary cannot write: `<unk>`, `[UNK]`.
    pub unknown: Option<usize>,
    /// Fills a batch up: `[PAD]`.
    pub padding: Option<usize>,
    /// To be filled in: `[MASK]`.
    pub mask: Option<usize>,
    /// Whether the model was trained with `begin` before every text.
    pub add_begin: bool,
    /// Whether the model was trained with `end` after every text.
    pub add_end: bool,
}

/// Turns text into ids of a vocabulary and back.
pub trait Tokenizer {
    /// The ids of a text, all of it read as plain text; nothing is put around it.
    ///
    /// # Errors
    /// When the vocabulary can write a part of the text in no way, and has no token for the unknown.
    fn encode(&self, text: &str) -> Result<Vec<usize>>;

    /// The ids of a text in which the names of special tokens (`<|endoftext|>`, `[MASK]`) stand for these tokens.
    ///
    /// # Errors
    /// As [`Self::encode`].
    fn encode_marked(&self, text: &str) -> Result<Vec<usize>>;

    /// The tokens with their ids.
    fn vocabulary(&self) -> &Vocabulary;

    /// The number of tokens: ids are below this.
    fn size(&self) -> usize {
        self.vocabulary().len()
    }

    /// A token as the vocabulary's file writes it (a space may be `Ġ` or `▁`); `None` where there is no such id.
    fn piece(&self, id: usize) -> Option<&str> {
        self.vocabulary().piece(id)
    }

    /// The id of a token that the vocabulary's file writes so.
    fn id(&self, piece: &str) -> Option<usize> {
        self.vocabulary().id(piece).map(|id| id as usize)
    }

    /// The bytes that a token adds to a text, at its beginning (`first`) or later; `None` for tokens that are no text, such as
    /// the one that begins a text. The bytes of one token need not be whole characters.
    ///
    /// # Errors
    /// When there is no such id.
    fn token_bytes(&self, id: usize, first: bool) -> Result<Option<Cow<'_, [u8]>>>;

    /// The ids with a meaning of their own.
    fn special(&self) -> &SpecialTokens;

    /// The vocabulary as GGUF files keep it; `None` where they have no form for it.
    fn gguf(&self) -> Option<GgufVocabulary> {
        None
    }

    /// The ids with the begin and end tokens around them with which the model was trained.
    fn with_ends(&self, ids: &[usize]) -> Vec<usize> {
        let special = self.special();
        let begin = special.begin.filter(|_| special.add_begin);
        let end = special.end.filter(|_| special.add_end);
        begin
            .into_iter()
            .chain(ids.iter().copied())
            .chain(end)
            .collect()
    }

    /// The ids between the tokens that begin and end a text, where there are such tokens: an encoder reads a text with both, whether
    /// or not its vocabulary's file asks for them.
    fn enclosed(&self, ids: &[usize]) -> Vec<usize> {
        let special = self.special();
        let ids = special.begin.into_iter().chain(ids.iter().copied());
        ids.chain(special.end).collect()
    }

    /// The bytes of a text given by its ids; tokens that are no text add nothing.
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

    /// The text given by its ids. Bytes that are no UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// When there is no token of one of these ids.
    fn decode(&self, ids: &[usize]) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.decode_bytes(ids)?).into_owned())
    }
}

/// The error of an id that a vocabulary does not have.
pub(super) fn unknown_id(operation: &'static str, id: usize, size: usize) -> EngineError {
    EngineError::value(operation, "id", format!("below {size}"), id)
}
