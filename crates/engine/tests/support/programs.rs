//! The command-line programs, run as their users run them; `cargo test` builds them beside the tests.
#![allow(dead_code, reason = "each test uses a part")]

use std::path::Path;
use std::process::{Command, Output};

/// Runs a program; gives its exit code, output and messages.
pub(crate) fn run(program: &str, arguments: &[&str]) -> (i32, String, String) {
    let test = std::env::current_exe().unwrap();
    let folder = test
        .parent()
        .and_then(Path::parent)
        .unwrap()
        .join("examples");
    let path = folder
        .join(program)
        .with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        path.exists(),
        "{} is missing: cargo build -p engine --examples",
        path.display()
    );
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(path).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// What a program prints when all is well.
pub(crate) fn output(program: &str, arguments: &[&str]) -> String {
    let (code, out, messages) = run(program, arguments);
    assert_eq!(code, 0, "{program} {arguments:?}: {messages}");
    out
}
