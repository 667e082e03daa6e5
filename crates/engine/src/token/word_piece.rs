//! WordPiece, the vocabulary of BERT: the longest piece that a word begins with, then the longest that goes on, and so on.
//!
//! Pieces inside a word are written with `##` before them. A word that cannot be written, or is longer than 100 characters, is
//! `[UNK]` as a whole.
//!
//! ```
//! use engine::token::{tokenizer::Tokenizer, word_piece::{WordPiece, WordPieceFiles}};
//! let file = "[UNK]\n[CLS]\n[SEP]\nembed\n##ding\n##s\n!\n";
//! let tokenizer = WordPiece::new(WordPieceFiles::from_vocab_txt(file))?;
//! let ids = tokenizer.encode("Embeddings? embeds!")?;
//! assert_eq!(ids, [3, 4, 5, 0, 3, 5, 6]);
//! assert_eq!(tokenizer.with_ends(&[3]), [1, 3, 2]);
//! assert_eq!(tokenizer.decode(&ids)?, "embeddings [UNK] embeds !");
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Wu et al. 2016, "Google's neural machine translation system", section 4.1; Devlin et al. 2019, "BERT: Pre-training of
//! deep bidirectional transformers for language understanding", section 3.

use std::borrow::Cow;

use super::added::{AddedToken, AddedTokens, Part};
use super::bert_text::BertText;
use super::gguf::GgufVocabulary;
use super::llama::TokenKind;
use super::tokenizer::{SpecialTokens, Tokenizer, unknown_id};
use super::trie::Trie;
use super::vocabulary::Vocabulary;
use crate::error::{EngineError, Result};

/// Marks a piece that goes on inside a word.
const INSIDE: &str = "##";

/// What the files of a WordPiece vocabulary say.
#[derive(Debug, Clone)]
pub struct WordPieceFiles {
    /// The tokens in the order of their ids.
    pub tokens: Vec<String>,
    /// How text is cleaned and cut.
    pub text: BertText,
    /// Words with more characters are unknown.
    pub longest_word: usize,
    /// Tokens that are looked for in the text before it is cleaned.
    pub added: Vec<AddedToken>,
    /// The ids with a meaning of their own; `unknown` is needed.
    pub special: SpecialTokens,
}

impl WordPieceFiles {
    /// BERT's special tokens by their usual names. The vocabulary is uncased where no token has a capital letter.
    pub fn named(tokens: Vec<String>) -> Self {
        let place = |name: &str| tokens.iter().position(|token| token == name);
        let special = SpecialTokens {
            begin: place("[CLS]"),
            end: place("[SEP]"),
            unknown: place("[UNK]"),
            padding: place("[PAD]"),
            mask: place("[MASK]"),
            add_begin: true,
            add_end: true,
        };
        let is_name = |token: &str| token.starts_with('[') && token.ends_with(']');
        let uncased = (tokens.iter())
            .filter(|token| !is_name(token))
            .all(|token| token.to_lowercase() == *token);
        let ids = [
            special.begin,
            special.end,
            special.unknown,
            special.padding,
            special.mask,
        ];
        let added = ids.into_iter().flatten().map(|id| AddedToken {
            text: tokens[id].clone(),
            id,
            special: true,
            ..AddedToken::default()
        });
        Self {
            added: added.collect(),
            tokens,
            text: BertText::new(uncased),
            longest_word: 100,
            special,
        }
    }

    /// Reads a `vocab.txt`: one token on each line.
    pub fn from_vocab_txt(file: &str) -> Self {
        Self::named(file.lines().map(str::to_owned).collect())
    }
}

/// A WordPiece vocabulary.
#[derive(Debug, Clone)]
pub struct WordPiece {
    vocabulary: Vocabulary,
    starts: Trie,
    insides: Trie,
    text: BertText,
    longest_word: usize,
    unknown: usize,
    added: AddedTokens,
    special: SpecialTokens,
}

impl WordPiece {
    /// A tokenizer from what its files say.
    ///
    /// # Errors
    /// When there is no token, or none for the unknown.
    pub fn new(files: WordPieceFiles) -> Result<Self> {
        let vocabulary = Vocabulary::new(files.tokens)?;
        let unknown = (files.special.unknown)
            .filter(|&id| id < vocabulary.len())
            .ok_or_else(|| EngineError::value("WordPiece::new", "tokens", "with [UNK]", "none"))?;
        let (mut starts, mut insides) = (Trie::default(), Trie::default());
        for (id, piece) in (0u32..).zip(vocabulary.pieces()) {
            match piece.strip_prefix(INSIDE) {
                Some(inside) => insides.insert(inside.as_bytes(), id),
                None => starts.insert(piece.as_bytes(), id),
            }
        }
        // A sign such as `##` may itself begin a word.
        for (id, piece) in (0u32..).zip(vocabulary.pieces()) {
            starts.insert(piece.as_bytes(), id);
        }
        Ok(Self {
            vocabulary,
            starts,
            insides,
            text: files.text,
            longest_word: files.longest_word,
            unknown,
            added: AddedTokens::new(files.added),
            special: files.special,
        })
    }

    /// Appends the pieces of one word, or the unknown token.
    fn encode_word(&self, word: &str, ids: &mut Vec<usize>) {
        let start = ids.len();
        let mut rest = word.as_bytes();
        let short = word
            .chars()
            .take(self.longest_word.saturating_add(1))
            .count()
            <= self.longest_word;
        while short && !rest.is_empty() {
            let pieces = if ids.len() == start {
                &self.starts
            } else {
                &self.insides
            };
            let Some((length, id)) = pieces.longest(rest) else {
                break;
            };
            ids.push(id as usize);
            rest = &rest[length..];
        }
        if !rest.is_empty() {
            ids.truncate(start);
            ids.push(self.unknown);
        }
    }

    fn encode_parts(&self, text: &str, marked: bool) -> Vec<usize> {
        let mut ids = Vec::new();
        for part in self.added.cut(text, marked) {
            match part {
                Part::Token(id) => ids.push(id),
                Part::Text(text) => {
                    for word in self.text.words(text) {
                        self.encode_word(&word, &mut ids);
                    }
                }
            }
        }
        ids
    }
}

impl Tokenizer for WordPiece {
    fn encode(&self, text: &str) -> Result<Vec<usize>> {
        Ok(self.encode_parts(text, false))
    }

    fn encode_marked(&self, text: &str) -> Result<Vec<usize>> {
        Ok(self.encode_parts(text, true))
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Words are written with a space between, punctuation too: what stood in the text is not kept.
    fn token_bytes(&self, id: usize, first: bool) -> Result<Option<Cow<'_, [u8]>>> {
        let piece = self
            .piece(id)
            .ok_or_else(|| unknown_id("WordPiece", id, self.size()))?;
        let is_end =
            [self.special.begin, self.special.end, self.special.padding].contains(&Some(id));
        let inside = piece
            .strip_prefix(INSIDE)
            .filter(|inside| !inside.is_empty());
        Ok(match inside {
            _ if is_end => None,
            Some(inside) => Some(Cow::Borrowed(inside.as_bytes())),
            None if first => Some(Cow::Borrowed(piece.as_bytes())),
            None => Some(Cow::Owned(format!(" {piece}").into_bytes())),
        })
    }

    fn special(&self) -> &SpecialTokens {
        &self.special
    }

    fn gguf(&self) -> Option<GgufVocabulary> {
        // GGUF marks the pieces that begin a word instead of those inside one.
        let piece = |(id, piece): (usize, &String)| match piece.strip_prefix(INSIDE) {
            _ if self.added.get(id).is_some() => piece.clone(),
            Some(inside) if !inside.is_empty() => inside.to_owned(),
            _ => format!("\u{2581}{piece}"),
        };
        let kind = |id: usize| match self.added.get(id) {
            Some(_) => TokenKind::Control,
            None => TokenKind::Normal,
        };
        let pieces = self.vocabulary.pieces();
        Some(GgufVocabulary {
            tokens: pieces.iter().enumerate().map(piece).collect(),
            token_types: Some((0..pieces.len()).map(|id| kind(id).number()).collect()),
            class: self.special.begin,
            separator: self.special.end,
            ..GgufVocabulary::with_special("bert", &self.special)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(lines: &str) -> WordPiece {
        WordPiece::new(WordPieceFiles::from_vocab_txt(&lines.replace(' ', "\n"))).unwrap()
    }

    #[test]
    fn a_word_that_cannot_be_written_is_unknown_as_a_whole() {
        let tokenizer = small("[UNK] un ##aff ##able a ##a");
        assert_eq!(tokenizer.encode("unaffable").unwrap(), [1, 2, 3]);
        assert_eq!(tokenizer.encode("unaffables").unwrap(), [0]);
        assert_eq!(tokenizer.encode(&"a".repeat(100)).unwrap().len(), 100);
        assert_eq!(tokenizer.encode(&"a".repeat(101)).unwrap(), [0]);
    }

    #[test]
    fn special_tokens_come_from_marked_text_only() {
        let tokenizer = small("[UNK] [MASK] [ mask ] a");
        assert_eq!(tokenizer.encode("[MASK] a").unwrap(), [2, 3, 4, 5]);
        assert_eq!(tokenizer.encode_marked("A [MASK] a").unwrap(), [5, 1, 5]);
        assert_eq!(tokenizer.decode(&[5, 1]).unwrap(), "a [MASK]");
    }

    #[test]
    fn a_vocabulary_with_capitals_is_cased() {
        let tokenizer = small("[UNK] Führer a");
        assert_eq!(tokenizer.encode("Führer A").unwrap(), [1, 0]);
    }

    #[test]
    fn the_unknown_token_is_needed() {
        let error = WordPiece::new(WordPieceFiles::from_vocab_txt("a\nb")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "WordPiece::new: tokens must be with [UNK], found none"
        );
    }
}
