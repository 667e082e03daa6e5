//! One token for each character that occurs in a text: the smallest vocabulary, for models that are trained in the tab.
//!
//! ```
//! use engine::token::{characters::Characters, tokenizer::Tokenizer};
//! let tokenizer = Characters::of_text("hello")?;
//! assert_eq!(tokenizer.encode("hole")?, [1, 3, 2, 0]);
//! assert_eq!(tokenizer.decode(&[1, 0])?, "he");
//! assert!(tokenizer.encode("help").is_err());
//! # Ok::<(), engine::EngineError>(())
//! ```

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::tokenizer::{SpecialTokens, Tokenizer, unknown_id};
use super::vocabulary::Vocabulary;
use crate::error::{EngineError, Result};

/// A vocabulary of characters.
#[derive(Debug, Clone)]
pub struct Characters {
    vocabulary: Vocabulary,
    special: SpecialTokens,
}

impl Characters {
    /// A vocabulary of given characters; the place of each is its id.
    ///
    /// # Errors
    /// When there is none.
    pub fn new(characters: impl IntoIterator<Item = char>) -> Result<Self> {
        Ok(Self {
            vocabulary: Vocabulary::new(characters.into_iter().map(String::from).collect())?,
            special: SpecialTokens::default(),
        })
    }

    /// A vocabulary of all characters of a text, in the order of their code points.
    ///
    /// # Errors
    /// When the text is empty.
    pub fn of_text(text: &str) -> Result<Self> {
        Self::new(text.chars().collect::<BTreeSet<_>>())
    }

    /// Makes one of the characters, such as a line feed, the one that begins and ends a text.
    ///
    /// # Errors
    /// When the vocabulary does not have it.
    pub fn with_end(mut self, character: char) -> Result<Self> {
        let id = self.id_of(character)?;
        self.special = SpecialTokens {
            begin: Some(id),
            end: Some(id),
            add_begin: true,
            add_end: true,
            ..SpecialTokens::default()
        };
        Ok(self)
    }

    fn id_of(&self, character: char) -> Result<usize> {
        let id = self.vocabulary.id(character.encode_utf8(&mut [0; 4]));
        id.map(|id| id as usize).ok_or_else(|| {
            let expected = format!("one of the {} characters of the vocabulary", self.size());
            EngineError::value(
                "Characters",
                "character",
                expected,
                format!("{character:?}"),
            )
        })
    }
}

impl Tokenizer for Characters {
    fn encode(&self, text: &str) -> Result<Vec<usize>> {
        text.chars()
            .map(|character| self.id_of(character))
            .collect()
    }

    /// As [`Self::encode`]: every token is text.
    fn encode_marked(&self, text: &str) -> Result<Vec<usize>> {
        self.encode(text)
    }

    fn size(&self) -> usize {
        self.vocabulary.len()
    }

    fn piece(&self, id: usize) -> Option<&str> {
        self.vocabulary.piece(id)
    }

    fn id(&self, piece: &str) -> Option<usize> {
        self.vocabulary.id(piece).map(|id| id as usize)
    }

    fn token_bytes(&self, id: usize, _first: bool) -> Result<Option<Cow<'_, [u8]>>> {
        let piece = self
            .piece(id)
            .ok_or_else(|| unknown_id("Characters", id, self.size()))?;
        Ok(Some(Cow::Borrowed(piece.as_bytes())))
    }

    fn special(&self) -> &SpecialTokens {
        &self.special
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_places_and_the_way_back_is_exact() {
        let tokenizer = Characters::of_text("a b\né")
            .unwrap()
            .with_end('\n')
            .unwrap();
        let ids = tokenizer.encode("bé a").unwrap();
        assert_eq!(ids, [3, 4, 1, 2]);
        assert_eq!(tokenizer.decode(&ids).unwrap(), "bé a");
        assert_eq!(tokenizer.with_ends(&[2]), [0, 2, 0]);
    }

    #[test]
    fn errors_name_the_character_and_the_id() {
        let tokenizer = Characters::of_text("ab").unwrap();
        let error = tokenizer.encode("abc").unwrap_err().to_string();
        let expected =
            "Characters: character must be one of the 2 characters of the vocabulary, found 'c'";
        assert_eq!(error, expected);
        assert!(tokenizer.decode(&[2]).is_err());
        assert!(Characters::of_text("").is_err());
    }
}
