//! The policy of a document (Content-Security-Policy): what it may run, load and contact.
//!
//! It is in the document itself, because many hosts send no headers of a site's own. It allows the
//! files of the site, and of the scripts and style sheets in the document those that the build put
//! there, by the hashes of their texts. Text that comes into a page later, from an address with
//! edits or from a model's file, cannot run as a script or count as a style sheet.
//!
//! The site goes from page to page without loading a document (`src/shell/navigate.rs`), so the
//! policy of the first page holds for all others. Hence all documents have the same one except for
//! the hashes, and `<main>`, which is all that is swapped, has neither scripts nor style sheets.
//!
//! `public/_headers` has the rest: what only a header can say, and the policy of the workers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::error::BuildError;

/// Where the frame of a page has its policy.
const MARK: &str = "<!--page:policy-->";

/// Opens a text that Trunk's development server fills in.
const TRUNK_MARK: &str = "{{__TRUNK_";

/// No other site learns on which page a reader followed a link.
const REFERRER: &str = "<meta name=\"referrer\" content=\"no-referrer\">";

/// Nothing is allowed that no directive names: no frame, no plugin, no file of sound or film (the
/// picture of the camera is none).
const DEFAULT: &str = "default-src 'none'";

/// Files of the site, wasm, and by their hashes the scripts in the document. Neither `eval`, nor
/// handlers of events in attributes.
const SCRIPTS: &str = "script-src 'self' 'wasm-unsafe-eval'";

/// Style attributes, which views set (`--share: 0.4`): their values are numbers and names of ours,
/// and no text of a stranger. Browsers that do not know `style-src-elem` use this directive for
/// style sheets, too.
const STYLE_ATTRIBUTES: &str = "style-src 'self' 'unsafe-inline'";

/// Files of the site, which a release has none of, and by their hashes the style sheets in the
/// document.
const STYLE_SHEETS: &str = "style-src-elem 'self'";

/// The lab asks any host for a model that the reader names, and a server on the reader's machine
/// without encryption. An address in numbers of IPv6 cannot be in a policy.
const CONTACTS: &str = "connect-src 'self' https: http://localhost:* http://127.0.0.1:*";

/// The other directives.
const OTHERS: [&str; 6] = [
    // Large maps are served, and charts exported, by way of an address of data; a picture that the
    // reader opens has one of its own.
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    // Forms are answered by the page.
    "form-action 'none'",
];

/// Puts its policy into a finished document; `title` names the page in errors.
///
/// # Errors
/// When the document has an attribute that would run a script, which its policy does not allow.
pub(crate) fn put_into(html: &str, title: &str) -> Result<String, BuildError> {
    let inline = Inline::of(html, title)?;
    let policy = if html.contains(TRUNK_MARK) {
        // Trunk's server changes its script for reloading when it answers: no hash would fit.
        String::new()
    } else {
        let policy = inline.policy();
        format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n    ")
    };
    Ok(html.replacen(MARK, &format!("{policy}{REFERRER}"), 1))
}

/// Joins the style elements without attributes that follow one another, so that a policy needs one
/// hash for them.
pub(crate) fn join_sheets(html: &str) -> String {
    let mut parts = html.split("</style>");
    let mut joined = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let last = joined.rfind("<style");
        let is_plain = last.is_some_and(|at| joined[at..].starts_with("<style>"));
        match part.trim_start().strip_prefix("<style>\n") {
            Some(sheet) if is_plain => joined += sheet,
            _ => {
                joined += "</style>";
                joined += part;
            }
        }
    }
    joined
}

/// The scripts and style sheets in a document, as a policy names them: a space and a hash for each.
#[derive(Debug, Default)]
struct Inline {
    scripts: Vec<String>,
    sheets: Vec<String>,
}

impl Inline {
    fn of(html: &str, title: &str) -> Result<Self, BuildError> {
        let mut found = Self::default();
        let mut rest = html;
        while let Some((_, after)) = rest.split_once('<') {
            if let Some(comment) = after.strip_prefix("!--") {
                rest = comment.split_once("-->").map_or("", |(_, after)| after);
                continue;
            }
            // The end of an element, or the kind of the document.
            if !after.starts_with(|c: char| c.is_ascii_alphabetic()) {
                rest = after;
                continue;
            }
            let (tag, after) = Tag::read(after);
            rest = after;
            if let Some(attribute) = tag.running_attribute() {
                return Err(BuildError::Other(format!(
                    "{title}: the {attribute} of a <{}> would run a script, which the policy of \
                     pages refuses (crates/pages/src/policy.rs)",
                    tag.name
                )));
            }
            let list = match tag.name {
                "script" => &mut found.scripts,
                "style" => &mut found.sheets,
                _ => continue,
            };
            // Nothing in its text is a tag but its end.
            let end = rest.find(&format!("</{}", tag.name)).unwrap_or(rest.len());
            let (text, after) = rest.split_at(end);
            rest = after;
            let source = format!(" {}", source_of(text));
            if !tag.has("src") && !list.contains(&source) {
                list.push(source);
            }
        }
        Ok(found)
    }

    fn policy(&self) -> String {
        let scripts = [SCRIPTS, &self.scripts.concat()].concat();
        let sheets = [STYLE_SHEETS, &self.sheets.concat()].concat();
        let directives = [DEFAULT, &scripts, STYLE_ATTRIBUTES, &sheets, CONTACTS];
        [directives.as_slice(), &OTHERS].concat().join("; ")
    }
}

/// The source that allows a script or a style sheet with this text.
fn source_of(text: &str) -> String {
    // A browser reads each end of a line as one character.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let hash = STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!("'sha256-{hash}'")
}

/// A tag that opens an element.
struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
}

impl<'a> Tag<'a> {
    /// Reads the tag whose `<` is before the text; the tag and the text after it.
    fn read(text: &'a str) -> (Self, &'a str) {
        let is_end = |c: char| c.is_ascii_whitespace() || c == '/' || c == '>';
        let (name, mut rest) = until(text, is_end);
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            if rest.is_empty() || rest.starts_with('>') {
                let after = rest.strip_prefix('>').unwrap_or(rest);
                return (Self { name, attributes }, after);
            }
            let (attribute, after) = until(rest, |c| is_end(c) || c == '=');
            rest = after.trim_start();
            let mut value = "";
            if let Some(after) = rest.strip_prefix('=') {
                (value, rest) = value_of(after.trim_start());
            }
            attributes.push((attribute, value));
        }
    }

    fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|(other, _)| *other == name)
    }

    /// The name of an attribute that would run a script: it handles an event, or leads to a script.
    fn running_attribute(&self) -> Option<&'a str> {
        let runs = |(name, value): &&(&str, &str)| {
            let is_link = ["href", "xlink:href", "src", "action", "formaction"].contains(name);
            let start = value.trim_start().to_ascii_lowercase();
            name.starts_with("on") || (is_link && start.starts_with("javascript:"))
        };
        self.attributes.iter().find(runs).map(|(name, _)| *name)
    }
}

/// The value of an attribute at the start of a text, and the text after it.
fn value_of(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return quoted.split_once(quote).unwrap_or((quoted, ""));
        }
    }
    until(text, |c| c.is_ascii_whitespace() || c == '>')
}

/// A text up to the first character that ends it, and the rest.
fn until(text: &str, is_end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `a();` and of `a{}`.
    const HASHES: [&str; 2] = [
        "'sha256-OVLEFZR89oYYkV3AI9/M2qwUUdT/ymKO659RpVAhzEk='",
        "'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='",
    ];

    #[test]
    fn a_text_is_named_by_its_hash() {
        // From the documentation of policies at developer.mozilla.org.
        let known = "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='";
        assert_eq!(source_of("alert('Hello, world.');"), known);
        assert_eq!(source_of("a\r\nb\rc"), source_of("a\nb\nc"));
        assert_ne!(source_of("a();"), source_of("a(); "));
    }

    #[test]
    fn a_policy_knows_every_script_and_sheet_in_its_document() {
        let html = format!(
            "<!doctype html><meta charset=\"utf-8\">{MARK}<script>a();</script>\
             <!-- <script>gone();</script> --><style data-fonts>a{{}}</style>\
             <script type=\"module\" src=\"x.js\"></script>\
             <p data-p='<script>' title=\"a > b\">1 < 2</p><style media=print>a{{}}</style>\
             <noscript><style>b{{}}</style></noscript>\
             <script type=\"module\">if (1<b) c();</script>"
        );
        let inline = Inline::of(&html, "Page").unwrap();
        let named = |texts: [&str; 2]| texts.map(|text| format!(" {}", source_of(text)));
        assert_eq!(inline.scripts, named(["a();", "if (1<b) c();"]));
        assert_eq!(inline.sheets, named(["a{}", "b{}"]));
        let [script, sheet] = HASHES;
        assert!(inline.scripts[0].ends_with(script) && inline.sheets[0].ends_with(sheet));

        let page = put_into(&html, "Page").unwrap();
        let start = format!(
            "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; {SCRIPTS} {script} "
        );
        assert!(page.starts_with(&start), "{page}");
        let sheets = format!("; {STYLE_SHEETS} {sheet} ");
        let end = "; form-action 'none'\">\n";
        let next = "content=\"no-referrer\"><script>a();</script>";
        for part in [sheets.as_str(), end, next] {
            assert!(page.contains(part), "{part}\n{page}");
        }
    }

    #[test]
    fn an_attribute_that_would_run_a_script_is_refused() {
        for (tag, name) in [
            ("<p class=\"a\" onclick=\"a()\">", "onclick"),
            ("<svg/onload=a()>", "onload"),
            ("<a href=' JavaScript:a()'>", "href"),
            ("<form><button formaction = javascript:a()>", "formaction"),
        ] {
            let error = put_into(&format!("{MARK}{tag}"), "Page").unwrap_err();
            let error = error.to_string();
            assert!(
                error.starts_with("Page: ") && error.contains(name),
                "{tag}: {error}"
            );
        }
        let harmless = "<p title=\"javascript: a word\" data-on=\"1\">onclick=\"a()\" &lt;a></p>";
        assert!(put_into(harmless, "Page").is_ok());
    }

    #[test]
    fn a_page_that_trunk_reloads_has_no_policy() {
        let html = format!("{MARK}<script>const at = '{TRUNK_MARK}ADDRESS__}}}}';</script>");
        let page = put_into(&html, "Page").unwrap();
        assert!(
            page.starts_with(REFERRER) && !page.contains("Security"),
            "{page}"
        );
    }

    #[test]
    fn only_sheets_without_attributes_are_joined() {
        let html = "<style data-fonts>\na{}</style>\n  <style>\nb{}</style>\n  \
             <style>\nc{}</style>\n\
             <style media=\"print\">\nd{}</style>\n<style>\ne{}</style><p>text</p>";
        let expected = "<style data-fonts>\na{}</style>\n  <style>\nb{}c{}</style>\n\
             <style media=\"print\">\nd{}</style>\n<style>\ne{}</style><p>text</p>";
        assert_eq!(join_sheets(html), expected);
        assert_eq!(join_sheets("<p>none</p>"), "<p>none</p>");
    }

    /// A worker that the lab starts may ask the same hosts as its page.
    #[test]
    fn hosts_give_workers_the_same_contacts() {
        let headers = include_str!("../../../public/_headers");
        let rule = headers.split("/worker_start-*\n").nth(1).unwrap();
        let policy = rule.lines().next().unwrap();
        let same = format!("{DEFAULT}; {SCRIPTS}; {CONTACTS}; ");
        assert!(policy.contains(&same), "{policy}");
    }
}
