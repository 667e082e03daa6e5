//! `cargo xtask bench`: builds the site and has `crates/bench` measure full-size models in headless
//! Chromium.

use std::process::{Command, ExitCode};

use crate::failure::Failure;
use crate::process::{cargo, run};
use crate::system::{self, Need};
use crate::{build, npm, project, tools};

/// Builds the site unless `--no-build` is given, and measures what the other options choose.
///
/// # Errors
/// When an option is wrong, something cannot be installed or built, or the browser cannot be
/// driven.
pub(crate) fn command(options: &[String]) -> Result<ExitCode, Failure> {
    let builds = !options.iter().any(|option| option == "--no-build");
    let options: Vec<&String> = options
        .iter()
        .filter(|option| *option != "--no-build")
        .collect();
    if options
        .iter()
        .any(|option| *option == "--help" || *option == "-h")
    {
        run(driver().arg("--help"))?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.iter().any(|option| *option == "--loop") {
        system::ensure(&[Need::Linker, Need::Browser])?;
        tools::ensure_target()?;
        run(driver().args(&options))?;
        return Ok(ExitCode::SUCCESS);
    }
    system::ensure(&[Need::Linker, Need::Node, Need::Browser])?;
    // A wrong option is told before the site is built, which takes minutes.
    run(driver().args(&options).arg("--list"))?;
    if options.iter().any(|option| *option == "--lighthouse") {
        npm::ensure_lighthouse()?;
    }
    if builds {
        tools::ensure()?;
        npm::ensure()?;
        build::build("./")?;
    }
    run(driver().args(&options).arg("--dist").arg(project::dist()))?;
    Ok(ExitCode::SUCCESS)
}

/// The program that measures, with the browser that it drives.
fn driver() -> Command {
    let mut driver = cargo();
    driver.args(["run", "--quiet", "--package", "bench", "--"]);
    system::name_browser(&mut driver);
    driver
}
