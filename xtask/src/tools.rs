//! Rust tools: the wasm target, Trunk and the wasm-bindgen programs, each of the version that this project needs.

use std::process::Command;

use crate::failure::Failure;
use crate::process::{cargo, command, find_program, output_of, run, say};
use crate::project::WASM_TARGET;
use crate::{lock, nightly};

/// Trunk's version: 0.22 needs a newer Rust than `rust-toolchain.toml` names.
const TRUNK_VERSION: &str = "0.21.14";

/// Makes sure that the site can be built: wasm target, Trunk, wasm-bindgen.
///
/// # Errors
/// When one of them is missing and its installation fails.
pub(crate) fn ensure() -> Result<(), Failure> {
    ensure_target()?;
    nightly::ensure();
    ensure_wasm_bindgen()?;
    ensure_trunk()
}

/// A `trunk` command.
pub(crate) fn trunk() -> Command {
    let mut trunk = command("trunk");
    // Trunk reads NO_COLOR as a truth value and stops at the "1" that other programs agree on.
    if std::env::var_os("NO_COLOR").is_some_and(|value| value != "false") {
        trunk.env("NO_COLOR", "true");
    }
    trunk
}

fn ensure_target() -> Result<(), Failure> {
    let library =
        output_of(command("rustc").args(["--print", "target-libdir", "--target", WASM_TARGET]));
    if library.is_some_and(|path| std::path::Path::new(path.trim()).is_dir()) {
        return Ok(());
    }
    say(format_args!(
        "adding the Rust target {WASM_TARGET}: the engine runs in the page as WebAssembly"
    ));
    run(command("rustup").args(["target", "add", WASM_TARGET]))
}

/// The wasm-bindgen program must be of exactly the locked library's version: they share an unstable format.
fn ensure_wasm_bindgen() -> Result<(), Failure> {
    let version = lock::version_of("wasm-bindgen")?;
    let there =
        has_version("wasm-bindgen", &version) && find_program("wasm-bindgen-test-runner").is_some();
    if there {
        return Ok(());
    }
    say(format_args!(
        "installing wasm-bindgen-cli {version}: it joins the wasm with JavaScript and runs browser tests"
    ));
    if install("wasm-bindgen-cli", &version, true).is_ok() {
        return Ok(());
    }
    say(
        "its own lock file names a release that cannot be had here; trying again with the newest that fit",
    );
    install("wasm-bindgen-cli", &version, false)
}

fn ensure_trunk() -> Result<(), Failure> {
    if has_version("trunk", TRUNK_VERSION) {
        return Ok(());
    }
    say(format_args!(
        "installing Trunk {TRUNK_VERSION}: it builds and serves the site (this takes some minutes once)"
    ));
    install("trunk", TRUNK_VERSION, true)
}

fn has_version(program: &str, version: &str) -> bool {
    find_program(program).is_some()
        && output_of(command(program).arg("--version"))
            .is_some_and(|text| text.split_whitespace().any(|word| word == version))
}

fn install(package: &str, version: &str, locked: bool) -> Result<(), Failure> {
    let mut install = cargo();
    install.args(["install", package, "--version", version]);
    if locked {
        install.arg("--locked");
    }
    // These tools ask for whole-program optimisation, which costs minutes and gains nothing here.
    install
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    // A toolchain file of this project or flags of the caller must not change how a tool is built.
    install.env_remove("RUSTFLAGS");
    run(&mut install)
}
