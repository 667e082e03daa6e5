//! The examples of the author's guide compile.

// Helpers of tests may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use pages::Cells;

#[test]
fn the_guides_examples_compile() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = std::fs::read_to_string(root.join("docs/authoring.md")).unwrap();
    let front = guide
        .split("```\n+++\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let mut text = format!("+++\n{front}\n## Examples\n\n");
    let blocks: Vec<&str> = guide.split("````\n").skip(1).step_by(2).collect();
    assert_eq!(
        blocks.len(),
        5,
        "a cell, a guess, code, an exercise and a goal"
    );
    for block in blocks {
        text.push_str(block);
        text.push('\n');
    }
    let page = lesson::compile(
        "lessons/99-guide.md",
        &text,
        &Cells {
            public: root.join("public"),
        },
    );
    let page = page.unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!((page.cells().count(), page.exercises().count()), (2, 2));
    let code = page.code().next().unwrap();
    assert_eq!(code.listing.name, "attend");
    assert!(code.listing.printed.is_some());
    assert!(page.exercises().all(|exercise| {
        exercise
            .hint
            .as_ref()
            .is_some_and(|hint| hint.contains("<msqrt>"))
    }));
}
