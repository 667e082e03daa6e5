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

/// The element-wise loops of the engine are compiled for this processor: with wider vectors, and
/// with the same bits, because the compiler joins no product and sum and changes the order of no
/// sum.
const FOR_THIS_PROCESSOR: (&str, &str) = ("RUSTFLAGS", "-C target-cpu=native");

/// Builds the trainer and has it do what the options say; paths are from the project's root.
///
/// # Errors
/// When there is no linker, or the trainer fails.
pub(crate) fn train(options: &[String]) -> Result<ExitCode, Failure> {
    system::ensure(&[Need::Linker])?;
    let trainer = ["--release", "--package", "train"];
    // Built by itself first: the compiler shall not keep memory.
    let cargo = || {
        let mut cargo = cargo();
        let (name, value) = FOR_THIS_PROCESSOR;
        cargo.env(name, value);
        cargo
    };
    run(cargo().arg("build").args(trainer))?;
    run(cargo()
        .arg("run")
        .args(trainer)
        .arg("--")
        .args(options)
        .envs(KEEP_MEMORY))?;
    Ok(ExitCode::SUCCESS)
}
