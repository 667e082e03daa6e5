//! Watches the project's files.

use std::path::Path;
use std::sync::mpsc::Sender;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use crate::builder::Order;
use crate::error::ServeError;

/// Folders and files that are watched. Naming them keeps `target` and `dist` out, where builds
/// write all the time.
pub(crate) const WATCHED: [&str; 12] = [
    "lessons",
    "public",
    "style",
    "src",
    "crates",
    "tests/golden/lessons",
    "index.html",
    "build.rs",
    "Cargo.toml",
    "Cargo.lock",
    ".cargo",
    "rust-toolchain.toml",
];

/// Sends the paths that are written, made or removed, from now until the returned value is dropped.
/// A file that is only read, as every build does, is not among them.
///
/// # Errors
/// When the system cannot watch.
pub fn watch(project: &Path, orders: Sender<Order>) -> Result<RecommendedWatcher, ServeError> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        let Ok(event) = event else { return };
        if event.kind.is_modify() || event.kind.is_create() || event.kind.is_remove() {
            // An error means that the server is about to end.
            let _ = orders.send(Order::Changed(event.paths));
        }
    })?;
    for name in WATCHED {
        let path = project.join(name);
        if path.exists() {
            watcher.watch(&path, RecursiveMode::Recursive)?;
        }
    }
    Ok(watcher)
}
