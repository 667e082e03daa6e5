//! A source file to a [`Lesson`].

use std::collections::HashMap;
use std::path::Path;

use crate::catalog::Catalog;
use crate::error::LessonError;
use crate::front;
use crate::markdown::{Page, Renderer};
use crate::source::Source;
use crate::symbols;
use crate::types::{Kind, Lesson, Link};

/// Words of prose that are read in a minute.
const WORDS_A_MINUTE: usize = 200;

/// Ids that the page around a lesson uses itself.
const RESERVED_IDS: [&str; 1] = ["main"];

/// Compiles one source file. `file` names it in errors; its last part (`NN-slug.md`, `home.md`,
/// `404.md` or `MODELS.md`) says which page it is.
///
/// # Errors
/// Everything that is wrong in the file, in order of lines.
pub fn compile(file: &str, text: &str, catalog: &dyn Catalog) -> Result<Lesson, Vec<LessonError>> {
    let source = Source {
        file,
        text,
        first_line: 1,
    };
    let (kind, slug) = kind_and_slug(file).ok_or_else(|| {
        vec![source.error(
            1,
            "a lesson's file name is of the form 05-self-attention.md (or home.md, 404.md)",
        )]
    })?;
    let (front, body) = front::parse(&source, kind).map_err(|error| vec![error])?;
    let body = Source {
        file,
        text: &text[body..],
        first_line: source.line(body),
    };
    let mut page = Renderer::page(&body, catalog, &front.shared);
    let mut errors = page.errors.clone();
    if let Err(symbol) = symbols::mark(&front.symbols, &mut page.segments) {
        let message = format!("no formula of the page holds the symbol {symbol}");
        errors.push(source.error(front.symbols_line, message));
    }
    check_ids(&source, &page, &mut errors);
    check_titles(&source, &page, &mut errors);
    note_moved(&source, &front, &mut page, &mut errors);
    if let Some(id) = &front.picture
        && !page.cells().any(|cell| cell.id == *id)
    {
        errors.push(source.error(1, format!("the picture names no cell of this page: {id}")));
    }
    if errors.is_empty() {
        // A cell that did not compile would seem to be missing for all that quote it.
        check_inline_values(&source, &page, catalog, &front, &mut errors);
    }
    if !errors.is_empty() {
        errors.sort();
        errors.dedup();
        return Err(errors);
    }
    Ok(Lesson {
        kind,
        file: file.to_owned(),
        slug,
        title: front.title,
        description: front.description,
        part: front.part,
        picture: front.picture,
        minutes: page.words.div_ceil(WORDS_A_MINUTE).max(1),
        shared: front.shared,
        to_come: front.to_come,
        moved: front.moved,
        segments: page.segments,
        headings: page.headings,
        links: page.links,
        inline_values: page.inline_values,
        ids: page.ids.into_iter().map(|(id, _)| id).collect(),
    })
}

fn kind_and_slug(file: &str) -> Option<(Kind, String)> {
    let stem = Path::new(file).file_name()?.to_str()?.strip_suffix(".md")?;
    match stem {
        "home" => Some((Kind::Home, stem.to_owned())),
        "404" => Some((Kind::NotFound, stem.to_owned())),
        "MODELS" => Some((Kind::Models, stem.to_lowercase())),
        _ => {
            let (number, slug) = stem.split_once('-')?;
            let number = number.parse().ok().filter(|_| number.len() == 2)?;
            crate::fence::is_name(slug).then(|| (Kind::Lesson(number), slug.to_owned()))
        }
    }
}

fn check_ids(source: &Source<'_>, page: &Page, errors: &mut Vec<LessonError>) {
    let mut seen: HashMap<&str, usize> = RESERVED_IDS.iter().map(|id| (*id, 0)).collect();
    for (id, line) in &page.ids {
        match seen.get(id.as_str()) {
            Some(0) => errors.push(source.error(
                *line,
                format!("the id `{id}` belongs to the page itself; give another"),
            )),
            Some(first) => errors.push(source.error(
                *line,
                format!("the id `{id}` is already used in line {first}"),
            )),
            None => {
                seen.insert(id, *line);
            }
        }
    }
}

/// What has moved to another lesson must be there, as if the page had a link to it, and not here.
fn note_moved(
    source: &Source<'_>,
    front: &front::Front,
    page: &mut Page,
    errors: &mut Vec<LessonError>,
) {
    let line = front.moved_line;
    for (id, slug) in &front.moved {
        if page.ids.iter().any(|(known, _)| known == id) {
            errors.push(source.error(line, format!("`{id}` is still here, and listed as moved")));
        }
        page.links.push(Link {
            target: format!("/lesson/{slug}#{id}"),
            line,
        });
    }
}

/// Two regions of one name are indistinguishable for a reader who navigates by landmarks.
fn check_titles(source: &Source<'_>, page: &Page, errors: &mut Vec<LessonError>) {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for cell in page.cells() {
        if let Some(first) = seen.insert(&cell.title, cell.line) {
            let message = format!(
                "the cell in line {first} has the title \u{201c}{}\u{201d} already",
                cell.title
            );
            errors.push(source.error(cell.line, message));
        }
    }
}

fn check_inline_values(
    source: &Source<'_>,
    page: &Page,
    catalog: &dyn Catalog,
    front: &front::Front,
    errors: &mut Vec<LessonError>,
) {
    for quoted in &page.inline_values {
        let reference = &quoted.value;
        match page.cells().find(|cell| cell.id == reference.cell) {
            None => errors.push(source.error(
                quoted.line,
                format!("this page has no cell with the id `{}`", reference.cell),
            )),
            Some(cell) => {
                if let Err(refusal) = catalog.check_element(
                    &cell.name,
                    &cell.props,
                    &front.shared,
                    &reference.element,
                ) {
                    errors.push(source.error(quoted.line, refusal.message));
                }
            }
        }
    }
}
