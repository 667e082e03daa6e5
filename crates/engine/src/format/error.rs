//! The error of a file that cannot be read.

use crate::error::EngineError;

/// The reason why bytes are not a file of a format, or not the file that was needed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The file ends too early.
    #[error("{format}: {part} needs {expected} bytes, {found} are left")]
    Truncated {
        /// The format that was read.
        format: &'static str,
        /// The part that does not fit.
        part: String,
        /// The number of bytes that the part takes.
        expected: u64,
        /// The number of bytes that are left.
        found: u64,
    },
    /// A part other than a tensor differs from the format.
    #[error("{format}: {part}: expected {expected}, found {found}")]
    Part {
        /// The format that was read.
        format: &'static str,
        /// The part, such as a header's field or a key of the metadata.
        part: String,
        /// The content that the format allows.
        expected: String,
        /// The content of the file.
        found: String,
    },
    /// A tensor is missing, lies outside the file, or has a wrong shape or content.
    #[error("{format}: tensor {tensor}: expected {expected}, found {found}")]
    Tensor {
        /// The format that was read.
        format: &'static str,
        /// The tensor's name.
        tensor: String,
        /// The tensor that was needed.
        expected: String,
        /// The tensor in the file.
        found: String,
    },
}

impl FormatError {
    /// An error in a part other than a tensor; a very long name of the part is shortened.
    pub fn part(
        format: &'static str,
        part: &str,
        expected: impl Into<String>,
        found: impl ToString,
    ) -> Self {
        Self::Part {
            format,
            part: shortened(part),
            expected: expected.into(),
            found: found.to_string(),
        }
    }

    /// An error in a tensor; a very long name of the tensor is shortened.
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

    /// The same as the crate's error, for functions that load a model. (A `From` would make other
    /// `?` of the crate ambiguous.)
    pub(crate) fn into_engine(self) -> EngineError {
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
