//! The nightly compiler: release builds, threads and 64-bit addresses in the worker, and Miri need it.

use std::path::Path;
use std::process::Command;

use crate::process::{command, output_of, run, say};

/// The pinned version, which `crates/pages` reads from the same file.
pub(crate) const VERSION: &str = include_str!("../../nightly-toolchain").trim_ascii();

/// The compiler to make do with where the pinned one cannot be had.
const ANY: &str = "nightly";

/// Whether a toolchain is installed, with the source of the standard library.
pub(crate) fn is_there(name: &str) -> bool {
    let sysroot = output_of(command("rustup").args(["run", name, "rustc", "--print", "sysroot"]));
    sysroot.is_some_and(|path| {
        let source = "lib/rustlib/src/rust/library/std";
        Path::new(path.trim()).join(source).is_dir()
    })
}

/// Installs the pinned version where it is missing; says what happens where it cannot be had.
pub(crate) fn ensure() {
    if is_there(VERSION) {
        return;
    }
    say(format_args!(
        "installing Rust {VERSION}: the worker's builds with threads and with 64-bit addresses need it, and it makes every file smaller"
    ));
    let install = [
        "toolchain",
        "install",
        VERSION,
        "--profile",
        "minimal",
        "--component",
        "rust-src",
        "--no-self-update",
    ];
    if run(command("rustup").args(install)).is_err() {
        let instead = if is_there(ANY) {
            "the nightly that is here is used instead"
        } else {
            "the worker is built without threads and without 64-bit addresses"
        };
        say(format_args!("{VERSION} cannot be had: {instead}"));
    }
}

/// The name of the nightly toolchain to use; `None` where there is none.
pub(crate) fn name() -> Option<&'static str> {
    [VERSION, ANY].into_iter().find(|name| is_there(name))
}

/// A nightly toolchain with Miri, which is installed where it is missing; `None` where it cannot be
/// had.
pub(crate) fn with_miri() -> Option<&'static str> {
    ensure();
    let toolchain = name()?;
    let has_miri = || output_of(cargo(toolchain).args(["miri", "--version"])).is_some();
    if !has_miri() {
        say("installing Miri, which runs the kernels' tests and knows undefined behaviour");
        let add = ["component", "add", "miri", "--toolchain", toolchain];
        run(command("rustup").args(add)).ok()?;
    }
    has_miri().then_some(toolchain)
}

/// The cargo of a toolchain.
pub(crate) fn cargo(toolchain: &str) -> Command {
    let mut cargo = command("rustup");
    // Set by the cargo that runs this program, of another toolchain.
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        cargo.env_remove(name);
    }
    cargo.args(["run", toolchain, "cargo"]);
    cargo
}
