//! Cells and exercises within the Markdown of a page.

use pulldown_cmark::Event;

use crate::exercise;
use crate::fence::{self, Surroundings};
use crate::markdown::{Located, Mode, Renderer};
use crate::source::Source;
use crate::types::Segment;

impl<'a> Renderer<'a> {
    /// A cell or an exercise.
    pub(crate) fn block(&mut self, info: &str, inside: &[Located<'a>], offset: usize) {
        let line = self.source.line(offset);
        if self.mode != Mode::Page || self.depth > 0 {
            self.fail(
                offset,
                "a cell or exercise stands on its own, not inside a list, quote or text",
            );
            return;
        }
        self.flush();
        let toml: String = inside
            .iter()
            .map(|(event, _)| {
                if let Event::Text(text) = event {
                    text
                } else {
                    ""
                }
            })
            .collect();
        let source = Source {
            file: self.source.file,
            text: &toml,
            first_line: line + 1,
        };
        let level = if self.page.headings.is_empty() { 2 } else { 3 };
        let cells = std::mem::take(&mut self.cells);
        let around = Surroundings {
            catalog: self.catalog,
            shared: self.shared,
            cells: &cells,
            level,
            line,
        };
        let made = match info.trim().strip_prefix("cell") {
            Some(rest) => {
                let mut render = |text: &str, line| self.text(text, line, Mode::Question);
                fence::cell(&source, rest.trim(), &around, &mut render).map(Segment::Cell)
            }
            None => {
                let id = info.trim().strip_prefix("exercise").unwrap_or_default();
                let ordinal = self.exercises + 1;
                let mut render = |text: &str, line, values: bool| {
                    self.text(text, line, if values { Mode::Question } else { Mode::Text })
                };
                exercise::exercise(&source, id, ordinal, &around, &mut render)
                    .map(Segment::Exercise)
            }
        };
        self.cells = cells;
        match made {
            Ok(segment) => {
                self.note_ids(&segment, line);
                self.page.segments.push(segment);
            }
            Err(error) => self.page.errors.push(error),
        }
    }

    fn note_ids(&mut self, segment: &Segment, line: usize) {
        let id = match segment {
            Segment::Cell(cell) => {
                self.cells.push(cell.clone());
                let former = cell.formerly.iter();
                self.page.ids.extend(former.map(|id| (id.clone(), line)));
                cell.id.clone()
            }
            Segment::Exercise(exercise) => {
                self.exercises += 1;
                format!("exercise-{}", exercise.id)
            }
            Segment::Html(_) => return,
        };
        self.page.ids.push((format!("{id}-title"), line));
        self.page.ids.push((id, line));
    }

    /// The HTML of a text inside a cell or exercise; what it refers to counts for the page.
    fn text(&mut self, text: &str, first_line: usize, mode: Mode) -> String {
        let source = Source {
            file: self.source.file,
            text,
            first_line,
        };
        let inner = Renderer::run(&source, self.catalog, self.shared, mode);
        self.page.links.extend(inner.links);
        self.page.inline_values.extend(inner.inline_values);
        self.page.errors.extend(inner.errors);
        self.page.words += inner.words;
        let html = |segment| {
            if let Segment::Html(html) = segment {
                html
            } else {
                String::new()
            }
        };
        inner.segments.into_iter().map(html).collect()
    }
}
