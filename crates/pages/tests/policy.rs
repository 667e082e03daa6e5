//! The policies of built pages.

// Helpers of tests may unwrap as tests do.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::Project;
use sha2::{Digest, Sha256};

/// What allows the scripts or the style sheets in a page, found in another way than the build finds
/// them: our pages have neither in comments.
fn sources(html: &str, name: &str) -> BTreeSet<String> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let elements = html
        .split(&open)
        .skip(1)
        .filter_map(|rest| rest.split_once('>'));
    elements
        .filter(|(tag, _)| !tag.contains(" src="))
        .map(|(_, rest)| {
            let text = rest.split(&close).next().unwrap_or_default();
            format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
        })
        .collect()
}

/// Policy and the rest of a page; the policy is the first that the page says after its characters.
fn policy(html: &str) -> (&str, &str) {
    let (before, rest) = html.split_once("<meta charset=\"utf-8\">\n    ").unwrap();
    assert!(!before.contains("<script") && !before.contains("<style"));
    let start = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ";
    let rest = rest.strip_prefix(start).unwrap();
    rest.split_once('"').unwrap()
}

#[test]
fn the_policy_of_a_page_allows_what_the_build_put_there_and_no_more() {
    let project = Project::new();
    project.build("./", true, false).unwrap();
    for (page, scripts) in [
        ("index.html", 2),
        ("lesson/one/index.html", 2),
        ("lab/index.html", 2),
        // It starts nothing.
        ("404.html", 1),
    ] {
        let html = project.built(page);
        let (policy, rest) = policy(&html);
        let found = [sources(rest, "script"), sources(rest, "style")];
        assert_eq!(found[0].len(), scripts, "{page}");
        assert_eq!(found[1].len(), 2, "{page}");
        let named: BTreeSet<String> = policy
            .split([' ', ';'])
            .filter(|source| source.starts_with("'sha256-"))
            .map(str::to_owned)
            .collect();
        assert_eq!(named, &found[0] | &found[1], "{page}");
        let main = rest.split_once("<main").unwrap().1;
        let main = main.split_once("</main>").unwrap().0;
        assert!(
            !main.contains("<script") && !main.contains("<style"),
            "{page}"
        );
        assert!(rest.contains("<meta name=\"referrer\" content=\"no-referrer\">"));
    }
}

#[test]
fn pages_differ_in_the_hashes_of_their_policies_only() {
    let project = Project::new();
    project.build("./", false, false).unwrap();
    let directives = |page: &str| {
        let html = project.built(page);
        let sources = policy(&html).0.split_inclusive([' ', ';']);
        let others = sources.filter(|source| !source.starts_with("'sha256-"));
        // The mark that closed a list of hashes went with the last of them.
        others.collect::<String>().replace(';', "")
    };
    let home = directives("index.html");
    for page in ["404.html", "lesson/one/index.html", "lab/index.html"] {
        assert_eq!(directives(page), home, "{page}");
    }
}

#[test]
fn a_lesson_with_a_handler_of_events_fails_the_build() {
    let project = Project::new();
    let front = "+++\ntitle = \"Two\"\ndescription = \"D\"\npart = \"II\"\n+++\n";
    let text = format!("{front}## A\n\n<p onclick=\"a()\">Text</p>\n");
    project.put("lessons/02-two.md", &text);
    let error = project.build("./", false, false).unwrap_err().to_string();
    assert!(error.starts_with("Two: the onclick of a <p>"), "{error}");
}
