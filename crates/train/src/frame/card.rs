//! `MODELS.md`: a section for each model, with a table that tests read.

use super::files::table;

/// The start of the file.
const HEAD: &str = "\
# Models

Small models that learned from nothing, with this project's own code. Each file holds its weights (matrices as signed bytes with
scales, where the scores hold) and, in its metadata, its sizes (`config`), seed and score. `cargo xtask train NAME --data PATH` makes a
file and its section here anew, and with `--from FILE` from the weights of a file in half precision; the tests compute every figure again
from the file.
";

/// One section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The model's name, which is the heading.
    pub name: String,
    /// The text before the table.
    pub about: String,
    /// The rows of the table.
    pub rows: Vec<(String, String)>,
}

impl Table {
    /// The value in the row of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let row = self.rows.iter().find(|(known, _)| known == name);
        row.map(|(_, value)| value.as_str())
    }

    fn text(&self) -> String {
        format!(
            "## {}\n\n{}\n\n{}",
            self.name,
            self.about,
            table(&self.rows)
        )
    }
}

/// All sections of a `MODELS.md`.
pub fn tables(text: &str) -> Vec<Table> {
    let sections = text.split("\n## ").skip(1);
    sections
        .map(|section| {
            let (name, rest) = section.split_once('\n').unwrap_or((section, ""));
            let (about, rest) = rest.split_once("\n|").unwrap_or((rest, ""));
            let rows = rest.lines().filter_map(|line| {
                let cells = line.trim().trim_matches('|');
                let (name, value) = cells.split_once(" | ")?;
                Some((name.trim().to_owned(), value.trim().to_owned()))
            });
            Table {
                name: name.trim().to_owned(),
                about: about.trim().to_owned(),
                rows: rows.collect(),
            }
        })
        .collect()
}

/// The file with a section in place of the one of its name, sections in the order of their names.
pub(super) fn update(text: &str, card: &Table) -> String {
    let mut all = tables(text);
    all.retain(|table| table.name != card.name);
    all.push(card.clone());
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let head = match text.split_once("\n## ") {
        Some((head, _)) => format!("{}\n", head.trim_end()),
        None => HEAD.to_owned(),
    };
    let sections = all.iter().map(|table| format!("\n{}", table.text()));
    head + &sections.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_takes_the_place_of_its_last_one() {
        let card = |name: &str, score: &str| Table {
            name: name.to_owned(),
            about: format!("What {name} is.\nIn two lines."),
            rows: vec![
                ("file".to_owned(), format!("{name}.safetensors")),
                ("right, %".to_owned(), score.to_owned()),
            ],
        };
        let first = update("", &card("b", "97.10"));
        assert!(first.starts_with(HEAD));
        let both = update(&first, &card("a", "1.5"));
        assert_eq!(tables(&both), [card("a", "1.5"), card("b", "97.10")]);
        let again = update(&both.replace("# Models", "# Ours"), &card("b", "98"));
        assert!(again.starts_with("# Ours\n"));
        assert_eq!(tables(&again), [card("a", "1.5"), card("b", "98")]);
        assert_eq!(tables(&again)[1].get("right, %"), Some("98"));
        assert_eq!(tables(&again)[1].get("none"), None);
    }
}
