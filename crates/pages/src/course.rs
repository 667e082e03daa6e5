//! The lists of lessons: the menu in every header and the map on the home page. Lessons are numbered
//! in the order of the list: a file's number only sorts. The map also names the lessons to come.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::thumbnail;
use lesson::html::escape;
use lesson::{Lesson, ROOT};

/// The lessons of each part, with the number of the first of them.
fn parts(lessons: &[Lesson]) -> impl Iterator<Item = (usize, &[Lesson])> {
    let parts = lessons.chunk_by(|a, b| a.part == b.part);
    parts.scan(1, |next, part| {
        let first = *next;
        *next += part.len();
        Some((first, part))
    })
}

/// The word before a part's name, as in "Part II: attention".
pub(crate) const PART: &str = "Part";

/// The menu; `current` is the slug of the page that it stands on.
pub fn course_menu(lessons: &[Lesson], current: &str) -> String {
    let mut out = String::new();
    for (first, part) in parts(lessons) {
        // Writing to a String cannot fail, here and below.
        let _ = write!(
            out,
            "<p class=\"course-part\">{PART} {}</p><ol>",
            escape(&part[0].part)
        );
        for (number, lesson) in (first..).zip(part) {
            let here = if lesson.slug == current {
                " aria-current=\"page\""
            } else {
                ""
            };
            let title = escape(&lesson.title);
            let _ = write!(
                out,
                "<li value=\"{number}\"><a href=\"{ROOT}lesson/{}/\"{here}>\
                 <span class=\"course-number\">{number}</span> {title}</a></li>",
                lesson.slug
            );
        }
        out.push_str("</ol>");
    }
    out
}

/// The map of the course; `level` is the level of its headings. `with_pictures` says whether the
/// figures of the lessons stand beside their titles; `to_come` has the titles of lessons to come by
/// part.
pub fn course_map(
    lessons: &[Lesson],
    to_come: &BTreeMap<String, Vec<String>>,
    level: u8,
    with_pictures: bool,
) -> String {
    let mut out = "<div class=\"course-map\">\n".to_owned();
    let mut to_come = to_come.clone();
    for (first, part) in parts(lessons) {
        let name = escape(&part[0].part);
        let _ = writeln!(
            out,
            "<h{level} class=\"course-part\">{PART} {name}</h{level}>\n<ol>"
        );
        for (number, lesson) in (first..).zip(part) {
            let title = escape(&lesson.title);
            let description = escape(&lesson.description);
            let picture = if with_pictures {
                thumbnail::of(lesson)
            } else {
                None
            };
            let class = if picture.is_some() {
                " class=\"has-thumbnail\""
            } else {
                ""
            };
            let picture = picture.unwrap_or_default();
            let _ = writeln!(
                out,
                "<li value=\"{number}\"{class}>{picture}<a href=\"{ROOT}lesson/{}/\">{title}</a><p>{description}</p></li>",
                lesson.slug
            );
        }
        out.push_str(&later(to_come.remove(&part[0].part), part.len()));
        out.push_str("</ol>\n");
    }
    for (part, titles) in to_come {
        let _ = writeln!(
            out,
            "<h{level} class=\"course-part\">{PART} {}</h{level}>\n<ol>{}</ol>",
            escape(&part),
            later(Some(titles), 0)
        );
    }
    out.push_str("</div>\n");
    out
}

/// One entry of a part with the lessons to come; the classes say in which of two or three columns it
/// begins, after `cards` entries, so it fills the rest of their row.
fn later(titles: Option<Vec<String>>, cards: usize) -> String {
    let titles = titles.unwrap_or_default();
    if titles.is_empty() {
        return String::new();
    }
    let entries: String = titles
        .iter()
        .map(|title| format!("<li>{}</li>", escape(title)))
        .collect();
    format!(
        "<li class=\"to-come after-{}-of-2 after-{}-of-3\"><p>To come</p><ul>{entries}</ul></li>\n",
        cards % 2,
        cards % 3
    )
}
