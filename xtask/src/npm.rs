//! The npm packages, pinned in `package-lock.json`: binaryen (wasm-opt) and axe-core in `tests`, and
//! Lighthouse in a folder of the benchmark, because tests do without it.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::process::{command, run, say};
use crate::project;

fn folder() -> PathBuf {
    project::root().join("tests")
}

/// Installs the packages that build and tests need, unless they are there already.
///
/// # Errors
/// When npm fails.
pub(crate) fn ensure() -> Result<(), Failure> {
    ensure_in(&folder(), "binaryen (wasm-opt) and axe-core")
}

/// Installs Lighthouse, unless it is there already.
///
/// # Errors
/// When npm fails.
pub(crate) fn ensure_lighthouse() -> Result<(), Failure> {
    ensure_in(
        &project::root().join("crates/bench/lighthouse"),
        "Lighthouse",
    )
}

fn ensure_in(folder: &Path, names: &str) -> Result<(), Failure> {
    let lock = folder.join("package-lock.json");
    let wanted = std::fs::read(&lock).map_err(|error| Failure::file("read", &lock, &error))?;
    let stamp = folder.join("node_modules/.installed-lock.json");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    say(format!("installing the locked npm packages: {names}"));
    run(command("npm").current_dir(folder).args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
    ]))?;
    std::fs::write(&stamp, wanted).map_err(|error| Failure::file("write", &stamp, &error))
}

/// The wasm-opt program of the installed binaryen.
pub(crate) fn wasm_opt() -> PathBuf {
    folder().join("node_modules/.bin/wasm-opt")
}
