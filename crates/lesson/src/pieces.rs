//! The small parts of a page's Markdown: formulas, links, images, raw HTML, quotes, quoted values.

use std::ops::Range;

use pulldown_cmark::{Event, TagEnd};

use crate::html::escape;
use crate::inline::{self, Target};
use crate::markdown::{Located, Mode, Renderer, plain_text};
use crate::math;
use crate::types::{InlineValue, Link};

impl<'a> Renderer<'a> {
    /// Opens a quote, or an aside where its first line names one.
    pub(crate) fn quote(&mut self, range: &Range<usize>) {
        let first_line = self.source.text[range.clone()]
            .lines()
            .next()
            .unwrap_or_default();
        let (open, close) = match inline::aside(first_line) {
            Some(Ok((class, title))) => {
                self.marker_end = range.start + first_line.len() + 1;
                let title = escape(&title);
                (
                    format!(
                        "<div class=\"aside {class}\" role=\"note\"><p class=\"aside-title\">{title}</p>\n"
                    ),
                    "</div>\n",
                )
            }
            Some(Err(message)) => {
                self.fail(range.start, message);
                (String::new(), "")
            }
            None => ("<blockquote>\n".to_owned(), "</blockquote>\n"),
        };
        self.quotes.push(close);
        self.waiting.push(Event::Html(open.into()));
    }

    pub(crate) fn end(&mut self, tag: &TagEnd) {
        self.waiting.push(match tag {
            TagEnd::BlockQuote(_) => Event::Html(self.quotes.pop().unwrap_or_default().into()),
            _ => Event::End(*tag),
        });
    }

    pub(crate) fn formula(&mut self, latex: &str, display: bool, offset: usize) -> String {
        self.page.words += 1;
        math::to_mathml(latex, display).unwrap_or_else(|message| {
            self.fail(offset, message);
            String::new()
        })
    }

    /// A formula that stands by itself.
    pub(crate) fn displayed_formula(&mut self, latex: &str, offset: usize) -> String {
        self.page.words += 1;
        math::displayed(latex).unwrap_or_else(|message| {
            self.fail(offset, message);
            String::new()
        })
    }

    pub(crate) fn link(&mut self, address: &str, offset: usize) -> String {
        match inline::target(address, |path| self.catalog.has_asset(path)) {
            Ok(Target::Plain(plain)) => plain,
            Ok(Target::Internal(plain)) => {
                let line = self.source.line(offset);
                self.page.links.push(Link {
                    target: address.to_owned(),
                    line,
                });
                plain
            }
            Err(message) => {
                self.fail(offset, message);
                String::new()
            }
        }
    }

    pub(crate) fn image(&mut self, address: &str, inside: &[Located<'a>], offset: usize) {
        let alt = plain_text(inside);
        if alt.trim().is_empty() {
            self.fail(
                offset,
                format!(
                    "the image {address} needs a text for who cannot see it: ![text]({address})"
                ),
            );
        }
        match inline::image(address, |path| self.catalog.has_asset(path)) {
            Ok(src) => self.push_html(format!(
                "<img src=\"{}\" alt=\"{}\" loading=\"lazy\">",
                escape(&src),
                escape(&alt)
            )),
            Err(message) => self.fail(offset, message),
        }
    }

    pub(crate) fn raw_html(&mut self, html: &str, offset: usize) -> String {
        match inline::raw_html(html, |path| self.catalog.has_asset(path)) {
            Ok((html, links)) => {
                let line = self.source.line(offset);
                self.page
                    .links
                    .extend(links.into_iter().map(|target| Link { target, line }));
                html
            }
            Err(message) => {
                self.fail(offset, message);
                String::new()
            }
        }
    }

    pub(crate) fn inline_value(&mut self, text: &str, offset: usize) {
        if self.mode == Mode::Text {
            self.fail(
                offset,
                "a value of a cell cannot be quoted here, only in prose and questions",
            );
            return;
        }
        match text.parse() {
            Ok(value) => {
                self.push_html(inline::inline_value(&value));
                let line = self.source.line(offset);
                self.page.inline_values.push(InlineValue { value, line });
            }
            Err(error) => self.fail(offset, error.to_string()),
        }
    }
}
