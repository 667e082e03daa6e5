//! The two npm packages: binaryen (wasm-opt) and axe-core, pinned in `tests/package-lock.json`.

use std::path::PathBuf;

use crate::failure::Failure;
use crate::process::{command, run, say};
use crate::project;

fn folder() -> PathBuf {
    project::root().join("tests")
}

/// Installs the locked packages into `tests/node_modules`, unless they are there already.
///
/// # Errors
/// When npm fails.
pub(crate) fn ensure() -> Result<(), Failure> {
    let lock = folder().join("package-lock.json");
    let wanted = std::fs::read(&lock).map_err(|error| Failure::file("read", &lock, &error))?;
    let stamp = folder().join("node_modules/.installed-lock.json");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    say("installing the locked npm packages: binaryen (wasm-opt) and axe-core");
    run(command("npm").current_dir(folder()).args([
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
