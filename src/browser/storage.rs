//! What is kept in the origin private file system: to be listed and deleted. The worker writes it.

use js_sys::{JsString, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, File, FileSystemDirectoryHandle, FileSystemFileHandle};
use worker::folder::folder;
use worker::model::stored_file::{FileInfo, INFO_END, stored_name};

use super::dom;

/// A kept file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredFile {
    /// Where it comes from.
    pub(crate) url: String,
    /// How many bytes are here.
    pub(crate) bytes: u64,
    /// Bytes of all of it, where that is known.
    pub(crate) total: Option<u64>,
}

/// All that is kept, by address. Nothing where the browser has no such storage.
pub(crate) async fn list() -> Vec<StoredFile> {
    let mut files = match kept_folder().await {
        Ok(folder) => all(&folder).await.unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    files.sort_by(|a, b| a.url.cmp(&b.url));
    files
}

/// Deletes what is kept of an address.
///
/// # Errors
/// What the browser says, as when it is being fetched at this moment.
pub(crate) async fn delete(url: &str) -> Result<(), JsValue> {
    let folder = kept_folder().await?;
    let name = stored_name(url);
    // The bytes first: without a note they would be in no list.
    JsFuture::from(folder.remove_entry(&name)).await?;
    JsFuture::from(folder.remove_entry(&format!("{name}{INFO_END}"))).await?;
    Ok(())
}

async fn kept_folder() -> Result<FileSystemDirectoryHandle, JsValue> {
    let window = dom::window().ok_or(JsValue::NULL)?;
    folder(&window.navigator()).await
}

async fn all(folder: &FileSystemDirectoryHandle) -> Result<Vec<StoredFile>, JsValue> {
    let keys = folder.keys();
    let mut files = Vec::new();
    loop {
        let next = JsFuture::from(keys.next()?).await?;
        if Reflect::get(&next, &"done".into())?.is_truthy() {
            return Ok(files);
        }
        let key: String = Reflect::get(&next, &"value".into())?
            .dyn_into::<JsString>()?
            .into();
        // A note that is damaged, or being written, belongs to nothing that can be opened.
        if key.ends_with(INFO_END)
            && let Ok(file) = described(folder, &key).await
        {
            files.push(file);
        }
    }
}

async fn described(folder: &FileSystemDirectoryHandle, key: &str) -> Result<StoredFile, JsValue> {
    let text = JsFuture::from(file(folder, key).await?.text()).await?;
    let text = text.as_string().unwrap_or_default();
    let note: FileInfo = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let bytes = file(folder, &stored_name(&note.url)).await?;
    Ok(StoredFile {
        bytes: bytes.unchecked_ref::<Blob>().size() as u64,
        url: note.url,
        total: note.total,
    })
}

async fn file(folder: &FileSystemDirectoryHandle, name: &str) -> Result<File, JsValue> {
    let handle = JsFuture::from(folder.get_file_handle(name)).await?;
    let handle: FileSystemFileHandle = handle.dyn_into()?;
    JsFuture::from(handle.get_file()).await?.dyn_into()
}
