//! Finding what an event met. One listener on a table replaces four on each of its cells.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys;

use super::Place;

/// The position of a cell as `data-at` holds it.
pub(crate) fn place_text((row, col): Place) -> String {
    format!("{row},{col}")
}

/// The place of the cell (`data-at`) that an event happened in.
pub(crate) fn place_of(event: &web_sys::Event) -> Option<Place> {
    let target: web_sys::Element = event.target()?.dyn_into().ok()?;
    let text = target
        .closest("[data-at]")
        .ok()??
        .get_attribute("data-at")?;
    let (row, col) = text.split_once(',')?;
    Some((row.parse().ok()?, col.parse().ok()?))
}

/// Puts the focus on the cell at `place` inside `root`; says whether there was one.
pub(crate) fn focus_place(root: &web_sys::Element, place: Place) -> bool {
    let found = root.query_selector(&format!("[data-at=\"{}\"]", place_text(place)));
    let Ok(Some(element)) = found else {
        return false;
    };
    element
        .dyn_into::<web_sys::HtmlElement>()
        .is_ok_and(|cell| cell.focus().is_ok())
}

/// Position of a pointer within `element`, as shares of its width and height.
pub(crate) fn share_within(
    element: &web_sys::Element,
    event: &web_sys::MouseEvent,
) -> Option<(f64, f64)> {
    let area = element.get_bounding_client_rect();
    if area.width() <= 0.0 || area.height() <= 0.0 {
        return None;
    }
    let x = (f64::from(event.client_x()) - area.left()) / area.width();
    let y = (f64::from(event.client_y()) - area.top()) / area.height();
    Some((x, y))
}

/// Keeps sending the pointer's events to `element` until it is released, wherever it goes.
pub(crate) fn capture(element: &web_sys::Element, event: &web_sys::PointerEvent) {
    // A pointer that is gone already cannot be captured; its events end anyway.
    element.set_pointer_capture(event.pointer_id()).ok();
}

/// The value of the input element that an event happened in.
pub(crate) fn typed(event: &web_sys::Event) -> String {
    event_target_value(event)
}
