//! The bytes of a file of weights: in memory, or read from where they are stored when they are asked
//! for, so that a model and its file are not in memory side by side.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::cursor::Cursor;
use super::error::FormatError;

/// Bytes of a stored file that are read first: most headers are shorter.
const FIRST: usize = 1 << 20;

/// The most bytes of a stored file that are read for its header.
const LARGEST: usize = 1 << 28;

/// A stored file.
pub trait ReadAt: Send + Sync {
    /// The number of its bytes.
    fn size(&self) -> usize;

    /// Fills `place` with the bytes from `start` on, which the file has.
    ///
    /// # Errors
    /// The reason, in words, when they cannot be read.
    fn read_at(&self, start: usize, place: &mut [u8]) -> Result<(), String>;
}

/// The bytes of a file. A clone shares them.
///
/// ```
/// use engine::format::file_bytes::FileBytes;
/// let file = FileBytes::from(vec![1, 2, 3, 4]);
/// assert_eq!(&*file.read(1, 2)?, [2, 3]);
/// assert!(file.read(3, 2).is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone)]
pub enum FileBytes {
    /// In memory.
    Memory(Arc<[u8]>),
    /// In a stored file.
    Stored(Arc<dyn ReadAt>),
}

impl FileBytes {
    /// A stored file.
    pub fn stored(file: impl ReadAt + 'static) -> Self {
        Self::Stored(Arc::new(file))
    }

    /// The number of bytes.
    pub fn size(&self) -> usize {
        match self {
            Self::Memory(bytes) => bytes.len(),
            Self::Stored(file) => file.size(),
        }
    }

    /// `length` bytes from `start` on: a copy where the file is not in memory.
    ///
    /// # Errors
    /// The reason, in words, when the file ends before, or cannot be read.
    pub fn read(&self, start: usize, length: usize) -> Result<Cow<'_, [u8]>, String> {
        let end = start.checked_add(length).filter(|&end| end <= self.size());
        let end = end.ok_or_else(|| format!("a file of {} bytes", self.size()))?;
        match self {
            Self::Memory(bytes) => Ok(Cow::Borrowed(bytes.get(start..end).unwrap_or_default())),
            Self::Stored(file) => {
                let mut place = vec![0; length];
                file.read_at(start, &mut place)?;
                Ok(Cow::Owned(place))
            }
        }
    }

    /// The first `length` bytes, or all of a shorter file.
    ///
    /// # Errors
    /// The reason, in words, when they cannot be read.
    pub fn start(&self, length: usize) -> Result<Cow<'_, [u8]>, String> {
        self.read(0, length.min(self.size()))
    }

    /// Reads the beginning of a file with `parse`. Of a stored file `parse` gets some bytes, and
    /// is called again with more of them when they end too early.
    ///
    /// # Errors
    /// Those of `parse`, and when the file cannot be read.
    pub(super) fn parse<T>(
        &self,
        format: &'static str,
        parse: impl Fn(&mut Cursor<'_>) -> Result<T, FormatError>,
    ) -> Result<T, FormatError> {
        let unread = |why| FormatError::part(format, "file", "bytes that can be read", why);
        let mut length = match self {
            Self::Memory(bytes) => bytes.len(),
            Self::Stored(_) => FIRST,
        };
        loop {
            let bytes = self.start(length).map_err(unread)?;
            let parsed = parse(&mut Cursor::new(format, &bytes));
            let is_all = bytes.len() >= self.size().min(LARGEST);
            match parsed {
                Err(FormatError::Truncated { .. }) if !is_all => length *= 4,
                parsed => return parsed,
            }
        }
    }
}

impl From<Arc<[u8]>> for FileBytes {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self::Memory(bytes)
    }
}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Memory(bytes.into())
    }
}

impl From<&[u8]> for FileBytes {
    fn from(bytes: &[u8]) -> Self {
        Self::Memory(bytes.into())
    }
}

impl Default for FileBytes {
    fn default() -> Self {
        Self::Memory(Arc::default())
    }
}

impl fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self {
            Self::Memory(_) => "in memory",
            Self::Stored(_) => "stored",
        };
        write!(f, "{} bytes {place}", self.size())
    }
}
