//! When an element comes near the window.

use std::cell::OnceCell;

use js_sys::Array;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, IntersectionObserver, IntersectionObserverEntry, IntersectionObserverInit};

use super::dom;

/// How far outside the window an element is near, as a CSS margin: one window's height.
const MARGIN: &str = "100% 0px";

/// Whether an element has been within a window's height of what the reader saw, or the page has
/// been printed. Where the browser cannot tell, it is near.
pub(crate) fn has_been_near(element: &Element) -> Signal<bool> {
    let near = RwSignal::new(false);
    if observe(element, near).is_none() {
        near.set(true);
    }
    let printed = printed();
    Signal::derive(move || near.get() || printed.get())
}

/// Observes an element until it is near or the page is left.
fn observe(element: &Element, near: RwSignal<bool>) -> Option<()> {
    let seen = Closure::<dyn FnMut(Array, IntersectionObserver)>::new(
        move |entries: Array, observer: IntersectionObserver| {
            let is_near =
                |entry| IntersectionObserverEntry::unchecked_from_js(entry).is_intersecting();
            if entries.iter().any(is_near) {
                observer.disconnect();
                near.try_set(true);
            }
        },
    );
    let options = IntersectionObserverInit::new();
    options.set_root_margin(MARGIN);
    let function = seen.as_ref().unchecked_ref();
    let observer = IntersectionObserver::new_with_options(function, &options).ok()?;
    observer.observe(element);
    let kept = StoredValue::new_local((observer, seen));
    on_cleanup(move || {
        kept.try_with_value(|(observer, _)| observer.disconnect());
    });
    Some(())
}

thread_local! {
    static PRINTED: OnceCell<ArcRwSignal<bool>> = const { OnceCell::new() };
}

/// Whether the page has been printed, which shows all of it at once.
fn printed() -> ArcRwSignal<bool> {
    PRINTED.with(|cell| {
        let listen = || {
            let printed = ArcRwSignal::new(false);
            if let Some(window) = dom::window() {
                let set = printed.clone();
                dom::listen_forever(&window, "beforeprint", move |_| set.set(true));
            }
            printed
        };
        cell.get_or_init(listen).clone()
    })
}
