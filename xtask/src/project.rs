//! Where things lie in the project.

use std::path::{Path, PathBuf};

/// The project's root folder.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// The folder of the built site.
pub(crate) fn dist() -> PathBuf {
    root().join("dist")
}

/// The target triple of everything that runs in the browser.
pub(crate) const WASM_TARGET: &str = "wasm32-unknown-unknown";
