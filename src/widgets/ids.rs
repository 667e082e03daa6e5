//! Ids that tie a label or a message to its control.

use std::sync::atomic::{AtomicUsize, Ordering};

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Begins the number of an id: another one in markup, which stands on the page beside elements.
const KIND: char = if cfg!(target_arch = "wasm32") {
    'w'
} else {
    'm'
};

/// An id that no other element of the page has.
pub(crate) fn fresh(prefix: &str) -> String {
    format!("{prefix}-{KIND}{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
