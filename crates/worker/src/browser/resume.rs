//! What is kept of an address, and the rest of it from the host.

use js_sys::Uint8Array;
use wasm_bindgen::JsValue;
use web_sys::{FileSystemDirectoryHandle, Response};
use worker::folder::folder;
use worker::model::protocol::Storage;
use worker::model::stored_file::{FileInfo, ResponseInfo, Reuse};

use super::fetch::{Download, ask, body, words};
use super::models::LoadError;
use super::store::StoredFile;
use super::transfer::{Fetched, Transfer};

impl Transfer<'_> {
    /// What is kept of the address, and the folder that holds it.
    ///
    /// # Errors
    /// What the browser says that does not allow it.
    pub(super) async fn open_kept(
        &self,
    ) -> Result<(StoredFile, FileSystemDirectoryHandle), JsValue> {
        let folder = folder(&self.scope.navigator()).await?;
        let kept = StoredFile::open(&folder, self.url).await?;
        Ok((kept, folder))
    }

    /// Takes what is kept, or fetches what is missing. Files that hold nothing afterwards are taken away.
    pub(super) async fn through(
        &mut self,
        kept: StoredFile,
        folder: &FileSystemDirectoryHandle,
    ) -> Result<Fetched, LoadError> {
        let came = self.complete(&kept).await;
        let is_of_use = match &came {
            Ok(came) => matches!(came.storage, Storage::Kept { .. }),
            Err(_) => kept.size() > 0,
        };
        if !is_of_use {
            kept.remove(folder, self.url).await;
        }
        came
    }

    async fn complete(&mut self, kept: &StoredFile) -> Result<Fetched, LoadError> {
        let (note, here) = (kept.note(), kept.size());
        let plan = note
            .as_ref()
            .map_or(Reuse::Nothing, |note| note.plan(self.url, here));
        if plan == Reuse::Whole {
            let mut coming = Download::new(self.url, Some(here))?;
            coming
                .begin(here, |place| kept.read(place))
                .map_err(|error| self.unreadable(&error))?;
            return Ok(Fetched {
                bytes: coming.whole(),
                storage: Storage::Kept { before: here },
            });
        }
        let (response, answer, before) = self.ask_for_rest(plan, note).await?;
        let note = FileInfo {
            url: self.url.to_owned(),
            total: answer.length.map(|left| before + left),
            mark: answer.mark,
        };
        self.fetch(kept, note, before, &response).await
    }

    /// The host's answer, and how many of the kept bytes stand before it.
    async fn ask_for_rest(
        &self,
        plan: Reuse,
        note: Option<FileInfo>,
    ) -> Result<(Response, ResponseInfo, u64), LoadError> {
        if let (Reuse::Part(here), Some(note)) = (plan, note) {
            let (response, answer) = ask(self.scope, self.url, here, self.signal).await?;
            if note.is_continued_by(here, &answer) {
                return Ok((response, answer, here));
            }
            // A host that does not know ranges sends all of it.
            if answer.status == 200 {
                return Ok((response, answer, 0));
            }
        }
        let (response, answer) = ask(self.scope, self.url, 0, self.signal).await?;
        Ok((response, answer, 0))
    }

    /// Brings a file into memory and into the storage at once, behind `before` bytes that are kept of it.
    async fn fetch(
        &mut self,
        kept: &StoredFile,
        mut note: FileInfo,
        before: u64,
        response: &Response,
    ) -> Result<Fetched, LoadError> {
        let stream = body(self.url, response)?;
        let mut coming = Download::new(self.url, note.total)?;
        if before > 0 {
            coming
                .begin(before, |place| kept.read(place))
                .map_err(|error| self.unreadable(&error))?;
        }
        let begun = match before {
            0 => kept.empty().and_then(|()| kept.set_note(&note)),
            _ => Ok(()),
        };
        let mut refused = begun.err();
        let progress = &mut *self.progress;
        let mut each = |chunk: &Uint8Array, at: u64, total: Option<u64>| {
            if refused.is_none() {
                refused = kept.write(at, chunk).err();
            }
            progress(at + u64::from(chunk.length()), total);
        };
        let read = coming.read(&stream, self.signal, &mut each).await;
        if let (Ok(()), None, None) = (&read, &note.total, &refused) {
            // Of what came compressed the length is known only now.
            note.total = Some(coming.here());
            refused = kept.set_note(&note).err();
        }
        if refused.is_some() {
            // A part with a hole is of no use; nothing is left of it in either case.
            let _ = kept.empty();
        }
        read.map_err(|trouble| go_on_later(trouble, note.total.is_some() && kept.size() > 0))?;
        let storage = match &refused {
            Some(why) => Storage::Refused(words(why)),
            None => Storage::Kept { before },
        };
        Ok(Fetched {
            bytes: coming.whole(),
            storage,
        })
    }

    fn unreadable(&self, error: &JsValue) -> LoadError {
        let (url, why) = (self.url, words(error));
        LoadError::Failed(format!(
            "What is kept of {url} cannot be read: {why}. Delete it from the list of kept files, and open it again."
        ))
    }
}

fn go_on_later(trouble: LoadError, is_kept: bool) -> LoadError {
    match trouble {
        LoadError::Failed(why) if is_kept => LoadError::Failed(format!(
            "{why} What came is kept: open it again, and only the rest is fetched."
        )),
        other => other,
    }
}
