//! The one error of xtask: a sentence for the person at the terminal.

use std::fmt;
use std::path::Path;

/// Why a chore could not go on, in words that say what to do next.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    /// A failure described by `message`.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// A wrong command line; points at the help.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self(format!(
            "{message}; `cargo xtask --help` lists what there is"
        ))
    }

    /// A file that could not be read or written.
    pub(crate) fn file(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        Self(format!("cannot {doing} {}: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
