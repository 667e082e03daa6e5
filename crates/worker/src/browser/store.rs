//! One kept file: its bytes and its note in the origin private file system, read and written without waiting, which only a worker may.

use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    FileSystemDirectoryHandle, FileSystemFileHandle, FileSystemGetFileOptions,
    FileSystemReadWriteOptions, FileSystemSyncAccessHandle,
};
use worker::model::stored_file::{FileInfo, INFO_END, stored_name};

/// How many bytes are read at once.
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

    /// The bytes from `at` on, into all of `place`.
    fn read(&self, mut at: u64, place: &mut [u8]) -> Result<(), JsValue> {
        let options = FileSystemReadWriteOptions::new();
        for part in place.chunks_mut(PIECE as usize) {
            options.set_at(at as f64);
            // The memory of the engine may be shared between threads; what the browser writes into may not.
            let piece = Uint8Array::new_with_length(part.len() as u32);
            let read = self
                .0
                .read_with_buffer_source_and_options(&piece, &options)?;
            if read as usize != part.len() {
                return Err("the kept file is shorter than it was".into());
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

/// The kept bytes of an address, with their note.
pub(super) struct StoredFile {
    bytes: OpenFile,
    note: OpenFile,
}

impl StoredFile {
    /// What is kept of an address; empty files where nothing is.
    ///
    /// # Errors
    /// What the browser says, as when another page has it open.
    pub(super) async fn open(
        folder: &FileSystemDirectoryHandle,
        url: &str,
    ) -> Result<Self, JsValue> {
        let name = stored_name(url);
        let note = OpenFile::at(folder, &format!("{name}{INFO_END}")).await?;
        let bytes = OpenFile::at(folder, &name).await?;
        Ok(Self { bytes, note })
    }

    /// How many bytes are here.
    pub(super) fn size(&self) -> u64 {
        self.bytes.size()
    }

    /// What they are; `None` where the note is not written or damaged.
    pub(super) fn note(&self) -> Option<FileInfo> {
        let mut text = vec![0; self.note.size() as usize];
        self.note.read(0, &mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Says what the bytes are.
    ///
    /// # Errors
    /// When the storage is full.
    pub(super) fn set_note(&self, note: &FileInfo) -> Result<(), JsValue> {
        let text = serde_json::to_vec(note).map_err(|error| error.to_string())?;
        self.note.0.truncate_with_f64(0.0)?;
        self.note.write(0, &Uint8Array::from(text.as_slice()))?;
        self.note.0.flush()
    }

    /// Reads from the beginning into all of `place`.
    ///
    /// # Errors
    /// When there is less than that.
    pub(super) fn read(&self, place: &mut [u8]) -> Result<(), JsValue> {
        self.bytes.read(0, place)
    }

    /// Writes what follows `at` bytes.
    ///
    /// # Errors
    /// When the storage is full.
    pub(super) fn write(&self, at: u64, bytes: &Uint8Array) -> Result<(), JsValue> {
        self.bytes.write(at, bytes)
    }

    /// Forgets the bytes.
    ///
    /// # Errors
    /// What the browser says.
    pub(super) fn empty(&self) -> Result<(), JsValue> {
        self.bytes.0.truncate_with_f64(0.0)
    }

    /// Closes both files and takes them away.
    pub(super) async fn remove(self, folder: &FileSystemDirectoryHandle, url: &str) {
        drop(self);
        let name = stored_name(url);
        for name in [format!("{name}{INFO_END}"), name] {
            // What cannot be taken away stays in the list, where the reader can.
            let _ = JsFuture::from(folder.remove_entry(&name)).await;
        }
    }
}
