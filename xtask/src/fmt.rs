//! `cargo xtask fmt`: formats every source file, those that a macro declares included.

use std::process::{Command, ExitCode};

use crate::failure::Failure;
use crate::process::{cargo, run_and_read};
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
    let (succeeded, _) = run_and_read(&mut rustfmt(check)?)?;
    if !succeeded {
        let hint = "`cargo xtask fmt` formats every file";
        return Err(Failure::new(format!("the formatter failed; {hint}")));
    }
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
