//! The README's list of lessons equals `lessons/`.
//!
//! After a lesson was added or retitled, `UPDATE_README=1 cargo test --test readme` writes the list
//! again.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fmt::Write as _;
use std::path::Path;

use lesson::{Kind, Lesson};
use pages::{Cells, Content};

const BEGIN: &str = "<!-- lessons: written by tests/readme.rs -->\n";
const END: &str = "<!-- end of lessons -->\n";

/// The most characters in a line of prose, as `.editorconfig` says.
const WIDTH: usize = 100;

/// Breaks an item of a list into lines.
fn wrapped(item: &str) -> String {
    let mut lines = vec![String::new()];
    for word in item.split(' ') {
        let line = lines.last().unwrap();
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(" ".to_owned());
        }
        let line = lines.last_mut().unwrap();
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.join("\n")
}

/// A Markdown list with an item for each lesson, under the name of its part.
fn list(lessons: &[Lesson]) -> String {
    let mut out = String::new();
    for part in lessons.chunk_by(|a, b| a.part == b.part) {
        writeln!(out, "\n**Part {}**\n", part[0].part).unwrap();
        for lesson in part {
            let Kind::Lesson(number) = lesson.kind else {
                continue;
            };
            let (title, description) = (&lesson.title, &lesson.description);
            let item = format!("- {number:02} *{title}*: {description}");
            writeln!(out, "{}", wrapped(&item)).unwrap();
        }
    }
    out.push('\n');
    out
}

#[test]
fn the_list_of_lessons_is_the_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let catalog = Cells {
        public: root.join("public"),
    };
    let content = Content::load(root, &catalog, false).unwrap_or_else(|e| panic!("{e}"));
    let path = root.join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (now, after) = rest.split_once(END).unwrap();
    let wanted = list(&content.lessons);
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{wanted}{END}{after}")).unwrap();
        return;
    }
    assert!(
        now == wanted,
        "README.md lists other lessons than lessons/: run `UPDATE_README=1 cargo test --test readme`"
    );
}
