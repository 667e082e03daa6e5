//! `cargo xtask train`: trains a model that the lessons ship (`crates/train`).

use std::process::ExitCode;

use crate::failure::Failure;
use crate::process::{cargo, run};
use crate::system::{self, Need};

/// Each step of training takes the same large pieces of memory and gives them back. Unless told
/// otherwise, glibc's allocator has the system take them away and clear them anew each time, page
/// by page, which was a third of the time. Other allocators read none of these.
const KEEP_MEMORY: [(&str, &str); 3] = [
    ("MALLOC_MMAP_THRESHOLD_", "1073741824"),
    ("MALLOC_TRIM_THRESHOLD_", "4294967296"),
    ("MALLOC_TOP_PAD_", "67108864"),
];

/// Builds the trainer and has it do what the options say; paths are from the project's root.
///
/// # Errors
/// When there is no linker, or the trainer fails.
pub(crate) fn train(options: &[String]) -> Result<ExitCode, Failure> {
    system::ensure(&[Need::Linker])?;
    let trainer = ["--release", "--package", "train"];
    // Built by itself first: the compiler shall not keep memory.
    run(cargo().arg("build").args(trainer))?;
    run(cargo()
        .arg("run")
        .args(trainer)
        .arg("--")
        .args(options)
        .envs(KEEP_MEMORY))?;
    Ok(ExitCode::SUCCESS)
}
