//! What each step of the tests runs.

use std::process::Command;

use super::count::Outcome;
use crate::failure::Failure;
use crate::process::{cargo, run_and_read};
use crate::project::{self, WASM_TARGET};
use crate::system::{self, Need};
use crate::{build, sizes};

/// One step of `cargo xtask test`.
pub(super) struct Step {
    /// What `--only` takes.
    pub(super) name: &'static str,
    /// What it checks.
    pub(super) title: &'static str,
    /// System packages that it needs beside a linker.
    pub(super) needs: &'static [Need],
    /// Runs it.
    pub(super) run: fn() -> Result<Outcome, Failure>,
}

/// All steps, in the order in which they run: quick ones first.
pub(super) const ALL: &[Step] = &[
    Step {
        name: "fmt",
        title: "formatting",
        needs: &[],
        run: fmt,
    },
    Step {
        name: "clippy",
        title: "clippy with warnings denied, natively",
        needs: &[],
        run: clippy,
    },
    Step {
        name: "clippy-wasm",
        title: "clippy with warnings denied, for the browser, where calls that panic there are banned",
        needs: &[],
        run: clippy_wasm,
    },
    Step {
        name: "native",
        title: "native tests of every crate, content checks and documentation examples",
        needs: &[],
        run: native,
    },
    Step {
        name: "kernels-simd128",
        title: "the kernels against the reference loops in the browser, with SIMD",
        needs: &[Need::Browser],
        run: kernels_simd128,
    },
    Step {
        name: "kernels-relaxed",
        title: "the same with relaxed SIMD",
        needs: &[Need::Browser],
        run: kernels_relaxed,
    },
    Step {
        name: "reference-wasm",
        title: "GPT-2 and ViT at full size against PyTorch, in the browser, with SIMD and with relaxed SIMD",
        needs: &[Need::Browser],
        run: reference_wasm,
    },
    Step {
        name: "web",
        title: "the site's components in the browser",
        needs: &[Need::Browser],
        run: web,
    },
    Step {
        name: "build",
        title: "the release build into dist/",
        needs: &[Need::Node],
        run: release_build,
    },
    Step {
        name: "sizes",
        title: "the size budget of the release build",
        needs: &[],
        run: size_budget,
    },
    Step {
        name: "e2e",
        title: "the built site, at the root and in a sub-folder, through WebDriver; axe-core",
        needs: &[Need::Browser, Need::Node],
        run: end_to_end,
    },
];

fn check(command: &mut Command) -> Result<Outcome, Failure> {
    run_and_read(command).map(|(succeeded, _)| Outcome::of_check(succeeded))
}

/// Runs native tests, which append those that they skip to a file.
fn tests(command: &mut Command) -> Result<Outcome, Failure> {
    let records = project::root().join("target/skipped-tests.txt");
    // Of a run before.
    let _ = std::fs::remove_file(&records);
    let (succeeded, output) = run_and_read(command.env(skip::VARIABLE, &records))?;
    // No test was skipped where there is no file.
    let recorded = std::fs::read_to_string(&records).unwrap_or_default();
    let recorded = skip::from_records(&recorded);
    Ok(Outcome::of_tests(succeeded, &output, recorded))
}

/// Runs tests in a browser, which write to its log what they skip.
fn tests_in_browser(command: &mut Command) -> Result<Outcome, Failure> {
    let (succeeded, output) = run_and_read(command)?;
    let recorded = skip::from_output(&output);
    Ok(Outcome::of_tests(succeeded, &output, recorded))
}

fn fmt() -> Result<Outcome, Failure> {
    check(&mut crate::fmt::rustfmt(true)?)
}

fn clippy() -> Result<Outcome, Failure> {
    let deny = ["--", "-D", "warnings"];
    let all = check(
        cargo()
            .args(["clippy", "--workspace", "--all-targets"])
            .args(deny),
    )?;
    // `--all-targets` leaves out a target that plain `cargo test` leaves out.
    let e2e = check(
        cargo()
            .args(["clippy", "--workspace", "--test", "e2e"])
            .args(deny),
    )?;
    Ok(all + e2e)
}

fn clippy_wasm() -> Result<Outcome, Failure> {
    check(
        cargo()
            .args([
                "clippy",
                "--target",
                WASM_TARGET,
                "-p",
                "transformer-notebook",
                "-p",
                "worker",
                "-p",
                "engine",
                "-p",
                "cells",
            ])
            .args(["--", "-D", "warnings"])
            .env("CLIPPY_CONF_DIR", project::root().join("xtask/clippy-wasm")),
    )
}

fn native() -> Result<Outcome, Failure> {
    tests(cargo().args(["test", "--workspace", "--no-fail-fast"]))
}

/// A `cargo test` for the browser.
fn browser_test(arguments: &[&str]) -> Command {
    let mut test = cargo();
    test.args(["test", "--target", WASM_TARGET]).args(arguments);
    if let Some(driver) = system::driver() {
        test.env("CHROMEDRIVER", driver);
    }
    test
}

fn kernels_simd128() -> Result<Outcome, Failure> {
    tests_in_browser(&mut browser_test(&[
        "-p",
        "kernel",
        "-p",
        "engine",
        "--test",
        "kernels_wasm",
        "--test",
        "invariants_wasm",
    ]))
}

/// Flags for relaxed SIMD, in place of those of `.cargo/config.toml`.
const RELAXED: &str = "-Ctarget-feature=+simd128,+relaxed-simd";

fn kernels_relaxed() -> Result<Outcome, Failure> {
    let arguments = [
        "-p",
        "kernel",
        "-p",
        "engine",
        "--test",
        "kernels_wasm",
        "--test",
        "invariants_wasm",
        "--features",
        "relaxed-simd",
    ];
    tests_in_browser(browser_test(&arguments).env("RUSTFLAGS", RELAXED))
}

/// The reference files are outside the repository: in the folder that NOTEBOOK_SHARED names, or `shared` beside the repository.
fn reference_wasm() -> Result<Outcome, Failure> {
    let shared = skip::shared_folder();
    let files = shared.join("reference");
    // The compiler puts the files into the test, so that it needs a path that does not depend on where it runs.
    let (true, Ok(shared)) = (files.join("gpt2.json").is_file(), shared.canonicalize()) else {
        let tests = "all four tests at full size";
        return Ok(Outcome::one_skipped(
            tests,
            "reference/gpt2.json is not in the shared folder",
        ));
    };
    let run = |features: &str, flags: Option<&str>| {
        let package = ["--release", "-p", "engine", "--test", "reference_wasm"];
        let mut test = browser_test(&package);
        test.args(["--features", features, "--", "--nocapture"])
            .env("NOTEBOOK_SHARED", &shared)
            .env("WASM_BINDGEN_TEST_TIMEOUT", "900");
        if let Some(flags) = flags {
            test.env("RUSTFLAGS", flags);
        }
        tests_in_browser(&mut test)
    };
    let simd = run("reference-wasm", None)?;
    let relaxed = run("reference-wasm,relaxed-simd", Some(RELAXED))?;
    Ok(simd + relaxed)
}

fn web() -> Result<Outcome, Failure> {
    tests_in_browser(&mut browser_test(&[
        "-p",
        "transformer-notebook",
        "--test",
        "web",
    ]))
}

fn release_build() -> Result<Outcome, Failure> {
    build::build("./").map(|()| Outcome::of_check(true))
}

/// Each measured file is one check.
fn size_budget() -> Result<Outcome, Failure> {
    Ok(sizes::measure()?
        .iter()
        .map(|size| Outcome::of_check(size.fits()))
        .fold(Outcome::default(), |sum, one| sum + one))
}

fn end_to_end() -> Result<Outcome, Failure> {
    if !project::dist().join("index.html").is_file() {
        return Err(Failure::new(
            "there is no built site in dist/; run the step `build` first",
        ));
    }
    // `--workspace` with the same features as the native tests: nothing is compiled twice.
    let mut test = cargo();
    test.args(["test", "--workspace", "--test", "e2e"]);
    for (name, program) in [
        ("CHROME", system::browser()),
        ("CHROMEDRIVER", system::driver()),
    ] {
        if let Some(program) = program {
            test.env(name, program);
        }
    }
    tests(&mut test)
}
