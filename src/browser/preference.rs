//! Short texts that the site keeps on this device. A browser that keeps none has none.

use web_sys::Storage;

use super::{address, dom};

/// The theme, which the head script of a page keeps.
pub(crate) const THEME: &str = "theme";

/// Whether a key opens the search.
pub(crate) const SEARCH_KEY: &str = "search-key";

/// The lessons that the reader has begun.
pub(crate) const READING: &str = "reading";

/// The choices that the reader has made in guesses, as a JSON object; `public/boot.mjs` keeps them.
pub(crate) const GUESSES: &str = "guesses";

/// The name under which the browser keeps a text. It has the address of the site's folder, because
/// the same host may have another copy of the site. The theme holds for all copies: the page for
/// unknown addresses applies it before it knows its folder.
fn key(name: &str) -> String {
    if name == THEME {
        return name.to_owned();
    }
    [name, " ", &address::site_url("")].concat()
}

fn storage() -> Option<Storage> {
    dom::window()?.local_storage().ok()?
}

/// The text that is kept under a name.
pub(crate) fn get(name: &str) -> Option<String> {
    storage()?.get_item(&key(name)).ok()?
}

/// Keeps a text under a name.
pub(crate) fn set(name: &str, text: &str) {
    if let Some(storage) = storage() {
        // Refused where the storage is full or switched off: then it is not kept.
        let _ = storage.set_item(&key(name), text);
    }
}

/// Deletes what is kept under a name.
pub(crate) fn delete(name: &str) {
    if let Some(storage) = storage() {
        let _ = storage.remove_item(&key(name));
    }
}

/// Deletes the chosen theme, and has the page follow the system again.
pub(crate) fn delete_theme() {
    delete(THEME);
    let init = web_sys::StorageEventInit::new();
    init.set_key(Some(THEME));
    if let (Some(window), Ok(event)) = (
        dom::window(),
        web_sys::StorageEvent::new_with_event_init_dict("storage", &init),
    ) {
        let _ = window.dispatch_event(&event);
    }
}
