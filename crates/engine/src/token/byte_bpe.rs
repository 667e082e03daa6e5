//! Byte-level byte-pair encoding, the vocabulary of GPT-2 and of most models after it.
//!
//! A text is cut into words ([`Split`]); each word starts as its UTF-8 bytes, one token each, and
//! of all neighbours the pair that was learned first is merged, again and again, until no learned
//! pair is left. As every byte is a token, every text can be encoded, and decoding gives back the
//! same bytes.
//!
//! ```
//! use engine::token::{byte_bpe::{ByteBpe, ByteBpeFiles}, tokenizer::Tokenizer};
//! let files = ByteBpeFiles {
//!     tokens: ["l", "o", "w", "Ġ", "lo", "low", "Ġlow"].map(str::to_owned).to_vec(),
//!     merges: ["l o", "lo w", "Ġ low"].map(str::to_owned).to_vec(),
//!     ..ByteBpeFiles::default()
//! };
//! let tokenizer = ByteBpe::new(files)?;
//! assert_eq!(tokenizer.encode("low lo")?, [5, 3, 4]);
//! assert_eq!(tokenizer.decode(&[6, 6])?, " low low");
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Sennrich, Haddow and Birch 2016, "Neural machine translation of rare words with subword
//! units", algorithm 1; Radford et al. 2019, "Language models are unsupervised multitask learners",
//! section 2.2.

use std::borrow::Cow;
use std::collections::HashMap;

use super::added::{AddedToken, AddedTokens};
use super::byte_alphabet;
use super::gguf::GgufVocabulary;
use super::json::quoted;
use super::llama::TokenKind;
use super::merge::merge;
use super::split::Split;
use super::tokenizer::{SpecialTokens, Tokenizer, unknown_id};
use super::vocabulary::Vocabulary;
use crate::error::{EngineError, Result};

/// The content of the files of a byte-level vocabulary.
#[derive(Debug, Clone, Default)]
pub struct ByteBpeFiles {
    /// The tokens in the order of their ids, each byte in the spelling of [`byte_alphabet`].
    pub tokens: Vec<String>,
    /// The pairs in the order in which they were learned, written `left right`.
    pub merges: Vec<String>,
    /// The rules by which text is cut into words.
    pub split: Split,
    /// Tokens that are found in the text before it is cut.
    pub added: Vec<AddedToken>,
    /// The ids with a meaning of their own.
    pub special: SpecialTokens,
    /// Whether a word that is a token is taken whole, without merging (Llama 3).
    pub whole_words: bool,
}

impl ByteBpeFiles {
    /// Reads a `merges.txt` (GPT-2's `vocab.bpe`), a merge on each line, from which the ids of GPT-2
    /// follow: the bytes in the order of [`byte_alphabet::in_order`], the merged tokens in the order
    /// of learning, and `<|endoftext|>`.
    pub fn from_merges_txt(file: &str) -> Self {
        let merges = file
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with("#version"));
        let merges: Vec<String> = merges.map(str::to_owned).collect();
        let bytes = byte_alphabet::in_order().into_iter();
        let bytes = bytes.map(|byte| byte_alphabet::character(byte).to_string());
        let merged = merges.iter().map(|line| line.replacen(' ', "", 1));
        let mut tokens: Vec<String> = bytes.chain(merged).collect();
        let end = tokens.len();
        tokens.push(END.to_owned());
        Self {
            tokens,
            merges,
            added: vec![AddedToken {
                text: END.to_owned(),
                id: end,
                special: true,
                ..AddedToken::default()
            }],
            special: SpecialTokens {
                begin: Some(end),
                end: Some(end),
                ..SpecialTokens::default()
            },
            ..Self::default()
        }
    }
}

/// The token that begins and ends a text of GPT-2.
const END: &str = "<|endoftext|>";

/// A byte-level vocabulary with its merges.
#[derive(Debug, Clone)]
pub struct ByteBpe {
    vocabulary: Vocabulary,
    texts: Vec<Box<[u8]>>,
    byte_ids: [Option<u32>; 256],
    /// Two neighbours, and the rank of the pair in the order of learning with the id that it
    /// becomes.
    merges: HashMap<(u32, u32), (u32, u32)>,
    split: Split,
    added: AddedTokens,
    special: SpecialTokens,
    whole_words: bool,
}

impl ByteBpe {
    /// A tokenizer from the content of its files.
    ///
    /// # Errors
    /// When there is no token, or a merge is not two tokens whose text together is a third one.
    pub fn new(files: ByteBpeFiles) -> Result<Self> {
        let vocabulary = Vocabulary::new(files.tokens)?;
        let mut byte_ids = [None; 256];
        for (byte, id) in (0..=255u8).zip(&mut byte_ids) {
            *id = vocabulary.id(byte_alphabet::character(byte).encode_utf8(&mut [0; 4]));
        }
        let mut merges = HashMap::with_capacity(files.merges.len());
        for (rank, line) in (0u32..).zip(&files.merges) {
            let (pair, joined) = read_merge(line, &vocabulary)?;
            merges.entry(pair).or_insert((rank, joined));
        }
        let texts = (vocabulary.tokens().iter())
            .map(|token| byte_alphabet::bytes(token).into_boxed_slice())
            .collect();
        Ok(Self {
            vocabulary,
            texts,
            byte_ids,
            merges,
            split: files.split,
            added: AddedTokens::new(files.added),
            special: files.special,
            whole_words: files.whole_words,
        })
    }

    /// The merges in the order in which they were learned, each as the ids (left, right, merged).
    pub fn merges(&self) -> Vec<(usize, usize, usize)> {
        let mut ranked: Vec<_> = self.merges.iter().collect();
        ranked.sort_unstable_by_key(|(_, (rank, _))| *rank);
        let ids = |(pair, joined): (&(u32, u32), &(u32, u32))| {
            (pair.0 as usize, pair.1 as usize, joined.1 as usize)
        };
        ranked.into_iter().map(ids).collect()
    }

    /// The ids of one word, which is not cut further.
    ///
    /// # Errors
    /// When the vocabulary has no token for one of the bytes.
    pub fn encode_word(&self, word: &str) -> Result<Vec<usize>> {
        if self.whole_words
            && let Some(id) = self.vocabulary.id(&byte_alphabet::written(word.as_bytes()))
        {
            return Ok(vec![id as usize]);
        }
        let id = |byte: u8| {
            let known = self.byte_ids[usize::from(byte)].map(|id| id as usize);
            known.or(self.special.unknown).ok_or_else(|| {
                let expected = "written in the bytes of the vocabulary";
                let found = format!("byte {byte:#04x}");
                EngineError::value("ByteBpe::encode", "text", expected, found)
            })
        };
        let bytes: Result<Vec<u32>> = word.bytes().map(|byte| Ok(id(byte)? as u32)).collect();
        let join = |left, right| self.merges.get(&(left, right)).copied();
        let merged = merge(&bytes?, join);
        Ok(merged.into_iter().map(|id| id as usize).collect())
    }
}

/// The pair in a line `left right` and the token that it becomes.
fn read_merge(line: &str, vocabulary: &Vocabulary) -> Result<((u32, u32), u32)> {
    let refuse = || {
        let expected = "two tokens that together are a third, with a space between";
        EngineError::value("ByteBpe::new", "merge", expected, quoted(line))
    };
    let (left, right) = line.split_once(' ').ok_or_else(refuse)?;
    let id = |token: &str| vocabulary.id(token).ok_or_else(refuse);
    Ok(((id(left)?, id(right)?), id(&format!("{left}{right}"))?))
}

impl Tokenizer for ByteBpe {
    fn encode_as(&self, text: &str, marked: bool) -> Result<Vec<usize>> {
        // The positions of the ids of each word that came before: words repeat, and most of the
        // work is merging.
        let mut seen: HashMap<&str, (usize, usize)> = HashMap::new();
        self.added.encode(text, marked, |text, ids| {
            for word in self.split.words(text) {
                if let Some(&(start, end)) = seen.get(word) {
                    ids.extend_from_within(start..end);
                } else {
                    let start = ids.len();
                    ids.extend(self.encode_word(word)?);
                    seen.insert(word, (start, ids.len()));
                }
            }
            Ok(())
        })
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn token_bytes(&self, id: usize, _first: bool) -> Result<Option<Cow<'_, [u8]>>> {
        let text = (self.texts.get(id)).ok_or_else(|| unknown_id("ByteBpe", id, self.size()))?;
        Ok(match self.added.get(id) {
            Some(token) if token.special => None,
            Some(token) => Some(Cow::Borrowed(token.text.as_bytes())),
            None => Some(Cow::Borrowed(text)),
        })
    }

    fn special(&self) -> &SpecialTokens {
        &self.special
    }

    fn gguf(&self) -> Option<GgufVocabulary> {
        let tokens = self.vocabulary.tokens();
        let kind = |id: usize| match self.added.get(id) {
            Some(token) if token.special => TokenKind::Control,
            Some(_) => TokenKind::UserDefined,
            None => TokenKind::Normal,
        };
        let line =
            |(left, right, _): (usize, usize, usize)| format!("{} {}", tokens[left], tokens[right]);
        Some(GgufVocabulary {
            pre: Some(self.split.gguf_name().to_owned()),
            tokens: tokens.to_vec(),
            token_types: Some((0..tokens.len()).map(|id| kind(id).number()).collect()),
            merges: Some(self.merges().into_iter().map(line).collect()),
            ..GgufVocabulary::with_special("gpt2", &self.special)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|&text| text.to_owned()).collect()
    }

    fn small() -> ByteBpeFiles {
        ByteBpeFiles {
            tokens: strings(&["a", "b", "ab", "aab", "<|end|>", "Ã"]),
            merges: strings(&["a b", "a ab"]),
            added: vec![AddedToken {
                text: "<|end|>".to_owned(),
                id: 4,
                special: true,
                ..AddedToken::default()
            }],
            ..ByteBpeFiles::default()
        }
    }

    #[test]
    fn the_pair_that_was_learned_first_is_merged_first() {
        let tokenizer = ByteBpe::new(small()).unwrap();
        assert_eq!(tokenizer.encode("aabab").unwrap(), [3, 2]);
        assert_eq!(tokenizer.encode("baab").unwrap(), [1, 3]);
        assert_eq!(tokenizer.merges(), [(0, 1, 2), (0, 2, 3)]);
    }

    #[test]
    fn special_tokens_come_from_marked_text_only_and_have_no_text() {
        let tokenizer = ByteBpe::new(small()).unwrap();
        assert_eq!(tokenizer.encode_marked("ab<|end|>a").unwrap(), [2, 4, 0]);
        assert_eq!(tokenizer.decode(&[2, 4, 0]).unwrap(), "aba");
        let error = tokenizer.encode("ab<|end|>a").unwrap_err();
        assert_eq!(
            error.to_string(),
            "ByteBpe::encode: text must be written in the bytes of the vocabulary, found byte 0x3c"
        );
    }

    #[test]
    fn the_ids_of_gpt2_follow_from_its_merges() {
        let files = ByteBpeFiles::from_merges_txt("#version: 0.2\nh e\nhe l\n");
        let tokenizer = ByteBpe::new(files).unwrap();
        // "!" is the first byte that is written as itself, and a space the 221st of all.
        assert_eq!(tokenizer.encode("! hello").unwrap(), [0, 220, 257, 75, 78]);
        assert_eq!(
            (tokenizer.size(), tokenizer.special().end),
            (259, Some(258))
        );
    }

    #[test]
    fn errors_name_the_merge_and_the_id() {
        let files = ByteBpeFiles {
            merges: strings(&["a b", "b a"]),
            ..small()
        };
        let error = ByteBpe::new(files).unwrap_err();
        assert!(error.to_string().contains("found \"b a\""), "{error}");
        let error = ByteBpe::new(small()).unwrap().decode(&[6]).unwrap_err();
        assert_eq!(error.to_string(), "ByteBpe: id must be below 6, found 6");
    }

    #[test]
    fn a_byte_that_is_missing_becomes_the_unknown_token() {
        let mut files = small();
        files.special.unknown = Some(4);
        let tokenizer = ByteBpe::new(files).unwrap();
        assert_eq!(tokenizer.encode("aé").unwrap(), [0, 5, 4]);
        assert_eq!(tokenizer.decode_bytes(&[5]).unwrap(), [0xC3]);
    }
}
