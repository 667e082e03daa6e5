//! The table in the README of what each browser gives the site.

use std::path::Path;
use std::sync::Mutex;

use super::browser::Found;

const BEGIN: &str = "<!-- browsers: checked by tests/smoke.rs -->\n";
const END: &str = "<!-- end of browsers -->";

/// Something that the site uses where the browser has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ability {
    /// The instructions of relaxed SIMD.
    RelaxedSimd,
    /// Threads that share memory, on a page that is isolated from other origins.
    Threads,
    /// Files of the site's own, in which the lab keeps the models that it fetched.
    Storage,
    /// Pictures from a camera.
    Camera,
}

impl Ability {
    /// The start of its row in the table.
    fn row(self) -> &'static str {
        match self {
            Self::RelaxedSimd => "Relaxed SIMD",
            Self::Threads => "Threads",
            Self::Storage => "Storage for models",
            Self::Camera => "Camera",
        }
    }
}

/// Checks one entry of the table, or writes it where `UPDATE_README` is set.
pub(crate) fn assert_in_readme(browser: &Found, ability: Ability, has: bool) {
    // Tests that run at the same time write the same file.
    static FILE: Mutex<()> = Mutex::new(());
    let _alone = FILE.lock().expect("no test panicked while it wrote");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).expect("the README can be read");
    let (before, rest) = readme.split_once(BEGIN).expect("the table begins");
    let (table, after) = rest.split_once(END).expect("the table ends");
    let word = if has { "yes" } else { "no" };
    let name = browser.name();
    let wanted = with_entry(table, ability.row(), name, word);
    let wanted = wanted.unwrap_or_else(|| panic!("the table has no {ability:?} of {name}"));
    if table == wanted {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_README").is_some(),
        "README.md says otherwise than {name}, whose {ability:?} is: {word}. If it is a newer \
         version, run `UPDATE_README=1 cargo test --test smoke`"
    );
    std::fs::write(&path, format!("{before}{BEGIN}{wanted}{END}{after}"))
        .expect("the README can be written");
}

/// A Markdown table with another word in one entry; `None` where it has no such row or column.
fn with_entry(table: &str, row: &str, column: &str, word: &str) -> Option<String> {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    let head = table.lines().find(|line| line.starts_with('|'))?;
    let place = cells(head).iter().position(|cell| cell == column)?;
    let mut found = false;
    let lines: Vec<String> = table
        .lines()
        .map(|line| {
            let mut cells = cells(line);
            if !line.starts_with('|') || cells[0] != row || place >= cells.len() {
                return line.to_owned();
            }
            found = true;
            cells[place] = word.to_owned();
            format!("| {} |", cells.join(" | "))
        })
        .collect();
    found.then(|| lines.join("\n") + "\n")
}

#[test]
fn one_entry_of_a_table_changes() {
    let table = "\n| | A | B |\n|---|---|---|\n| x | no | no |\n| y | no | no |\n\n";
    let changed = "\n| | A | B |\n|---|---|---|\n| x | no | no |\n| y | no | yes |\n\n";
    assert_eq!(with_entry(table, "y", "B", "yes").as_deref(), Some(changed));
    assert_eq!(
        with_entry(changed, "y", "B", "yes").as_deref(),
        Some(changed)
    );
    assert_eq!(with_entry(table, "z", "B", "yes"), None);
    assert_eq!(with_entry(table, "y", "C", "yes"), None);
}
