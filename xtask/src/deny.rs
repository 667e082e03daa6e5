//! cargo-deny, which checks licences, bans and sources of all crates.

use std::process::Command;

use crate::failure::Failure;
use crate::process::{cargo, command, find_program, run, say};

/// The version that `deny.toml` is written for.
const VERSION: &str = "0.20.2";

/// Installs it where it is missing.
///
/// # Errors
/// When it is missing and cannot be installed.
pub(crate) fn ensure() -> Result<(), Failure> {
    if find_program("cargo-deny").is_some() {
        return Ok(());
    }
    say(format_args!(
        "installing cargo-deny {VERSION}: it checks the licences of all crates (this takes some minutes once)"
    ));
    if find_program("cargo-binstall").is_some() {
        let prebuilt = [
            "binstall",
            "--no-confirm",
            "cargo-deny",
            "--version",
            VERSION,
        ];
        if run(cargo().args(prebuilt)).is_ok() {
            return Ok(());
        }
    }
    // Compiled quickly: it runs for a second.
    run(cargo()
        .args(["install", "cargo-deny", "--locked", "--version", VERSION])
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env_remove("RUSTFLAGS"))
}

/// A `cargo deny` command.
pub(crate) fn command_line() -> Command {
    command("cargo-deny")
}
