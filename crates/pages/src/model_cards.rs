//! The page `/models/`, made from the cards that the trainers write: what a reader wants to know of
//! a model, without the commands that only a developer can run.

use std::fmt::Write as _;

use crate::moved_digits;

/// The page's front matter and introduction.
const FRONT: &str = "+++\n\
     title = \"Models\"\n\
     description = \"The small trained models of the lessons: what each was trained on, how long it took, and what it scores on data that it has not seen.\"\n\
     +++\n\n\
     The lessons use small models that this project trained with its own code. A file keeps 32 numbers of a matrix as 32 signed bytes with one scale (Q8_0) where its scores stay what they are in half precision. The tests compute every score again from the file.\n";

/// The row that holds the command of a training run.
const COMMAND: &str = "command";

/// Rows whose values are counts.
const COUNTS: [&str; 5] = [
    "bytes",
    "bytes after gzip",
    "parameters",
    "best step",
    "data",
];

/// The last row before the scores.
const LAST: &str = "time taken";

/// The row with the scores of the same model in half precision, in their order.
const HALF: &str = "the same scores with weights in half precision";

/// The page in Markdown, from the text of `MODELS.md`.
pub(crate) fn page(cards: &str) -> String {
    let mut out = FRONT.to_owned() + &moved_digits::section(cards);
    for card in cards.split("\n## ").skip(1) {
        let (name, rest) = card.split_once('\n').unwrap_or((card, ""));
        let (about, table) = rest.split_once("\n|").unwrap_or((rest, ""));
        let rows: Vec<(&str, &str)> = table.lines().filter_map(row).collect();
        let rows = &compared(&rows);
        // Writing to a text cannot fail, here and below.
        let _ = write!(out, "\n## {name}\n\n{}\n\n| | |\n|---|---|\n", about.trim());
        for (name, value) in rows.iter().filter(|(name, _)| !moved_digits::is_one(name)) {
            write_row(&mut out, name, value);
        }
    }
    out
}

/// The rows, those of scores with the score in half precision where that is another.
fn compared<'a>(rows: &[(&'a str, &str)]) -> Vec<(&'a str, String)> {
    let half = rows.iter().find(|(name, _)| *name == HALF);
    let mut half = half.into_iter().flat_map(|(_, scores)| scores.split(", "));
    let mut is_score = false;
    let mut all = Vec::with_capacity(rows.len());
    for &(name, value) in rows.iter().filter(|(name, _)| *name != HALF) {
        let other = if is_score { half.next() } else { None };
        let value = match other.filter(|other| *other != value) {
            Some(other) => format!("{value} ({other} in half precision)"),
            None => value.to_owned(),
        };
        all.push((name, value));
        is_score |= name == LAST;
    }
    all
}

/// Name and value of a line of a table; `None` for the rule under its head.
pub(crate) fn row(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().trim_matches('|').split_once(" | ")?;
    let (name, value) = (name.trim(), value.trim());
    (!name.is_empty()).then_some((name, value))
}

fn write_row(out: &mut String, name: &str, value: &str) {
    if name == COMMAND {
        if let Some(seed) = seed(value) {
            let _ = writeln!(out, "| seed | {seed} |");
        }
        return;
    }
    let value = if COUNTS.contains(&name) {
        with_separators(value)
    } else {
        value.to_owned()
    };
    let _ = writeln!(out, "| {} | {value} |", with_separators(name));
}

/// The seed that a command names.
fn seed(command: &str) -> Option<&str> {
    let (_, rest) = command.split_once("--seed ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()
}

/// Text with a comma before each group of three digits of its whole numbers.
pub(crate) fn with_separators(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    let letters: Vec<char> = text.chars().collect();
    for (at, &letter) in letters.iter().enumerate() {
        let run = |range: &[char]| range.iter().take_while(|c| c.is_ascii_digit()).count();
        let after = run(&letters[at..]);
        let before = letters[..at]
            .iter()
            .rev()
            .take_while(|c| c.is_ascii_digit())
            .count();
        let is_fraction = at > before && letters[at - before - 1] == '.';
        if before > 0 && after > 0 && after.is_multiple_of(3) && !is_fraction {
            out.push(',');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARDS: &str = "# Models\n\nMade by `cargo xtask train`.\n\n## digit\n\nReads digits.\n\n| | |\n|---|---|\n\
        | bytes | 1280132 |\n| command | `cargo xtask train digit --data ../shared/x --seed 12 --stop-after 9` |\n\
        | right of 10000 test digits, % | 99.2345 |\n\
        | right of 500 test digits, each moved 0 pixels in 4 directions, % | 99.40 |\n\
        | right of 500 test digits, each moved 1 pixels in 4 directions, % | 99.15 |\n";

    #[test]
    fn a_card_shows_what_a_reader_wants_to_know() {
        let page = page(CARDS);
        for absent in ["cargo", "../shared", "command"] {
            assert!(!page.contains(absent), "{absent} in {page}");
        }
        for present in [
            "\n## digit\n\nReads digits.\n",
            "| bytes | 1,280,132 |\n| seed | 12 |\n| right of 10,000 test digits, % | 99.2345 |\n",
        ] {
            assert!(page.contains(present), "{present} is not in {page}");
        }
    }

    #[test]
    fn scores_in_half_precision_show_where_they_differ() {
        let cards = CARDS.replace("| right of 10000", "| time taken | 1 s |\n| right of 10000")
            + &format!("| {HALF} | 99.24, 99.30, 99.15 |\n");
        let page = page(&cards);
        let present = "| right of 10,000 test digits, % | 99.2345 (99.24 in half precision) |\n";
        assert!(page.contains(present), "{present} is not in {page}");
        assert!(!page.contains(HALF));
    }

    #[test]
    fn whole_numbers_get_separators_and_fractions_do_not() {
        for (text, expected) in [
            ("9500 of 10,000", "9,500 of 10,000"),
            ("132516", "132,516"),
            ("500", "500"),
            ("0.12345 of 1234.5678", "0.12345 of 1,234.5678"),
            ("none", "none"),
        ] {
            assert_eq!(with_separators(text), expected);
        }
    }
}
