//! Errors of merging files of a cut program.

use wasm_encoder::reencode;
use wasmparser::BinaryReaderError;

/// A reason why files cannot be merged.
#[derive(Debug, thiserror::Error)]
pub(super) enum MergeError {
    /// The bytes are not wasm.
    #[error("cannot be read: {0}")]
    Read(#[from] BinaryReaderError),
    /// The code cannot be written again.
    #[error("cannot be written again: {0}")]
    Code(String),
    /// A file has something that no file of a cut program has.
    #[error("has {0}, which no file of a cut program should have")]
    Unexpected(&'static str),
}

impl From<reencode::Error<MergeError>> for MergeError {
    fn from(error: reencode::Error<MergeError>) -> Self {
        match error {
            reencode::Error::UserError(error) => error,
            other => Self::Code(other.to_string()),
        }
    }
}
