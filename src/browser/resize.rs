//! A call whenever elements change their size.

use leptos::prelude::on_cleanup;
use leptos::prelude::{StoredValue, WithValue};
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::closure::Closure;
use leptos::web_sys::{Element, ResizeObserver};

/// Calls `seen` after the browser has laid out any of these elements anew, until the current owner
/// is gone. The first call comes after the first layout.
pub(crate) fn on_resize<'a>(
    elements: impl IntoIterator<Item = &'a Element>,
    seen: impl FnMut() + 'static,
) {
    let seen = Closure::<dyn FnMut()>::new(seen);
    if let Ok(observer) = ResizeObserver::new(seen.as_ref().unchecked_ref()) {
        for element in elements {
            observer.observe(element);
        }
        let kept = StoredValue::new_local((observer, seen));
        on_cleanup(move || {
            kept.try_with_value(|(observer, _)| observer.disconnect());
        });
    }
}
