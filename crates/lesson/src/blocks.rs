//! Cells, guesses, exercises and code within the Markdown of a page.

use pulldown_cmark::Event;

use crate::code;
use crate::exercise;
use crate::fence::{self, Surroundings};
use crate::guess;
use crate::markdown::{Located, Mode, Renderer};
use crate::source::Source;
use crate::types::Segment;

impl<'a> Renderer<'a> {
    /// A cell, a guess, an exercise or code.
    pub(crate) fn block(&mut self, info: &str, inside: &[Located<'a>], offset: usize) {
        let line = self.source.line(offset);
        if self.mode != Mode::Page || self.depth > 0 {
            self.fail(
                offset,
                "a cell, guess, exercise or code stands on its own, not inside a list, quote or text",
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
        let (word, id) = info.trim().split_once(' ').unwrap_or((info.trim(), ""));
        let ordinal = self.exercises + 1;
        let mut render = |text: &str, line, values: bool| {
            self.text(text, line, if values { Mode::Question } else { Mode::Text })
        };
        let made = match word {
            "cell" => {
                let mut render = |text: &str, line| render(text, line, true);
                fence::cell(&source, id.trim(), &around, &mut render).map(Segment::Cell)
            }
            "guess" => guess::guess(&source, id, &around, &mut render).map(Segment::Guess),
            "code" => code::code(&source, id, &around).map(Segment::Code),
            _ => exercise::exercise(&source, id, ordinal, &around, &mut render)
                .map(Segment::Exercise),
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
            Segment::Guess(guess) => format!("guess-{}", guess.id),
            Segment::Code(code) => format!("code-{}", code.id),
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
