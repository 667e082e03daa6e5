//! Mistakes in a lesson, with their file and line.

/// A mistake in a lesson's source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct LessonError {
    /// The source file, as the caller named it.
    pub file: String,
    /// Line in that file, counted from 1.
    pub line: usize,
    /// The mistake and, where it helps, its correction.
    pub message: String,
}
