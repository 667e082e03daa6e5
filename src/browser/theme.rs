//! The theme of the page: its custom properties, and a signal of its changes.

use std::cell::OnceCell;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::closure::Closure;
use leptos::web_sys::{CssStyleDeclaration, MutationObserver, MutationObserverInit};

/// The computed style of the page.
pub(crate) struct Style(CssStyleDeclaration);

impl Style {
    /// The value of a custom property, empty where there is none.
    pub(crate) fn value(&self, property: &str) -> String {
        let value = self.0.get_property_value(property).unwrap_or_default();
        value.trim().to_owned()
    }
}

/// The computed style of the page; `None` where there is no page.
pub(crate) fn style() -> Option<Style> {
    let root = document().document_element()?;
    window().get_computed_style(&root).ok()?.map(Style)
}

thread_local! {
    static CHANGES: OnceCell<ArcRwSignal<u32>> = const { OnceCell::new() };
}

/// Counts changes of the theme, by the reader's switch or by the system. One watcher serves all
/// drawings of the page.
pub(crate) fn changes() -> ArcRwSignal<u32> {
    CHANGES.with(|cell| cell.get_or_init(watch).clone())
}

fn watch() -> ArcRwSignal<u32> {
    let count = ArcRwSignal::new(0_u32);
    if cfg!(not(target_arch = "wasm32")) {
        return count;
    }
    let bump = {
        let count = count.clone();
        Closure::<dyn FnMut()>::new(move || count.update(|n| *n = n.wrapping_add(1)))
    };
    let function = bump.as_ref().unchecked_ref();
    if let (Ok(observer), Some(root)) = (
        MutationObserver::new(function),
        document().document_element(),
    ) {
        let options = MutationObserverInit::new();
        options.set_attributes(true);
        options.set_attribute_filter(&js_sys::Array::of1(&"data-theme".into()));
        // Where the browser refuses, drawings keep the colours they have.
        observer.observe_with_options(&root, &options).ok();
    }
    if let Ok(Some(query)) = window().match_media("(prefers-color-scheme: dark)") {
        query
            .add_event_listener_with_callback("change", function)
            .ok();
    }
    // The watcher lives as long as the page.
    bump.forget();
    count
}
