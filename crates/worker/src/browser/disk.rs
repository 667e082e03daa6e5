//! A file that the reader chose, read where it lies on the disk.

use engine::format::file_bytes::{FileBytes, ReadAt};
use js_sys::Uint8Array;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsValue;
use web_sys::{File, FileReaderSync};
use worker::model::error::ModelError;
use worker::model::file::is_web_page;

use super::fetch::{START, check_size, message_of};
use super::models::LoadError;

/// Bytes that are read at once.
const PIECE: usize = 1 << 24;

/// An open file of the disk. Only the thread that opened it reads it.
struct DiskFile {
    file: SendWrapper<File>,
    reader: SendWrapper<FileReaderSync>,
    size: usize,
}

impl DiskFile {
    fn piece(&self, from: f64, part: &mut [u8]) -> Result<(), JsValue> {
        let piece = self
            .file
            .slice_with_f64_and_f64(from, from + part.len() as f64)?;
        // The memory of the engine may be shared between threads; what the browser writes into may
        // not.
        let bytes = Uint8Array::new(&self.reader.read_as_array_buffer(&piece)?.into());
        if bytes.length() as usize != part.len() {
            return Err("it is shorter than it was".into());
        }
        bytes.copy_to(part);
        Ok(())
    }
}

impl ReadAt for DiskFile {
    fn size(&self) -> usize {
        self.size
    }

    fn read_at(&self, start: usize, place: &mut [u8]) -> Result<(), String> {
        for (n, part) in place.chunks_mut(PIECE).enumerate() {
            let from = (start + n * PIECE) as f64;
            self.piece(from, part).map_err(|error| message_of(&error))?;
        }
        Ok(())
    }
}

/// The bytes of a file that the reader chose.
///
/// # Errors
/// When it is too large, empty, a web page, or cannot be read.
pub(super) fn open(file: &File) -> Result<FileBytes, LoadError> {
    let (name, bytes) = (file.name(), file.size() as u64);
    check_size(bytes)?;
    let cannot = |why: String| LoadError::Failed(format!("{name} cannot be read: {why}."));
    let reader = FileReaderSync::new().map_err(|error| cannot(message_of(&error)))?;
    let opened = FileBytes::stored(DiskFile {
        file: SendWrapper::new(file.clone()),
        reader: SendWrapper::new(reader),
        size: bytes as usize,
    });
    let start = opened.start(START).map_err(cannot)?.into_owned();
    if start.is_empty() {
        return Err(LoadError::Failed(format!("{name} is empty.")));
    }
    if is_web_page(&start) {
        return Err(ModelError::WebPage { name }.into());
    }
    Ok(opened)
}
