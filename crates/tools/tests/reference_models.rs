//! The full-size models against PyTorch, and wrong reference files, through the same code as
//! `notebook reference`.
#![cfg(not(target_family = "wasm"))]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "reference_files/mod.rs"]
mod wrong_files;

use tools::reference::check as check_file;

fn check(name: &str, fields: usize) {
    let Some(path) = skip::shared(&format!("reference/{name}.json")) else {
        return;
    };
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = check_file(path.to_str().unwrap(), &text).unwrap();
    for line in &lines {
        println!("{}", line.json());
    }
    assert_eq!(lines.len(), fields);
    assert!(lines.iter().all(|line| line.pass));
}

#[test]
fn gpt2_as_pytorch() {
    check("gpt2", 9);
}

#[test]
fn llama_as_pytorch() {
    check("llama", 5);
}

#[test]
fn bert_as_pytorch() {
    check("bert", 5);
}

#[test]
fn vit_as_pytorch() {
    check("vit", 5);
}

#[test]
fn vit_at_384_pixels_as_pytorch() {
    check("vit384", 4);
}

#[test]
fn dinov2_as_pytorch() {
    check("dinov2", 9);
}

#[test]
fn swin_as_pytorch() {
    check("swinv2", 4);
}

#[test]
fn transformer_as_pytorch() {
    check("transformer", 8);
}
