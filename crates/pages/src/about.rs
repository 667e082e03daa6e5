//! The page `/about/`: how to cite the site, and what it stores on the reader's device.

use lesson::ROOT;
use lesson::html::escape;

use crate::address::SiteAddress;
use crate::page::NO_SCRIPT;

/// Name of the page's folder, of its tool and of the chunk that holds the tool.
pub(crate) const NAME: &str = "about";

/// Title of the page.
pub(crate) const TITLE: &str = "About this site";

/// Description of the page.
pub(crate) const DESCRIPTION: &str =
    "How to cite Transformer Notebook, what it stores on your device, and how to delete that.";

/// The licence, which names authors and year.
const LICENCE: &str = include_str!("../../../LICENSE-MIT");

/// What is kept, and where; the list below it is live.
const STORED: &str = "<p>What you type and do here stays on this device. (To download a model from an address that you gave, the lab has to ask \
     that address for it.) The site stores some things on this device, where only \
     pages from the same host can read them:</p>\n<ul>\n\
     <li><strong>Your choices</strong>: light or dark theme, once you have chosen one, and whether the key <kbd>/</kbd> opens the \
     search.</li>\n\
     <li><strong>Your progress</strong>: which lessons you have begun or read, and the section where you were last. It is stored \
     once you have scrolled beyond the first section of a lesson.</li>\n\
     <li><strong>Your guesses</strong>: which answer you chose where a lesson asked you to guess first.</li>\n\
     <li><strong>A copy of the site for reading offline</strong>, made after the first visit unless your browser is set to save \
     data, and the trained models that the lessons have used.</li>\n\
     <li><strong>Models that the lab downloaded</strong> from an address that you gave.</li>\n</ul>\n\
     <p>Your edits in the cells are stored nowhere but in the address of the page. Your browser also keeps its own cache of \
     downloaded files, which a site cannot delete.</p>\n";

/// Year and authors, as the licence names them.
fn copyright() -> Option<(&'static str, &'static str)> {
    let line = LICENCE
        .lines()
        .find_map(|line| line.strip_prefix("Copyright (c) "))?;
    line.split_once(' ')
}

/// The entry for a bibliography.
fn bibtex(address: Option<&SiteAddress>) -> String {
    let (year, authors) = copyright().unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    let address = address
        .map(|address| format!("  url     = {{{}}},\n", address.of("")))
        .unwrap_or_default();
    format!(
        "@misc{{transformer-notebook,\n  title   = {{Transformer Notebook}},\n  author  = {{{{{authors}}}}},\n\
         \x20 year    = {{{year}}},\n{address}  note    = {{Version {version}}}\n}}"
    )
}

/// The text of the page, below its title.
pub(crate) fn text(address: Option<&SiteAddress>) -> String {
    let (year, authors) = copyright().unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    let place = address
        .map(|address| {
            let address = escape(&address.of(""));
            format!(" <a href=\"{address}\">{address}</a>.")
        })
        .unwrap_or_default();
    format!(
        "<h2 id=\"cite\">How to cite</h2>\n\
         <p>{}. <em>Transformer Notebook</em>, version {version}, {year}.{place}</p>\n\
         <p>For a single lesson, put its title first and give the address of its page. The entry for BibTeX:</p>\n\
         <pre><code>{}</code></pre>\n\
         <p>Code and text may be used under the MIT licence or the Apache licence 2.0, as you choose. \
         <a href=\"{ROOT}credits.txt\">Credits for fonts, pictures and vocabularies</a>.</p>\n\
         <h2 id=\"stored\">What is stored on this device</h2>\n{STORED}",
        escape(authors),
        escape(&bibtex(address)),
    )
}

/// The page's `<main>`.
pub(crate) fn main(address: Option<&SiteAddress>) -> String {
    let text = text(address);
    format!(
        "<main id=\"main\" data-page=\"{NAME}\" data-inputs='{{}}' tabindex=\"-1\">\n<article class=\"lesson\">\n\
         <header class=\"lesson-head\">\n<h1>{TITLE}</h1>\n<p class=\"lesson-lead\">{DESCRIPTION}</p>\n{NO_SCRIPT}</header>\n\
         <div class=\"lesson-body\">\n{text}\
         <section class=\"cell\" aria-labelledby=\"{NAME}-now\"><header class=\"cell-head\">\
         <h3 class=\"cell-title\" id=\"{NAME}-now\">Stored now</h3></header><div class=\"cell-body\"><div class=\"cell-view tool {NAME}\">\
         <p class=\"cell-waiting\">The list appears once the engine has loaded.</p></div></div></section>\n</div>\n</article>\n</main>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_citation_names_authors_year_and_the_address_when_it_is_known() {
        assert_eq!(
            copyright(),
            Some(("2026", "The Transformer Notebook authors"))
        );
        let without = bibtex(None);
        assert!(without.contains("author  = {{The Transformer Notebook authors}},\n"));
        assert!(without.contains("year    = {2026},\n") && !without.contains("url"));
        let opened = without.matches('{').count();
        assert_eq!(opened, without.matches('}').count());
        let address = SiteAddress::parse("https://host.example/book", "./").unwrap();
        let with = bibtex(Some(&address));
        assert!(
            with.contains("  url     = {https://host.example/book/},\n"),
            "{with}"
        );
        assert!(!text(None).contains("http"));
        assert!(text(Some(&address)).contains("<a href=\"https://host.example/book/\">"));
    }
}
