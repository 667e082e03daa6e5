//! WordPiece, the vocabulary of BERT: the longest token that a word begins with, then the longest
//! at the start of the rest, and so on.
//!
//! Tokens inside a word are written with `##` before them. A word that the tokens cannot write, or
//! that is longer than 100 characters, is `[UNK]` as a whole.
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
//! Source: Wu et al. 2016, "Google's neural machine translation system", section 4.1; Devlin et al.
//! 2019, "BERT: Pre-training of deep bidirectional transformers for language understanding",
//! section 3.

use std::borrow::Cow;

use super::added::{AddedToken, AddedTokens};
use super::bert_text::BertText;
use super::gguf::GgufVocabulary;
use super::llama::TokenKind;
use super::tokenizer::{SpecialTokens, Tokenizer, unknown_id};
use super::trie::Trie;
use super::unicode::lowercase;
use super::vocabulary::Vocabulary;
use crate::error::{EngineError, Result};

/// The mark of a token inside a word.
const INSIDE: &str = "##";

/// The content of the files of a WordPiece vocabulary.
#[derive(Debug, Clone)]
pub struct WordPieceFiles {
    /// The tokens in the order of their ids.
    pub tokens: Vec<String>,
    /// The rules by which text is cleaned and cut.
    pub text: BertText,
    /// The most characters of a word; longer words are unknown.
    pub longest_word: usize,
    /// Tokens that are found in the text before it is cleaned.
    pub added: Vec<AddedToken>,
    /// The ids with a meaning of their own; `unknown` is needed.
    pub special: SpecialTokens,
}

impl WordPieceFiles {
    /// A vocabulary with BERT's special tokens by their usual names, uncased where no token has a
    /// capital letter.
    pub fn named(tokens: Vec<String>) -> Self {
        let id = |name: &str| tokens.iter().position(|token| token == name);
        let special = SpecialTokens {
            begin: id("[CLS]"),
            end: id("[SEP]"),
            unknown: id("[UNK]"),
            padding: id("[PAD]"),
            mask: id("[MASK]"),
            add_begin: true,
            add_end: true,
        };
        let uncased = (tokens.iter())
            .filter(|token| !is_name(token))
            .all(|token| lowercase(token) == *token);
        let added = special.ids().map(|id| AddedToken {
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

    /// A vocabulary whose tokens that begin a word are marked with U+2581, in place of `##` before
    /// those inside one. Tokens of which none is marked have BERT's own spelling.
    pub fn marked(tokens: Vec<String>) -> Self {
        const START: char = '\u{2581}';
        let spelled = |token: &String| match token.strip_prefix(START) {
            Some(start) => start.to_owned(),
            None if is_name(token) => token.clone(),
            None => format!("{INSIDE}{token}"),
        };
        let is_marked = tokens.iter().any(|token| token.starts_with(START));
        Self::named(match is_marked {
            true => tokens.iter().map(spelled).collect(),
            false => tokens,
        })
    }

    /// Reads a `vocab.txt`: one token on each line.
    pub fn from_vocab_txt(file: &str) -> Self {
        Self::named(file.lines().map(str::to_owned).collect())
    }
}

/// True for the spelling of a special token, `[CLS]`.
fn is_name(token: &str) -> bool {
    token.starts_with('[') && token.ends_with(']')
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
    /// A tokenizer from the content of its files.
    ///
    /// # Errors
    /// When there is no token, or none for the unknown.
    pub fn new(files: WordPieceFiles) -> Result<Self> {
        let vocabulary = Vocabulary::new(files.tokens)?;
        let unknown = (files.special.unknown)
            .filter(|&id| id < vocabulary.len())
            .ok_or_else(|| EngineError::value("WordPiece::new", "tokens", "with [UNK]", "none"))?;
        let (mut starts, mut insides) = (Trie::default(), Trie::default());
        for (id, token) in (0u32..).zip(vocabulary.tokens()) {
            if let Some(inside) = token.strip_prefix(INSIDE) {
                insides.insert(inside.as_bytes(), id);
            }
            // A token such as `##` may also begin a word.
            starts.insert(token.as_bytes(), id);
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

    /// Appends the tokens of one word, or the unknown token.
    fn encode_word(&self, word: &str, ids: &mut Vec<usize>) {
        let start = ids.len();
        let mut rest = word.as_bytes();
        let is_short = word.chars().nth(self.longest_word).is_none();
        while is_short && !rest.is_empty() {
            let tokens = match ids.len() == start {
                true => &self.starts,
                false => &self.insides,
            };
            let Some((length, id)) = tokens.longest(rest) else {
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
}

impl Tokenizer for WordPiece {
    fn encode_as(&self, text: &str, marked: bool) -> Result<Vec<usize>> {
        self.added.encode(text, marked, |text, ids| {
            let words = self.text.words(text);
            words.iter().for_each(|word| self.encode_word(word, ids));
            Ok(())
        })
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The bytes of a token; words and punctuation get a space before them, whatever white space
    /// the text had.
    fn token_bytes(&self, id: usize, first: bool) -> Result<Option<Cow<'_, [u8]>>> {
        let unknown = || unknown_id("WordPiece", id, self.size());
        let token = self.token(id).ok_or_else(unknown)?;
        let ends = [self.special.begin, self.special.end, self.special.padding];
        Ok(match inside(token) {
            _ if ends.contains(&Some(id)) => None,
            Some(inside) => Some(Cow::Borrowed(inside.as_bytes())),
            None if first => Some(Cow::Borrowed(token.as_bytes())),
            None => Some(Cow::Owned(format!(" {token}").into_bytes())),
        })
    }

    fn special(&self) -> &SpecialTokens {
        &self.special
    }

    fn gguf(&self) -> Option<GgufVocabulary> {
        // GGUF marks the tokens that begin a word instead of those inside one.
        let written = |(id, token): (usize, &String)| match inside(token) {
            _ if self.added.get(id).is_some() => token.clone(),
            Some(inside) => inside.to_owned(),
            None => format!("\u{2581}{token}"),
        };
        let kind = |id: usize| match self.added.get(id) {
            Some(_) => TokenKind::Control,
            None => TokenKind::Normal,
        };
        let tokens = self.vocabulary.tokens();
        Some(GgufVocabulary {
            tokens: tokens.iter().enumerate().map(written).collect(),
            token_types: Some((0..tokens.len()).map(|id| kind(id).number()).collect()),
            class: self.special.begin,
            separator: self.special.end,
            ..GgufVocabulary::with_special("bert", &self.special)
        })
    }
}

/// The text of a token inside a word; `None` for a token that begins one.
fn inside(token: &str) -> Option<&str> {
    let inside = token.strip_prefix(INSIDE)?;
    (!inside.is_empty()).then_some(inside)
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
