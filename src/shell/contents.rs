//! Marks the current place in the list of contents while the reader scrolls.

use web_sys::HtmlElement;

use super::progress;
use crate::browser::dom;

/// Share of the window's height below which a heading counts as not yet reached.
const READING_LINE: f64 = 0.3;

/// Follows scrolling for as long as the site is open; headings are looked up again each time, as
/// pages change.
pub(crate) fn follow() {
    let Some(window) = dom::window() else { return };
    mark();
    dom::listen_forever(&window, "scroll", |_| {
        if let Some(entry) = mark() {
            progress::note(entry);
        }
    });
}

/// Marks the entry of the last heading above the reading line; that entry, from the second on.
pub(crate) fn mark() -> Option<HtmlElement> {
    let root = dom::document()?.document_element()?;
    let links = dom::find_all(&root, ".toc a[href*='#']");
    let height = dom::window()
        .and_then(|w| w.inner_height().ok())
        .and_then(|h| h.as_f64())
        .unwrap_or(800.0);
    // Before the first heading the first entry is the next thing to come.
    let mut current = 0;
    for (i, link) in links.iter().enumerate() {
        let href = link.get_attribute("href").unwrap_or_default();
        let Some(heading) = href.split('#').nth(1).and_then(dom::by_id) else {
            continue;
        };
        if heading.get_bounding_client_rect().top() <= height * READING_LINE {
            current = i;
        }
    }
    for (i, link) in links.iter().enumerate() {
        if current == i {
            let _ = link.set_attribute("aria-current", "true");
        } else {
            let _ = link.remove_attribute("aria-current");
        }
    }
    links.into_iter().nth(current).filter(|_| current > 0)
}
