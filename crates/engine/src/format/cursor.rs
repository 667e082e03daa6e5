//! A reader of a file's bytes from the beginning on, which never reads past their end.

use super::error::{FormatError, shortened};

/// The bytes of a file and the number of those that have been read.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    format: &'static str,
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the first byte; `format` is the name of the format for errors.
    pub(crate) fn new(format: &'static str, bytes: &'a [u8]) -> Self {
        Self {
            format,
            bytes,
            position: 0,
        }
    }

    /// The number of bytes that have been read.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// The number of bytes that have not been read.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.position)
    }

    /// Checks that at least `length` bytes are left for `part`, which the error names.
    pub(crate) fn expect(&self, length: u64, part: &str) -> Result<(), FormatError> {
        let found = self.left() as u64;
        if length <= found {
            return Ok(());
        }
        Err(FormatError::Truncated {
            format: self.format,
            part: shortened(part),
            expected: length,
            found,
        })
    }

    /// The next `length` bytes.
    pub(crate) fn take(&mut self, length: u64, part: &str) -> Result<&'a [u8], FormatError> {
        self.expect(length, part)?;
        let start = self.position;
        self.position += length as usize;
        Ok(self.bytes.get(start..self.position).unwrap_or_default())
    }

    pub(crate) fn array<const N: usize>(&mut self, part: &str) -> Result<[u8; N], FormatError> {
        let taken = self.take(N as u64, part)?;
        Ok(taken.first_chunk().copied().unwrap_or([0; N]))
    }

    pub(crate) fn u32(&mut self, part: &str) -> Result<u32, FormatError> {
        self.array(part).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, part: &str) -> Result<u64, FormatError> {
        self.array(part).map(u64::from_le_bytes)
    }

    /// The number of elements that follow, each of at least `each` bytes: never more than the bytes
    /// left can hold.
    pub(crate) fn count(&mut self, each: u64, part: &str) -> Result<usize, FormatError> {
        let count = self.u64(part)?;
        self.expect(count.saturating_mul(each), part)?;
        Ok(count as usize)
    }

    /// A text after its length in bytes, a u64.
    pub(crate) fn text(&mut self, part: &str) -> Result<&'a str, FormatError> {
        let length = self.u64(part)?;
        self.utf8(length, part)
    }

    /// A text of `length` bytes.
    pub(crate) fn utf8(&mut self, length: u64, part: &str) -> Result<&'a str, FormatError> {
        utf8(self.format, self.take(length, part)?, part)
    }
}

/// The text in some bytes of a file.
///
/// # Errors
/// When they are not UTF-8.
pub(crate) fn utf8<'a>(
    format: &'static str,
    bytes: &'a [u8],
    part: &str,
) -> Result<&'a str, FormatError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let found = format!("no character at byte {}", error.valid_up_to());
        FormatError::part(format, part, "UTF-8", found)
    })
}
