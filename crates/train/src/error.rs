//! The crate's one error type.

use engine::EngineError;
use engine::format::error::FormatError;
use std::path::{Path, PathBuf};

/// A failure of training. The text names the file, what was expected and what was found.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// `read`, `write`, …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file's content is not what it should be.
    #[error("{}: expected {expected}, found {found}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The expected content.
        expected: String,
        /// The content that it has.
        found: String,
    },
    /// A file of weights is damaged.
    #[error("{}: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The mistake in it.
        source: FormatError,
    },
    /// The weights in a file are not this model's.
    #[error("{}: {source}", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// The parameter, with the shape that the model needs.
        source: EngineError,
    },
    /// The work folder holds a training that was begun.
    #[error(
        "{} holds a training that is at step {step}: go on with --resume, or remove the folder to begin anew",
        path.display()
    )]
    Begun {
        /// The folder.
        path: PathBuf,
        /// The step that it has reached.
        step: u64,
    },
    /// Other kernels are in use than those with the same bits on every machine.
    #[error("another set of kernels is in use already: begin anew")]
    Kernels,
    /// There is nothing to go on with.
    #[error("{} holds no checkpoint: begin without --resume", path.display())]
    NotBegun {
        /// The folder.
        path: PathBuf,
    },
    /// The loss is no number any more.
    #[error(
        "the loss of step {step} is {loss}: training has diverged; try a lower rate or another seed"
    )]
    Diverged {
        /// The step, counted from 1.
        step: u64,
        /// The result.
        loss: f32,
    },
    /// A shipped file would be larger than a page may load.
    #[error("{name} would take {bytes} bytes; {what} may take at most {most}")]
    TooLarge {
        /// The model.
        name: String,
        /// Its size.
        bytes: usize,
        /// One model, or all together.
        what: &'static str,
        /// The bound.
        most: usize,
    },
    /// The picture of the loss cannot be drawn.
    #[error("cannot draw the loss curve: {0}")]
    Picture(String),
    /// The system gives no more threads.
    #[error("cannot start {count} threads: {source}")]
    Threads {
        /// The number that was asked for.
        count: usize,
        /// Why.
        source: std::io::Error,
    },
    /// The engine refuses.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl TrainError {
    /// A file that cannot be read or written; `action` completes "cannot …".
    pub fn file(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        let path = path.to_path_buf();
        Self::File {
            action,
            path,
            source,
        }
    }

    /// A file whose content is not what it should be.
    pub fn content(path: &Path, expected: impl Into<String>, found: impl ToString) -> Self {
        Self::Content {
            path: path.to_path_buf(),
            expected: expected.into(),
            found: found.to_string(),
        }
    }

    /// Puts a file's name to what its format says.
    pub fn format(path: &Path) -> impl Fn(FormatError) -> Self + '_ {
        |source| Self::Format {
            path: path.to_path_buf(),
            source,
        }
    }

    /// Puts a file's name to what a model says of its weights.
    pub fn weights(path: &Path) -> impl Fn(EngineError) -> Self + '_ {
        |source| Self::Weights {
            path: path.to_path_buf(),
            source,
        }
    }
}
