//! Copying text.

use wasm_bindgen_futures::JsFuture;

/// Puts a text on the clipboard; whether the browser allowed it.
pub(crate) async fn copy(text: &str) -> bool {
    let Some(window) = super::dom::window() else {
        return false;
    };
    let clipboard = window.navigator().clipboard();
    // Missing outside a secure context, where calling it would throw.
    if wasm_bindgen::JsValue::from(clipboard.clone()).is_undefined() {
        return false;
    }
    JsFuture::from(clipboard.write_text(text)).await.is_ok()
}
