//! The vocabularies that cells cut a text with: characters and bytes, those of the shipped models,
//! and those of GPT-2 and BERT.

use std::fmt::Write as _;
use std::sync::Arc;

use engine::token::byte_bpe::ByteBpe;
use engine::token::tokenizer::Tokenizer;
use engine::token::word_piece::WordPiece;

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::model_cache::ModelCache;
use crate::parts::trained::{BERT, GPT, TRANSLATOR, visible};

/// The input that chooses one.
pub(crate) const INPUT: &str = "vocabulary";

/// Every character is a token.
pub(crate) const CHARACTERS: &str = "characters";

/// Every byte is a token.
pub(crate) const BYTES: &str = "bytes";

/// GPT-2's, of 50,257 tokens.
pub(crate) const GPT2: &str = "GPT-2";

/// That of BERT without capitals, of 30,522 tokens.
pub(crate) const UNCASED: &str = "BERT";

/// The choice of a vocabulary; the first one is the default.
pub(crate) fn choice(names: &'static [&'static str]) -> InputSpec {
    InputSpec::choice(INPUT, "Vocabulary", names)
}

/// The file of a vocabulary, which is much smaller than that of its model.
fn file(name: &str) -> Option<&'static str> {
    match name {
        GPT => Some("tiny-gpt-tokenizer.json"),
        TRANSLATOR => Some("translator-tokenizer.json"),
        BERT => Some("tiny-bert-vocab.txt"),
        GPT2 => Some("gpt2-merges.txt"),
        UNCASED => Some("bert-vocab.json"),
        _ => None,
    }
}

/// The files that a cell with the input `vocabulary` needs.
pub(crate) fn files(inputs: &Inputs) -> Vec<&'static str> {
    let chosen = inputs.choice(INPUT).ok();
    chosen.and_then(file).into_iter().collect()
}

/// A vocabulary that a text can be cut with.
#[derive(Clone)]
pub(crate) enum Vocabulary {
    /// A token for each character; its id is the character's number in Unicode.
    Characters,
    /// The 256 bytes.
    Bytes,
    /// Bytes and merges.
    Bpe(Arc<ByteBpe>),
    /// The longest known start of a word, again and again.
    WordPiece(Arc<WordPiece>),
}

/// A text as tokens.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cut {
    /// Their ids.
    pub(crate) ids: Vec<usize>,
    /// Their texts, to be shown.
    pub(crate) texts: Vec<String>,
}

impl Vocabulary {
    /// The chosen one, out of the files of the worker.
    ///
    /// # Errors
    /// When a file is missing or not what it should be.
    pub(crate) fn chosen(inputs: &Inputs, cache: &ModelCache) -> Result<Self, CellError> {
        Ok(match (inputs.choice(INPUT)?, file(inputs.choice(INPUT)?)) {
            (BERT | UNCASED, Some(file)) => Self::WordPiece(cache.opened(file)?),
            (_, Some(file)) => Self::Bpe(cache.opened(file)?),
            (CHARACTERS, None) => Self::Characters,
            _ => Self::Bytes,
        })
    }

    /// The number of its tokens.
    pub(crate) fn size(&self) -> usize {
        match self {
            // The code points of Unicode without the 2,048 halves of pairs of UTF-16.
            Self::Characters => 0x11_0000 - 0x800,
            Self::Bytes => 256,
            Self::Bpe(tokenizer) => tokenizer.size(),
            Self::WordPiece(tokenizer) => tokenizer.size(),
        }
    }

    /// The tokens of a text. The call is recorded.
    ///
    /// # Errors
    /// When the vocabulary cannot write the text.
    pub(crate) fn cut(&self, record: &mut Record, text: &str) -> Result<Cut, CellError> {
        let ids = match self {
            Self::Characters => shown!(record, explain::byte_pairs::code_points, text),
            Self::Bytes => shown!(record, explain::byte_pairs::utf8, text),
            Self::Bpe(tokenizer) => {
                let tokenizer = tokenizer.as_ref();
                shown!(
                    record,
                    engine::token::byte_bpe::ByteBpe::encode_as,
                    tokenizer,
                    text,
                    false
                )?
            }
            Self::WordPiece(tokenizer) => {
                let tokenizer = tokenizer.as_ref();
                shown!(
                    record,
                    engine::token::word_piece::WordPiece::encode_as,
                    tokenizer,
                    text,
                    false
                )?
            }
        };
        let texts = ids.iter().map(|&id| self.spelled(id)).collect();
        Ok(Cut { ids, texts })
    }

    /// The number of tokens of a text, for a cell that counts many texts.
    ///
    /// # Errors
    /// As [`Self::cut`].
    pub(crate) fn count(&self, text: &str) -> Result<usize, CellError> {
        Ok(match self {
            Self::Characters => text.chars().count(),
            Self::Bytes => text.len(),
            Self::Bpe(tokenizer) => tokenizer.encode(text)?.len(),
            Self::WordPiece(tokenizer) => tokenizer.encode(text)?.len(),
        })
    }

    /// The text that tokens are decoded to.
    ///
    /// # Errors
    /// When there is no token of one of these ids.
    pub(crate) fn decode(&self, ids: &[usize]) -> Result<String, CellError> {
        let byte = |&id: &usize| u8::try_from(id).unwrap_or(b'?');
        Ok(match self {
            Self::Characters => ids.iter().map(|&id| character(id)).collect(),
            Self::Bytes => {
                let bytes: Vec<u8> = ids.iter().map(byte).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            Self::Bpe(tokenizer) => tokenizer.decode(ids)?,
            Self::WordPiece(tokenizer) => tokenizer.decode(ids)?,
        })
    }

    /// A token as the page shows it.
    fn spelled(&self, id: usize) -> String {
        match self {
            Self::WordPiece(tokenizer) => tokenizer.token(id).unwrap_or_default().to_owned(),
            _ => spelled(&self.bytes(id)),
        }
    }

    /// The whole characters of a token, without the marks and the bytes that the page shows.
    pub(crate) fn letters(&self, id: usize) -> String {
        match self {
            Self::WordPiece(tokenizer) if tokenizer.special().unknown == Some(id) => String::new(),
            Self::WordPiece(tokenizer) => {
                let token = tokenizer.token(id).unwrap_or_default();
                token.trim_start_matches("##").to_owned()
            }
            _ => {
                let bytes = self.bytes(id);
                bytes.utf8_chunks().map(|chunk| chunk.valid()).collect()
            }
        }
    }

    /// The bytes of a token of a vocabulary that loses nothing.
    fn bytes(&self, id: usize) -> Vec<u8> {
        match self {
            Self::Characters => character(id).to_string().into_bytes(),
            Self::Bytes => u8::try_from(id).into_iter().collect(),
            Self::Bpe(tokenizer) => {
                let bytes = tokenizer.token_bytes(id, false).ok().flatten();
                bytes.unwrap_or_default().into_owned()
            }
            Self::WordPiece(_) => Vec::new(),
        }
    }
}

fn character(id: usize) -> char {
    let known = u32::try_from(id).ok().and_then(char::from_u32);
    known.unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The bytes of a token as the page shows them: whole characters as they are, with their spaces and
/// line breaks to be seen, and each byte that is only a part of one in hexadecimal digits.
pub(crate) fn spelled(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(&visible(chunk.valid()));
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(text, "\u{27e8}{byte:02X}\u{27e9}");
        }
    }
    text
}

/// The most tokens that a cell shows in boxes.
const MOST: usize = 120;

/// Refuses a text without a character to cut.
///
/// # Errors
/// [`CellError::Input`] with a message for the reader.
pub(crate) fn not_blank<'a>(
    inputs: &'a Inputs,
    (name, label): (&str, &str),
) -> Result<&'a str, CellError> {
    let text = inputs.text(name)?;
    if text.trim().is_empty() {
        return Err(CellError::input(name, label, "type at least one word."));
    }
    Ok(text)
}

impl Cut {
    /// Refuses more tokens than a cell can show.
    ///
    /// # Errors
    /// [`CellError::Input`] with a message for the reader.
    pub(crate) fn shown(self, (name, label): (&str, &str)) -> Result<Self, CellError> {
        if self.ids.len() <= MOST {
            return Ok(self);
        }
        let message = format!(
            "this is {} tokens, and this cell shows at most {MOST}. Your text is kept: shorten it to continue.",
            self.ids.len()
        );
        Err(CellError::input(name, label, message))
    }

    /// Keeps ids and texts under names that begin with `prefix`.
    pub(crate) fn keep(&self, record: &mut Record, prefix: &str) {
        let ids = self.ids.iter().map(|&id| id as f64).collect();
        record.numbers(&format!("{prefix}ids"), ids);
        record.words(&format!("{prefix}tokens"), self.texts.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_characters_are_shown_as_bytes() {
        assert_eq!(spelled(b" a\n"), "\u{2423}a\u{21b5}");
        assert_eq!(spelled(&"\u{e9}!".as_bytes()[1..]), "\u{27e8}A9\u{27e9}!");
        assert_eq!(
            spelled(&[b' ', 0xE3, 0x81]),
            "\u{2423}\u{27e8}E3\u{27e9}\u{27e8}81\u{27e9}"
        );
    }
}
