//! Footnotes, gathered at the end of the page.

use pulldown_cmark::Event;

use crate::html::slug;
use crate::markdown::{Located, Renderer};

/// A footnote: its label, the line of its first reference or definition, its text.
pub(crate) struct Footnote {
    label: String,
    line: usize,
    references: usize,
    html: Option<String>,
}

impl<'a> Renderer<'a> {
    /// The place of a footnote in the list of notes.
    fn footnote_place(&mut self, label: &str, offset: usize) -> usize {
        if let Some(i) = self.footnotes.iter().position(|note| note.label == label) {
            return i;
        }
        let line = self.source.line(offset);
        self.footnotes.push(Footnote {
            label: label.to_owned(),
            line,
            references: 0,
            html: None,
        });
        self.footnotes.len() - 1
    }

    pub(crate) fn footnote_reference(&mut self, label: &str, offset: usize) {
        let place = self.footnote_place(label, offset);
        let id = slug(label);
        let note = &mut self.footnotes[place];
        note.references += 1;
        let anchor = if note.references == 1 {
            format!(" id=\"noteref-{id}\"")
        } else {
            String::new()
        };
        let number = place + 1;
        self.push_html(format!(
            "<sup class=\"note-ref\"><a{anchor} href=\"#note-{id}\" aria-label=\"Note {number}\">{number}</a></sup>"
        ));
    }

    pub(crate) fn footnote(&mut self, label: &str, inside: &[Located<'a>], offset: usize) {
        let place = self.footnote_place(label, offset);
        let html = self.apart(inside);
        self.footnotes[place].html = Some(html);
    }

    /// Writes the notes at the end.
    pub(crate) fn notes(&mut self) {
        if self.footnotes.is_empty() {
            return;
        }
        let mut out = "<section class=\"notes\" aria-label=\"Notes\"><ol>\n".to_owned();
        for note in std::mem::take(&mut self.footnotes) {
            if note.references == 0 {
                let message = format!("nothing refers to the footnote [^{}]", note.label);
                self.page.errors.push(self.source.error(note.line, message));
            }
            let id = slug(&note.label);
            self.page.ids.push((format!("note-{id}"), note.line));
            let back = format!(
                "<a class=\"note-back\" href=\"#noteref-{id}\" aria-label=\"Back to the text\">\u{21a9}</a>"
            );
            let html = note.html.unwrap_or_default();
            let html = match html.trim_end().strip_suffix("</p>") {
                Some(text) => format!("{text} {back}</p>"),
                None => format!("{html} {back}"),
            };
            out.push_str(&format!("<li id=\"note-{id}\">{html}</li>\n"));
        }
        out.push_str("</ol></section>\n");
        self.waiting.push(Event::Html(out.into()));
    }
}
