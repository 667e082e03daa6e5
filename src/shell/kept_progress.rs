//! The reader's progress, kept on this device alone: the lessons that were begun or read, and the
//! section where the reader was last in each.

use std::cell::RefCell;

use wasm_bindgen::JsCast;
use web_sys::{HtmlAnchorElement, HtmlElement};

use crate::browser::preference::{self, READING};
use crate::browser::{address, dom};

/// Id of the last section of a lesson: a reader who has reached it has read the lesson.
const LAST_SECTION: &str = "in-short";

/// The progress in one lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Begun {
    slug: String,
    is_read: bool,
    /// Id of the section where the reader was last.
    id: String,
    /// Its heading.
    section: String,
}

thread_local! {
    /// What was noted last, so that not every step of a scroll is stored.
    static NOTED: RefCell<Option<Begun>> = const { RefCell::new(None) };
}

/// What the rest of the site asks of this chunk.
#[derive(Clone, Copy)]
pub(super) struct Keeper {
    /// Shows the progress in the open page.
    pub(super) show: fn(),
    /// Notes that the section of an entry of the list of contents is being read, in the lesson of
    /// this slug.
    pub(super) note: fn(&str, &HtmlElement),
}

/// The functions of this chunk.
pub(super) const KEEPER: Keeper = Keeper { show, note };

fn note(slug: &str, entry: &HtmlElement) {
    let href = entry.get_attribute("href").unwrap_or_default();
    let section = entry.text_content().unwrap_or_default();
    let now = Begun {
        slug: slug.to_owned(),
        is_read: dom::by_id(LAST_SECTION).is_some_and(|last| dom::is_reached(&last)),
        id: href.trim_start_matches('#').to_owned(),
        section: section.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    if NOTED.replace(Some(now.clone())).as_ref() != Some(&now) {
        preference::set(READING, &write(&with(read(&stored()), now)));
        show();
    }
}

fn stored() -> String {
    preference::get(READING).unwrap_or_default()
}

/// The number of lessons with progress.
pub(crate) fn count() -> usize {
    read(&stored()).len()
}

/// Deletes all progress.
pub(crate) fn delete() {
    preference::delete(READING);
    NOTED.set(None);
    show();
}

/// The progress that a text holds, a line for each lesson, the lesson that was open last first.
fn read(text: &str) -> Vec<Begun> {
    let line = |line: &str| {
        let mut fields = line.split('\t');
        Some(Begun {
            slug: fields.next()?.to_owned(),
            is_read: fields.next()? == "read",
            id: fields.next()?.to_owned(),
            section: fields.next()?.to_owned(),
        })
    };
    text.lines().filter_map(line).collect()
}

fn write(all: &[Begun]) -> String {
    let line = |begun: &Begun| {
        let Begun {
            slug, id, section, ..
        } = begun;
        [slug, word(begun), id, section].join("\t")
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn word(begun: &Begun) -> &'static str {
    if begun.is_read { "read" } else { "begun" }
}

/// Puts a lesson first. What was read once stays read.
fn with(mut all: Vec<Begun>, mut now: Begun) -> Vec<Begun> {
    now.is_read |= all.iter().any(|old| old.slug == now.slug && old.is_read);
    all.retain(|old| old.slug != now.slug);
    all.insert(0, now);
    all
}

/// The lesson that a reader would continue: the one that was open last, unless it is read.
fn unfinished(all: &[Begun]) -> Option<&Begun> {
    all.first().filter(|begun| !begun.is_read)
}

/// Shows the progress beside the lessons of the menu and of the map, and on the first button of the
/// home page.
fn show() {
    let Some(body) = dom::body() else { return };
    let all = read(&stored());
    let next = unfinished(&all);
    for link in dom::find_all(&body, ".course-menu li a, .course-map li > a") {
        if let Some(old) = dom::find(&link, ".read-mark") {
            old.remove();
        }
        let path = link
            .dyn_ref::<HtmlAnchorElement>()
            .map(HtmlAnchorElement::pathname);
        let path = path.unwrap_or_default();
        let of = |begun: &&Begun| path.ends_with(&["/", &begun.slug, "/"].concat());
        let Some(begun) = all.iter().find(of) else {
            continue;
        };
        let mark = ["<span class=\"read-mark\"> ", word(begun), "</span>"].concat();
        let _ = link.insert_adjacent_html("beforeend", &mark);
        if let (true, Some(number)) = (next == Some(begun), dom::find(&link, ".course-number")) {
            offer(begun, &number.text_content().unwrap_or_default());
        }
    }
}

/// Turns the first button of the home page into one that leads to where the reader was.
fn offer(begun: &Begun, number: &str) {
    let Some(button) = dom::main().and_then(|main| dom::find(&main, ".ways .primary")) else {
        return;
    };
    let place = ["lesson/", &begun.slug, "/#", &begun.id].concat();
    let _ = button.set_attribute("href", &address::site_url(&place));
    button.set_text_content(Some(&["Continue lesson ", number].concat()));
    let _ = button.insert_adjacent_html("beforeend", " <span class=\"way-note\"></span>");
    if let Some(note) = dom::find(&button, ".way-note") {
        note.set_text_content(Some(&begun.section));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(slug: &str, is_read: bool, section: &str) -> Begun {
        Begun {
            slug: slug.to_owned(),
            is_read,
            id: section.to_lowercase(),
            section: section.to_owned(),
        }
    }

    #[test]
    fn progress_is_read_as_it_was_written() {
        let all = [
            begun("scaling", false, "Why"),
            begun("patches", true, "In short"),
        ];
        assert_eq!(read(&write(&all)), all);
        assert!(read("").is_empty());
        assert_eq!(
            read("damaged\nscaling\tbegun\twhy\tWhy"),
            [begun("scaling", false, "Why")]
        );
    }

    #[test]
    fn the_lesson_that_was_open_last_is_first_and_a_read_one_stays_read() {
        let all = with(Vec::new(), begun("scaling", true, "In short"));
        let all = with(all, begun("patches", false, "Cut"));
        assert_eq!(unfinished(&all), Some(&begun("patches", false, "Cut")));
        let all = with(all, begun("scaling", false, "Why"));
        assert_eq!(
            all,
            [
                begun("scaling", true, "Why"),
                begun("patches", false, "Cut")
            ]
        );
        assert_eq!(unfinished(&all), None);
        assert_eq!(unfinished(&[]), None);
    }
}
