//! A list of tokens with their ids.

use std::collections::HashMap;

use crate::error::{EngineError, Result};

/// Tokens in the order of their ids, and the way back.
#[derive(Debug, Clone, Default)]
pub(super) struct Vocabulary {
    pieces: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Vocabulary {
    /// A vocabulary in which the place of a token is its id. Of equal tokens the first one is found by its text.
    pub(super) fn new(pieces: Vec<String>) -> Result<Self> {
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

    /// A vocabulary from tokens that come with their ids, in any order. The ids must be 0..n, each once.
    pub(super) fn from_pairs(pairs: Vec<(String, usize)>) -> Result<Self> {
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

    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    pub(super) fn pieces(&self) -> &[String] {
        &self.pieces
    }

    pub(super) fn piece(&self, id: usize) -> Option<&str> {
        self.pieces.get(id).map(String::as_str)
    }

    pub(super) fn id(&self, piece: &str) -> Option<u32> {
        self.ids.get(piece).copied()
    }

    /// The first of several names that is in the vocabulary.
    pub(super) fn first_of(&self, names: &[&str]) -> Option<usize> {
        names
            .iter()
            .find_map(|name| self.id(name))
            .map(|id| id as usize)
    }
}
