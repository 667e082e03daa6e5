//! `cargo xtask serve`: from a bare machine to the running site.

use std::process::ExitCode;

use crate::failure::Failure;
use crate::process::{cargo, run, run_in_place, say};
use crate::system::{self, Need};
use crate::{npm, tools};

/// Makes sure of the linker and the wasm target, then runs the development server
/// (`crates/devserver`), which needs no other tool; without npm two vocabularies of the lesson on
/// tokens are missing. With `--release` Trunk builds and serves what
/// is published.
///
/// # Errors
/// When something cannot be installed or built, or the server fails.
pub(crate) fn serve(options: &[String]) -> Result<ExitCode, Failure> {
    if options.iter().any(|option| option == "--release") {
        return serve_release(options);
    }
    say("[1/5] looking for a C linker and the wasm target");
    system::ensure(&[Need::Linker])?;
    tools::ensure_target()?;
    if let Err(failure) = npm::ensure() {
        say(format!(
            "the site is served without the vocabularies of GPT-2 and BERT: {failure}"
        ));
    }
    say("[2/5] compiling the development server");
    let server = ["--quiet", "--package", "devserver"];
    run(cargo().args(["build", "--package", "devserver"]))?;
    run_in_place(cargo().arg("run").args(server).arg("--").args(options))?;
    Ok(ExitCode::SUCCESS)
}

/// Serves a release build with Trunk.
fn serve_release(options: &[String]) -> Result<ExitCode, Failure> {
    system::ensure(&[Need::Linker])?;
    tools::ensure()?;
    say("building the release and serving it on http://127.0.0.1:8080 (Ctrl-C stops it)");
    run(tools::trunk().arg("serve").args(options))?;
    Ok(ExitCode::SUCCESS)
}
