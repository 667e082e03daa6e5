//! The steps of the tests.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::count::Outcome;
use super::wasm::{
    clippy_wasm, clippy_workers, kernels_plain, kernels_relaxed, kernels_simd128, reference_wasm,
    web,
};
use crate::failure::Failure;
use crate::process::{cargo, run_and_read};
use crate::system::{self, Need};
use crate::{build, deny, nightly, project};

/// One step of `cargo xtask test`.
pub(super) struct Step {
    /// The name that `--only` takes.
    pub(super) name: &'static str,
    /// What it checks.
    pub(super) title: &'static str,
    /// System packages that it needs beside a linker.
    pub(super) needs: &'static [Need],
    /// Whether it compiles for wasm, and so needs the tools of the site.
    pub(super) wasm: bool,
    /// When it runs.
    pub(super) lane: Lane,
    /// Runs it.
    pub(super) run: fn() -> Result<Outcome, Failure>,
}

/// The part of a run that a step belongs to. Two steps at a time keep a second core busy while one
/// of them links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// One after the other, printing as it goes.
    Front,
    /// Meanwhile, one after the other, printed when the front is through. It writes to other
    /// folders of `target`.
    Beside,
    /// After both, alone.
    Last,
}

/// All steps, in the order of the summary.
pub(super) const ALL: &[Step] = &[
    Step {
        name: "fmt",
        title: "formatting",
        needs: &[],
        wasm: false,
        lane: Lane::Front,
        run: fmt,
    },
    Step {
        name: "deny",
        title: "licences, bans and sources of all crates, and known advisories where their database can be had",
        needs: &[],
        wasm: false,
        lane: Lane::Beside,
        run: licences,
    },
    Step {
        name: "clippy",
        title: "clippy with warnings denied, natively",
        needs: &[],
        wasm: false,
        lane: Lane::Front,
        run: clippy,
    },
    Step {
        name: "clippy-wasm",
        title: "clippy with warnings denied, for the browser, where calls that panic there are banned",
        needs: &[],
        wasm: true,
        lane: Lane::Front,
        run: clippy_wasm,
    },
    Step {
        name: "clippy-workers",
        title: "the same for each of the worker's builds: every feature, relaxed SIMD",
        needs: &[],
        wasm: true,
        lane: Lane::Front,
        run: clippy_workers,
    },
    Step {
        name: "doc",
        title: "documentation with warnings denied",
        needs: &[],
        wasm: false,
        lane: Lane::Front,
        run: documentation,
    },
    Step {
        name: "native",
        title: "native tests of every crate, content checks and documentation examples",
        needs: &[],
        wasm: false,
        lane: Lane::Front,
        run: native,
    },
    Step {
        name: "miri",
        title: "unsafe code of the kernels under Miri, which knows undefined behaviour",
        needs: &[],
        wasm: false,
        lane: Lane::Front,
        run: miri,
    },
    Step {
        name: "kernels-plain",
        title: "the kernels against the reference loops in the browser, without SIMD",
        needs: &[Need::Browser],
        wasm: true,
        lane: Lane::Front,
        run: kernels_plain,
    },
    Step {
        name: "kernels-simd128",
        title: "the same with SIMD, and gradients",
        needs: &[Need::Browser],
        wasm: true,
        lane: Lane::Front,
        run: kernels_simd128,
    },
    Step {
        name: "kernels-relaxed",
        title: "the same with relaxed SIMD",
        needs: &[Need::Browser],
        wasm: true,
        lane: Lane::Front,
        run: kernels_relaxed,
    },
    Step {
        name: "reference-wasm",
        title: "GPT-2 and ViT at full size against PyTorch, in the browser, with SIMD and with relaxed SIMD",
        needs: &[Need::Browser],
        wasm: true,
        lane: Lane::Front,
        run: reference_wasm,
    },
    Step {
        name: "web",
        title: "the site's components in the browser",
        needs: &[Need::Browser],
        wasm: true,
        lane: Lane::Front,
        run: web,
    },
    Step {
        name: "build",
        title: "the release build into dist/",
        needs: &[Need::Node],
        wasm: true,
        lane: Lane::Beside,
        run: release_build,
    },
    Step {
        name: "sizes",
        title: "the size budget of the release build",
        needs: &[],
        wasm: false,
        lane: Lane::Beside,
        run: size_budget,
    },
    Step {
        name: "e2e",
        title: "the built site, at the root and in a sub-folder, through WebDriver; axe-core",
        needs: &[Need::Browser, Need::Node],
        wasm: false,
        lane: Lane::Last,
        run: end_to_end,
    },
    Step {
        name: "smoke",
        title: "the built site in Firefox and in WebKitGTK, where they are on this machine",
        needs: &[Need::Browser],
        wasm: false,
        lane: Lane::Last,
        run: smoke,
    },
];

/// Runs a check that is one test by itself.
pub(super) fn check(command: &mut Command) -> Result<Outcome, Failure> {
    run_and_read(command).map(|(succeeded, output)| Outcome::of_check(succeeded, &output))
}

/// Runs native tests, which append those that they skip to a file.
fn tests(command: &mut Command) -> Result<Outcome, Failure> {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let records = project::target().join(format!("skipped-tests-{run}.txt"));
    // Of a run before.
    let _ = std::fs::remove_file(&records);
    let (succeeded, output) = run_and_read(command.env(skip::VARIABLE, &records))?;
    // No test was skipped where there is no file.
    let recorded = std::fs::read_to_string(&records).unwrap_or_default();
    let recorded = skip::from_records(&recorded);
    Ok(Outcome::of_tests(succeeded, &output, recorded))
}

fn fmt() -> Result<Outcome, Failure> {
    check(&mut crate::fmt::rustfmt(true)?)
}

fn licences() -> Result<Outcome, Failure> {
    deny::ensure()?;
    let mut outcome = Outcome::default();
    for what in ["licenses", "bans", "sources"] {
        outcome = outcome + check(deny::command_line().args(["check", what]))?;
    }
    let has_database = run_and_read(deny::command_line().args(["fetch", "db"]))?.0;
    let advisories = if has_database {
        check(deny::command_line().args(["check", "advisories"]))?
    } else {
        Outcome::one_skipped("advisories", "the database of advisories cannot be had")
    };
    Ok(outcome + advisories)
}

fn clippy() -> Result<Outcome, Failure> {
    let deny = ["--", "-D", "warnings"];
    let all = check(
        cargo()
            .args(["clippy", "--workspace", "--all-targets"])
            .args(deny),
    )?;
    // `--all-targets` leaves out targets that plain `cargo test` leaves out.
    let browsers = check(
        cargo()
            .args(["clippy", "--workspace", "--test", "e2e", "--test", "smoke"])
            .args(deny),
    )?;
    Ok(all + browsers)
}

fn documentation() -> Result<Outcome, Failure> {
    check(
        cargo()
            .args(["doc", "--workspace", "--no-deps"])
            .env("RUSTDOCFLAGS", "-Dwarnings"),
    )
}

fn native() -> Result<Outcome, Failure> {
    tests(cargo().args(["test", "--workspace", "--no-fail-fast"]))
}

/// The command is explained in `crates/kernel/src/lib.rs`.
fn miri() -> Result<Outcome, Failure> {
    let Some(toolchain) = nightly::with_miri() else {
        return Ok(Outcome::one_skipped(
            "the kernels under Miri",
            "no nightly compiler with Miri can be had",
        ));
    };
    tests(
        nightly::cargo(toolchain)
            .args(["miri", "test", "--package", "kernel"])
            // The other implementations need instructions that Miri does not know, or are safe
            // code.
            .args(["--lib", "--test", "kernels", "--", "portable", "threads"])
            .args(["--skip", "portable_avx2"])
            // The threads of the pool run until the program ends.
            .env("MIRIFLAGS", "-Zmiri-ignore-leaks -Zmiri-disable-isolation"),
    )
}

fn release_build() -> Result<Outcome, Failure> {
    build::build("./").map(|()| Outcome::of_check(true, ""))
}

/// Each measured thing is one check; the program counts them as tests.
fn size_budget() -> Result<Outcome, Failure> {
    tests(&mut build::sizes()?)
}

fn end_to_end() -> Result<Outcome, Failure> {
    system::ensure_headless_shell();
    of_built_site("e2e")
}

/// Each browser that is not on this machine counts as skipped tests; none of them is installed.
fn smoke() -> Result<Outcome, Failure> {
    of_built_site("smoke")
}

/// Runs the tests of a target that drives browsers over the built site.
fn of_built_site(target: &str) -> Result<Outcome, Failure> {
    if !project::dist().join("index.html").is_file() {
        return Err(Failure::new(
            "there is no built site in dist/; run the step `build` first",
        ));
    }
    // `--workspace` with the same features as the native tests: nothing is compiled twice.
    let mut test = cargo();
    test.args(["test", "--workspace", "--test", target]);
    system::name_lightest_browser(&mut test);
    tests(&mut test)
}
