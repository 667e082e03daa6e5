//! What is wrong with a file.

use crate::error::EngineError;

/// Why bytes are not a file of a format, or not the one that was needed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The file ends too early.
    #[error("{format}: {part} needs {expected} bytes, {found} are left")]
    Truncated {
        /// The format that was read.
        format: &'static str,
        /// The part that does not fit.
        part: String,
        /// How many bytes it takes.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// A part other than a tensor is not as the format has it.
    #[error("{format}: {part}: expected {expected}, found {found}")]
    Part {
        /// The format that was read.
        format: &'static str,
        /// The part, such as a header's field or a key of the metadata.
        part: String,
        /// What the format allows.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// A tensor is missing, lies outside the file, or has another shape or content than it should.
    #[error("{format}: tensor {tensor}: expected {expected}, found {found}")]
    Tensor {
        /// The format that was read.
        format: &'static str,
        /// The tensor's name.
        tensor: String,
        /// What was needed.
        expected: String,
        /// What the file has.
        found: String,
    },
}

impl FormatError {
    /// An error in a part other than a tensor.
    pub fn part(
        format: &'static str,
        part: impl Into<String>,
        expected: impl Into<String>,
        found: impl ToString,
    ) -> Self {
        Self::Part {
            format,
            part: part.into(),
            expected: expected.into(),
            found: found.to_string(),
        }
    }

    /// An error in a tensor, whose name is shortened where it is very long.
    pub fn tensor(
        format: &'static str,
        tensor: &str,
        expected: impl Into<String>,
        found: impl ToString,
    ) -> Self {
        Self::Tensor {
            format,
            tensor: shortened(tensor),
            expected: expected.into(),
            found: found.to_string(),
        }
    }

    /// The same as the crate's error, for what loads a model. (A `From` would make other `?` of the crate ambiguous.)
    pub(super) fn into_engine(self) -> EngineError {
        match self {
            Self::Truncated {
                format,
                part,
                expected,
                found,
            } => EngineError::shape(
                format,
                format!("{expected} bytes of {part}"),
                found.to_string(),
            ),
            Self::Part {
                format,
                part,
                expected,
                found,
            } => EngineError::shape(format, format!("{part} {expected}"), found),
            Self::Tensor {
                tensor,
                expected,
                found,
                ..
            } => EngineError::Parameter {
                name: tensor,
                expected,
                found,
            },
        }
    }
}

/// The first 120 characters of a name that may be as long as the file.
pub fn shortened(name: &str) -> String {
    const LONGEST: usize = 120;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}
