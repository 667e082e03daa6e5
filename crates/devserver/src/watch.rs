//! Watches the project's files.

use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_mini::{DebounceEventResult, Debouncer, new_debouncer};

use crate::builder::Order;
use crate::error::ServeError;

/// Wait after the first change of a save for the rest of it: an editor writes, renames and sets the
/// date.
const SETTLED: Duration = Duration::from_millis(60);

/// Folders and files that are watched. Naming them keeps `target` and `dist` out, where builds
/// write all the time.
const WATCHED: [&str; 12] = [
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

/// Sends the paths that change, from now until the returned value is dropped.
///
/// # Errors
/// When the system cannot watch.
pub fn watch(
    project: &Path,
    orders: Sender<Order>,
) -> Result<Debouncer<RecommendedWatcher>, ServeError> {
    let mut debouncer = new_debouncer(SETTLED, move |changes: DebounceEventResult| {
        let Ok(changes) = changes else { return };
        let paths: Vec<PathBuf> = changes.into_iter().map(|change| change.path).collect();
        // An error means that the server is about to end.
        let _ = orders.send(Order::Changed(paths));
    })?;
    for name in WATCHED {
        let path = project.join(name);
        if path.exists() {
            debouncer.watcher().watch(&path, RecursiveMode::Recursive)?;
        }
    }
    Ok(debouncer)
}
