//! The real content for this crate's tests, loaded once: the values that its sentences quote take the
//! engine half a minute.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::catalog::Cells;
use crate::content::Content;

/// The project's root.
pub(crate) fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The cells, and the files beside them.
pub(crate) fn catalog() -> Cells {
    Cells {
        public: project().join("public"),
    }
}

/// All pages.
pub(crate) fn content() -> &'static Content {
    static CONTENT: OnceLock<Content> = OnceLock::new();
    CONTENT.get_or_init(|| {
        Content::load(&project(), &catalog(), false).unwrap_or_else(|e| panic!("{e}"))
    })
}
