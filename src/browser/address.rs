//! The address bar and the history.

use std::cell::RefCell;

use wasm_bindgen::JsValue;

use super::dom;

thread_local! {
    /// Address of the site's folder, ending in a slash.
    static ROOT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Finds the site's folder from the page that the browser loaded, before its address changes.
pub(crate) fn find_root() {
    let given = dom::document()
        .and_then(|document| document.document_element())
        .map(|html| dom::data(&html, "root"))
        .filter(|given| !given.is_empty());
    let root = resolve(given.as_deref().unwrap_or("./"), &href());
    ROOT.set(root.map(|url| url.href()).unwrap_or_default());
}

/// The address of a file of the site, given relative to the site's folder.
pub(crate) fn site_url(file: &str) -> String {
    ROOT.with_borrow(|root| format!("{root}{file}"))
}

/// The path of the site's folder.
pub(crate) fn root_path() -> String {
    resolve(&site_url(""), &href())
        .map(|url| url.pathname())
        .unwrap_or_else(|| "/".to_owned())
}

/// The part after `#`, with the `#`.
pub(crate) fn hash() -> String {
    dom::window()
        .and_then(|w| w.location().hash().ok())
        .unwrap_or_default()
}

/// The path.
pub(crate) fn path() -> String {
    dom::window()
        .and_then(|w| w.location().pathname().ok())
        .unwrap_or_default()
}

/// The whole address.
pub(crate) fn href() -> String {
    dom::window()
        .and_then(|w| w.location().href().ok())
        .unwrap_or_default()
}

/// Replaces the part after `#` without a history entry and without scrolling.
pub(crate) fn replace_hash(hash: &str) {
    let Some(window) = dom::window() else { return };
    let here = href();
    let base = here.split('#').next().unwrap_or_default();
    if let Ok(history) = window.history() {
        let kept = history.state().unwrap_or(JsValue::NULL);
        let _ = history.replace_state_with_url(&kept, "", Some(&format!("{base}{hash}")));
    }
}

/// Notes in the present history entry how far the page is scrolled.
pub(crate) fn keep_scroll() {
    let Some(window) = dom::window() else { return };
    if let (Ok(history), Ok(y)) = (window.history(), window.scroll_y()) {
        let _ = history.replace_state(&JsValue::from_f64(y), "");
    }
}

/// Pixels by which the page of the present history entry was scrolled when the reader left it.
pub(crate) fn kept_scroll() -> Option<f64> {
    let history = dom::window()?.history().ok()?;
    history.state().ok()?.as_f64()
}

/// Adds a history entry.
pub(crate) fn push(url: &str) {
    let Some(history) = dom::window().and_then(|w| w.history().ok()) else {
        return;
    };
    let _ = history.push_state_with_url(&JsValue::NULL, "", Some(url));
}

/// Loads an address the ordinary way.
pub(crate) fn load(url: &str) {
    if let Some(window) = dom::window() {
        let _ = window.location().set_href(url);
    }
}

/// Loads an address in place of the present one, which leaves the history.
pub(crate) fn load_instead(url: &str) {
    if let Some(window) = dom::window() {
        let _ = window.location().replace(url);
    }
}

/// Resolves an address against another; `None` where it is not one.
pub(crate) fn resolve(url: &str, base: &str) -> Option<web_sys::Url> {
    web_sys::Url::new_with_base(url, base).ok()
}

/// The address of a file as a reader types it: a whole one of the web, or a path of this site that
/// starts with `/`; `None` for anything else.
pub(crate) fn of_file(typed: &str) -> Option<web_sys::Url> {
    if typed.starts_with('/') {
        return resolve(typed, &href());
    }
    let url = web_sys::Url::new(typed).ok()?;
    matches!(url.protocol().as_str(), "http:" | "https:").then_some(url)
}

/// Returns whether the policy of the pages lets them fetch this address
/// (`crates/pages/src/policy.rs`).
pub(crate) fn may_be_fetched(url: &str) -> bool {
    let here = href();
    let (Some(url), Some(here)) = (resolve(url, &here), resolve(&here, &here)) else {
        return false;
    };
    let is_this_machine = ["localhost", "127.0.0.1"].contains(&url.hostname().as_str());
    url.protocol() == "https:" || is_this_machine || url.origin() == here.origin()
}

/// A value of the query, decoded; `None` where the query does not name it.
pub(crate) fn query(key: &str) -> Option<String> {
    let here = href();
    resolve(&here, &here)?.search_params().get(key)
}

/// Replaces the query, without a history entry.
pub(crate) fn set_query(pairs: &[(&str, String)]) {
    let here = href();
    let (Some(url), Some(window)) = (resolve(&here, &here), dom::window()) else {
        return;
    };
    url.set_search("");
    let search = url.search_params();
    for (key, value) in pairs {
        search.append(key, value);
    }
    if let Ok(history) = window.history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&url.href()));
    }
}
