//! The compiler's questions about cells.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::reference::ElementRef;
use crate::types::{Code, Exercise, Listing};

/// Reason that a cell or exercise was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The TOML key at fault, where one is; the error then carries that key's line.
    pub key: Option<String>,
    /// The problem, for the author.
    pub message: String,
}

impl Refusal {
    /// A refusal of the whole block.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            key: None,
            message: message.into(),
        }
    }

    /// A refusal of one key.
    pub fn of(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            key: Some(key.into()),
            message: message.into(),
        }
    }
}

/// Knows cells, what they compute, and which files the site ships.
///
/// `props` are a cell's inputs as JSON; a text `"$name"` in them binds to the input `name` in
/// `shared`.
pub trait Catalog {
    /// Checks that a cell of this name exists and takes these inputs.
    ///
    /// # Errors
    /// A problem, in words for the author.
    fn check_cell(
        &self,
        name: &str,
        props: &Map<String, Value>,
        shared: &BTreeMap<String, Value>,
    ) -> Result<(), Refusal>;

    /// The inputs in words, label and value, for readers before the engine has loaded.
    fn given(
        &self,
        name: &str,
        props: &Map<String, Value>,
        shared: &BTreeMap<String, Value>,
    ) -> Vec<(String, String)>;

    /// Checks that the cell's computation has this single element.
    ///
    /// # Errors
    /// The names that it has instead.
    fn check_element(
        &self,
        name: &str,
        props: &Map<String, Value>,
        shared: &BTreeMap<String, Value>,
        element: &ElementRef,
    ) -> Result<(), Refusal>;

    /// Checks that the engine can grade this exercise: the answer exists, and of several choices
    /// exactly one claim holds, whose index it returns.
    ///
    /// # Errors
    /// A problem, in words for the author.
    fn check_exercise(&self, exercise: &Exercise) -> Result<Option<usize>, Refusal>;

    /// Finds the function of a block of code among the calls of its cell, and compares what its
    /// text in PyTorch printed with what the cell computes.
    ///
    /// # Errors
    /// A problem, in words for the author.
    fn listing(&self, code: &Code) -> Result<Listing, Refusal>;

    /// True where the site ships this file; `path` is relative to the site's root.
    fn has_asset(&self, path: &str) -> bool;
}

/// Replaces each `"$name"` by the shared input of that name; one that does not exist stays.
pub fn resolved(
    props: &Map<String, Value>,
    shared: &BTreeMap<String, Value>,
) -> Map<String, Value> {
    let look_up = |value: &Value| {
        shared_name(value)
            .and_then(|name| shared.get(name))
            .unwrap_or(value)
            .clone()
    };
    props
        .iter()
        .map(|(key, value)| (key.clone(), look_up(value)))
        .collect()
}

/// The name of the shared input that a prop binds to: `"$sentence"` gives `sentence`.
pub(crate) fn shared_name(prop: &Value) -> Option<&str> {
    prop.as_str()?.strip_prefix('$')
}
