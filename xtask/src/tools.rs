//! Rust tools: the wasm target, Trunk and the wasm-bindgen programs, each of the version that this
//! project needs.

use std::process::Command;

use crate::failure::Failure;
use crate::process::{cargo, command, find_program, output_of, run, say};
use crate::project::WASM_TARGET;
use crate::{lock, nightly, system};

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

/// Makes sure of the standard library for the browser.
///
/// # Errors
/// When it is missing and cannot be added.
pub(crate) fn ensure_target() -> Result<(), Failure> {
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

/// The wasm-bindgen program must be of exactly the locked library's version: they share an unstable
/// format.
fn ensure_wasm_bindgen() -> Result<(), Failure> {
    let version = lock::version_of("wasm-bindgen")?;
    let is_there = || {
        has_version("wasm-bindgen", &version) && find_program("wasm-bindgen-test-runner").is_some()
    };
    if is_there() {
        return Ok(());
    }
    say(format_args!(
        "installing wasm-bindgen-cli {version}: it runs the tests in the browser and serves Trunk"
    ));
    if ready_made("wasm-bindgen-cli", "wasm-bindgen", &version) && is_there() {
        return Ok(());
    }
    // It reads large files, and often.
    let level = "1";
    if compile("wasm-bindgen-cli", &version, level, true).is_ok() {
        return Ok(());
    }
    say(
        "its own lock file names a release that cannot be had here; trying again with the newest that fit",
    );
    compile("wasm-bindgen-cli", &version, level, false)
}

fn ensure_trunk() -> Result<(), Failure> {
    if has_version("trunk", TRUNK_VERSION) {
        return Ok(());
    }
    say(format_args!(
        "installing Trunk {TRUNK_VERSION}: it builds the site that is published"
    ));
    if ready_made("trunk", "trunk", TRUNK_VERSION) && has_version("trunk", TRUNK_VERSION) {
        return Ok(());
    }
    // It calls other programs and copies files.
    compile("trunk", TRUNK_VERSION, "0", true)
}

fn has_version(program: &str, version: &str) -> bool {
    find_program(program).is_some()
        && output_of(command(program).arg("--version"))
            .is_some_and(|text| text.split_whitespace().any(|word| word == version))
}

/// Gets a program that others have compiled, where one can be had: from the system's packages, or
/// through `cargo binstall` where that is installed. Whether either did.
fn ready_made(package: &str, system_package: &str, version: &str) -> bool {
    if system::install_version(system_package, version) {
        return true;
    }
    if find_program("cargo-binstall").is_none() {
        return false;
    }
    // Compiling is left to us: it is done in a quicker profile.
    let without = ["--no-confirm", "--disable-strategies", "compile"];
    let wanted = format!("{package}@{version}");
    run(cargo().arg("binstall").args(without).arg(wanted)).is_ok()
}

/// Compiles a program, quickly: its speed matters less than the wait for it. `level` is how much the
/// compiler optimises, as cargo's `opt-level` says it.
fn compile(package: &str, version: &str, level: &str, locked: bool) -> Result<(), Failure> {
    say(format_args!(
        "{package} {version} cannot be had ready-made here, so it is compiled, once"
    ));
    let mut install = cargo();
    install.args(["install", package, "--version", version]);
    if locked {
        install.arg("--locked");
    }
    install.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level);
    for (name, value) in QUICK_PROFILE {
        install.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
    }
    // A toolchain file of this project or flags of the caller must not change how a tool is built.
    install.env_remove("RUSTFLAGS");
    run(&mut install)
}

/// Profile for compiling tools: they ask for whole-program optimisation, which costs minutes and
/// gains nothing here.
const QUICK_PROFILE: [(&str, &str); 3] = [("LTO", "off"), ("CODEGEN_UNITS", "16"), ("DEBUG", "0")];
