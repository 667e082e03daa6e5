//! The full-size encoders and the encoder-decoder against PyTorch, through the same code as `--example reference`.
#![cfg(not(target_family = "wasm"))]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "../examples/reference/compare.rs"]
mod compare;
#[path = "../examples/reference/encoders.rs"]
mod encoders;
#[path = "../examples/reference/file.rs"]
mod file;
#[path = "support/shared.rs"]
mod shared;

use file::{Failure, Found, Reference};

fn check(name: &str, fields: usize, model: fn(&mut Reference) -> Result<Found, Failure>) {
    let Some(path) = shared::shared(&format!("reference/{name}.json")) else {
        return;
    };
    let path = path.to_str().unwrap();
    let mut reference = Reference::open(path).unwrap();
    let found = model(&mut reference).unwrap();
    let lines = compare::compare(path, &reference, &found).unwrap();
    for line in &lines {
        println!("{}", line.json());
    }
    assert_eq!(lines.len(), fields);
    assert!(lines.iter().all(|line| line.pass));
}

#[test]
fn bert_as_pytorch() {
    check("bert", 5, encoders::bert);
}

#[test]
fn vit_as_pytorch() {
    check("vit", 5, encoders::vit);
}

#[test]
fn vit_at_384_pixels_as_pytorch() {
    check("vit384", 4, encoders::vit);
}

#[test]
fn dinov2_as_pytorch() {
    check("dinov2", 9, encoders::dinov2);
}

#[test]
fn swin_as_pytorch() {
    check("swinv2", 4, encoders::swinv2);
}

#[test]
fn transformer_as_pytorch() {
    check("transformer", 8, encoders::transformer);
}
