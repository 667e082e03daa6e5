//! Follows the reader through a lesson. What is kept of it, and shown, comes in a chunk of its own
//! once there is something to keep or to show.

use std::cell::Cell;

use web_sys::HtmlElement;

use super::kept_progress::{KEEPER, Keeper};
use crate::browser::dom;
use crate::browser::preference::{self, READING};
use crate::chunk::chunk;

chunk! {
    /// Keeps and shows the progress.
    progress: fn load() -> Keeper = KEEPER;
}

/// Events by which a reader moves in a page; a page also scrolls by itself, to a heading.
const MOVES: [&str; 4] = ["wheel", "touchmove", "keydown", "pointerdown"];

thread_local! {
    /// Whether the reader has moved in the open page.
    static HAS_MOVED: Cell<bool> = const { Cell::new(false) };
}

/// Follows the reader's moves for as long as the site is open.
pub(crate) fn follow() {
    if let Some(document) = dom::document() {
        for event in MOVES {
            dom::listen_forever(&document, event, |_| HAS_MOVED.set(true));
        }
    }
}

/// Begins with a page that was just opened, and shows the progress in it.
pub(crate) fn open_page() {
    HAS_MOVED.set(false);
    if preference::get(READING).is_some() {
        ask(|keeper| (keeper.show)());
    }
}

/// Notes that the section of an entry of the list of contents is being read.
pub(super) fn note(entry: HtmlElement) {
    let Some(main) = dom::main().filter(|_| HAS_MOVED.get()) else {
        return;
    };
    let page = dom::data(&main, "page");
    if let Some(slug) = page.strip_prefix("lesson/") {
        let slug = slug.to_owned();
        ask(move |keeper| (keeper.note)(&slug, &entry));
    }
}

/// Does something with the chunk. Where it does not come, nothing is kept.
fn ask(what: impl FnOnce(Keeper) + 'static) {
    leptos::task::spawn_local(async move {
        if let Ok(keeper) = load().await {
            what(keeper);
        }
    });
}
