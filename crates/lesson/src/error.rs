//! What is wrong with a lesson, and where.

/// A mistake in a lesson's source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct LessonError {
    /// The source file, as the caller named it.
    pub file: String,
    /// Line in that file, counted from 1.
    pub line: usize,
    /// What is wrong and, where it helps, what would be right.
    pub message: String,
}
