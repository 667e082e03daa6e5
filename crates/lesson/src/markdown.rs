//! Markdown with formulas, cells and exercises to the segments of a page.

use std::collections::BTreeMap;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde_json::Value;

use crate::catalog::Catalog;
use crate::error::LessonError;
use crate::html::{escape, slug};
use crate::math;
use crate::notes::Footnote;
use crate::source::Source;
use crate::types::{Cell, Heading, InlineValue, Link, Segment};

/// Compiled Markdown of a page or of one text.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) segments: Vec<Segment>,
    pub(crate) headings: Vec<Heading>,
    pub(crate) links: Vec<Link>,
    pub(crate) inline_values: Vec<InlineValue>,
    /// Ids with their lines, in order.
    pub(crate) ids: Vec<(String, usize)>,
    pub(crate) words: usize,
    pub(crate) errors: Vec<LessonError>,
}

impl Page {
    pub(crate) fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.segments.iter().filter_map(|s| match s {
            Segment::Cell(cell) => Some(cell),
            _ => None,
        })
    }
}

/// Things that a text may contain.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Mode {
    /// Everything.
    Page,
    /// Prose, formulas, inline values.
    Question,
    /// Prose and formulas.
    Text,
}

/// An event and the bytes of the source that made it.
pub(crate) type Located<'a> = (Event<'a>, Range<usize>);

/// Turns events into HTML and segments.
pub(crate) struct Renderer<'a> {
    pub(crate) source: &'a Source<'a>,
    pub(crate) catalog: &'a dyn Catalog,
    pub(crate) shared: &'a BTreeMap<String, Value>,
    pub(crate) mode: Mode,
    pub(crate) page: Page,
    /// Events that wait to be written as HTML.
    pub(crate) waiting: Vec<Event<'a>>,
    pub(crate) footnotes: Vec<Footnote>,
    /// Containers that are open around the current event.
    pub(crate) depth: usize,
    /// Text up to this offset is the marker line of an aside and is dropped.
    pub(crate) marker_end: usize,
    /// Closing tags of the quotes and asides that are open.
    pub(crate) quotes: Vec<&'static str>,
    pub(crate) exercises: usize,
    pub(crate) cells: Vec<Cell>,
}

impl<'a> Renderer<'a> {
    /// Compiles the body of a page.
    pub(crate) fn page(
        source: &Source<'_>,
        catalog: &dyn Catalog,
        shared: &BTreeMap<String, Value>,
    ) -> Page {
        Renderer::run(source, catalog, shared, Mode::Page)
    }

    pub(crate) fn run(
        source: &Source<'_>,
        catalog: &dyn Catalog,
        shared: &BTreeMap<String, Value>,
        mode: Mode,
    ) -> Page {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_SMART_PUNCTUATION
            | Options::ENABLE_HEADING_ATTRIBUTES
            | Options::ENABLE_DEFINITION_LIST
            | Options::ENABLE_MATH;
        // As long as the source, so that offsets hold for both.
        let joined = math::join_lines(source.text);
        let events: Vec<Located<'_>> = Parser::new_ext(&joined, options)
            .into_offset_iter()
            .collect();
        let mut renderer = Renderer {
            source,
            catalog,
            shared,
            mode,
            page: Page::default(),
            waiting: Vec::new(),
            footnotes: Vec::new(),
            depth: 0,
            marker_end: 0,
            quotes: Vec::new(),
            exercises: 0,
            cells: Vec::new(),
        };
        renderer.events(&events);
        renderer.notes();
        renderer.flush();
        renderer.page
    }

    pub(crate) fn fail(&mut self, offset: usize, message: impl Into<String>) {
        let line = self.source.line(offset);
        self.page.errors.push(self.source.error(line, message));
    }

    pub(crate) fn push_html(&mut self, html: impl Into<CowStr<'a>>) {
        self.waiting.push(Event::InlineHtml(html.into()));
    }

    /// Writes what waits as one segment.
    pub(crate) fn flush(&mut self) {
        let html = to_html(std::mem::take(&mut self.waiting));
        if !html.trim().is_empty() {
            self.page.segments.push(Segment::Html(html));
        }
    }

    /// The HTML of some events, apart from the page.
    pub(crate) fn apart(&mut self, events: &[Located<'a>]) -> String {
        let outside = std::mem::take(&mut self.waiting);
        self.events(events);
        to_html(std::mem::replace(&mut self.waiting, outside))
    }

    fn events(&mut self, events: &[Located<'a>]) {
        let mut i = 0;
        while let Some((event, range)) = events.get(i) {
            let end = end_of(events, i);
            let inside = &events[(i + 1).min(end)..end];
            match event {
                Event::Start(Tag::Heading { level, id, .. }) => {
                    self.heading(*level, id.as_deref(), inside, range.start);
                    i = end;
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if is_block(info) => {
                    self.block(info, inside, range.start);
                    i = end;
                }
                Event::Start(Tag::FootnoteDefinition(label)) => {
                    self.footnote(label, inside, range.start);
                    i = end;
                }
                Event::Start(Tag::Paragraph) if let Some(latex) = only_formula(inside) => {
                    let html = self.displayed_formula(latex, range.start);
                    self.waiting.push(Event::Html(html.into()));
                    i = end;
                }
                Event::Start(Tag::Table(_)) => {
                    self.table(events, i, end);
                    i = end;
                }
                Event::Start(Tag::Image { dest_url, .. }) => {
                    self.image(dest_url, inside, range.start);
                    i = end;
                }
                _ => self.event(event, range, events.get(i + 1).map(|(next, _)| next)),
            }
            i += 1;
        }
    }

    fn event(&mut self, event: &Event<'a>, range: &Range<usize>, next: Option<&Event<'a>>) {
        match event {
            Event::Start(tag) => {
                self.depth += 1;
                self.start(tag, range);
            }
            Event::End(tag) => {
                self.depth = self.depth.saturating_sub(1);
                self.end(tag);
            }
            Event::InlineMath(latex) | Event::DisplayMath(latex) => {
                let display = matches!(event, Event::DisplayMath(_));
                let mathml = self.formula(latex, display, range.start);
                self.push_html(if display {
                    format!("<span class=\"math\">{mathml}</span>")
                } else {
                    mathml
                });
            }
            Event::Code(code) if code.starts_with('=') => {
                self.inline_value(&code[1..], range.start);
            }
            Event::Html(html) => {
                let checked = self.raw_html(html, range.start);
                self.waiting.push(Event::Html(checked.into()));
            }
            Event::InlineHtml(html) => {
                let checked = self.raw_html(html, range.start);
                self.push_html(checked);
            }
            Event::FootnoteReference(label) => self.footnote_reference(label, range.start),
            Event::Text(_) | Event::SoftBreak | Event::HardBreak
                if range.start < self.marker_end => {}
            Event::Text(text) => {
                if &**text == "["
                    && matches!(next, Some(Event::Text(after)) if after.starts_with('^'))
                {
                    self.fail(
                        range.start,
                        "this footnote has no definition `[^label]: text`",
                    );
                }
                self.page.words += text.split_whitespace().count();
                self.waiting.push(event.clone());
            }
            _ => self.waiting.push(event.clone()),
        }
    }

    fn start(&mut self, tag: &Tag<'a>, range: &Range<usize>) {
        match tag {
            Tag::BlockQuote(_) => self.quote(range),
            Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            } => {
                let dest_url = self.link(dest_url, range.start).into();
                let tag = Tag::Link {
                    link_type: *link_type,
                    dest_url,
                    title: title.clone(),
                    id: id.clone(),
                };
                self.waiting.push(Event::Start(tag));
            }
            _ => self.waiting.push(Event::Start(tag.clone())),
        }
    }

    /// A table whose cells name their column, so a narrow page can show a row of many as a list.
    fn table(&mut self, events: &[Located<'a>], start: usize, end: usize) {
        let heads: Vec<String> = (start..end)
            .take_while(|&i| !matches!(events[i].0, Event::End(TagEnd::TableHead)))
            .filter(|&i| matches!(events[i].0, Event::Start(Tag::TableCell)))
            .map(|i| plain_text(&events[i + 1..end_of(events, i)]))
            .collect();
        // A head without any text marks a table that has none.
        let unnamed = heads.iter().filter(|head| head.is_empty()).count();
        if 0 < unnamed && unnamed < heads.len() {
            self.fail(events[start].1.start, "a column of this table has no name");
        }
        let outside = std::mem::take(&mut self.waiting);
        let (first, last) = (&events[start], &events[end]);
        self.event(&first.0, &first.1, None);
        self.events(&events[start + 1..end]);
        self.event(&last.0, &last.1, None);
        let html = to_html(std::mem::replace(&mut self.waiting, outside));
        let is_wide = heads.len() >= WIDE_TABLE && heads.iter().all(|head| !head.is_empty());
        let (class, html) = if is_wide {
            (" is-wide", with_heads(&html, &heads))
        } else {
            ("", html)
        };
        self.waiting.push(Event::Html(
            format!("<div class=\"table-scroll{class}\">{html}</div>\n").into(),
        ));
    }

    fn heading(
        &mut self,
        level: HeadingLevel,
        id: Option<&str>,
        inside: &[Located<'a>],
        offset: usize,
    ) {
        let level = level as u8;
        if self.mode != Mode::Page || self.depth > 0 {
            self.fail(offset, "a heading cannot stand inside another block");
            return;
        }
        if !self.source.text[offset..].trim_start().starts_with('#') {
            self.fail(offset, "a line of `=` or `-` makes the text above it a heading; write headings as `## Heading`");
            return;
        }
        let above = self.page.headings.last().map_or(1, |heading| heading.level);
        if !(2..=4).contains(&level) || level > above + 1 {
            let message = format!(
                "a heading of level {level} cannot follow one of level {above}; the title is level 1"
            );
            self.fail(offset, message);
        }
        let text = plain_text(inside);
        if inside
            .iter()
            .any(|(event, _)| matches!(event, Event::Start(Tag::Link { .. })))
        {
            self.fail(
                offset,
                "a heading is a link to itself and cannot hold another",
            );
        }
        let html = self.apart(inside);
        let id = id.map_or_else(|| slug(&text), str::to_owned);
        if id.is_empty() {
            self.fail(
                offset,
                "this heading needs letters, or an id: `## Heading {#id}`",
            );
        }
        let line = self.source.line(offset);
        let attribute = escape(&id);
        self.waiting.push(Event::Html(
            format!("<h{level} id=\"{attribute}\"><a class=\"heading-link\" href=\"#{attribute}\">{html}</a></h{level}>\n").into(),
        ));
        self.page.ids.push((id.clone(), line));
        self.page.headings.push(Heading {
            level,
            id,
            html,
            line,
        });
    }
}

/// True for a fence that opens a cell, a guess, an exercise or code.
fn is_block(info: &str) -> bool {
    matches!(
        info.split_whitespace().next(),
        Some("cell" | "guess" | "exercise" | "code")
    )
}

/// The index of the event that ends the one at `start`; `start` itself where it opens nothing.
fn end_of(events: &[Located<'_>], start: usize) -> usize {
    let mut open = 0_usize;
    for (i, (event, _)) in events.iter().enumerate().skip(start) {
        match event {
            Event::Start(_) => open += 1,
            Event::End(_) => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return i;
        }
    }
    events.len().saturating_sub(1)
}

/// Columns of a table that a narrow page has no room for side by side.
const WIDE_TABLE: usize = 4;

/// The table with the name of its column at each cell.
fn with_heads(html: &str, heads: &[String]) -> String {
    let row = |row: &str| {
        let mut cells = row.split("<td");
        let mut out = cells.next().unwrap_or_default().to_owned();
        for (cell, head) in cells.zip(heads) {
            out += &format!("<td data-head=\"{}\"{cell}", escape(head));
        }
        out
    };
    html.split_inclusive("</tr>").map(row).collect()
}

/// The formula of a paragraph that holds nothing else.
fn only_formula<'e>(inside: &'e [Located<'_>]) -> Option<&'e str> {
    match inside {
        [(Event::DisplayMath(latex), _)] => Some(latex),
        _ => None,
    }
}

/// The words of some events, without markup.
pub(crate) fn plain_text(events: &[Located<'_>]) -> String {
    let mut out = String::new();
    for (event, _) in events {
        match event {
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) => out.push_str(text),
            Event::SoftBreak | Event::HardBreak => out.push(' '),
            _ => {}
        }
    }
    out
}

fn to_html(events: Vec<Event<'_>>) -> String {
    let mut out = String::new();
    pulldown_cmark::html::push_html(&mut out, events.into_iter());
    // The marker line of an aside leaves an empty paragraph where nothing else stood in it.
    math::with_punctuation(&out.replace("<p></p>\n", ""))
}
