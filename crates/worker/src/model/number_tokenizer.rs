//! A vocabulary for models that came without one: a token is written as its number.

use std::borrow::Cow;

use engine::token::tokenizer::{SpecialTokens, Tokenizer};
use engine::token::vocabulary::Vocabulary;
use engine::{EngineError, Result};

/// Tokens as numbers with spaces between them.
pub struct NumberTokenizer {
    vocabulary: Vocabulary,
    special: SpecialTokens,
}

impl NumberTokenizer {
    /// The numbers of a vocabulary of this size.
    pub fn new(size: usize) -> Self {
        Self {
            // Without a token there is none to be found, either.
            vocabulary: Vocabulary::new((0..size).map(|id| id.to_string()).collect())
                .unwrap_or_default(),
            special: SpecialTokens::default(),
        }
    }
}

impl Tokenizer for NumberTokenizer {
    fn encode_as(&self, text: &str, _marked: bool) -> Result<Vec<usize>> {
        let size = self.size();
        let number = |word: &str| {
            let id = word.parse().ok().filter(|&id: &usize| id < size);
            id.ok_or_else(|| {
                let expected = format!("numbers of tokens, each below {size}, because no vocabulary came with the model");
                EngineError::value("read", "prompt", expected, word)
            })
        };
        text.split_whitespace().map(number).collect()
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn token_bytes(&self, id: usize, first: bool) -> Result<Option<Cow<'_, [u8]>>> {
        let number = self.token(id).ok_or_else(|| {
            EngineError::value("decode", "id", format!("below {}", self.size()), id)
        })?;
        Ok(Some(match first {
            true => Cow::Borrowed(number.as_bytes()),
            false => Cow::Owned(format!(" {number}").into_bytes()),
        }))
    }

    fn special(&self) -> &SpecialTokens {
        &self.special
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_written() {
        let numbers = NumberTokenizer::new(50);
        assert_eq!(numbers.encode(" 3  49 ").unwrap(), [3, 49]);
        assert_eq!(numbers.decode(&[3, 49]).unwrap(), "3 49");
        assert!(
            numbers
                .encode("50")
                .unwrap_err()
                .to_string()
                .contains("below 50")
        );
        assert!(numbers.encode("once").is_err() && numbers.token_bytes(50, true).is_err());
    }
}
