//! Files that a reader drops or pastes anywhere on the page.

use leptos::ev;
use leptos::prelude::{on_cleanup, window_event_listener};
use wasm_bindgen::JsCast;
use web_sys::{DataTransfer, Element, File};

use super::dom;

/// The first file that was dropped or pasted.
pub(crate) fn first(data: Option<DataTransfer>) -> Option<File> {
    data?.files()?.get(0)
}

/// Keeps a file that is dropped beside every place for it from replacing the page, as long as the caller's
/// view is there. A browser would open the file, and what the reader has done here would be gone.
pub(crate) fn guard_page() {
    let has_files = |data: Option<DataTransfer>| {
        data.is_some_and(|data| data.types().includes(&"Files".into(), 0))
    };
    let over = window_event_listener(ev::dragover, move |event| {
        if !event.default_prevented() && has_files(event.data_transfer()) {
            event.prevent_default();
            if let Some(data) = event.data_transfer() {
                data.set_drop_effect("none");
            }
        }
    });
    let dropped = window_event_listener(ev::drop, move |event| {
        if has_files(event.data_transfer()) {
            event.prevent_default();
        }
    });
    on_cleanup(move || {
        over.remove();
        dropped.remove();
    });
}

/// Calls `take` with a file that is pasted while the pointer or the focus is in `place`, or wherever it is
/// where the page has no other element that fits `selector`; as long as the caller's view is there.
pub(crate) fn on_paste(place: &Element, selector: &'static str, take: impl Fn(File) + 'static) {
    let place = place.clone();
    let pasted = window_event_listener(ev::paste, move |event| {
        let target = event
            .target()
            .and_then(|target| target.dyn_into::<Element>().ok());
        let is_within = target.is_some_and(|target| place.contains(Some(&target)));
        let is_near = || place.matches(":hover, :focus-within").unwrap_or(false);
        let is_only = || dom::body().is_some_and(|body| dom::find_all(&body, selector).len() == 1);
        if event.default_prevented() || !(is_within || is_near() || is_only()) {
            return;
        }
        if let Some(file) = first(event.clipboard_data()) {
            event.prevent_default();
            take(file);
        }
    });
    on_cleanup(move || pasted.remove());
}
