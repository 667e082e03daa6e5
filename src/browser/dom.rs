//! Finding and filling elements of the served page.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Document, Element, Event, HtmlElement, Window};

/// The window. `None` only outside a browser, as where views become markup.
pub(crate) fn window() -> Option<Window> {
    if cfg!(target_arch = "wasm32") {
        web_sys::window()
    } else {
        None
    }
}

/// The document.
pub(crate) fn document() -> Option<Document> {
    window()?.document()
}

/// The element with an id.
pub(crate) fn by_id(id: &str) -> Option<HtmlElement> {
    document()?.get_element_by_id(id)?.dyn_into().ok()
}

/// The first element below `parent` that matches a selector.
pub(crate) fn find(parent: &Element, selector: &str) -> Option<HtmlElement> {
    parent.query_selector(selector).ok()??.dyn_into().ok()
}

/// Whether an element of the page fits a selector.
pub(crate) fn has(selector: &str) -> bool {
    body().is_some_and(|body| find(&body, selector).is_some())
}

/// All elements below `parent` that match a selector, in document order.
pub(crate) fn find_all(parent: &Element, selector: &str) -> Vec<HtmlElement> {
    let Ok(list) = parent.query_selector_all(selector) else {
        return Vec::new();
    };
    (0..list.length())
        .filter_map(|i| list.get(i)?.dyn_into().ok())
        .collect()
}

/// The topmost element at a point of the window, in CSS pixels.
pub(crate) fn element_at(x: i32, y: i32) -> Option<Element> {
    document()?.element_from_point(x as f32, y as f32)
}

/// Whether a part of an element is in the window.
pub(crate) fn is_in_view(element: &Element) -> bool {
    let height = window().and_then(|window| window.inner_height().ok()?.as_f64());
    let place = element.get_bounding_client_rect();
    place.bottom() > 0.0 && place.top() < height.unwrap_or(0.0)
}

/// Whether the reader has come to an element: it is in the window or above it.
pub(crate) fn is_reached(element: &Element) -> bool {
    let height = window().and_then(|window| window.inner_height().ok()?.as_f64());
    element.get_bounding_client_rect().top() < height.unwrap_or(0.0)
}

/// The `<body>` of the page.
pub(crate) fn body() -> Option<HtmlElement> {
    document()?.body()
}

/// The `<main>` of the page.
pub(crate) fn main() -> Option<HtmlElement> {
    by_id("main")
}

/// A `data-` attribute, empty where absent.
pub(crate) fn data(element: &Element, name: &str) -> String {
    element
        .get_attribute(&format!("data-{name}"))
        .unwrap_or_default()
}

/// Sets a `data-` attribute.
pub(crate) fn set_data(element: &Element, name: &str, value: &str) {
    let _ = element.set_attribute(&format!("data-{name}"), value);
}

/// Has every cell of the page say that the engine could not be fetched, with a button to try again.
pub(crate) fn say_failed(why: &str) {
    let options = web_sys::CustomEventInit::new();
    options.set_detail(&why.into());
    if let (Some(window), Ok(event)) = (
        window(),
        web_sys::CustomEvent::new_with_event_init_dict("notebook-failed", &options),
    ) {
        let _ = window.dispatch_event(&event);
    }
}

/// Tells the reader something in the browser's own dialog.
pub(crate) fn alert(text: &str) {
    if let Some(window) = window() {
        let _ = window.alert_with_message(text);
    }
}

/// Scrolls the page to `y` pixels from its top at once, without the smooth movement of links within
/// a page.
pub(crate) fn scroll_at_once(y: f64) {
    let options = web_sys::ScrollToOptions::new();
    options.set_top(y);
    options.set_behavior(web_sys::ScrollBehavior::Instant);
    if let Some(window) = window() {
        window.scroll_to_with_scroll_to_options(&options);
    }
}

/// True where the browser keeps the text in place while something above it changes its height.
pub(crate) fn anchors_scrolling(element: &Element) -> bool {
    let style = window().and_then(|window| window.get_computed_style(element).ok()?);
    style.is_some_and(|style| style.get_property_value("overflow-anchor").as_deref() == Ok("auto"))
}

/// Opens everything that an element is folded away in; whether there was anything closed.
pub(crate) fn unfold(element: &Element) -> bool {
    let mut was_closed = false;
    while let Ok(Some(fold)) = element.closest("details:not([open])") {
        if fold.set_attribute("open", "").is_err() {
            break;
        }
        was_closed = true;
    }
    was_closed
}

/// Moves keyboard focus to text, which is not focusable by itself, without scrolling.
pub(crate) fn focus_text(element: &HtmlElement) {
    if !element.has_attribute("tabindex") {
        let _ = element.set_attribute("tabindex", "-1");
    }
    focus(element);
}

/// Moves keyboard focus to a control, without scrolling.
pub(crate) fn focus(element: &HtmlElement) {
    let options = web_sys::FocusOptions::new();
    options.set_prevent_scroll(true);
    let _ = element.focus_with_options(&options);
}

/// Listens for an event for as long as the page lives.
pub(crate) fn listen_forever(
    target: &web_sys::EventTarget,
    event: &str,
    handler: impl FnMut(Event) + 'static,
) {
    let closure = Closure::<dyn FnMut(Event)>::new(handler);
    let _ = target.add_event_listener_with_callback(event, closure.as_ref().unchecked_ref());
    closure.forget();
}
