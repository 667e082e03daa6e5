//! Errors of a cell, in words for the reader.

use engine::EngineError;
use serde::{Deserialize, Serialize};

/// Reason that a cell could not show numbers. The `Display` text is what the reader sees in the
/// cell.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum CellError {
    /// An input holds something that the cell cannot use; the message says what would do.
    #[error("{label}: {message}")]
    Input {
        /// Name of the input in the cell's schema.
        input: String,
        /// Label of the input as the reader sees it.
        label: String,
        /// The problem and its remedy.
        message: String,
    },
    /// The inputs are fine one by one but do not fit each other.
    #[error("{0}")]
    Mismatch(String),
    /// The engine refused: shapes, sizes.
    #[error("The engine could not compute this: {0}")]
    Engine(String),
    /// A cell asked for an input or tensor that its schema does not have: a mistake of ours.
    #[error(
        "This cell asked for \u{201c}{0}\u{201d}, which it does not have. That is our mistake, not yours."
    )]
    Missing(String),
    /// The worker could not be started or reached, or lacks a file: the same inputs may work when
    /// they are tried again.
    #[error("{0}")]
    Worker(String),
}

impl CellError {
    /// An [`CellError::Input`] from anything that prints.
    pub fn input(input: &str, label: &str, message: impl Into<String>) -> Self {
        Self::Input {
            input: input.to_owned(),
            label: label.to_owned(),
            message: message.into(),
        }
    }
}

impl From<EngineError> for CellError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error.to_string())
    }
}
