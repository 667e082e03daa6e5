//! "Show the Rust": the source of every engine function that a cell shows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lesson::Lesson;
use serde_json::{Map, Value, json};

use crate::error::BuildError;
use crate::find;
use crate::highlight;
use crate::shown::{self, Shown};

/// The source text of an engine function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Path as the cell calls it: `engine::nn::attention::attend`.
    pub path: String,
    /// File, from the project's root.
    pub file: String,
    /// First line, documentation included.
    pub line: usize,
    /// The item's text.
    pub text: String,
}

/// Looks excerpts up, each cell once.
#[derive(Debug)]
pub struct CodeBook {
    project: PathBuf,
    cells: BTreeMap<String, Vec<Excerpt>>,
}

impl CodeBook {
    /// For the project in this folder.
    pub fn new(project: &Path) -> Self {
        Self {
            project: project.to_owned(),
            cells: BTreeMap::new(),
        }
    }

    /// What a cell shows, in the order of its source.
    ///
    /// # Errors
    /// A cell without source; a path that leads to no item of the engine, with the place of its
    /// `shown!`.
    pub fn excerpts(&mut self, cell: &str) -> Result<&[Excerpt], BuildError> {
        if !self.cells.contains_key(cell) {
            let shown = shown::of_cell(&self.project.join("crates/cells/src"), cell)?;
            let found = shown
                .iter()
                .map(|s| self.look_up(s))
                .collect::<Result<Vec<_>, _>>()?;
            self.cells.insert(cell.to_owned(), found);
        }
        Ok(self.cells.get(cell).map_or(&[], Vec::as_slice))
    }

    fn look_up(&self, shown: &Shown) -> Result<Excerpt, BuildError> {
        self.item(&shown.path)?.map_err(|missing| {
            let message = format!("shown!(…, {}) is not in the sources: {missing}", shown.path);
            BuildError::Source {
                path: self.relative(&shown.file),
                line: shown.line,
                message,
            }
        })
    }

    /// An item of the engine by its path, or what is missing.
    pub(crate) fn item(&self, path: &str) -> Result<Result<Excerpt, String>, BuildError> {
        let mut parts = path.split("::").map(str::to_owned);
        let name = parts.next().unwrap_or_default();
        let source = self.project.join("crates").join(name).join("src");
        let found = find::item(&source, &parts.collect::<Vec<_>>())?;
        Ok(found.map(|found| Excerpt {
            path: path.to_owned(),
            file: self
                .relative(&found.file)
                .to_string_lossy()
                .replace('\\', "/"),
            line: found.line,
            text: found.text,
        }))
    }

    fn relative(&self, file: &Path) -> PathBuf {
        file.strip_prefix(&self.project).unwrap_or(file).to_owned()
    }

    /// The sources that the cells of a page show, by name of the cell.
    ///
    /// # Errors
    /// As [`CodeBook::excerpts`].
    pub fn of_page(&mut self, page: &Lesson) -> Result<Value, BuildError> {
        let names: BTreeSet<&str> = page.cells().map(|cell| cell.name.as_str()).collect();
        let mut out = Map::new();
        for name in names {
            let list = self
                .excerpts(name)?
                .iter()
                .map(|e| {
                    let shown = highlight::listing(&e.text);
                    let line = e.line + shown.lines_before;
                    json!({ "path": e.path, "file": e.file, "line": line, "about": shown.about, "code": shown.code })
                });
            out.insert(name.to_owned(), Value::Array(list.collect()));
        }
        Ok(Value::Object(out))
    }
}
