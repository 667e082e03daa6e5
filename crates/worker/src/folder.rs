//! The folder of stored models in the origin private file system, for the worker, which fills it,
//! and the page, which lists it.

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{FileSystemDirectoryHandle, FileSystemGetDirectoryOptions};

use crate::model::stored_file::FOLDER;

/// The folder, made where it is not there yet. `navigator` is that of the page or of the worker.
///
/// # Errors
/// The error of a browser that has no such storage, or refuses it: in a private window, or on a
/// page that did not come over HTTPS.
pub async fn folder(navigator: &JsValue) -> Result<FileSystemDirectoryHandle, JsValue> {
    // Called through reflection, so that what a browser lacks is an error and no throw.
    let storage = Reflect::get(navigator, &"storage".into())?;
    let directory = Reflect::get(&storage, &"getDirectory".into());
    let directory: Function = directory
        .and_then(JsCast::dyn_into)
        .map_err(|_| JsValue::from("it has no storage for files"))?;
    let root: Promise = directory.call0(&storage)?.dyn_into()?;
    let root: FileSystemDirectoryHandle = JsFuture::from(root).await?.dyn_into()?;
    let options = FileSystemGetDirectoryOptions::new();
    options.set_create(true);
    let folder = root.get_directory_handle_with_options(FOLDER, &options);
    JsFuture::from(folder).await?.dyn_into()
}
