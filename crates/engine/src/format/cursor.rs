//! Reads a file from its beginning on, and never past its end.

use super::error::{FormatError, shortened};

/// The bytes that are still to be read.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    format: &'static str,
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(format: &'static str, bytes: &'a [u8]) -> Self {
        Self {
            format,
            bytes,
            position: 0,
        }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.position)
    }

    /// The next bytes; `part` is what they are, for the error.
    pub(super) fn take(&mut self, length: u64, part: &str) -> Result<&'a [u8], FormatError> {
        let found = self.bytes.get(self.position..).unwrap_or_default();
        let taken = usize::try_from(length).ok().and_then(|n| found.get(..n));
        let Some(taken) = taken else {
            return Err(FormatError::Truncated {
                format: self.format,
                part: shortened(part),
                expected: length,
                found: found.len() as u64,
            });
        };
        self.position += taken.len();
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self, part: &str) -> Result<[u8; N], FormatError> {
        let taken = self.take(N as u64, part)?;
        let mut array = [0; N];
        array.copy_from_slice(taken);
        Ok(array)
    }

    pub(super) fn u32(&mut self, part: &str) -> Result<u32, FormatError> {
        self.array(part).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, part: &str) -> Result<u64, FormatError> {
        self.array(part).map(u64::from_le_bytes)
    }

    /// A count of things of which each takes at least `each` bytes: no more than can still follow.
    pub(super) fn count(&mut self, each: u64, part: &str) -> Result<usize, FormatError> {
        let count = self.u64(part)?;
        let needed = count.saturating_mul(each);
        let left = self.left() as u64;
        match usize::try_from(count) {
            Ok(count) if needed <= left => Ok(count),
            _ => Err(FormatError::Truncated {
                format: self.format,
                part: shortened(part),
                expected: needed,
                found: left,
            }),
        }
    }

    /// A text behind its length in bytes.
    pub(super) fn text(&mut self, part: &str) -> Result<&'a str, FormatError> {
        let length = self.u64(part)?;
        let bytes = self.take(length, part)?;
        std::str::from_utf8(bytes).map_err(|error| {
            let found = format!("no character at byte {}", error.valid_up_to());
            FormatError::part(self.format, shortened(part), "UTF-8", found)
        })
    }
}
