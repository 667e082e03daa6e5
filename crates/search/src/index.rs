//! The index as text: a line for each entry, its fields between tabs. A line of a section starts
//! with `#` and belongs to the page above it.

use std::collections::BTreeSet;

use crate::words::{fold, is_telling, words};

/// Name of the file with the index, in the site's root.
pub const FILE: &str = "search.txt";

/// A page, or a section of the page before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Address from the site's root; of a section only `#` and its id.
    pub address: String,
    /// Title or heading, plain text.
    pub heading: String,
    /// The text, of which the index keeps every word once.
    pub text: String,
}

/// The index, ready to be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    pub(crate) entries: Vec<Indexed>,
}

/// An entry as the search reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Indexed {
    /// Whole address from the site's root.
    pub(crate) address: String,
    /// Title of the page; empty where the entry is the page.
    pub(crate) page: String,
    /// Title or heading.
    pub(crate) heading: String,
    /// Folded words of the text, between spaces.
    pub(crate) terms: String,
}

/// The text of an index.
pub fn write(entries: &[Entry]) -> String {
    let line = |entry: &Entry| {
        let heading: Vec<&str> = entry.heading.split_whitespace().collect();
        format!(
            "{}\t{}\t{}\n",
            entry.address,
            heading.join(" "),
            terms(&entry.text)
        )
    };
    entries.iter().map(line).collect()
}

/// Each telling word of a text once, folded and sorted.
fn terms(text: &str) -> String {
    let kept = words(text).map(|at| fold(&text[at]));
    let kept: BTreeSet<String> = kept.filter(|word| is_telling(word)).collect();
    Vec::from_iter(kept).join(" ")
}

impl Index {
    /// Reads what [`write()`] wrote.
    ///
    /// # Errors
    /// The number of the first line that is no entry, from 1.
    pub fn parse(text: &str) -> Result<Self, usize> {
        let mut entries = Vec::new();
        let (mut at, mut title) = ("", "");
        for (number, line) in (1..).zip(text.lines()) {
            let mut fields = line.split('\t');
            let (Some(address), Some(heading), Some(terms), None) =
                (fields.next(), fields.next(), fields.next(), fields.next())
            else {
                return Err(number);
            };
            let is_section = address.starts_with('#');
            if !is_section {
                (at, title) = (address, heading);
            }
            entries.push(Indexed {
                address: match is_section {
                    true => format!("{at}{address}"),
                    false => address.to_owned(),
                },
                page: if is_section { title } else { "" }.to_owned(),
                heading: heading.to_owned(),
                terms: terms.to_owned(),
            });
        }
        Ok(Self { entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(address: &str, heading: &str, text: &str) -> Entry {
        Entry {
            address: address.to_owned(),
            heading: heading.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn an_index_is_read_as_it_was_written() {
        let text = write(&[
            entry(
                "lesson/scaling/",
                "Why  the\nscale",
                "The scores, the SCORES of 8 rows.",
            ),
            entry("#spread", "Spread", ""),
        ]);
        assert_eq!(
            text,
            "lesson/scaling/\tWhy the scale\trows scores\n#spread\tSpread\t\n"
        );
        let index = Index::parse(&text).unwrap();
        let read: Vec<(&str, &str)> = index
            .entries
            .iter()
            .map(|entry| (entry.address.as_str(), entry.page.as_str()))
            .collect();
        assert_eq!(
            read,
            [
                ("lesson/scaling/", ""),
                ("lesson/scaling/#spread", "Why the scale")
            ]
        );
        assert_eq!(index.entries[0].terms, "rows scores");
    }

    #[test]
    fn a_text_that_is_no_index_is_refused() {
        assert_eq!(Index::parse("a\tb\tc\n<!doctype html>\n"), Err(2));
        assert_eq!(Index::parse("a\tb\tc\td\n"), Err(1));
        assert_eq!(Index::parse("").unwrap().entries, []);
    }
}
