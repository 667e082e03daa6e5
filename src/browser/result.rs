//! Results for programs that drive the page: properties of `window`.

use js_sys::{JSON, Reflect};
use wasm_bindgen::JsValue;

/// Sets a property of `window` to what a JSON text says; `None` makes it undefined.
pub(crate) fn publish(name: &str, json: Option<&str>) {
    let value = json.and_then(|text| JSON::parse(text).ok());
    let _ = Reflect::set(
        &js_sys::global(),
        &name.into(),
        &value.unwrap_or(JsValue::UNDEFINED),
    );
}
