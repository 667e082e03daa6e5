//! A stored file of the origin private file system: its bytes and a second file with its
//! properties. Both are read and written synchronously, which only a worker may do.

use engine::format::file_bytes::{FileBytes, ReadAt};
use js_sys::{Reflect, Uint8Array};
use send_wrapper::SendWrapper;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    FileSystemDirectoryHandle, FileSystemFileHandle, FileSystemGetFileOptions,
    FileSystemReadWriteOptions, FileSystemSyncAccessHandle,
};
use worker::model::stored_file::{FileInfo, INFO_END, stored_name};

use super::fetch::message_of;

/// Number of bytes that are read at once.
const PIECE: u64 = 4 << 20;

/// An open file that is closed when it is dropped; nobody else can open it meanwhile.
struct OpenFile(FileSystemSyncAccessHandle);

impl OpenFile {
    async fn at(folder: &FileSystemDirectoryHandle, name: &str) -> Result<Self, JsValue> {
        let options = FileSystemGetFileOptions::new();
        options.set_create(true);
        let file = JsFuture::from(folder.get_file_handle_with_options(name, &options)).await?;
        let file: FileSystemFileHandle = file.dyn_into()?;
        // A browser that lacks this would throw.
        if !Reflect::has(&file, &"createSyncAccessHandle".into())? {
            return Err("this browser cannot write to it".into());
        }
        let handle = JsFuture::from(file.create_sync_access_handle()).await?;
        Ok(Self(handle.unchecked_into()))
    }

    fn size(&self) -> u64 {
        self.0.get_size().map_or(0, |size| size as u64)
    }

    /// Reads the bytes from the offset `at` into the whole of `place`.
    fn read(&self, mut at: u64, place: &mut [u8]) -> Result<(), JsValue> {
        let options = FileSystemReadWriteOptions::new();
        for part in place.chunks_mut(PIECE as usize) {
            options.set_at(at as f64);
            // The memory of the engine may be shared between threads; what the browser writes into
            // may not.
            let piece = Uint8Array::new_with_length(part.len() as u32);
            let read = self
                .0
                .read_with_buffer_source_and_options(&piece, &options)?;
            if read as usize != part.len() {
                return Err("the stored file is shorter than it was".into());
            }
            piece.copy_to(part);
            at += part.len() as u64;
        }
        Ok(())
    }

    fn write(&self, at: u64, bytes: &Uint8Array) -> Result<(), JsValue> {
        let options = FileSystemReadWriteOptions::new();
        options.set_at(at as f64);
        let written = self
            .0
            .write_with_buffer_source_and_options(bytes, &options)?;
        if written as u32 != bytes.length() {
            return Err("the storage is full".into());
        }
        Ok(())
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let _ = self.0.flush();
        self.0.close();
    }
}

/// Stored bytes from which a model is built. Only the thread that opened them reads them.
struct StoredBytes {
    file: SendWrapper<OpenFile>,
    size: usize,
}

impl ReadAt for StoredBytes {
    fn size(&self) -> usize {
        self.size
    }

    fn read_at(&self, start: usize, place: &mut [u8]) -> Result<(), String> {
        let read = self.file.read(start as u64, place);
        read.map_err(|error| message_of(&error))
    }
}

/// The stored bytes of an address, with their properties.
pub(super) struct StoredFile {
    bytes: OpenFile,
    info: OpenFile,
}

impl StoredFile {
    /// The stored file of an address; an empty one where nothing is stored.
    ///
    /// # Errors
    /// The error of the browser, as when another page has the file open.
    pub(super) async fn open(
        folder: &FileSystemDirectoryHandle,
        url: &str,
    ) -> Result<Self, JsValue> {
        let name = stored_name(url);
        let info = OpenFile::at(folder, &format!("{name}{INFO_END}")).await?;
        let bytes = OpenFile::at(folder, &name).await?;
        Ok(Self { bytes, info })
    }

    /// The bytes, to be read where they are stored. Nobody else can open them meanwhile.
    pub(super) fn into_bytes(self) -> FileBytes {
        FileBytes::stored(StoredBytes {
            size: self.size() as usize,
            file: SendWrapper::new(self.bytes),
        })
    }

    /// The number of stored bytes.
    pub(super) fn size(&self) -> u64 {
        self.bytes.size()
    }

    /// Their properties; `None` where they are not written or damaged.
    pub(super) fn info(&self) -> Option<FileInfo> {
        let mut text = vec![0; self.info.size() as usize];
        self.info.read(0, &mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Writes the properties of the bytes.
    ///
    /// # Errors
    /// When the storage is full.
    pub(super) fn set_info(&self, info: &FileInfo) -> Result<(), JsValue> {
        let text = serde_json::to_vec(info).map_err(|error| error.to_string())?;
        self.info.0.truncate_with_f64(0.0)?;
        self.info.write(0, &Uint8Array::from(text.as_slice()))?;
        self.info.0.flush()
    }

    /// Reads from the start into the whole of `place`.
    ///
    /// # Errors
    /// When the file is shorter.
    pub(super) fn read(&self, place: &mut [u8]) -> Result<(), JsValue> {
        self.bytes.read(0, place)
    }

    /// Returns whether the first of these bytes are stored at an offset, as many of them as lie
    /// before the offset `end`.
    pub(super) fn holds(&self, at: u64, end: u64, bytes: &Uint8Array) -> bool {
        let count = u64::from(bytes.length()).min(end.saturating_sub(at));
        let mut own = vec![0; count as usize];
        self.bytes.read(at, &mut own).is_ok() && own == bytes.slice(0, count as u32).to_vec()
    }

    /// Writes bytes at an offset.
    ///
    /// # Errors
    /// When the storage is full.
    pub(super) fn write(&self, at: u64, bytes: &Uint8Array) -> Result<(), JsValue> {
        self.bytes.write(at, bytes)
    }

    /// Removes the bytes.
    ///
    /// # Errors
    /// The error of the browser.
    pub(super) fn empty(&self) -> Result<(), JsValue> {
        self.bytes.0.truncate_with_f64(0.0)
    }

    /// Closes and removes both files.
    pub(super) async fn remove(self, folder: &FileSystemDirectoryHandle, url: &str) {
        drop(self);
        let name = stored_name(url);
        for name in [format!("{name}{INFO_END}"), name] {
            // A file that cannot be removed stays in the list, where the reader can delete it.
            let _ = JsFuture::from(folder.remove_entry(&name)).await;
        }
    }
}
