//! What markup says where elements have properties.
//!
//! A served page has no script that would set what a box holds, so there the markup says it. In the
//! browser nothing of this is left.

use leptos::prelude::*;

/// What a box holds, as an attribute of its markup; nothing in the browser.
pub(crate) fn in_markup<T>(value: impl FnOnce() -> T) -> Option<T> {
    cfg!(not(target_arch = "wasm32")).then(|| untrack(value))
}
