//! Several files, one after the other, to an exit code.

use super::file::Failure;
use super::models;
use std::io::Write;

/// Every field was within its tolerance.
pub const PASSED: u8 = 0;
/// At least one was not.
pub const DIFFERS: u8 = 1;
/// A file cannot be used.
pub const UNUSABLE: u8 = 2;

/// Compares the files at `paths` and writes a JSON line for each field to `out`, and what is wrong
/// with a file to `errors`; the largest of the exit codes.
pub fn run(paths: &[String], out: &mut dyn Write, errors: &mut dyn Write) -> u8 {
    let codes = paths.iter().map(|path| match one(path, out) {
        Ok(true) => PASSED,
        Ok(false) => DIFFERS,
        Err(failure) => {
            // Where not even this can be written the exit code still tells.
            let _ = writeln!(errors, "{path}: {failure}");
            UNUSABLE
        }
    });
    codes.max().unwrap_or(UNUSABLE)
}

/// Whether every field of the file at `path` is within its tolerance.
fn one(path: &str, out: &mut dyn Write) -> Result<bool, Failure> {
    let lines = models::check(path, &std::fs::read_to_string(path)?)?;
    for line in &lines {
        writeln!(out, "{}", line.json())?;
    }
    Ok(lines.iter().all(|line| line.pass))
}
