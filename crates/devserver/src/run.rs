//! Runs cargo: what it prints is shown as it comes, and kept for the page when it fails.

use std::io::{BufRead, BufReader, IsTerminal};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::ServeError;

/// Runs cargo in the project.
///
/// # Errors
/// What it printed, when it fails.
pub(crate) fn cargo(project: &Path, arguments: &[&str]) -> Result<(), ServeError> {
    let name = format!("cargo {}", arguments.join(" "));
    let mut cargo = Command::new("cargo");
    cargo
        .args(arguments)
        .current_dir(project)
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    if std::io::stderr().is_terminal() {
        cargo.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = cargo.spawn().map_err(ServeError::program(&name))?;
    let mut text = String::new();
    if let Some(stream) = child.stderr.take() {
        for line in BufReader::new(stream).lines() {
            let line = line.map_err(ServeError::program(&name))?;
            eprintln!("{line}");
            text.push_str(&without_colours(&line));
            text.push('\n');
        }
    }
    let status = child.wait().map_err(ServeError::program(&name))?;
    if status.success() {
        return Ok(());
    }
    Err(ServeError::Build(mistakes(&text)))
}

/// Cargo's output without its lines about progress.
fn mistakes(text: &str) -> String {
    let progress = [
        "Compiling ",
        "Checking ",
        "Finished ",
        "Downloaded ",
        "Downloading ",
        "Blocking ",
    ];
    let kept: Vec<&str> = text
        .lines()
        .filter(|line| !progress.iter().any(|p| line.trim_start().starts_with(p)))
        .collect();
    kept.join("\n")
}

/// A line without the codes that colour it in a terminal.
fn without_colours(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_the_mistake_and_not_the_progress() {
        let text = "   Compiling site v0.1.0\n\u{1b}[31merror\u{1b}[0m: expected `;`\n --> src/app.rs:3:1\n";
        let plain: Vec<String> = text.lines().map(without_colours).collect();
        let shown = mistakes(&plain.join("\n"));
        assert_eq!(shown, "error: expected `;`\n --> src/app.rs:3:1");
    }

    #[test]
    fn a_failed_command_says_what_it_printed() {
        let error = cargo(Path::new("."), &["no-such-command"]).unwrap_err();
        assert!(error.to_string().contains("no-such-command"), "{error}");
    }
}
