//! A file on its way into memory.

use std::sync::Arc;

use engine::format::file_bytes::FileBytes;
use js_sys::Uint8Array;
#[cfg(feature = "lab")]
use wasm_bindgen::JsValue;
use worker::build::Build;
use worker::model::file::largest_in_memory;

use super::models::LoadError;

/// The bytes of a file, as far as they came.
pub(super) struct InMemory {
    /// All of its bytes, where its length is known from the start: it is never in memory twice.
    whole: Arc<[u8]>,
    /// The bytes, where the length is not known: they grow.
    grown: Vec<u8>,
    is_known: bool,
}

impl InMemory {
    /// A place for a file of this length, where it is known.
    ///
    /// # Errors
    /// When it is too large.
    pub(super) fn new(total: Option<u64>) -> Result<Self, LoadError> {
        let length = total.unwrap_or(0);
        check(length)?;
        Ok(Self {
            whole: std::iter::repeat_n(0, length as usize).collect(),
            grown: Vec::new(),
            is_known: total.is_some(),
        })
    }

    /// Fills in the first `count` bytes.
    ///
    /// # Errors
    /// The error of `fill`.
    #[cfg(feature = "lab")]
    pub(super) fn fill_start(
        &mut self,
        count: u64,
        fill: impl FnOnce(&mut [u8]) -> Result<(), JsValue>,
    ) -> Result<(), JsValue> {
        let count = count as usize;
        if !self.is_known {
            self.grown.resize(count, 0);
        }
        fill(self.place(0, count).ok_or("it has no place")?)
    }

    /// Adds the part that begins at an offset, up to which the bytes are here.
    ///
    /// # Errors
    /// When the file becomes too large, or longer than it was said to be.
    pub(super) fn add(&mut self, at: u64, part: &Uint8Array) -> Result<(), LoadError> {
        let length = part.length() as usize;
        check(at + length as u64)?;
        if !self.is_known {
            self.grown.extend(part.to_vec());
            return Ok(());
        }
        match self.place(at as usize, length) {
            Some(place) => part.copy_to(place),
            None => {
                let why = format!(
                    "More came than the {} bytes that were said.",
                    self.whole.len()
                );
                return Err(LoadError::Broken(why));
            }
        }
        Ok(())
    }

    fn place(&mut self, at: usize, length: usize) -> Option<&mut [u8]> {
        let file = if self.is_known {
            Arc::get_mut(&mut self.whole)?
        } else {
            &mut self.grown
        };
        file.get_mut(at..at.checked_add(length)?)
    }

    /// The bytes.
    pub(super) fn bytes(self) -> FileBytes {
        if self.is_known {
            self.whole.into()
        } else {
            self.grown.into()
        }
    }
}

fn check(bytes: u64) -> Result<(), LoadError> {
    if bytes > largest_in_memory(Build::here()) {
        return Err(LoadError::TooLarge(bytes));
    }
    Ok(())
}
