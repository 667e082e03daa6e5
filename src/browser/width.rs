//! The width of an element, as the browser has laid it out.

use leptos::html::Div;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::closure::Closure;
use leptos::web_sys::ResizeObserver;

use super::near;

/// The width in CSS pixels of a drawing in markup, which the browser then scales.
const IN_MARKUP: u32 = 480;

/// The width of the element in whole CSS pixels; 0 while it is not laid out, as far from the window.
/// In print, an element that was never laid out has the width of a drawing in markup.
pub(crate) fn width_of(element: NodeRef<Div>) -> Signal<u32> {
    if cfg!(not(target_arch = "wasm32")) {
        return Signal::stored(IN_MARKUP);
    }
    let width = RwSignal::new(0_u32);
    Effect::new(move |_| {
        let Some(element) = element.get() else { return };
        let observed = element.clone();
        // The browser calls after it has laid out the page. The signal is gone once the view is; a
        // late call then finds nothing to do.
        let seen = Closure::<dyn FnMut()>::new(move || {
            let now = observed.client_width().max(0) as u32;
            if width.try_get_untracked().is_some_and(|known| known != now) {
                width.try_set(now);
            }
        });
        if let Ok(observer) = ResizeObserver::new(seen.as_ref().unchecked_ref()) {
            observer.observe(&element);
            let kept = StoredValue::new_local((observer, seen));
            on_cleanup(move || {
                kept.try_with_value(|(observer, _)| observer.disconnect());
            });
        }
    });
    let printed = near::printed();
    Signal::derive(move || match width.get() {
        0 if printed.get() => IN_MARKUP,
        width => width,
    })
}
