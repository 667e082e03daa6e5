//! Sentences translated from a shell.

use super::{output, run};

#[test]
fn what_cannot_be_translated_with_is_named() {
    let (code, _, message) = run("translate", &["hello"]);
    assert_eq!(code, 2);
    assert!(message.starts_with("--model FILE is missing"), "{message}");
    let (code, _, message) = run("translate", &["--model", "/nowhere.safetensors", "hello"]);
    assert_eq!(code, 1);
    assert!(message.starts_with("/nowhere.safetensors: "), "{message}");
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let (code, _, message) = run("translate", &["--model", other, "hello"]);
    assert_eq!(code, 1);
    assert!(message.starts_with(other), "{message}");
    let help = output("translate", &["--help"]);
    assert!(help.contains("usage: translate"), "{help}");
}
