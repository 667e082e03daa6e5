//! A list of tokens with their ids.

use std::collections::HashMap;

use crate::error::{EngineError, Result};

/// Tokens in the order of their ids, and the way back.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    pieces: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Vocabulary {
    /// A vocabulary in which the position of a token is its id. Of equal tokens the first one is found by its text.
    ///
    /// # Errors
    /// When there is no token, or more than 2^32 of them.
    pub fn new(pieces: Vec<String>) -> Result<Self> {
        if pieces.is_empty() || u32::try_from(pieces.len()).is_err() {
            return Err(EngineError::value(
                "vocabulary",
                "tokens",
                "between 1 and 2^32 tokens",
                pieces.len(),
            ));
        }
        let mut ids = HashMap::with_capacity(pieces.len());
        for (id, piece) in (0u32..).zip(&pieces) {
            ids.entry(piece.clone()).or_insert(id);
        }
        Ok(Self { pieces, ids })
    }

    /// A vocabulary from tokens that come with their ids, in any order.
    ///
    /// # Errors
    /// When the ids are not 0..n, each once.
    pub fn from_pairs(pairs: Vec<(String, usize)>) -> Result<Self> {
        let size = pairs.len();
        let mut places: Vec<Option<String>> = vec![None; size];
        for (piece, id) in pairs {
            let refuse = || {
                let expected = format!("the ids 0..{size}, each once");
                EngineError::value("vocabulary", "tokens", expected, format!("{piece:?}: {id}"))
            };
            match places.get_mut(id) {
                Some(place) if place.is_none() => *place = Some(piece),
                _ => return Err(refuse()),
            }
        }
        Self::new(places.into_iter().flatten().collect())
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// True without any token.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The tokens in the order of their ids.
    pub fn pieces(&self) -> &[String] {
        &self.pieces
    }

    /// The token of an id; `None` where there is none.
    pub fn piece(&self, id: usize) -> Option<&str> {
        self.pieces.get(id).map(String::as_str)
    }

    /// The id of a token; `None` where it is not in the vocabulary.
    pub fn id(&self, piece: &str) -> Option<u32> {
        self.ids.get(piece).copied()
    }

    /// The first of several names that is in the vocabulary.
    pub fn first_of(&self, names: &[&str]) -> Option<usize> {
        names
            .iter()
            .find_map(|name| self.id(name))
            .map(|id| id as usize)
    }
}
