//! The full-size decoders against PyTorch, through the same code as `--example reference`.
#![cfg(not(target_family = "wasm"))]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "../examples/reference/compare.rs"]
mod compare;
#[path = "../examples/reference/decoders.rs"]
mod decoders;
#[path = "../examples/reference/file.rs"]
mod file;
#[path = "support/shared.rs"]
mod shared;

use file::{Failure, Found, Reference};
use serde_json::json;

fn check(name: &str, model: fn(&mut Reference) -> Result<Found, Failure>) {
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
    assert!(lines.iter().all(|line| line.pass));

    // The comparison sees what differs.
    let field = &mut reference.content["last_logits"];
    let changed = field["values"][3].as_f64().unwrap() + 3e-4;
    field["values"][3] = json!(changed);
    let lines = compare::compare(path, &reference, &found).unwrap();
    let failed = lines.iter().filter(|line| !line.pass);
    let fields: Vec<_> = failed.map(|line| line.json()["field"].clone()).collect();
    assert_eq!(fields, [json!("last_logits")]);
    reference.content["last_logits"]["shape"] = json!([7]);
    assert!(compare::compare(path, &reference, &found).is_err());
}

#[test]
fn gpt2_as_pytorch() {
    check("gpt2", decoders::gpt2);
}

#[test]
fn llama_as_pytorch() {
    check("llama", decoders::llama);
}
