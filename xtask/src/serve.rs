//! `cargo xtask serve`: from a bare machine to the running site.

use std::process::ExitCode;

use crate::failure::Failure;
use crate::process::{run, say};
use crate::system::{self, Need};
use crate::tools;

/// Installs what is missing, then runs `trunk serve` with the given further options.
///
/// # Errors
/// When something cannot be installed or Trunk fails.
pub(crate) fn serve(options: &[String]) -> Result<ExitCode, Failure> {
    system::ensure(&[Need::Linker])?;
    tools::ensure()?;
    say("building the site and serving it on http://127.0.0.1:8080 (Ctrl-C stops it)");
    run(tools::trunk().arg("serve").args(options))?;
    Ok(ExitCode::SUCCESS)
}
