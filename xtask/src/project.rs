//! Where things lie in the project.

use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The project's root folder.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// The folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The folder of the built site.
pub(crate) fn dist() -> PathBuf {
    root().join("dist")
}

/// All files under a folder, sorted.
///
/// # Errors
/// When a folder cannot be read.
pub(crate) fn files_under(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let fail = |error| Failure::file("read", folder, &error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_dir() {
            files.extend(files_under(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The target triple of everything that runs in the browser.
pub(crate) const WASM_TARGET: &str = "wasm32-unknown-unknown";
