//! Labels whose symbols are set as mathematics.

use cells::symbols::html;
use leptos::prelude::*;

/// A label: what it has between dollar signs becomes a formula, which assistive technology reads in
/// words.
pub(crate) fn set(label: &str) -> AnyView {
    view! { <span data-label="" inner_html=html(label)></span> }.into_any()
}
