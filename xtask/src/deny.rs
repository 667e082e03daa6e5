//! cargo-deny, which checks licences, bans and sources of all crates.

use std::process::Command;

use crate::failure::Failure;
use crate::process::{command, find_program, say};
use crate::tools;

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
    if tools::ready_made("cargo-deny", "cargo-deny", VERSION) {
        return Ok(());
    }
    // It runs for a second.
    tools::compile("cargo-deny", VERSION, "0", true)
}

/// A `cargo deny` command.
pub(crate) fn command_line() -> Command {
    command("cargo-deny")
}
