//! Reading a stream part by part.

use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStreamDefaultReader;

/// The next part of a stream of bytes; `None` after the last.
///
/// # Errors
/// The stream's own, when it breaks off.
pub(super) async fn next_part(
    reader: &ReadableStreamDefaultReader,
) -> Result<Option<Uint8Array>, JsValue> {
    let part = JsFuture::from(reader.read()).await?;
    Ok(Reflect::get(&part, &"value".into())?.dyn_into().ok())
}
