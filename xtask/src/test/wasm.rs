//! The steps that compile for the browser.
//!
//! Cargo compiles a crate once for each set of features and flags. Steps with the same flags
//! therefore name the same packages and features, and differ only in the tests that they choose.

use std::process::Command;

use super::count::Outcome;
use super::steps::check;
use crate::failure::Failure;
use crate::process::{cargo, run_and_read};
use crate::project::{self, WASM_TARGET};
use crate::system;

/// Flags for relaxed SIMD, in place of those of `.cargo/config.toml`.
const RELAXED: &str = "-Ctarget-feature=+simd128,+relaxed-simd";

/// The same for the checks by clippy, which look at the site too: with the other flag of
/// `.cargo/config.toml`.
const CLIPPY_FLAGS: &str = "-Ctarget-feature=+simd128,+relaxed-simd --cfg erase_components";

/// Flags without SIMD.
const PLAIN: &str = "-Ctarget-feature=-simd128";

/// Packages and features of the tests with SIMD, whose flags are those of `.cargo/config.toml`.
const SIMD128_PACKAGES: &[&str] = &[
    "-p",
    "kernel",
    "-p",
    "engine",
    "-p",
    "transformer-notebook",
    "--features",
    "engine/reference-wasm",
];

/// Packages and features of the tests with relaxed SIMD.
const RELAXED_PACKAGES: &[&str] = &[
    "-p",
    "kernel",
    "-p",
    "engine",
    "--features",
    "kernel/relaxed-simd,engine/relaxed-simd,engine/reference-wasm",
];

/// Tests of kernels and of what is made of them, which run with every kind of SIMD.
const KERNEL_TESTS: &[&str] = &["--test", "kernels_wasm", "--test", "invariants_wasm"];

pub(super) fn clippy_wasm() -> Result<Outcome, Failure> {
    let packages = [
        "-p",
        "transformer-notebook",
        "-p",
        "worker",
        "-p",
        "engine",
        "-p",
        "kernel",
        "-p",
        "cells",
    ];
    check(&mut clippy(&packages))
}

/// The worker with each of its features alone, as the site's files are built, and all of it with
/// the kernels of relaxed SIMD.
pub(super) fn clippy_workers() -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    for feature in worker_features()? {
        let feature = ["--no-default-features", "--features", &feature];
        let build = [&["-p", "worker", "--bin", "worker"], &feature[..]].concat();
        outcome = outcome + check(&mut clippy(&build))?;
    }
    let relaxed = [
        "-p",
        "kernel",
        "-p",
        "worker",
        "--features",
        "kernel/relaxed-simd,worker/relaxed-simd",
    ];
    Ok(outcome + check(&mut clippy(&relaxed))?)
}

/// The features of the worker that say what a file of it can do.
fn worker_features() -> Result<Vec<String>, Failure> {
    let path = project::root().join("crates/worker/Cargo.toml");
    let text =
        std::fs::read_to_string(&path).map_err(|error| Failure::file("read", &path, &error))?;
    let features = features_of(&text);
    if features.is_empty() {
        return Err(Failure::new("the worker has no features to check"));
    }
    Ok(features)
}

/// The keys of the table `[features]` in a manifest, without the default and the flag for relaxed
/// SIMD.
fn features_of(manifest: &str) -> Vec<String> {
    let lines = manifest
        .lines()
        .skip_while(|line| line.trim() != "[features]")
        .skip(1)
        .take_while(|line| !line.starts_with('['));
    lines
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.trim())
        .filter(|name| !name.starts_with('#') && !["default", "relaxed-simd"].contains(name))
        .map(str::to_owned)
        .collect()
}

/// Clippy with warnings denied for the browser, with the list of calls that panic there. All checks
/// have the flags of relaxed SIMD, where everything of SIMD128 is compiled too, so that no
/// dependency is checked twice.
fn clippy(arguments: &[&str]) -> Command {
    let mut clippy = cargo();
    clippy
        .args(["clippy", "--target", WASM_TARGET])
        .args(arguments)
        .args(["--", "-D", "warnings"])
        .env("RUSTFLAGS", CLIPPY_FLAGS)
        .env("CLIPPY_CONF_DIR", project::root().join("xtask/clippy-wasm"));
    clippy
}

/// A `cargo test` for the browser.
fn browser_test(packages: &[&str], tests: &[&str]) -> Command {
    let mut test = cargo();
    test.args(["test", "--target", WASM_TARGET])
        .args(packages)
        .args(tests)
        .env("WASM_BINDGEN_TEST_TIMEOUT", "900");
    if let Some(driver) = system::driver() {
        test.env("CHROMEDRIVER", driver);
    }
    test
}

/// Runs tests in a browser, which write to its log what they skip.
fn tests(command: &mut Command) -> Result<Outcome, Failure> {
    let (succeeded, output) = run_and_read(command.args(["--", "--nocapture"]))?;
    let recorded = skip::from_output(&output);
    Ok(Outcome::of_tests(succeeded, &output, recorded))
}

pub(super) fn kernels_plain() -> Result<Outcome, Failure> {
    let tests_of_kernels = ["--test", "kernels_wasm"];
    tests(browser_test(&["-p", "kernel"], &tests_of_kernels).env("RUSTFLAGS", PLAIN))
}

pub(super) fn kernels_simd128() -> Result<Outcome, Failure> {
    let with_gradients = [KERNEL_TESTS, &["--test", "grad_wasm"]].concat();
    tests(&mut browser_test(SIMD128_PACKAGES, &with_gradients))
}

pub(super) fn kernels_relaxed() -> Result<Outcome, Failure> {
    tests(browser_test(RELAXED_PACKAGES, KERNEL_TESTS).env("RUSTFLAGS", RELAXED))
}

/// The compiler puts the reference files into the test, which is therefore compiled only where they
/// are.
pub(super) fn reference_wasm() -> Result<Outcome, Failure> {
    let shared = skip::shared_folder();
    let has_files = shared.join("reference/gpt2.json").is_file();
    // A path that does not depend on where the compiler runs.
    let (true, Ok(shared)) = (has_files, shared.canonicalize()) else {
        let reason = "reference/gpt2.json is not in the shared folder";
        return Ok(Outcome::one_skipped("GPT-2 and ViT in the browser", reason));
    };
    let test = ["--test", "reference_wasm"];
    let simd128 = tests(browser_test(SIMD128_PACKAGES, &test).env(skip::SHARED, &shared))?;
    let mut relaxed = browser_test(RELAXED_PACKAGES, &test);
    relaxed.env("RUSTFLAGS", RELAXED).env(skip::SHARED, &shared);
    Ok(simd128 + tests(&mut relaxed)?)
}

pub(super) fn web() -> Result<Outcome, Failure> {
    tests(&mut browser_test(SIMD128_PACKAGES, &["--test", "web"]))
}

#[cfg(test)]
mod tests {
    use super::{features_of, worker_features};

    #[test]
    fn features_are_the_keys_of_their_table() {
        let manifest = "[features]\n# a note = not a key\ndefault = [\"b\"]\na = []\nb = [\"a\"]\n\
            relaxed-simd = []\n\n[dependencies]\nc = \"1\"\n";
        assert_eq!(features_of(manifest), ["a", "b"]);
        assert!(worker_features().is_ok_and(|features| features.len() > 1));
    }
}
