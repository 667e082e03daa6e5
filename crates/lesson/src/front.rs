//! The front matter: TOML between two `+++` lines at the top of a file.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::LessonError;
use crate::source::{Source, Table};
use crate::symbols::{self, Symbol};
use crate::types::Kind;

/// The line that opens and closes the front matter.
const FENCE: &str = "+++";

/// Longest description, in characters: search engines cut at about this.
const LONGEST_DESCRIPTION: usize = 300;

/// The front matter of a page.
pub(crate) struct Front {
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) part: String,
    pub(crate) picture: Option<String>,
    pub(crate) shared: BTreeMap<String, Value>,
    /// Titles of the lessons to come, by part; only the home page lists them.
    pub(crate) to_come: BTreeMap<String, Vec<String>>,
    /// Slugs of the lessons to which cells and headings of this one have moved, by their ids; only
    /// a lesson lists them.
    pub(crate) moved: BTreeMap<String, String>,
    /// Line of the table of what has moved.
    pub(crate) moved_line: usize,
    /// Symbols with a concept.
    pub(crate) symbols: Vec<Symbol>,
    /// Line of the table of symbols.
    pub(crate) symbols_line: usize,
}

/// Splits a file into its front matter and the byte offset at which the Markdown starts.
fn split(text: &str) -> Option<(&str, usize)> {
    let after = text.strip_prefix(FENCE)?;
    let start = FENCE.len() + after.find('\n')? + 1;
    if !text[FENCE.len()..start].trim().is_empty() {
        return None;
    }
    let mut offset = start;
    for line in text[start..].split_inclusive('\n') {
        if line.trim_end() == FENCE {
            return Some((&text[start..offset], offset + line.len()));
        }
        offset += line.len();
    }
    None
}

/// Reads the front matter; also gives the byte offset at which the Markdown starts.
pub(crate) fn parse(source: &Source<'_>, kind: Kind) -> Result<(Front, usize), LessonError> {
    let is_lesson = matches!(kind, Kind::Lesson(_));
    let (toml, body) = split(source.text).ok_or_else(|| {
        source.error(
            1,
            "a lesson opens with a line `+++`, TOML, and another line `+++`",
        )
    })?;
    let mut table = Table::parse(&Source {
        file: source.file,
        text: toml,
        first_line: 2,
    })?;
    let mut required = |key: &str| {
        let value = table.take_text(source, key)?.unwrap_or_default();
        if value.trim().is_empty() {
            return Err(source.error(table.line(key), format!("the front matter needs a {key}")));
        }
        Ok(value.trim().to_owned())
    };
    let title = required("title")?;
    let description = required("description")?;
    let part = if is_lesson {
        required("part")?
    } else {
        String::new()
    };
    let picture = match is_lesson {
        true => table.take_text(source, "picture")?,
        false => None,
    };
    let length = description.chars().count();
    if length > LONGEST_DESCRIPTION {
        let message = format!(
            "the description is {length} characters long; at most {LONGEST_DESCRIPTION} are shown"
        );
        return Err(source.error(table.line("description"), message));
    }
    let shared = table.take_table(source, "inputs")?.into_iter().collect();
    let to_come = match kind {
        Kind::Home => to_come(&mut table, source)?,
        _ => BTreeMap::new(),
    };
    let moved_line = table.line("moved");
    let moved = match is_lesson {
        true => moved(&mut table, source)?,
        false => BTreeMap::new(),
    };
    let symbols_line = table.line("symbols");
    let symbols = symbols::parse(table.take_table(source, "symbols")?)
        .map_err(|message| source.error(symbols_line, message))?;
    let known = match kind {
        Kind::Lesson(_) => "title, description, part, picture, [inputs], [symbols], [moved]",
        Kind::Home => "title, description, [inputs], [symbols], [to_come]",
        _ => "title, description, [inputs], [symbols]",
    };
    table.nothing_left(source, known)?;
    Ok((
        Front {
            title,
            description,
            part,
            picture,
            shared,
            to_come,
            moved,
            moved_line,
            symbols,
            symbols_line,
        },
        body,
    ))
}

/// The table `to_come`: for each part of the course a list of titles.
fn to_come(
    table: &mut Table,
    source: &Source<'_>,
) -> Result<BTreeMap<String, Vec<String>>, LessonError> {
    let line = table.line("to_come");
    let parts = table.take_table(source, "to_come")?.into_iter();
    let parts = parts.map(|(part, titles)| {
        serde_json::from_value(titles)
            .map(|titles| (part.clone(), titles))
            .map_err(|_| source.error(line, format!("to_come: {part} must be a list of titles")))
    });
    parts.collect()
}

/// The table `moved`: for the slug of each other lesson a list of ids that are there now.
fn moved(table: &mut Table, source: &Source<'_>) -> Result<BTreeMap<String, String>, LessonError> {
    let line = table.line("moved");
    let mut moved = BTreeMap::new();
    for (slug, ids) in table.take_table(source, "moved")? {
        let ids: Vec<String> = serde_json::from_value(ids)
            .map_err(|_| source.error(line, format!("moved: {slug} must be a list of ids")))?;
        for id in ids {
            if let Some(other) = moved.insert(id.clone(), slug.clone()) {
                let message = format!("moved: {id} is listed twice, for {other} and {slug}");
                return Err(source.error(line, message));
            }
        }
    }
    Ok(moved)
}
