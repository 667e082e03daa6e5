//! Links from the prose of a lesson to the glossary: where the lesson first uses a term that another
//! lesson explains.

use std::ops::Range;

use lesson::html::slug;
use lesson::{Lesson, ROOT, Segment};

use crate::reference::Term;

/// Most links to the glossary in one lesson.
const MOST: usize = 8;

/// The part of a segment where a term is used.
type Place = (usize, Range<usize>);

/// A lesson with links to the glossary. Words in headings, bold, code, formulas, links and tables
/// are left alone, as are terms that the lesson explains itself. Where there are more terms than
/// links, those that a later lesson explains come first: a reader has not met them yet.
pub(crate) fn linked(lesson: &Lesson, terms: &[Term], lessons: &[Lesson]) -> Lesson {
    let number = |slug: &str| lessons.iter().position(|other| other.slug == slug);
    let own = number(&lesson.slug);
    let texts: Vec<Place> = lesson
        .segments
        .iter()
        .enumerate()
        .flat_map(|(i, segment)| match segment {
            Segment::Html(html) => prose(html).into_iter().map(|text| (i, text)).collect(),
            _ => Vec::new(),
        })
        .collect();
    let lower: Vec<String> = lesson
        .segments
        .iter()
        .map(|segment| match segment {
            // Letters beyond ASCII keep their length, so places in both texts are the same.
            Segment::Html(html) => html.to_ascii_lowercase(),
            _ => String::new(),
        })
        .collect();
    let mut found: Vec<(bool, Place, &Term)> = Vec::new();
    let mut by_length: Vec<&Term> = terms.iter().collect();
    // "Gradient clipping" is not a use of "gradient".
    by_length.sort_by_key(|term| std::cmp::Reverse(term.name.len()));
    let mut taken: Vec<Place> = Vec::new();
    for term in by_length {
        let forms = forms(term);
        let all = texts.iter().flat_map(|text| uses(&lower, text, &forms));
        let all: Vec<Place> = all.filter(|place| is_free(place, &taken)).collect();
        if let Some(first) = all.first()
            && term.linked
            && term.lesson != lesson.slug
            && !term.unlinked.contains(&lesson.slug)
            && !is_explained(&lower, &forms)
        {
            let is_known = number(&term.lesson) < own;
            found.push((is_known, first.clone(), term));
        }
        taken.extend(all);
    }
    found.sort_by_key(|(is_known, (segment, range), _)| (*is_known, *segment, range.start));
    found.truncate(MOST);
    // From the end, so that the places before stay where they are.
    found.sort_by_key(|(_, (segment, range), _)| std::cmp::Reverse((*segment, range.start)));
    let mut out = lesson.clone();
    for (_, (segment, range), term) in found {
        if let Some(Segment::Html(html)) = out.segments.get_mut(segment) {
            let link = format!(
                "<a class=\"glossary\" href=\"{ROOT}reference/#{}\">{}</a>",
                slug(&term.name),
                &html[range.clone()]
            );
            html.replace_range(range, &link);
        }
    }
    out
}

/// The words that are a use of a term, in lower case.
fn forms(term: &Term) -> Vec<String> {
    let name = term.name.to_lowercase();
    let plural = format!("{name}s");
    let more = term.forms.iter().map(|form| form.to_lowercase());
    [name, plural].into_iter().chain(more).collect()
}

/// Whether a lesson, given in lower case, has a term in bold, as where it explains it.
fn is_explained(lower: &[String], forms: &[String]) -> bool {
    forms.iter().any(|form| {
        let bold = format!("<strong>{form}</strong>");
        lower.iter().any(|html| html.contains(&bold))
    })
}

/// Where a text of a lesson, given in lower case, has one of some words, in order.
fn uses(lower: &[String], (segment, range): &Place, forms: &[String]) -> Vec<Place> {
    let Some(text) = lower.get(*segment).and_then(|html| html.get(range.clone())) else {
        return Vec::new();
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let mut places: Vec<Place> = forms
        .iter()
        .flat_map(|form| text.match_indices(form.as_str()))
        .filter(|(at, form)| {
            let before = text[..*at].chars().next_back();
            let after = text[at + form.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
        .map(|(at, form)| {
            let start = range.start + at;
            (*segment, start..start + form.len())
        })
        .collect();
    places.sort_by_key(|(_, range)| range.start);
    places
}

/// Whether a place is in none of those.
fn is_free((segment, range): &Place, taken: &[Place]) -> bool {
    !taken
        .iter()
        .any(|(other, used)| other == segment && used.start < range.end && range.start < used.end)
}

/// The texts of HTML that are directly in a paragraph or an item of a list.
fn prose(html: &str) -> Vec<Range<usize>> {
    /// Elements without an end.
    const VOID: [&str; 4] = ["br", "img", "hr", "input"];
    let mut texts = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(start) = html[at..].find('<').map(|start| at + start) {
        if open.last().is_some_and(|tag| ["p", "li"].contains(tag)) {
            texts.push(at..start);
        }
        let end = html[start..]
            .find('>')
            .map_or(html.len(), |end| start + end);
        let tag = &html[start + 1..end];
        at = (end + 1).min(html.len());
        if tag.starts_with('!') || tag.ends_with('/') {
            continue;
        }
        if tag.starts_with('/') {
            open.pop();
        } else {
            let name = tag.split([' ', '\n']).next().unwrap_or_default();
            if !VOID.contains(&name) {
                // A paragraph with a class is a label or a note.
                open.push(if tag == "p" || name != "p" {
                    name
                } else {
                    "label"
                });
            }
        }
    }
    texts.retain(|text| !text.is_empty());
    texts
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::content::Content;
    use crate::content::real::{catalog, content, project};
    use crate::reference;

    fn real() -> (&'static Content, Vec<Term>, Lesson) {
        let (content, project) = (content(), project());
        let page = reference::compiled(&project, content, &catalog())
            .unwrap()
            .page;
        (content, reference::terms(&project).unwrap(), page)
    }

    fn links(html: &str) -> Vec<&str> {
        html.split("<a class=\"glossary\" href=\"")
            .skip(1)
            .filter_map(|rest| rest.split("</a>").next())
            .collect()
    }

    #[test]
    fn every_lesson_links_to_terms_that_the_glossary_has() {
        let (content, terms, page) = real();
        let mut all = 0;
        for lesson in &content.lessons {
            let html = linked(lesson, &terms, &content.lessons).article(ROOT);
            let links = links(&html);
            assert!(links.len() <= MOST, "{}: {links:?}", lesson.slug);
            all += links.len();
            for link in &links {
                let id = link.split(['#', '"']).nth(1).unwrap();
                assert!(page.ids.iter().any(|known| known == id), "{link}");
                let term = terms.iter().find(|term| slug(&term.name) == id).unwrap();
                assert_ne!(term.lesson, lesson.slug, "{link}");
            }
            let plain = lesson.article(ROOT);
            let tags = |html: &str| html.matches("</a>").count();
            assert_eq!(tags(&html), tags(&plain) + links.len());
        }
        assert!(all > 2 * content.lessons.len(), "{all}");
    }

    fn term(name: &str, forms: &[&str]) -> Term {
        Term {
            name: name.to_owned(),
            forms: forms.iter().map(|form| (*form).to_owned()).collect(),
            lesson: "other".to_owned(),
            linked: true,
            ..Term::default()
        }
    }

    fn linked_html(html: &str, terms: &[Term]) -> String {
        let content = content();
        let mut lesson = content.lessons[0].clone();
        lesson.segments = vec![Segment::Html(html.to_owned())];
        linked(&lesson, terms, &content.lessons).article("")
    }

    #[test]
    fn the_first_use_in_prose_is_linked_once() {
        let html = "<h2 id=\"a\">Patch</h2><p class=\"note\">Patch</p><p><a href=\"x\">patch</a> <code>patch</code> patchwork, sub-patch; \
                    Patches and a patch.</p><p>A patch.</p>";
        let expected = html.replacen(
            "Patches",
            "<a class=\"glossary\" href=\"reference/#patch\">Patches</a>",
            1,
        );
        assert_eq!(linked_html(html, &[term("Patch", &["patches"])]), expected);
    }

    #[test]
    fn a_longer_term_is_no_use_of_a_shorter_one() {
        let terms = [term("Mask", &[]), term("Causal mask", &[])];
        let html = linked_html("<p>A causal mask; masks.</p>", &terms);
        assert_eq!(
            links(&html),
            [
                "reference/#causal-mask\">causal mask",
                "reference/#mask\">masks"
            ]
        );
    }

    #[test]
    fn authors_and_bold_words_switch_links_off() {
        let html = "<p>A patch.</p>";
        assert_eq!(links(&linked_html(html, &[term("Patch", &[])])).len(), 1);
        let bold = "<p>A patch, or <strong>patch</strong>.</p>";
        assert!(links(&linked_html(bold, &[term("Patch", &[])])).is_empty());
        let off = Term {
            linked: false,
            ..term("Patch", &[])
        };
        assert!(links(&linked_html(html, &[off])).is_empty());
        let content = content();
        let here = Term {
            unlinked: vec![content.lessons[0].slug.clone()],
            ..term("Patch", &[])
        };
        assert!(links(&linked_html(html, &[here])).is_empty());
    }
}
