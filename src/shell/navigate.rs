//! Moves from page to page without loading the site again: the file of the next page is fetched and
//! its `<main>` put in place of the present one.

use std::cell::{Cell, RefCell};

use wasm_bindgen::JsCast;
use web_sys::{Element, MouseEvent};

use crate::browser::{address, clock, dom, fetch, page};
use crate::route::{Fragment, Route};
use crate::state::PageState;

/// The way by which the reader came to a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Arrival {
    /// The browser loaded it.
    First,
    /// By a link on another page of the site.
    Link,
    /// By the browser's back or forward button, to a page that was left this far down.
    History {
        /// Pixels from the top, where the entry has a note of them.
        left_at: Option<f64>,
    },
}

/// Actions of the app on pages, for when the reader goes from one to another.
#[derive(Clone, Copy)]
pub(crate) struct Pages {
    /// Brings the present `<main>` to life.
    pub(crate) open: fn(Arrival),
    /// Unmounts the open page.
    pub(crate) close: fn(),
    /// The inputs of the open page.
    pub(crate) state: fn() -> Option<PageState>,
    /// Leads on from an address whose cell or heading is in another lesson now.
    pub(crate) lead_on: fn(),
}

thread_local! {
    /// Path of the open page, to tell a move within the page from one to another.
    static OPEN_PATH: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Notes that the page of the present address is the open one.
pub(crate) fn note_open_path() {
    OPEN_PATH.set(address::path());
}

fn is_open_path() -> bool {
    OPEN_PATH.with_borrow(|path| *path == address::path())
}

/// Time without scrolling after which a page counts as at rest.
const REST_MS: u32 = 250;

/// Follows clicks on links and the browser's back and forward buttons.
pub(crate) fn follow_links(pages: Pages) {
    let (Some(document), Some(window)) = (dom::document(), dom::window()) else {
        return;
    };
    dom::listen_forever(&document, "click", move |event| {
        let Ok(event) = event.dyn_into::<MouseEvent>() else {
            return;
        };
        if let Some(url) = page_of_click(&event) {
            event.prevent_default();
            leptos::task::spawn_local(go(url, Arrival::Link, pages));
        }
    });
    dom::listen_forever(&window, "popstate", move |_| {
        if !is_open_path() {
            // Read at once: scrolling while the page is fetched is noted in the same place.
            let left_at = address::kept_scroll();
            leptos::task::spawn_local(go(address::href(), Arrival::History { left_at }, pages));
        }
    });
    dom::listen_forever(&window, "scroll", |_| note_scroll());
    // A click on a heading's link drops the state from the address; it is written back.
    dom::listen_forever(&window, "hashchange", move |_| {
        if let Some(page) = (pages.state)() {
            page.write_soon();
        }
        // Not every browser opens the fold around the place that a link names.
        if let Some(place) = dom::by_id(&Fragment::parse(&address::hash()).heading)
            && dom::unfold(&place)
        {
            place.scroll_into_view();
        }
        (pages.lead_on)();
    });
}

thread_local! {
    /// Time of the last scroll, while it has not been noted yet.
    static SCROLLED_AT: Cell<Option<f64>> = const { Cell::new(None) };
}

/// Notes where the reader is once the page has come to rest, so that "back" leads there again.
/// Browsers refuse a note on every step of a scroll.
fn note_scroll() {
    if SCROLLED_AT.replace(Some(clock::now_ms())).is_some() {
        return;
    }
    leptos::task::spawn_local(async {
        loop {
            clock::wait_ms(REST_MS).await;
            let rested = SCROLLED_AT.get().map(|at| clock::now_ms() - at);
            if rested.is_none_or(|ms| ms >= f64::from(REST_MS)) {
                break;
            }
        }
        SCROLLED_AT.set(None);
        // Going back has another entry in place before the page is swapped.
        if is_open_path() {
            address::keep_scroll();
        }
    });
}

/// The address of another page of the site that a plain click asks for.
fn page_of_click(event: &MouseEvent) -> Option<String> {
    let modified = event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key();
    if modified || event.button() != 0 || event.default_prevented() {
        return None;
    }
    let link = event
        .target()?
        .dyn_into::<Element>()
        .ok()?
        .closest("a[href]")
        .ok()??;
    if link.has_attribute("download") || link.has_attribute("target") {
        return None;
    }
    let url = address::resolve(&link.get_attribute("href")?, &address::href())?;
    let here = address::resolve(&address::href(), &address::href())?;
    if url.origin() != here.origin() || url.pathname() == here.pathname() {
        return None;
    }
    match Route::of_path(&url.pathname(), &address::root_path()) {
        Route::Unknown => None,
        Route::Lesson(_)
        | Route::Bench
        | Route::Lab
        | Route::Map
        | Route::Models
        | Route::Reference
        | Route::About
            if !url.pathname().ends_with('/') =>
        {
            url.set_pathname(&format!(
                "{}/",
                url.pathname().trim_end_matches("/index.html")
            ));
            Some(url.href())
        }
        _ => Some(url.href()),
    }
}

/// Fetches a page and shows it; falls back to loading it the ordinary way.
async fn go(url: String, arrival: Arrival, pages: Pages) {
    let file = url.split('#').next().unwrap_or_default().to_owned();
    let next = match fetch::text(&file).await {
        Ok(html) => page::parse(&html),
        Err(_) => None,
    };
    let Some(next) = next else {
        address::load(&url);
        return;
    };
    if arrival == Arrival::Link {
        // Before the cells go and the page shrinks.
        address::keep_scroll();
    }
    (pages.close)();
    if arrival == Arrival::Link {
        address::push(&url);
    }
    page::swap(&next);
    (pages.open)(arrival);
}

/// Puts the 404 page in place of whatever a server sent for an unknown path.
pub(crate) fn show_not_found(pages: Pages) {
    leptos::task::spawn_local(async move {
        let next = fetch::text(&address::site_url("404.html"))
            .await
            .ok()
            .and_then(|html| page::parse(&html));
        if let Some(next) = next {
            page::swap(&next);
        }
        (pages.open)(Arrival::First);
    });
}
