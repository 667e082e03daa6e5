//! Ids that tie a label or a message to its control.

use std::sync::atomic::{AtomicUsize, Ordering};

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// An id that no other element of the page has.
pub(crate) fn fresh(prefix: &str) -> String {
    format!("{prefix}-w{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
