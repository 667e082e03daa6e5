//! Files in the origin private file system: listed and deleted here, written by the worker.

use js_sys::{JsString, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, File, FileSystemDirectoryHandle, FileSystemFileHandle};
use worker::folder::folder;
use worker::model::stored_file::{FileInfo, INFO_END, stored_name};

use super::dom;

/// A stored file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredFile {
    /// Its address.
    pub(crate) url: String,
    /// The number of bytes that are here.
    pub(crate) bytes: u64,
    /// Bytes of the whole file, where that is known.
    pub(crate) total: Option<u64>,
}

/// A size for the reader.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// All stored files, by address; none where the browser has no such storage.
pub(crate) async fn list() -> Vec<StoredFile> {
    let mut files = match stored_folder().await {
        Ok(folder) => all(&folder).await.unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    files.sort_by(|a, b| a.url.cmp(&b.url));
    files
}

/// Asks the browser to keep what is stored here when the device gets short of space; it decides.
pub(crate) fn keep() {
    let Some(window) = dom::window() else { return };
    let storage = window.navigator().storage();
    if let Ok(asked) = storage.persist() {
        // Whatever it decides, the files are here now.
        wasm_bindgen_futures::spawn_local(async move {
            let _ = JsFuture::from(asked).await;
        });
    }
}

/// Deletes the stored file of an address.
///
/// # Errors
/// The error of the browser, as when the file is being fetched at this moment.
pub(crate) async fn delete(url: &str) -> Result<(), JsValue> {
    let folder = stored_folder().await?;
    let name = stored_name(url);
    // The bytes first: without their properties they would be in no list.
    JsFuture::from(folder.remove_entry(&name)).await?;
    JsFuture::from(folder.remove_entry(&format!("{name}{INFO_END}"))).await?;
    Ok(())
}

async fn stored_folder() -> Result<FileSystemDirectoryHandle, JsValue> {
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
        // Properties that are damaged, or being written, belong to nothing that can be opened.
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
    let info: FileInfo = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let bytes = file(folder, &stored_name(&info.url)).await?;
    Ok(StoredFile {
        bytes: bytes.unchecked_ref::<Blob>().size() as u64,
        url: info.url,
        total: info.total,
    })
}

async fn file(folder: &FileSystemDirectoryHandle, name: &str) -> Result<File, JsValue> {
    let handle = JsFuture::from(folder.get_file_handle(name)).await?;
    let handle: FileSystemFileHandle = handle.dyn_into()?;
    JsFuture::from(handle.get_file()).await?.dyn_into()
}
