//! The picture that an opened model has read, as a context of the cells that look at it.

use std::sync::Arc;

use cells::input::Pixels;
use leptos::prelude::*;

/// The picture, cut as the model cuts it.
#[derive(Clone, Copy)]
pub(crate) struct OpenedPicture {
    /// Scaled and cropped for the model.
    pub(crate) pixels: Signal<Option<Arc<Pixels>>>,
    /// Side of a patch in its pixels.
    pub(crate) patch: Signal<usize>,
    /// Tokens before those of the patches.
    pub(crate) before: Signal<usize>,
}
