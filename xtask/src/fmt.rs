//! `cargo xtask fmt`: formats every source file, those that a macro declares included.

use std::process::{Command, ExitCode};

use crate::failure::Failure;
use crate::process::{cargo, run};
use crate::project;
use crate::project::files_under;

/// Folders whose files are declared by the list of cells, where `cargo fmt` does not find them.
const DECLARED_BY_MACRO: [&str; 2] = ["crates/cells/src/lessons", "src/cells/lessons"];

/// Runs the command; `--check` only says what is not formatted.
///
/// # Errors
/// Options that it does not know, and folders that cannot be read.
pub(crate) fn command(options: &[String]) -> Result<ExitCode, Failure> {
    let check = match options {
        [] => false,
        [option] if option == "--check" => true,
        _ => {
            return Err(Failure::usage(
                "fmt takes no options but --check".to_owned(),
            ));
        }
    };
    run(&mut rustfmt(check)?).map_err(|_| {
        Failure::new(if check {
            "some files are not formatted: `cargo xtask fmt` formats them"
        } else {
            "not every file could be formatted"
        })
    })?;
    Ok(ExitCode::SUCCESS)
}

/// `cargo fmt` over all files.
///
/// # Errors
/// Folders that cannot be read.
pub(crate) fn rustfmt(check: bool) -> Result<Command, Failure> {
    let mut command = cargo();
    command.args(["fmt", "--all", "--"]);
    command.args(check.then_some("--check"));
    for folder in DECLARED_BY_MACRO {
        let mut files = files_under(&project::root().join(folder))?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
        command.args(files);
    }
    Ok(command)
}
