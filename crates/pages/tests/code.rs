//! What is wrong with a block of code in a lesson is found before it becomes a page.

// Helpers of tests may unwrap as tests do.
#![allow(clippy::expect_used)]

use std::path::Path;

use pages::Cells;

/// The message about the block of the lesson on self-attention with `part` replaced by `other`.
fn refused(part: &str, other: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let lesson = std::fs::read_to_string(root.join("lessons/05-self-attention.md"));
    let lesson = lesson.expect("the lesson");
    let block = lesson.split("```code ").nth(1).expect("a block");
    let block = block.split("\n```").next().expect("its end");
    assert!(block.contains(part), "{part} is not in {block}");
    let block = block.replace(part, other);
    let front = "title = \"T\"\ndescription = \"D\"\npart = \"I: x\"";
    let text = format!("+++\n{front}\n+++\n\n```code {block}\n```\n");
    let public = root.join("public");
    let errors = lesson::compile("lessons/99-code.md", &text, &Cells { public });
    errors.expect_err(part)[0].to_string()
}

#[test]
fn mistakes_in_code_are_found() {
    let attend = "function = \"engine::nn::attention::attend\"";
    let also = |path: &str| format!("{attend}\nalso = \"engine::nn::{path}\"");
    for (part, other, message) in [
        (
            attend,
            "function = \"engine::nn::attention::scores\"".to_owned(),
            "does not call",
        ),
        (
            attend,
            also("linear::project"),
            "attend does not call project",
        ),
        (
            attend,
            also("linear::group"),
            "engine::nn::linear::group is not in the sources",
        ),
        (
            "\"output\"",
            "\"result\"".to_owned(),
            "three-patches computes no result",
        ),
        (
            "\"output\"",
            "\"output[3]\"".to_owned(),
            "computes no output[3]",
        ),
        (
            "\"output\"",
            "\"scale\"".to_owned(),
            "printed 15 numbers, and the engine computes 10",
        ),
        (
            "\"weights\"",
            "\"scores\"".to_owned(),
            "PyTorch printed 0.4064, and the engine computes 0.7",
        ),
    ] {
        let found = refused(part, &other);
        assert!(found.starts_with("lessons/99-code.md:"), "{found}");
        assert!(found.contains(message), "{message}\n{found}");
    }
}
