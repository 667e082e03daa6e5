//! A list of tokens with their ids.

use std::collections::HashMap;

use crate::error::{EngineError, Result};

/// Tokens in the order of their ids, and the id of each token.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    tokens: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Vocabulary {
    /// A vocabulary in which the position of a token is its id. Of equal tokens the first one is
    /// found by its text.
    ///
    /// # Errors
    /// When there is no token, or more than 2^32 of them.
    pub fn new(tokens: Vec<String>) -> Result<Self> {
        if tokens.is_empty() || u32::try_from(tokens.len()).is_err() {
            let (expected, found) = ("between 1 and 2^32 tokens", tokens.len());
            return Err(EngineError::value("vocabulary", "tokens", expected, found));
        }
        let mut ids = HashMap::with_capacity(tokens.len());
        for (id, token) in (0u32..).zip(&tokens) {
            ids.entry(token.clone()).or_insert(id);
        }
        Ok(Self { tokens, ids })
    }

    /// A vocabulary from tokens that come with their ids, in any order.
    ///
    /// # Errors
    /// When the ids are not 0..n, each once.
    pub fn from_pairs(pairs: Vec<(String, usize)>) -> Result<Self> {
        let size = pairs.len();
        let mut tokens: Vec<Option<String>> = vec![None; size];
        for (token, id) in pairs {
            match tokens.get_mut(id) {
                Some(free) if free.is_none() => *free = Some(token),
                _ => {
                    let expected = format!("the ids 0..{size}, each once");
                    let found = format!("\"{token}\": {id}");
                    return Err(EngineError::value("vocabulary", "tokens", expected, found));
                }
            }
        }
        Self::new(tokens.into_iter().flatten().collect())
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// True without any token.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The tokens in the order of their ids.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// The token of an id; `None` where there is none.
    pub fn token(&self, id: usize) -> Option<&str> {
        self.tokens.get(id).map(String::as_str)
    }

    /// The id of a token; `None` where it is not in the vocabulary.
    pub fn id(&self, token: &str) -> Option<u32> {
        self.ids.get(token).copied()
    }

    /// The id of the first of several names that is in the vocabulary.
    pub fn first_of(&self, names: &[&str]) -> Option<usize> {
        let id = names.iter().find_map(|name| self.id(name));
        id.map(|id| id as usize)
    }
}
