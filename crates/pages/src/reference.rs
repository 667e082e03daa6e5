//! The page `/reference/`: the symbols, the equations and the glossary of all lessons, and the
//! systems of the field. The equations are taken from the compiled lessons, the systems from
//! `lessons/systems.toml`; `lessons/reference.toml` holds the rest.

use std::fmt::Write as _;
use std::path::Path;

use lesson::html::{escape, slug};
use lesson::{Heading, Lesson, ROOT, check_links, compile};
use serde::Deserialize;

use crate::catalog::Cells;
use crate::content::Content;
use crate::error::{BuildError, read};
use crate::page::toc;
use crate::systems::{self, System};

/// Source of the symbols and the glossary.
const FILE: &str = "lessons/reference.toml";

/// Name of the page as a source in Markdown.
const NAME: &str = "99-reference.md";

/// Title of the page.
pub(crate) const TITLE: &str = "Reference";

/// Description of the page.
pub(crate) const DESCRIPTION: &str = "The symbols, the equations and the terms of all lessons, and the systems of the field, each with a link to the section that explains it.";

/// Where the equations belong in the page's Markdown.
const EQUATIONS: &str = "<!-- equations -->";

/// Where the time line belongs in the page's Markdown.
const TIME_LINE: &str = "<!-- time-line -->";

/// Introduction of the time line and the table.
const SYSTEMS: &str = "Who first had which idea, and where it runs on this site. Parts that many \
     models share, such as a norm or a rule for positions, stand in the table only.";

/// Start of a displayed formula in a lesson, and its end.
const FORMULA: (&str, &str) = ("<div class=\"math", "</div>");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    #[serde(default)]
    symbol: Vec<Symbol>,
    #[serde(default)]
    term: Vec<Term>,
}

/// One meaning of a symbol.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Symbol {
    latex: String,
    means: String,
    shape: Option<String>,
    /// Slugs of the lessons that use the symbol in this meaning.
    lessons: Vec<String>,
}

/// A term of the glossary.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(Default))]
#[serde(deny_unknown_fields)]
pub(crate) struct Term {
    /// The term, with a capital.
    pub(crate) name: String,
    /// What it is, as Markdown.
    pub(crate) says: String,
    /// Other names of it.
    pub(crate) also: Option<String>,
    /// Slug of the lesson that defines the term.
    pub(crate) lesson: String,
    /// The word that the lesson prints in bold, where it is not the name.
    pub(crate) marked: Option<String>,
    /// Further words that are a use of the term, besides the name and its plural with an s.
    #[serde(default)]
    pub(crate) forms: Vec<String>,
    /// Whether the first use in a lesson links to the glossary; not for words that also have an
    /// everyday meaning.
    #[serde(default = "yes")]
    pub(crate) linked: bool,
    /// Slugs of lessons that do not link to the term.
    #[serde(default)]
    pub(crate) unlinked: Vec<String>,
}

fn yes() -> bool {
    true
}

fn wrong(message: String) -> BuildError {
    BuildError::Other(format!("{FILE}: {message}"))
}

fn source(project: &Path) -> Result<Source, BuildError> {
    toml::from_str(&read(&project.join(FILE))?).map_err(|error| wrong(error.to_string()))
}

/// The terms of the glossary.
///
/// # Errors
/// A file that cannot be read or understood.
pub(crate) fn terms(project: &Path) -> Result<Vec<Term>, BuildError> {
    Ok(source(project)?.term)
}

/// The page.
pub(crate) struct Reference {
    /// Compiled; its equations and its time line are still to come.
    pub(crate) page: Lesson,
    systems: Vec<System>,
}

/// The page, compiled.
///
/// # Errors
/// A file that cannot be read, and every symbol, term and system whose lesson does not hold it.
pub(crate) fn compiled(
    project: &Path,
    content: &Content,
    catalog: &Cells,
) -> Result<Reference, BuildError> {
    let source = source(project)?;
    let lessons = &content.lessons;
    let mut mistakes = Vec::new();
    let systems = systems::systems(project, lessons)?;
    let mut texts = Vec::with_capacity(lessons.len());
    for lesson in lessons {
        texts.push(formulas_of(&read(&project.join(&lesson.file))?));
    }
    let markdown = format!(
        "+++\ntitle = \"{TITLE}\"\ndescription = \"{DESCRIPTION}\"\npart = \"Reference\"\n+++\n\n{}\n## Equations\n\n{EQUATIONS}\n\n## Systems\n\n{SYSTEMS}\n\n{TIME_LINE}\n\n{}\n## Glossary\n\n{}",
        symbols(&source.symbol, lessons, &texts, &mut mistakes),
        systems::table(&systems, lessons),
        glossary(&source.term, lessons, &mut mistakes),
    );
    if !mistakes.is_empty() {
        return Err(wrong(mistakes.join("\n")));
    }
    let page = compile(NAME, &markdown, catalog).map_err(BuildError::Lessons)?;
    let all: Vec<&Lesson> = content.pages().chain([&page]).collect();
    let broken = check_links(all);
    if !broken.is_empty() {
        return Err(BuildError::Lessons(broken));
    }
    Ok(Reference { page, systems })
}

/// The `<main>` of the compiled page.
pub(crate) fn reference_main(reference: &Reference, lessons: &[Lesson]) -> String {
    let page = &reference.page;
    let body = page
        .article(ROOT)
        .replacen(EQUATIONS, &equations(lessons), 1)
        .replacen(TIME_LINE, &systems::time_line(&reference.systems), 1);
    let parts = page.headings.iter().filter(|heading| heading.level == 2);
    let parts: Vec<Heading> = parts.cloned().collect();
    format!(
        "<main id=\"main\" data-page=\"reference\" data-inputs='{{}}' tabindex=\"-1\">\n<article class=\"lesson with-toc\">\n\
         <header class=\"lesson-head\">\n<h1>{TITLE}</h1>\n<p class=\"lesson-lead\">{DESCRIPTION}</p>\n</header>\n{toc}\
         <div class=\"lesson-body\">\n{body}</div>\n</article>\n</main>",
        toc = toc(&parts),
    )
}

/// The table of symbols in Markdown; `texts` are the formulas of the lessons.
fn symbols(
    symbols: &[Symbol],
    lessons: &[Lesson],
    texts: &[String],
    mistakes: &mut Vec<String>,
) -> String {
    let mut out = "## Symbols\n\nA shape in square brackets gives rows, then columns. \
         A letter with several rows has another meaning or another shape in another lesson.\n\n\
         | symbol | meaning | shape | lessons |\n|---|---|---|---|\n"
        .to_owned();
    for symbol in symbols {
        let latex = &symbol.latex;
        let mut links = Vec::new();
        for name in &symbol.lessons {
            match lessons.iter().position(|lesson| lesson.slug == *name) {
                None => mistakes.push(format!("{latex}: there is no lesson {name}")),
                Some(at) if !holds(&texts[at], latex) => {
                    mistakes.push(format!("{latex}: no formula of the lesson {name} holds it"));
                }
                Some(at) => links.push(format!("[{}](/lesson/{name})", at + 1)),
            }
        }
        let shape = symbol.shape.as_ref().map(|shape| format!("${shape}$"));
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            out,
            "| ${latex}$ | {} | {} | {} |",
            symbol.means,
            shape.as_deref().unwrap_or("\u{2013}"),
            links.join(", ")
        );
    }
    out
}

/// The formulas of a lesson's source, without its fences.
fn formulas_of(source: &str) -> String {
    let mut is_fenced = false;
    let prose: Vec<&str> = source
        .lines()
        .filter(|line| {
            let is_mark = line.starts_with("```");
            is_fenced ^= is_mark;
            !is_fenced && !is_mark
        })
        .collect();
    let prose = prose.join("\n").replace("$$", "$");
    let formulas: Vec<&str> = prose.split('$').skip(1).step_by(2).collect();
    formulas.join("\n")
}

/// Whether formulas hold a symbol that is no part of a longer name.
fn holds(formulas: &str, latex: &str) -> bool {
    formulas.match_indices(latex).any(|(at, _)| {
        let before = formulas[..at].chars().next_back();
        let after = formulas[at + latex.len()..].chars().next();
        let is_name = |next: Option<char>| next.is_some_and(|c| c.is_ascii_alphabetic());
        !is_name(before) && before != Some('\\') && !is_name(after)
    })
}

/// Every displayed formula below its lesson, with a link to its section.
fn equations(lessons: &[Lesson]) -> String {
    let mut out = String::new();
    for (number, lesson) in (1..).zip(lessons) {
        let html = lesson.article(ROOT);
        let mut entries = String::new();
        let mut section = None;
        for (at, _) in html.match_indices(FORMULA.0) {
            let Some(length) = html[at..].find(FORMULA.1) else {
                continue;
            };
            let here = section_at(lesson, &html, at);
            if entries.is_empty() || section != here.map(|heading| &heading.id) {
                section = here.map(|heading| &heading.id);
                let (id, name) = here.map_or((String::new(), "Introduction"), |heading| {
                    (format!("#{}", heading.id), heading.html.as_str())
                });
                let _ = writeln!(
                    entries,
                    "<p><a href=\"{ROOT}lesson/{}/{id}\">{name}</a></p>",
                    lesson.slug
                );
            }
            entries.push_str(&html[at..at + length + FORMULA.1.len()]);
            entries.push('\n');
        }
        if !entries.is_empty() {
            let title = escape(&lesson.title);
            let _ = writeln!(out, "<h3>Lesson {number}: {title}</h3>\n{entries}");
        }
    }
    out
}

/// The last heading of a lesson before a place of its HTML.
fn section_at<'a>(lesson: &'a Lesson, html: &str, at: usize) -> Option<&'a Heading> {
    let before = &html[..at];
    lesson
        .headings
        .iter()
        .filter_map(|heading| {
            let start = format!("<h{} id=\"{}\"", heading.level, heading.id);
            Some((before.find(&start)?, heading))
        })
        .max_by_key(|(at, _)| *at)
        .map(|(_, heading)| heading)
}

/// The glossary in Markdown, in the order of the alphabet.
fn glossary(terms: &[Term], lessons: &[Lesson], mistakes: &mut Vec<String>) -> String {
    let mut terms: Vec<&Term> = terms.iter().collect();
    terms.sort_by_key(|term| term.name.to_lowercase());
    let mut out = String::new();
    for term in terms {
        let (name, wanted) = (&term.name, &term.lesson);
        let Some(at) = lessons.iter().position(|lesson| lesson.slug == *wanted) else {
            mistakes.push(format!("{name}: there is no lesson {wanted}"));
            continue;
        };
        for slug in &term.unlinked {
            if !lessons.iter().any(|lesson| lesson.slug == *slug) {
                mistakes.push(format!("{name}: there is no lesson {slug}"));
            }
        }
        let lesson = &lessons[at];
        let html = lesson.article(ROOT);
        let marked = term.marked.as_ref().unwrap_or(name);
        let bold = format!("<strong>{}</strong>", escape(marked)).to_ascii_lowercase();
        let Some(place) = html.to_ascii_lowercase().find(&bold) else {
            mistakes.push(format!(
                "{name}: the lesson {wanted} has no {marked} in bold"
            ));
            continue;
        };
        let id = section_at(lesson, &html, place)
            .map_or(String::new(), |heading| format!("#{}", heading.id));
        let also = term.also.as_ref();
        let also = also.map_or(String::new(), |also| format!(" Also called {also}."));
        let _ = writeln!(
            out,
            "### {name} {{#{}}}\n\n{}{also} [Lesson {}: {}](/lesson/{wanted}{id})\n",
            slug(name),
            term.says,
            at + 1,
            lesson.title
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::real::{catalog, content, project};
    use lesson::BUILT_PAGES;

    #[test]
    fn places_that_lessons_may_lead_to_are_there() {
        let content = content();
        let page = compiled(&project(), content, &catalog()).unwrap().page;
        let mut known = BUILT_PAGES.iter().filter(|(path, _)| *path == "/reference");
        let (_, ids) = known.next().unwrap();
        assert!(ids.iter().all(|id| page.ids.contains(&(*id).to_owned())));
    }

    #[test]
    fn every_term_symbol_and_equation_leads_to_a_place_of_its_lesson() {
        let content = content();
        let page = compiled(&project(), content, &catalog()).unwrap();
        let page = reference_main(&page, &content.lessons);
        let ids = |slug: &str| {
            let lesson = content.lessons.iter().find(|lesson| lesson.slug == slug);
            lesson.map(|lesson| lesson.ids.clone())
        };
        let links: Vec<&str> = page
            .split(&format!("href=\"{ROOT}lesson/"))
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        assert!(links.len() > 100, "{links:?}");
        for link in links {
            let (slug, id) = link.split_once('#').unwrap_or((link, ""));
            let ids = ids(slug.trim_end_matches('/')).unwrap_or_else(|| panic!("{link}"));
            assert!(
                id.is_empty() || ids.iter().any(|known| known == id),
                "{link}"
            );
        }
        let shown: usize = content
            .lessons
            .iter()
            .map(|lesson| lesson.article(ROOT).matches(FORMULA.0).count())
            .sum();
        assert_eq!(page.matches(FORMULA.0).count(), shown, "every equation");
        assert!(shown > 30, "{shown}");
        assert!(!page.contains(EQUATIONS) && !page.contains(TIME_LINE));
        assert!(page.contains("class=\"descent\""), "the time line");
    }

    #[test]
    fn what_a_lesson_does_not_hold_is_a_mistake() {
        let content = content();
        let term = |name: &str, lesson: &str| Term {
            name: name.to_owned(),
            lesson: lesson.to_owned(),
            ..Term::default()
        };
        let mut mistakes = Vec::new();
        let terms = [term("Momentum", "training"), term("Loss", "nowhere")];
        glossary(&terms, &content.lessons, &mut mistakes);
        assert_eq!(
            mistakes,
            [
                "Loss: there is no lesson nowhere",
                "Momentum: the lesson training has no Momentum in bold"
            ]
        );
        let symbol = Symbol {
            latex: "\\zeta".to_owned(),
            means: String::new(),
            shape: None,
            lessons: vec!["training".to_owned(), "nowhere".to_owned()],
        };
        let texts = vec![String::new(); content.lessons.len()];
        mistakes.clear();
        symbols(&[symbol], &content.lessons, &texts, &mut mistakes);
        assert_eq!(
            mistakes,
            [
                "\\zeta: no formula of the lesson training holds it",
                "\\zeta: there is no lesson nowhere"
            ]
        );
    }

    #[test]
    fn a_symbol_is_no_part_of_a_name_and_in_no_fence() {
        let formulas =
            formulas_of("Take $T$.\n\n```cell a\ns = \"$Q\"\n```\n\n$$\n\\text{S} + h_S\n$$\n");
        assert_eq!(formulas, "T\n\n\\text{S} + h_S\n");
        assert!(holds(&formulas, "T") && holds(&formulas, "h_S"));
        assert!(!holds(&formulas, "Q") && !holds(&formulas, "t"));
    }
}
