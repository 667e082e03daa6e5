//! Going from page to page without loading the site anew: the file of the next page is fetched and its
//! `<main>` put in place of the present one.

use std::cell::Cell;

use wasm_bindgen::JsCast;
use web_sys::{Document, Element, HtmlElement, MouseEvent};

use crate::app::{self, Arrival};
use crate::browser::{address, clock, dom, fetch};
use crate::route::Route;

/// Time without scrolling after which a page counts as at rest.
const REST_MS: u32 = 250;

/// Links outside `<main>` stay when the page changes, so they must not depend on the page's own address.
pub(crate) fn pin_links_outside_main() {
    let Some(body) = dom::document().and_then(|d| d.body()) else {
        return;
    };
    for link in dom::find_all(&body, "a[href]") {
        if link.closest("main").ok().flatten().is_none()
            && let Some(anchor) = link.dyn_ref::<web_sys::HtmlAnchorElement>()
            && !link
                .get_attribute("href")
                .unwrap_or_default()
                .starts_with('#')
        {
            anchor.set_href(&anchor.href());
        }
    }
    let Some(head) = dom::document().and_then(|d| d.head()) else {
        return;
    };
    // A browser asks for the icon again when the address changes.
    for link in dom::find_all(&head, "link:is([rel*=icon], [rel=manifest])[href]") {
        let href = link.get_attribute("href").unwrap_or_default();
        if let Some(whole) = address::resolve(&href, &address::href()) {
            let _ = link.set_attribute("href", &whole.href());
        }
    }
}

/// Follows clicks on links and the browser's back and forward buttons.
pub(crate) fn follow_links() {
    let (Some(document), Some(window)) = (dom::document(), dom::window()) else {
        return;
    };
    dom::listen_forever(&document, "click", |event| {
        let Ok(event) = event.dyn_into::<MouseEvent>() else {
            return;
        };
        if let Some(url) = page_of_click(&event) {
            event.prevent_default();
            leptos::task::spawn_local(go(url, Arrival::Link));
        }
    });
    dom::listen_forever(&window, "popstate", |_| {
        if address::path() != app::open_path() {
            // Read at once: scrolling while the page is fetched is noted in the same place.
            let left_at = address::kept_scroll();
            leptos::task::spawn_local(go(address::href(), Arrival::History { left_at }));
        }
    });
    dom::listen_forever(&window, "scroll", |_| note_scroll());
    // A click on a heading's link drops the state from the address; it is written back.
    dom::listen_forever(&window, "hashchange", |_| {
        if let Some(page) = app::page_state() {
            page.write_soon();
        }
    });
}

thread_local! {
    /// When the page was last scrolled, while that has not been noted yet.
    static SCROLLED_AT: Cell<Option<f64>> = const { Cell::new(None) };
}

/// Notes where the reader is once the page has come to rest, so that "back" leads there again. Browsers refuse a note
/// on every step of a scroll.
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
        if address::path() == app::open_path() {
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
    match Route::of_path(&url.pathname(), &app::root_path()) {
        Route::Unknown => None,
        Route::Lesson(_) | Route::Bench | Route::Lab | Route::Models
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
async fn go(url: String, arrival: Arrival) {
    let file = url.split('#').next().unwrap_or_default().to_owned();
    let next = match fetch::text(&file).await {
        Ok(html) => parse(&html),
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
    app::close();
    if arrival == Arrival::Link {
        address::push(&url);
    }
    swap(&next);
    app::open(arrival);
}

/// Puts the 404 page in place of whatever a server sent for an unknown path.
pub(crate) fn show_not_found() {
    leptos::task::spawn_local(async {
        let next = fetch::text(&app::site_url("404.html"))
            .await
            .ok()
            .and_then(|html| parse(&html));
        if let Some(next) = next {
            swap(&next);
        }
        app::open(Arrival::First);
    });
}

fn parse(html: &str) -> Option<Document> {
    let parsed = web_sys::DomParser::new()
        .ok()?
        .parse_from_string(html, web_sys::SupportedType::TextHtml)
        .ok()?;
    parsed.get_element_by_id("main").is_some().then_some(parsed)
}

/// Takes over `<main>`, title, description and the marked entry of the course menu.
fn swap(next: &Document) {
    let Some(document) = dom::document() else {
        return;
    };
    if let (Some(old), Some(new)) = (dom::main(), next.get_element_by_id("main"))
        && let Ok(new) = document.import_node_with_deep(&new, true)
    {
        let _ = old.replace_with_with_node_1(&new);
    }
    document.set_title(&next.title());
    let description = |d: &Document| d.query_selector("meta[name=description]").ok().flatten();
    if let (Some(old), Some(new)) = (description(&document), description(next)) {
        let _ = old.set_attribute("content", &new.get_attribute("content").unwrap_or_default());
    }
    mark_current_link(&document);
}

fn mark_current_link(document: &Document) {
    let Some(body) = document.body() else { return };
    let here = address::path();
    let links: Vec<HtmlElement> = dom::find_all(&body, "header a[href]");
    for link in links {
        let same = link
            .dyn_ref::<web_sys::HtmlAnchorElement>()
            .is_some_and(|a| a.pathname().trim_end_matches('/') == here.trim_end_matches('/'));
        if same {
            let _ = link.set_attribute("aria-current", "page");
        } else {
            let _ = link.remove_attribute("aria-current");
        }
    }
}
