//! Opens the search: by its button, and by a key unless the reader has switched that off. The
//! dialog comes in a chunk of its own.

use leptos::prelude::Set;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, KeyboardEvent};

use super::search_dialog;
use crate::browser::{dom, preference};
use crate::chunk::chunk;
use crate::state::PageState;

/// The text under [`preference::SEARCH_KEY`] when no key opens the search.
pub(super) const OFF: &str = "off";

/// What the page says where the dialog does not come.
const NOT_FETCHED: &str = "The search could not be fetched. Check the connection and try again.";

chunk! {
    /// The dialog is fetched when the search is first opened.
    search: fn load() -> fn() = search_dialog::open;
}

/// Follows the button and the key for as long as the site is open.
pub(crate) fn follow(page: fn() -> Option<PageState>) {
    let Some(document) = dom::document() else {
        return;
    };
    dom::listen_forever(&document, "click", move |event| {
        if is_on(&event, ".search-open") {
            open(page);
        }
    });
    dom::listen_forever(&document, "keydown", move |event| {
        let Ok(key) = event.dyn_into::<KeyboardEvent>() else {
            return;
        };
        let is_modified = key.ctrl_key() || key.meta_key() || key.alt_key();
        // In a field it is a letter, and over a dialog it would open a second one.
        let is_elsewhere = is_on(&key, "input, textarea, select") || dom::has("dialog[open]");
        if key.key() != "/" || is_modified || is_elsewhere || is_off() {
            return;
        }
        key.prevent_default();
        open(page);
    });
}

/// Whether an event came from an element that fits a selector, or from inside one.
fn is_on(event: &Event, selector: &str) -> bool {
    let element = event
        .target()
        .and_then(|target| target.dyn_into::<Element>().ok());
    element.is_some_and(|element| element.closest(selector).is_ok_and(|found| found.is_some()))
}

/// Whether the reader has switched the key off.
pub(super) fn is_off() -> bool {
    preference::get(preference::SEARCH_KEY).as_deref() == Some(OFF)
}

fn open(page: fn() -> Option<PageState>) {
    leptos::task::spawn_local(async move {
        match (load().await, page()) {
            (Ok(open), _) => open(),
            (Err(_), Some(page)) if dom::has(".page-notice") => {
                page.notice.set(Some(NOT_FETCHED.to_owned()));
            }
            // A page without a place for notices.
            (Err(_), _) => dom::alert(NOT_FETCHED),
        }
    });
}
