//! Showing one element alone.

use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::Element;

/// Toggles full screen for an element. Where the browser has no such mode, the class `is-full` lets
/// the style sheet fill the window instead.
pub(crate) async fn toggle(element: &Element) {
    let Some(document) = super::dom::document() else {
        return;
    };
    if document.fullscreen_element().is_some() {
        document.exit_fullscreen();
        return;
    }
    if element.class_list().contains("is-full") {
        let _ = element.class_list().remove_1("is-full");
        return;
    }
    if !request(element).await {
        let _ = element.class_list().add_1("is-full");
    }
}

/// Asks for full screen; whether it was granted. Read through reflection because web-sys drops the
/// promise that the call returns.
async fn request(element: &Element) -> bool {
    let Ok(function) = js_sys::Reflect::get(element, &JsValue::from_str("requestFullscreen"))
    else {
        return false;
    };
    let Ok(function) = wasm_bindgen::JsCast::dyn_into::<js_sys::Function>(function) else {
        return false;
    };
    let Ok(promise) = function.call0(element) else {
        return false;
    };
    JsFuture::from(js_sys::Promise::resolve(&promise))
        .await
        .is_ok()
}
