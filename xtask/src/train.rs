//! `cargo xtask train`: trains a model that the lessons ship (`crates/train`).

use std::process::ExitCode;

use crate::failure::Failure;
use crate::process::{cargo, run};
use crate::system::{self, Need};

/// Builds the trainer and has it do what the options say; paths are from the project's root.
///
/// # Errors
/// When there is no linker, or the trainer fails.
pub(crate) fn train(options: &[String]) -> Result<ExitCode, Failure> {
    system::ensure(&[Need::Linker])?;
    run(cargo()
        .args(["run", "--release", "--package", "train", "--"])
        .args(options))?;
    Ok(ExitCode::SUCCESS)
}
