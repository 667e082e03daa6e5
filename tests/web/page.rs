//! A place for a widget, and hands to use it with.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{
    Element, Event, EventInit, HtmlElement, HtmlInputElement, KeyboardEvent, KeyboardEventInit,
    SvgElement,
};
use site::widgets::Grid;

/// A widget on the page; taken away when dropped.
pub(crate) struct Page {
    root: HtmlElement,
    _view: Box<dyn std::any::Any>,
}

impl Page {
    /// Mounts a view into a fresh element of the document.
    pub(crate) fn with<N: IntoView + 'static>(view: impl FnOnce() -> N + 'static) -> Self {
        let root: HtmlElement = document().create_element("div").unwrap().unchecked_into();
        document().body().unwrap().append_child(&root).unwrap();
        let handle = leptos::mount::mount_to(root.clone(), view);
        Self {
            root,
            _view: Box::new(handle),
        }
    }

    /// The first element that matches.
    pub(crate) fn find(&self, selector: &str) -> Element {
        self.root
            .query_selector(selector)
            .unwrap()
            .unwrap_or_else(|| panic!("no {selector}"))
    }

    /// How many elements match.
    pub(crate) fn count(&self, selector: &str) -> u32 {
        self.root.query_selector_all(selector).unwrap().length()
    }

    /// The text of the first element that matches.
    pub(crate) fn text(&self, selector: &str) -> String {
        self.find(selector).text_content().unwrap_or_default()
    }

    /// An attribute of the first element that matches.
    pub(crate) fn attribute(&self, selector: &str, name: &str) -> Option<String> {
        self.find(selector).get_attribute(name)
    }

    /// Sets the text of an input as typing does.
    pub(crate) async fn type_into(&self, selector: &str, text: &str) {
        let input: HtmlInputElement = self.find(selector).unchecked_into();
        input.focus().unwrap();
        input.set_value(text);
        let init = EventInit::new();
        init.set_bubbles(true);
        input
            .dispatch_event(&Event::new_with_event_init_dict("input", &init).unwrap())
            .unwrap();
        settle().await;
    }

    /// What an input shows.
    pub(crate) fn value(&self, selector: &str) -> String {
        self.find(selector)
            .unchecked_into::<HtmlInputElement>()
            .value()
    }

    /// Clicks the first element that matches.
    pub(crate) async fn click(&self, selector: &str) {
        self.find(selector).unchecked_into::<HtmlElement>().click();
        settle().await;
    }

    /// Puts the focus on the first element that matches.
    pub(crate) async fn focus(&self, selector: &str) {
        self.find(selector)
            .unchecked_into::<HtmlElement>()
            .focus()
            .unwrap();
        settle().await;
    }

    /// Puts the focus on a part of a drawing.
    pub(crate) async fn focus_svg(&self, selector: &str) {
        self.find(selector)
            .unchecked_into::<SvgElement>()
            .focus()
            .unwrap();
        settle().await;
    }

    /// Presses a key where the focus is.
    pub(crate) async fn press(&self, key: &str) {
        self.press_with(key, false).await;
    }

    /// Presses a key where the focus is, with or without Alt.
    pub(crate) async fn press_with(&self, key: &str, alt: bool) {
        let init = KeyboardEventInit::new();
        init.set_key(key);
        init.set_alt_key(alt);
        init.set_bubbles(true);
        init.set_cancelable(true);
        let event = KeyboardEvent::new_with_keyboard_event_init_dict("keydown", &init).unwrap();
        document()
            .active_element()
            .unwrap()
            .dispatch_event(&event)
            .unwrap();
        settle().await;
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.root.remove();
    }
}

/// The `data-at` of the element that has the focus.
pub(crate) fn focused_at() -> Option<String> {
    document().active_element()?.get_attribute("data-at")
}

/// Lets effects run and frames be drawn: a canvas learns its size from one and is painted with the
/// next.
pub(crate) async fn settle() {
    for _ in 0..3 {
        let frame = js_sys::Promise::new(&mut |resolve, _| {
            window().request_animation_frame(&resolve).unwrap();
        });
        wasm_bindgen_futures::JsFuture::from(frame).await.unwrap();
        gloo_timers::future::TimeoutFuture::new(5).await;
    }
}

/// A grid of these values.
pub(crate) fn grid(source: &str, rows: usize, cols: usize, values: &[f64]) -> Grid {
    Grid {
        source: source.to_owned(),
        prefix: Vec::new(),
        rows,
        cols,
        values: values.into(),
        row_labels: Vec::new(),
        col_labels: Vec::new(),
        vector: false,
        symbols: false,
    }
}
