//! The error of the development server.

use std::path::PathBuf;

/// A failure of the development server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The system's message.
        source: std::io::Error,
    },
    /// A program could not be started or talked to.
    #[error("{program}: {source}")]
    Program {
        /// Its name.
        program: String,
        /// The system's message.
        source: std::io::Error,
    },
    /// Files cannot be watched.
    #[error("changes cannot be watched: {0}")]
    Watch(#[from] notify::Error),
    /// A build ended with a message for the author.
    #[error("{0}")]
    Build(String),
}

impl ServeError {
    /// Wraps what the system said about a program.
    pub(crate) fn program(name: &str) -> impl FnOnce(std::io::Error) -> Self {
        let program = name.to_owned();
        move |source| Self::Program { program, source }
    }
}
