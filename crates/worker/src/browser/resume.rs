//! Downloads that continue from the bytes that are stored on the device.

use js_sys::Uint8Array;
use wasm_bindgen::JsValue;
use web_sys::{FileSystemDirectoryHandle, Response};
use worker::folder::folder;
use worker::model::protocol::Storage;
use worker::model::stored_file::{FileInfo, ResponseInfo, Reuse, after_break};

use super::fetch::{Download, body, check_size, message_of, request, storage_message_of};
use super::memory::InMemory;
use super::models::LoadError;
use super::store::StoredFile;
use super::transfer::{Fetched, Transfer};

impl Transfer<'_> {
    /// The stored file of the address, and the folder that holds it.
    ///
    /// # Errors
    /// The error of a browser that does not allow it.
    pub(super) async fn open_stored(
        &self,
    ) -> Result<(StoredFile, FileSystemDirectoryHandle), JsValue> {
        let folder = folder(&self.scope.navigator()).await?;
        let stored = StoredFile::open(&folder, self.url).await?;
        Ok((stored, folder))
    }

    /// Uses the stored bytes and fetches those that are missing. A file that holds nothing
    /// afterwards is removed.
    pub(super) async fn complete_stored(
        &mut self,
        stored: StoredFile,
        folder: &FileSystemDirectoryHandle,
    ) -> Result<Fetched, LoadError> {
        let completed = self.complete(&stored).await;
        let is_of_use = match &completed {
            Ok(came) => came.memory.is_none(),
            Err(_) => stored.size() > 0,
        };
        if !is_of_use {
            stored.remove(folder, self.url).await;
            let Came { memory, storage } = completed?;
            let bytes = memory.map(InMemory::bytes).unwrap_or_default();
            return Ok(Fetched { bytes, storage });
        }
        let storage = completed?.storage;
        let bytes = stored.into_bytes();
        Ok(Fetched { bytes, storage })
    }

    async fn complete(&mut self, stored: &StoredFile) -> Result<Came, LoadError> {
        let (info, here) = (stored.info(), stored.size());
        let reuse = info
            .as_ref()
            .map_or(Reuse::Nothing, |info| info.reuse(self.url, here));
        if reuse == Reuse::Whole {
            check_size(here)?;
            return Ok(Came {
                memory: None,
                storage: Storage::Stored { before: here },
            });
        }
        let (response, answer, before) = self.ask_for_rest(reuse, info).await?;
        let info = self.info(before, answer);
        if let Some(came) = self.fetch(stored, info, before, &response).await? {
            return Ok(came);
        }
        // The host has another version than the one that is stored.
        let (response, answer) = request(self.scope, self.url, 0, self.signal).await?;
        let info = self.info(0, answer);
        let came = self.fetch(stored, info, 0, &response).await?;
        came.ok_or(LoadError::Stopped)
    }

    /// The properties of a file whose bytes from `before` on are in an answer.
    fn info(&self, before: u64, answer: ResponseInfo) -> FileInfo {
        FileInfo {
            url: self.url.to_owned(),
            total: answer.length.map(|left| before + left),
            mark: answer.mark,
        }
    }

    /// The host's answer, and the number of stored bytes before its first one.
    async fn ask_for_rest(
        &self,
        reuse: Reuse,
        info: Option<FileInfo>,
    ) -> Result<(Response, ResponseInfo, u64), LoadError> {
        if let (Reuse::Part(from), Some(info)) = (reuse, info) {
            let (response, answer) = request(self.scope, self.url, from, self.signal).await?;
            if info.is_continued_by(from, &answer) {
                return Ok((response, answer, from));
            }
            // A host without ranges sends the whole file.
            if answer.status == 200 {
                return Ok((response, answer, 0));
            }
            // The connection is given back.
            if let Some(body) = response.body() {
                let _ = body.cancel();
            }
        }
        let (response, answer) = request(self.scope, self.url, 0, self.signal).await?;
        Ok((response, answer, 0))
    }

    /// Brings a file into the storage, after `before` bytes of it that are stored; into memory where
    /// the browser refuses to store it. The stored bytes after them are compared with those that
    /// come; `None` where they differ: the host has another version.
    async fn fetch(
        &mut self,
        stored: &StoredFile,
        mut info: FileInfo,
        before: u64,
        response: &Response,
    ) -> Result<Option<Came>, LoadError> {
        let stream = body(self.url, response)?;
        let mut download = Download::new(self.url, info.total, before)?;
        let (mut begun, mut refused, mut memory) = (before > 0, None, None);
        let stored_before = stored.size();
        let known = if before > 0 { stored_before } else { 0 };
        let (url, progress) = (self.url, &mut *self.progress);
        let mut each = |chunk: &Uint8Array, at: u64| -> Result<bool, LoadError> {
            if at < known && !stored.holds(at, known, chunk) {
                return Ok(false);
            }
            // What is stored stays until there is a file to take its place.
            if !begun {
                begun = true;
                refused = stored.empty().and_then(|()| stored.set_info(&info)).err();
            }
            if refused.is_none() {
                refused = stored.write(at, chunk).err();
            }
            if refused.is_some() {
                let memory = match &mut memory {
                    Some(memory) => memory,
                    none => none.insert(in_memory(url, stored, at, info.total)?),
                };
                memory.add(at, chunk)?;
            }
            progress(at + u64::from(chunk.length()), info.total);
            Ok(true)
        };
        let host = Some(self.scope);
        let read = download.read(&stream, host, self.signal, &mut each).await;
        if let Ok(false) = read {
            return Ok(None);
        }
        if let (Ok(_), None, None) = (&read, &info.total, &refused) {
            // A compressed file has a known length only now.
            info.total = Some(download.here());
            refused = stored.set_info(&info).err();
            if refused.is_some() {
                memory = Some(in_memory(url, stored, download.here(), info.total)?);
            }
        }
        if refused.is_some() {
            // A part with a hole is of no use; if it cannot be emptied it is refused when it is
            // opened.
            let _ = stored.empty();
        }
        read.map_err(|error| match error {
            LoadError::Broken(why) if begun && info.total.is_some() => {
                let way_on = after_break(stored_before, stored.size());
                LoadError::Broken(way_on.map_or_else(|| why.clone(), |on| format!("{why} {on}")))
            }
            other => other,
        })?;
        let storage = match &refused {
            Some(why) => Storage::Refused(storage_message_of(why)),
            None => Storage::Stored { before },
        };
        Ok(Some(Came { memory, storage }))
    }
}

/// A file that has come.
struct Came {
    /// Its bytes, where the browser refused to store them.
    memory: Option<InMemory>,
    storage: Storage,
}

/// A place in memory for a file, with the first `count` bytes that are stored of it.
fn in_memory(
    url: &str,
    stored: &StoredFile,
    count: u64,
    total: Option<u64>,
) -> Result<InMemory, LoadError> {
    let mut memory = InMemory::new(total)?;
    let filled = memory.fill_start(count, |place| stored.read(place));
    filled.map_err(|error| {
        let why = message_of(&error);
        LoadError::Failed(format!(
            "The stored part of {url} cannot be read: {why}. Delete it from the list of stored files, and open it again."
        ))
    })?;
    Ok(memory)
}
