//! A source file with its lines, and TOML inside it whose errors carry the file's own line numbers.

use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::LessonError;

/// A source file, or a stretch of one.
pub(crate) struct Source<'a> {
    /// Path of the file, as the caller named it.
    pub(crate) file: &'a str,
    /// The whole file or the stretch.
    pub(crate) text: &'a str,
    /// Line of the file at which `text` starts.
    pub(crate) first_line: usize,
}

impl Source<'_> {
    /// The line of the file that holds the byte of `text` at `offset`.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.first_line + line_within(self.text, offset)
    }

    pub(crate) fn error(&self, line: usize, message: impl Into<String>) -> LessonError {
        LessonError {
            file: self.file.to_owned(),
            line,
            message: message.into(),
        }
    }
}

/// Line, from 0, of `offset` in `text`.
fn line_within(text: &str, offset: usize) -> usize {
    let end = offset.min(text.len());
    text.as_bytes()[..end]
        .iter()
        .filter(|&&b| b == b'\n')
        .count()
}

/// A TOML table as JSON, with the line of every top-level key and value.
pub(crate) struct Table {
    pub(crate) values: Map<String, Value>,
    first_line: usize,
    lines: Vec<(String, usize, usize)>,
}

impl Table {
    /// Reads the TOML in `source`.
    pub(crate) fn parse(source: &Source<'_>) -> Result<Self, LessonError> {
        let (text, first_line) = (source.text, source.first_line);
        let at = |offset| source.line(offset);
        let parsed = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(first_line, |span| at(span.start));
            source.error(line, format!("this is not TOML: {}", error.message()))
        })?;
        let mut values = Map::new();
        let mut lines = Vec::new();
        for (key, value) in parsed.get_ref() {
            let key_line = at(key.span().start);
            let name = key.get_ref().to_string();
            let json = to_json(text, value)
                .map_err(|message| source.error(key_line, format!("{name}: {message}")))?;
            lines.push((name.clone(), key_line, at(text_start(text, value.span()))));
            values.insert(name, json);
        }
        Ok(Self {
            values,
            first_line,
            lines,
        })
    }

    /// The line of a key; the table's first line where there is none.
    pub(crate) fn line(&self, key: &str) -> usize {
        self.lines
            .iter()
            .find(|(name, ..)| name == key)
            .map_or(self.first_line, |(_, line, _)| *line)
    }

    /// The line at which a key's text starts, which for `"""` is the line below.
    pub(crate) fn text_line(&self, key: &str) -> usize {
        self.lines
            .iter()
            .find(|(name, ..)| name == key)
            .map_or(self.first_line, |(.., line)| *line)
    }

    /// Takes a text out of the table.
    pub(crate) fn take_text(
        &mut self,
        source: &Source<'_>,
        key: &str,
    ) -> Result<Option<String>, LessonError> {
        match self.values.remove(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(source.error(self.line(key), format!("{key} must be a text in quotes"))),
        }
    }

    /// Takes a number out of the table.
    pub(crate) fn take_number(
        &mut self,
        source: &Source<'_>,
        key: &str,
    ) -> Result<Option<f64>, LessonError> {
        match self.values.remove(key) {
            None => Ok(None),
            Some(value) => match value.as_f64() {
                Some(number) => Ok(Some(number)),
                None => Err(source.error(self.line(key), format!("{key} must be a number"))),
            },
        }
    }

    /// Takes a table out of the table.
    pub(crate) fn take_table(
        &mut self,
        source: &Source<'_>,
        key: &str,
    ) -> Result<Map<String, Value>, LessonError> {
        match self.values.remove(key) {
            None => Ok(Map::new()),
            Some(Value::Object(map)) => Ok(map),
            Some(_) => Err(source.error(self.line(key), format!("{key} must be a table"))),
        }
    }

    /// Refuses whatever has not been taken.
    pub(crate) fn nothing_left(&self, source: &Source<'_>, known: &str) -> Result<(), LessonError> {
        match self.values.keys().next() {
            None => Ok(()),
            Some(key) => Err(source.error(
                self.line(key),
                format!("unknown key {key}; known are {known}"),
            )),
        }
    }
}

/// Line where the text of a value starts: below the opening quotes when a line break follows them.
fn text_start(text: &str, span: Range<usize>) -> usize {
    let raw = text.get(span.clone()).unwrap_or_default();
    let opens_block = ["\"\"\"\n", "'''\n", "\"\"\"\r\n", "'''\r\n"]
        .iter()
        .any(|quotes| raw.starts_with(quotes));
    span.start
        + if opens_block {
            raw.find('\n').map_or(0, |i| i + 1)
        } else {
            0
        }
}

fn to_json(text: &str, value: &Spanned<DeValue<'_>>) -> Result<Value, String> {
    Ok(match value.get_ref() {
        DeValue::String(string) => {
            check_escapes(text.get(value.span()).unwrap_or_default())?;
            Value::String(string.to_string())
        }
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            Value::from(parsed.map_err(|_| "this whole number is too large")?)
        }
        DeValue::Float(number) => {
            let parsed: f64 = number
                .as_str()
                .parse()
                .map_err(|_| "this is not a number")?;
            Value::Number(
                serde_json::Number::from_f64(parsed).ok_or("a lesson gives finite numbers only")?,
            )
        }
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(_) => {
            return Err("dates have no meaning here; write a text in quotes".to_owned());
        }
        DeValue::Array(items) => Value::Array(
            items
                .iter()
                .map(|i| to_json(text, i))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => {
            let entries = table
                .iter()
                .map(|(key, value)| Ok((key.get_ref().to_string(), to_json(text, value)?)));
            Value::Object(entries.collect::<Result<_, String>>()?)
        }
    })
}

/// Refuses `\n`, `\t` and their like in a text in double quotes: they are the beginnings of
/// `\nabla` and `\theta`, which TOML would turn into a line break and a tab without a word.
fn check_escapes(raw: &str) -> Result<(), String> {
    if !raw.starts_with('"') {
        return Ok(());
    }
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c == '\\'
            && let Some(escaped @ ('b' | 'e' | 'f' | 'n' | 'r' | 't')) = chars.next()
        {
            return Err(format!(
                "`\\{escaped}` in double quotes is a control character; for a LaTeX command write `\\\\{escaped}…` or use single quotes"
            ));
        }
    }
    Ok(())
}
