//! The lab: a full-size model from the reader's disk, an address or a shape, run and looked into.

mod answers;
mod class_names;
mod download_offer;
mod inside;
mod lesson_cells;
mod message;
mod open;
mod patch_filters;
mod pictures;
mod requests;
mod sentences;
mod session;
mod stored_files;
mod text;
mod view;
mod window_heads;
mod windows;

use leptos::prelude::AnyView;

use crate::chunk::chunk;

/// Draws the lab.
pub(crate) type Draw = fn() -> AnyView;

chunk! {
    /// The lab is fetched when its page is first opened.
    lab: pub(crate) fn load() -> Draw = view::lab;
}
