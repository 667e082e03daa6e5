//! Handing the reader a file.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Url};

/// Offers bytes as a download.
///
/// # Errors
/// The browser's words for its refusal.
pub(crate) fn save(name: &str, mime: &str, bytes: &[u8]) -> Result<(), JsValue> {
    let parts = Array::of1(&Uint8Array::from(bytes));
    let options = BlobPropertyBag::new();
    options.set_type(mime);
    save_blob(
        name,
        &Blob::new_with_u8_array_sequence_and_options(&parts, &options)?,
    )
}

/// Offers a blob as a download.
///
/// # Errors
/// The browser's words for its refusal.
pub(crate) fn save_blob(name: &str, blob: &Blob) -> Result<(), JsValue> {
    let url = Url::create_object_url_with_blob(blob)?;
    let document = super::dom::document().ok_or(JsValue::NULL)?;
    let link: HtmlAnchorElement = document.create_element("a")?.dyn_into()?;
    link.set_href(&url);
    link.set_download(name);
    link.click();
    Url::revoke_object_url(&url)
}
