//! The page that measures full-size models on this device.

mod measure;
mod table;
mod view;

use leptos::prelude::AnyView;

use crate::chunk::chunk;

/// Draws the bench.
pub(crate) type Draw = fn() -> AnyView;

chunk! {
    /// The bench is fetched when its page is first opened.
    bench: pub(crate) fn load() -> Draw = view::bench;
}
