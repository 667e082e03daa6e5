//! The index of the search: every page and its sections, cells and terms, without numbers and
//! formulas.

use lesson::{Lesson, Segment};
use search::Entry;

/// Tags that may stand within a word.
const WITHIN_WORDS: [&str; 9] = ["a", "b", "code", "em", "i", "span", "strong", "sub", "sup"];

/// The entries of a compiled page: the page, its sections and its cells.
pub(crate) fn of_page(address: &str, page: &Lesson) -> Vec<Entry> {
    let mut entries = vec![entry(address, &page.title, &page.description)];
    let mut section = 0;
    for segment in &page.segments {
        match segment {
            Segment::Html(html) => section = add_sections(&mut entries, section, html),
            Segment::Cell(cell) => {
                let caption = without_tags(cell.caption.as_deref().unwrap_or_default(), false);
                entries.push(entry(&format!("#{}", cell.id), &cell.title, &caption));
            }
            Segment::Exercise(exercise) => add_text(&mut entries[section], &exercise.question),
            Segment::Code(code) => add_text(&mut entries[section], &code.listing.name),
            Segment::Guess(guess) => add_text(&mut entries[section], &guess.question),
        }
    }
    entries
}

/// The entries of a page of the site's own, whose content is HTML.
pub(crate) fn of_html(address: &str, title: &str, description: &str, html: &str) -> Vec<Entry> {
    let mut entries = vec![entry(address, title, description)];
    add_sections(&mut entries, 0, html);
    entries
}

fn entry(address: &str, heading: &str, text: &str) -> Entry {
    Entry {
        address: address.to_owned(),
        heading: heading.to_owned(),
        text: text.to_owned(),
    }
}

/// Adds the text before the first heading to the entry `section`, and an entry for each section;
/// the index of the last.
fn add_sections(entries: &mut Vec<Entry>, mut section: usize, html: &str) -> usize {
    let mut rest = html;
    while let Some((at, id)) = next_heading(rest) {
        add_text(&mut entries[section], &rest[..at]);
        let end = rest[at..].find("</h").map_or(rest.len(), |end| at + end);
        let heading = without_tags(&rest[at..end], true);
        entries.push(entry(&format!("#{id}"), &heading, ""));
        section = entries.len() - 1;
        rest = &rest[end..];
    }
    add_text(&mut entries[section], rest);
    section
}

/// The place and the id of the first heading of a section.
fn next_heading(html: &str) -> Option<(usize, &str)> {
    let starts = ["<h2 ", "<h3 ", "<h4 "];
    let places = starts.iter().flat_map(|start| html.match_indices(start));
    let mut with_id = places.filter_map(|(at, _)| {
        let tag = html[at..].split('>').next()?;
        let id = tag.split(" id=\"").nth(1)?.split('"').next()?;
        Some((at, id))
    });
    let first = with_id.next()?;
    Some(with_id.fold(
        first,
        |first, next| if next.0 < first.0 { next } else { first },
    ))
}

fn add_text(entry: &mut Entry, html: &str) {
    entry.text.push(' ');
    entry.text.push_str(&without_tags(html, false));
}

/// The text of HTML, without values of cells, with the text of formulas where `with_formulas` says so.
fn without_tags(html: &str, with_formulas: bool) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    let (mut is_formula, mut is_value) = (false, false);
    while let Some((text, after)) = rest.split_once('<') {
        if !is_value && (with_formulas || !is_formula) {
            out.push_str(text);
        }
        let (tag, after) = after.split_once('>').unwrap_or((after, ""));
        let name = tag.trim_start_matches('/');
        let name = name.split([' ', '\n', '/']).next().unwrap_or_default();
        if name == "math" {
            is_formula = !tag.starts_with('/');
        }
        // A value that the page quotes from a cell.
        if name == "output" {
            is_value = !tag.starts_with('/');
        }
        if !is_formula && !WITHIN_WORDS.contains(&name) {
            out.push(' ');
        }
        rest = after;
    }
    out.push_str(rest);
    let signs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    let plain = signs
        .into_iter()
        .fold(out, |text, (sign, plain)| text.replace(sign, plain));
    plain.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use search::{Index, Query, write};

    use super::*;
    use crate::content::real::{catalog, content, project};
    use crate::write::search_entries;

    /// The most bytes that a reader may have to fetch, after gzip.
    const MOST_BYTES: usize = 60_000;

    /// The index of the real site, and the ids of its compiled pages by address.
    fn real() -> (String, BTreeMap<String, Vec<String>>) {
        let content = content();
        let reference = crate::reference::compiled(&project(), content, &catalog())
            .unwrap()
            .page;
        let ids = content
            .lessons
            .iter()
            .map(|lesson| (format!("lesson/{}/", lesson.slug), lesson.ids.clone()));
        let others =
            [&content.models, &reference].map(|page| (format!("{}/", page.slug), page.ids.clone()));
        let ids = ids.chain(others).collect();
        (write(&search_entries(content, Some(&reference))), ids)
    }

    fn best(index: &Index, typed: &str) -> Vec<String> {
        let hits = Query::new(typed).search(index);
        hits.iter()
            .take(3)
            .map(|hit| hit.address.to_owned())
            .collect()
    }

    #[test]
    fn the_index_is_small_and_every_entry_leads_somewhere() {
        let (text, ids) = real();
        let packed = miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 6).len();
        assert!(packed < MOST_BYTES, "{packed} bytes");
        assert!(
            !text.contains("(computed below)"),
            "a value that is not there yet"
        );
        assert!(packed > 5_000, "all lessons are in it: {packed} bytes");
        let mut page = "";
        let mut seen = BTreeSet::new();
        for line in text.lines() {
            let address = line.split('\t').next().unwrap();
            if !address.starts_with('#') {
                page = address;
                seen.insert(page);
            } else if let Some(ids) = ids.get(page) {
                assert!(ids.iter().any(|id| *id == address[1..]), "{page}{address}");
            }
        }
        assert!(
            ids.keys().all(|page| seen.contains(page.as_str())),
            "{seen:?}"
        );
        for page in ["", "lab/", "bench/", "map/", "about/"] {
            assert!(seen.contains(page), "{page:?} is searched: {seen:?}");
        }
    }

    #[test]
    fn lessons_terms_cells_models_and_tools_are_found() {
        let (text, _) = real();
        let index = Index::parse(&text).unwrap();
        for (typed, expected) in [
            ("self-attention", "lesson/self-attention/"),
            ("teacher forcing", "reference/#teacher-forcing"),
            ("tiny-bert", "models/#tiny-bert"),
            ("lab", "lab/"),
            ("cut picture", "lesson/patches/#patch-cutter"),
            ("causal mask in short", "lesson/causal-mask/#in-short"),
        ] {
            let best = best(&index, typed);
            assert!(
                best.iter().any(|found| found == expected),
                "{typed}: {best:?}"
            );
        }
        assert!(best(&index, "zebra crossing").is_empty());
    }

    #[test]
    fn html_becomes_the_words_that_a_reader_sees() {
        let html = "<p>Two <strong>key</strong>s &amp; a<code>b</code></p><td>c</td><td>d</td>\
                    <math><mi>Q</mi></math>.";
        assert_eq!(
            without_tags(html, false)
                .split_whitespace()
                .collect::<Vec<_>>(),
            ["Two", "keys", "&", "ab", "c", "d", "."]
        );
        let quoted = "so <output class=\"inline-value\">(computed below)</output> of it";
        let words: Vec<String> = without_tags(quoted, false)
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        assert_eq!(words, ["so", "of", "it"]);
        assert_eq!(
            without_tags("by <math><mi>d</mi><mn>2</mn></math>", true),
            "by d2"
        );
    }

    #[test]
    fn sections_start_at_headings_with_an_id() {
        let html = "<p>first</p><h3 class=\"x\">No place</h3><h2 id=\"a\"><a href=\"#a\">The A</a></h2>\
                    <p>second</p><h3 id=\"b\">B</h3>third";
        let entries = of_html("map/", "Map", "All.", html);
        let found: Vec<[&str; 2]> = entries
            .iter()
            .map(|e| [e.address.as_str(), e.heading.as_str()])
            .collect();
        assert_eq!(found, [["map/", "Map"], ["#a", "The A"], ["#b", "B"]]);
        assert!(entries[0].text.contains("first") && entries[0].text.contains("No place"));
        assert!(entries[1].text.contains("second") && entries[2].text.contains("third"));
    }
}
