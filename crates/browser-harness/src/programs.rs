//! Programs of this machine.

use std::path::PathBuf;

/// The program that an environment variable names.
pub(crate) fn named(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    (!path.as_os_str().is_empty()).then_some(path)
}

/// A program in one of the folders of `PATH`.
pub(crate) fn on_the_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let mut programs = std::env::split_paths(&folders).map(|folder| folder.join(name));
    programs.find(|program| program.is_file())
}
