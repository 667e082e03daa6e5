//! The height that the served page reserves for a cell, given back once the cell is drawn.

use leptos::ev;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use web_sys::HtmlElement;

use crate::browser::dom;
use crate::cells::frame::context::CellCx;

/// Drops the reserved height after the first result, as soon as this moves nothing that the reader
/// is looking at: at once where the end of the cell is below the window, else when it has left it.
pub(crate) fn release_when_drawn(cx: CellCx, body: &HtmlElement) {
    let body = SendWrapper::new(body.clone());
    let drawn = Memo::new(move |_| {
        cx.outcome
            .with(|o| o.whole().is_some() || o.error.is_some())
    });
    let released = StoredValue::new(false);
    let release = move || {
        // In the next frame the page may have been left, and its signals with it.
        let is_due = drawn.try_get_untracked() == Some(true)
            && released.try_get_value() == Some(false)
            && is_out_of_sight(&body);
        if is_due {
            let _ = body.style().set_property("min-height", "0");
            released.set_value(true);
        }
    };
    let try_again = release.clone();
    let scrolled = window_event_listener(ev::scroll, move |_| try_again());
    on_cleanup(move || scrolled.remove());
    Effect::new(move |_| {
        if drawn.get() {
            // After the views have drawn the result.
            request_animation_frame(release.clone());
        }
    });
}

/// True where the end of the element is below the window, or above it in a browser that keeps the
/// text in place when something above it changes its height.
fn is_out_of_sight(element: &HtmlElement) -> bool {
    let end = element.get_bounding_client_rect().bottom();
    let height = dom::window()
        .and_then(|window| window.inner_height().ok()?.as_f64())
        .unwrap_or_default();
    end > height || end < 0.0 && dom::anchors_scrolling(element)
}
