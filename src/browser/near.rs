//! When an element comes near the window, and while it is in it.

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
    let seen = move |is_near: bool, observer: &IntersectionObserver| {
        if is_near {
            observer.disconnect();
            near.try_set(true);
        }
    };
    if observe(element, MARGIN, seen).is_none() {
        near.set(true);
    }
    let printed = printed();
    Signal::derive(move || near.get() || printed.get())
}

/// Whether a part of an element is in the window at present. Where the browser cannot tell, none is.
pub(crate) fn in_window(element: &Element) -> Signal<bool> {
    let visible = RwSignal::new(false);
    let seen = move |is_visible: bool, _: &IntersectionObserver| {
        visible.try_set(is_visible);
    };
    observe(element, "0px", seen);
    visible.into()
}

/// Tells whether an element is in the window widened by `margin`, now and after each change, until
/// the page is left or the observer is disconnected.
fn observe(
    element: &Element,
    margin: &str,
    seen: impl Fn(bool, &IntersectionObserver) + 'static,
) -> Option<()> {
    let seen = Closure::<dyn FnMut(Array, IntersectionObserver)>::new(
        move |entries: Array, observer: IntersectionObserver| {
            // The last entry is the newest.
            let entry = entries.get(entries.length().saturating_sub(1));
            let entry = IntersectionObserverEntry::unchecked_from_js(entry);
            seen(entry.is_intersecting(), &observer);
        },
    );
    let options = IntersectionObserverInit::new();
    options.set_root_margin(margin);
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
pub(crate) fn printed() -> ArcRwSignal<bool> {
    PRINTED.with(|cell| {
        let listen = || {
            let printed = ArcRwSignal::new(false);
            if let Some(window) = dom::window() {
                let set = printed.clone();
                // A page that is printed again has nothing to do again.
                dom::listen_forever(&window, "beforeprint", move |_| {
                    if !set.get_untracked() {
                        set.set(true);
                    }
                });
            }
            printed
        };
        cell.get_or_init(listen).clone()
    })
}
