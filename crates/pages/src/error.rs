//! Why the pages could not be built.

use std::path::{Path, PathBuf};

use lesson::LessonError;

/// A failure of the build; prints as lines of `file:line: message` where it has a place.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Mistakes in lessons.
    #[error("{}", lines(.0))]
    Lessons(Vec<LessonError>),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The system's message.
        source: std::io::Error,
    },
    /// A Rust source file could not be parsed, or does not hold what a cell shows.
    #[error("{}:{line}: {message}", path.display())]
    Source {
        /// The source file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The frame that Trunk made, or the arguments, are not what they should be.
    #[error("{0}")]
    Other(String),
}

fn lines(errors: &[LessonError]) -> String {
    errors
        .iter()
        .map(LessonError::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Result<String, BuildError> {
    std::fs::read_to_string(path).map_err(|source| BuildError::File {
        path: path.to_owned(),
        source,
    })
}

/// Writes a file, with the folders above it.
pub(crate) fn write(path: &Path, content: &str) -> Result<(), BuildError> {
    write_bytes(path, content.as_bytes())
}

fn write_bytes(path: &Path, content: &[u8]) -> Result<(), BuildError> {
    let wrap = |source| BuildError::File {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(wrap)?;
    }
    std::fs::write(path, content).map_err(wrap)
}

/// Writes a file unless it holds just that; whether it did not.
pub(crate) fn write_new(path: &Path, content: &str) -> Result<bool, BuildError> {
    write_new_bytes(path, content.as_bytes())
}

/// Does the same as [`write_new`] for a file that is no text.
pub(crate) fn write_new_bytes(path: &Path, content: &[u8]) -> Result<bool, BuildError> {
    if std::fs::read(path).is_ok_and(|old| old == content) {
        return Ok(false);
    }
    write_bytes(path, content).map(|()| true)
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>, BuildError> {
    let wrap = |source| BuildError::File {
        path: folder.to_owned(),
        source,
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrap)? {
        names.push(
            entry
                .map_err(wrap)?
                .file_name()
                .to_string_lossy()
                .into_owned(),
        );
    }
    names.sort();
    Ok(names)
}
