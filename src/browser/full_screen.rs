//! Showing one element alone.

use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Element;

/// Toggles full screen for an element. Where the browser has no such mode, the class `is-full` lets
/// the style sheet fill the window instead.
pub(crate) async fn toggle(element: &Element) {
    if !leave() && !request(element).await {
        let _ = element.class_list().add_1("is-full");
    }
}

/// Leaves full screen, in either form; whether an element was shown alone in the window.
fn leave() -> bool {
    let Some(document) = super::dom::document() else {
        return false;
    };
    if document.fullscreen_element().is_some() {
        document.exit_fullscreen();
        return true;
    }
    let Ok(Some(filling)) = document.query_selector(".is-full") else {
        return false;
    };
    let _ = filling.class_list().remove_1("is-full");
    true
}

/// Leaves full screen when the reader presses Escape, which browsers do by themselves only for
/// their own form. A dialog over it closes first.
pub(crate) fn leave_by_escape() {
    let Some(document) = super::dom::document() else {
        return;
    };
    let page = document.clone();
    super::dom::listen_forever(&document, "keydown", move |event| {
        let escape = event
            .dyn_ref::<web_sys::KeyboardEvent>()
            .is_some_and(|key| key.key() == "Escape");
        let under_dialog = page.query_selector("dialog[open]").ok().flatten().is_some();
        if escape && !under_dialog {
            leave();
        }
    });
}

/// Asks for full screen; whether it was granted. Read through reflection because web-sys drops the
/// promise that the call returns.
async fn request(element: &Element) -> bool {
    let Ok(function) = js_sys::Reflect::get(element, &JsValue::from_str("requestFullscreen"))
    else {
        return false;
    };
    let Ok(function) = function.dyn_into::<js_sys::Function>() else {
        return false;
    };
    let Ok(promise) = function.call0(element) else {
        return false;
    };
    JsFuture::from(js_sys::Promise::resolve(&promise))
        .await
        .is_ok()
}
