//! Finding engine items through the module tree.

// Helpers of tests may unwrap as tests do.
#![allow(clippy::unwrap_used)]

mod common;

use common::Project;
use pages::CodeBook;

/// What `shown!` of this path gives in a small engine.
fn look_up(path: &str) -> Result<(String, usize, String), String> {
    let project = Project::new();
    std::fs::remove_dir_all(project.root.join("crates/engine/src")).unwrap();
    project.put("crates/engine/src/lib.rs", "mod inner;\npub mod nn;\npub use inner::deep::{helper, other as renamed};\npub use nn::block::*;\n");
    project.put("crates/engine/src/inner/mod.rs", "pub mod deep {\n    /// Helps.\n    pub fn helper() {\n        let x = 1;\n    }\n    pub fn other() {}\n}\n");
    project.put(
        "crates/engine/src/nn.rs",
        "pub mod block;\npub use self::block::Block;\n",
    );
    project.put(
        "crates/engine/src/nn/block.rs",
        "pub struct Block;\nimpl Clone for Block {\n    fn clone(&self) -> Self { Self }\n}\nimpl Block {\n    /// Runs.\n    ///\n    /// At length.\n    #[must_use]\n    pub fn forward(&self) -> u8 {\n        1\n    }\n}\npub trait Layer {\n    fn name(&self);\n}\n",
    );
    project.put(
        "crates/cells/src/lessons/a_lesson/a_cell.rs",
        &format!("fn f() {{\n    shown!(record, engine::{path});\n}}\n"),
    );
    let mut book = CodeBook::new(&project.root);
    let excerpts = book.excerpts("a-cell").map_err(|error| error.to_string())?;
    Ok((
        excerpts[0].file.clone(),
        excerpts[0].line,
        excerpts[0].text.clone(),
    ))
}

#[test]
fn functions_methods_and_reexports() {
    let block = "crates/engine/src/nn/block.rs";
    let forward =
        "/// Runs.\n///\n/// At length.\n#[must_use]\npub fn forward(&self) -> u8 {\n    1\n}";
    for path in [
        "nn::block::Block::forward",
        "nn::Block::forward",
        "Block::forward",
    ] {
        assert_eq!(
            look_up(path),
            Ok((block.to_owned(), 6, forward.to_owned())),
            "{path}"
        );
    }
    let helper = "/// Helps.\npub fn helper() {\n    let x = 1;\n}";
    for path in ["inner::deep::helper", "helper"] {
        assert_eq!(
            look_up(path),
            Ok((
                "crates/engine/src/inner/mod.rs".to_owned(),
                2,
                helper.to_owned()
            )),
            "{path}"
        );
    }
    assert_eq!(
        look_up("renamed").map(|found| found.2),
        Ok("pub fn other() {}".to_owned())
    );
    assert_eq!(
        look_up("nn::block::Layer::name").map(|found| found.1),
        Ok(15)
    );
}

#[test]
fn what_is_missing_is_named_with_the_place_of_its_shown() {
    for path in [
        "nn::block::Block::backward",
        "nn::block::nothing",
        "nowhere::at::all",
        "nn::block",
    ] {
        let error = look_up(path).unwrap_err();
        assert!(
            error.starts_with(&format!(
                "crates/cells/src/lessons/a_lesson/a_cell.rs:2: shown!(…, engine::{path}) is not in the sources"
            )),
            "{error}"
        );
    }
}

#[test]
fn a_cell_needs_a_source_and_its_folder_is_read_too() {
    let project = Project::new();
    assert!(
        CodeBook::new(&project.root)
            .excerpts("none")
            .unwrap_err()
            .to_string()
            .contains("has no source")
    );
    project.put("crates/cells/src/lessons/a_lesson/a_cell.rs", "mod part;\n");
    project.put(
        "crates/cells/src/lessons/a_lesson/a_cell/part.rs",
        "fn f() { shown!(record, engine::nn::softmax::softmax, x); }\n",
    );
    let mut book = CodeBook::new(&project.root);
    assert_eq!(
        book.excerpts("a-cell").unwrap()[0].path,
        "engine::nn::softmax::softmax"
    );
}

#[test]
fn files_that_a_cell_imports_from_are_read_too() {
    let project = Project::new();
    project.put(
        "crates/cells/src/lessons/a_lesson/a_cell.rs",
        "use crate::parts::{common::{self, helper}, other};\nuse crate::lessons::b_lesson::b_cell::made;\n",
    );
    let source = |path: &str| format!("fn f() {{ shown!(record, engine::{path}, x); }}\n");
    project.put(
        "crates/cells/src/parts/common.rs",
        &source("nn::softmax::softmax"),
    );
    project.put(
        "crates/cells/src/parts/other.rs",
        &source("nn::linear::project"),
    );
    project.put(
        "crates/cells/src/lessons/b_lesson/b_cell.rs",
        &source("nn::attention::scale"),
    );
    let mut book = CodeBook::new(&project.root);
    let found = book.excerpts("a-cell").unwrap();
    let paths: Vec<&str> = found.iter().map(|excerpt| excerpt.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "engine::nn::attention::scale",
            "engine::nn::softmax::softmax",
            "engine::nn::linear::project"
        ]
    );
}
