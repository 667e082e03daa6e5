//! A tokenizer from the vocabulary in the metadata of a GGUF file.
//!
//! | `tokenizer.ggml.model` | vocabulary |
//! |---|---|
//! | `gpt2` | byte-level BPE; `tokenizer.ggml.pre` names the rules by which text is cut |
//! | `llama` | Llama's, with scores and bytes to fall back on |
//! | `bert` | WordPiece; `▁` before the tokens that begin a word replaces `##` before those inside one |
//!
//! Source: the GGUF specification (ggml, `docs/gguf.md`) and llama.cpp's files of vocabularies.

use super::added::AddedToken;
use super::byte_bpe::{ByteBpe, ByteBpeFiles};
use super::llama::{Llama, LlamaFiles, TokenKind};
use super::split::Split;
use super::tokenizer::{SpecialTokens, Tokenizer};
use super::word_piece::{WordPiece, WordPieceFiles};
use crate::error::{EngineError, Result};

/// The values under `tokenizer.ggml` in a GGUF file's metadata, unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GgufVocabulary {
    /// `model`: the kind of vocabulary.
    pub model: String,
    /// `pre`: the rules by which text is cut, for byte-level vocabularies.
    pub pre: Option<String>,
    /// `tokens`.
    pub tokens: Vec<String>,
    /// `scores`.
    pub scores: Option<Vec<f32>>,
    /// `token_type`.
    pub token_types: Option<Vec<i32>>,
    /// `merges`.
    pub merges: Option<Vec<String>>,
    /// `bos_token_id`.
    pub begin: Option<usize>,
    /// `eos_token_id`.
    pub end: Option<usize>,
    /// `unknown_token_id`.
    pub unknown: Option<usize>,
    /// `cls_token_id`.
    pub class: Option<usize>,
    /// `seperator_token_id` (so written in the format).
    pub separator: Option<usize>,
    /// `padding_token_id`.
    pub padding: Option<usize>,
    /// `mask_token_id`.
    pub mask: Option<usize>,
    /// `add_bos_token`.
    pub add_begin: Option<bool>,
    /// `add_eos_token`.
    pub add_end: Option<bool>,
    /// `add_space_prefix`.
    pub add_space_before: Option<bool>,
}

impl GgufVocabulary {
    /// The kind of vocabulary and the ids with a meaning of their own.
    pub(super) fn with_special(model: &str, special: &SpecialTokens) -> Self {
        Self {
            model: model.to_owned(),
            begin: special.begin,
            end: special.end,
            unknown: special.unknown,
            padding: special.padding,
            mask: special.mask,
            add_begin: Some(special.add_begin),
            add_end: Some(special.add_end),
            ..Self::default()
        }
    }

    /// The tokenizer that the file describes.
    ///
    /// # Errors
    /// When the kind of vocabulary is none of those above, or a value that it needs is missing or
    /// does not fit.
    pub fn tokenizer(self) -> Result<Box<dyn Tokenizer>> {
        let size = self.tokens.len();
        let (special, ends) = (self.special(), [self.class, self.separator]);
        let mut ids = special.ids().chain(ends.into_iter().flatten());
        if let Some(id) = ids.find(|&id| id >= size) {
            return Err(refuse("special token id", format!("below {size}"), id));
        }
        let types = self.token_types.as_ref().map(Vec::len);
        if let Some(types) = types.filter(|&types| types != size) {
            return Err(refuse("token_type", format!("of {size} tokens"), types));
        }
        match self.model.as_str() {
            "gpt2" => Ok(Box::new(self.byte_bpe()?)),
            "llama" => Ok(Box::new(self.llama()?)),
            "bert" => Ok(Box::new(self.word_piece()?)),
            other => {
                let (key, found) = ("tokenizer.ggml.model", format!("{other:?}"));
                Err(refuse(key, "gpt2, llama or bert", found))
            }
        }
    }

    fn special(&self) -> SpecialTokens {
        SpecialTokens {
            begin: self.begin,
            end: self.end,
            unknown: self.unknown,
            padding: self.padding,
            mask: self.mask,
            add_begin: self.add_begin.unwrap_or(false),
            add_end: self.add_end.unwrap_or(false),
        }
    }

    fn kind(&self, id: usize) -> TokenKind {
        let types = self.token_types.as_ref();
        types
            .and_then(|types| types.get(id))
            .map_or(TokenKind::Normal, |&kind| TokenKind::from_number(kind))
    }

    /// Control and user-defined tokens, and the begin and end ones, which older files give no type.
    fn added(&self) -> Vec<AddedToken> {
        let is_end = |id: usize| self.begin == Some(id) || self.end == Some(id);
        let added = |(id, text): (usize, &String)| {
            let kind = self.kind(id);
            let special = kind == TokenKind::Control || is_end(id);
            (special || kind == TokenKind::UserDefined).then(|| AddedToken {
                text: text.clone(),
                id,
                special,
                ..AddedToken::default()
            })
        };
        self.tokens.iter().enumerate().filter_map(added).collect()
    }

    fn byte_bpe(self) -> Result<ByteBpe> {
        let (split, whole_words) = match self.pre.as_deref() {
            None | Some("gpt-2" | "default") => (Split::Gpt2, false),
            Some("llama-bpe" | "llama3") => (Split::Llama3, true),
            Some("qwen2") => (Split::Qwen2, false),
            Some(other) => {
                let (key, found) = ("tokenizer.ggml.pre", format!("{other:?}"));
                return Err(refuse(key, "gpt-2, llama-bpe or qwen2", found));
            }
        };
        let special = SpecialTokens {
            unknown: None,
            // Files of Llama 3 need not have the key.
            add_begin: self.add_begin.unwrap_or(split == Split::Llama3),
            ..self.special()
        };
        let added = self.added();
        let merges = self.merges.ok_or_else(|| missing("merges"))?;
        ByteBpe::new(ByteBpeFiles {
            tokens: self.tokens,
            merges,
            split,
            added,
            special,
            whole_words,
        })
    }

    fn llama(self) -> Result<Llama> {
        let special = SpecialTokens {
            add_begin: self.add_begin.unwrap_or(true),
            ..self.special()
        };
        let space_before = self.add_space_before.unwrap_or(true);
        let kinds = (0..self.tokens.len()).map(|id| self.kind(id)).collect();
        let has_types = self.token_types.is_some();
        let scores = self.scores.ok_or_else(|| missing("scores"))?;
        let named = LlamaFiles::named(self.tokens, scores);
        Llama::new(LlamaFiles {
            kinds: if has_types { kinds } else { named.kinds },
            special,
            space_before,
            ..named
        })
    }

    fn word_piece(self) -> Result<WordPiece> {
        let named = WordPieceFiles::marked(self.tokens);
        let special = SpecialTokens {
            begin: self.class.or(self.begin).or(named.special.begin),
            end: self.separator.or(named.special.end),
            unknown: self.unknown.or(named.special.unknown),
            padding: self.padding.or(named.special.padding),
            mask: self.mask.or(named.special.mask),
            add_begin: self.add_begin.unwrap_or(true),
            add_end: self.add_end.unwrap_or(true),
        };
        WordPiece::new(WordPieceFiles { special, ..named })
    }
}

fn missing(name: &'static str) -> EngineError {
    refuse(name, "in the file", "none")
}

fn refuse(
    argument: &'static str,
    expected: impl Into<String>,
    found: impl ToString,
) -> EngineError {
    EngineError::value("gguf", argument, expected, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(model: &str) -> GgufVocabulary {
        GgufVocabulary {
            model: model.to_owned(),
            tokens: ["1", "2", "12", "<s>"].map(str::to_owned).to_vec(),
            merges: Some(vec!["1 2".to_owned()]),
            scores: Some(vec![0.0; 4]),
            begin: Some(3),
            ..GgufVocabulary::default()
        }
    }

    fn with_pre(pre: &str) -> GgufVocabulary {
        GgufVocabulary {
            pre: Some(pre.to_owned()),
            ..vocabulary("gpt2")
        }
    }

    #[test]
    fn text_is_cut_by_the_named_rules() {
        let encoded = |pre: &str| with_pre(pre).tokenizer().unwrap().encode("1212").unwrap();
        assert_eq!(encoded("gpt-2"), [2, 2]);
        // Three digits to a word, then one.
        assert_eq!(encoded("llama-bpe"), [2, 0, 1]);
        assert_eq!(encoded("qwen2"), [0, 1, 0, 1]);
        let llama3 = with_pre("llama-bpe").tokenizer().unwrap();
        assert_eq!(llama3.with_ends(&[0]), [3, 0]);
        assert_eq!(llama3.encode_marked("<s>1").unwrap(), [3, 0]);
    }

    #[test]
    fn errors_name_the_entry() {
        let error = |vocabulary: GgufVocabulary| vocabulary.tokenizer().err().unwrap().to_string();
        assert!(
            error(vocabulary("t5")).contains("tokenizer.ggml.model must be gpt2, llama or bert")
        );
        assert!(error(with_pre("own")).contains("tokenizer.ggml.pre"));
        assert!(error(vocabulary("bert")).contains("[UNK]"));
        let without = GgufVocabulary {
            merges: None,
            ..vocabulary("gpt2")
        };
        assert_eq!(
            error(without),
            "gguf: merges must be in the file, found none"
        );
        let beyond = GgufVocabulary {
            mask: Some(4),
            ..vocabulary("llama")
        };
        assert_eq!(
            error(beyond),
            "gguf: special token id must be below 4, found 4"
        );
    }
}
