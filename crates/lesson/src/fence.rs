//! The block ```` ```cell NAME #id ````: a cell's place on the page.

use serde_json::{Map, Value};

use crate::catalog::{Catalog, shared_name};
use crate::error::LessonError;
use crate::source::{Source, Table};
use crate::types::Cell;
use std::collections::BTreeMap;

/// Height reserved for a cell whose lesson gives none, in CSS pixels.
const DEFAULT_HEIGHT_PX: u32 = 320;

/// Limits of a reserved height, in CSS pixels.
const HEIGHTS_PX: std::ops::RangeInclusive<f64> = 40.0..=4000.0;

/// The parts of the page that a fenced block needs.
pub(crate) struct Surroundings<'a> {
    pub(crate) catalog: &'a dyn Catalog,
    pub(crate) shared: &'a BTreeMap<String, Value>,
    /// Cells above on the page.
    pub(crate) cells: &'a [Cell],
    /// Level that the block's heading gets.
    pub(crate) level: u8,
    /// Line of the fence.
    pub(crate) line: usize,
}

/// True for a text that can be a name or an id: lower-case letters, digits and hyphens.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Name and id from the words after `cell`.
fn name_and_id(info: &str) -> Option<(&str, &str)> {
    let mut words = info.split_whitespace();
    let name = words.next().filter(|name| is_name(name))?;
    let id = match words.next() {
        None => name,
        Some(word) => word.strip_prefix('#').filter(|id| is_name(id))?,
    };
    words.next().is_none().then_some((name, id))
}

/// Reads a cell. `source` is the TOML; `render` compiles the caption's Markdown.
pub(crate) fn cell(
    source: &Source<'_>,
    info: &str,
    around: &Surroundings<'_>,
    render: &mut dyn FnMut(&str, usize) -> String,
) -> Result<Cell, LessonError> {
    let Some((name, id)) = name_and_id(info) else {
        return Err(source.error(
            around.line,
            format!("`cell {info}` is not of the form `cell NAME` or `cell NAME #id`"),
        ));
    };
    let mut table = Table::parse(source)?;
    let title = table
        .take_text(source, "title")?
        .filter(|title| !title.trim().is_empty());
    let title =
        title.ok_or_else(|| source.error(around.line, format!("the cell {id} needs a title")))?;
    let fold = table.take_text(source, "fold")?;
    let is_plain = |line: &String| !line.trim().is_empty() && !line.contains(['*', '`', '$']);
    if fold.as_ref().is_some_and(|line| !is_plain(line)) {
        return Err(source.error(
            table.line("fold"),
            "fold must be a line without Markdown that says what the folded cell shows",
        ));
    }
    let caption_line = table.text_line("caption");
    let caption = table
        .take_text(source, "caption")?
        .map(|text| render(&text, caption_line));
    let height_px = match table.take_number(source, "height")? {
        None => DEFAULT_HEIGHT_PX,
        Some(height) if HEIGHTS_PX.contains(&height) => height as u32,
        Some(height) => {
            return Err(source.error(
                table.line("height"),
                format!("a height of {height} px cannot be meant"),
            ));
        }
    };
    let formerly = table.take_text(source, "formerly")?;
    if let Some(former) = formerly.as_ref().filter(|former| !is_name(former)) {
        return Err(source.error(
            table.line("formerly"),
            format!("`{former}` is not the id of a cell"),
        ));
    }
    check_shared(source, |key| table.line(key), &table.values, around.shared)?;
    around
        .catalog
        .check_cell(name, &table.values, around.shared)
        .map_err(|refusal| {
            let line = refusal
                .key
                .as_deref()
                .map_or(around.line, |key| table.line(key));
            source.error(line, refusal.message)
        })?;
    let given = around.catalog.given(name, &table.values, around.shared);
    Ok(Cell {
        name: name.to_owned(),
        id: id.to_owned(),
        formerly,
        title: title.trim().to_owned(),
        fold: fold.map(|line| line.trim().to_owned()),
        caption,
        height_px,
        level: around.level,
        props: table.values,
        given,
        figure: None,
        line: around.line,
    })
}

/// Checks that each `"$name"` names a shared input of the page.
pub(crate) fn check_shared(
    source: &Source<'_>,
    line: impl Fn(&str) -> usize,
    props: &Map<String, Value>,
    shared: &BTreeMap<String, Value>,
) -> Result<(), LessonError> {
    for (key, value) in props {
        if let Some(name) = shared_name(value)
            && !shared.contains_key(name)
        {
            let message =
                format!("{key} = \"${name}\": the front matter has no shared input {name}");
            return Err(source.error(line(key), message));
        }
    }
    Ok(())
}
