//! The math font holds every character of every formula; a character outside it would be drawn in
//! another font.

// Helpers of tests may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use pages::{Cells, Content};

/// The characters that `docs/subset-math-font.sh` keeps.
fn kept(script: &str) -> Vec<(u32, u32)> {
    let names = [
        "text",
        "greek",
        "accents",
        "letters",
        "signs",
        "arrows",
        "operators",
        "brackets",
    ];
    let lists = script.lines().filter_map(|line| {
        let (name, list) = line.split_once("=\"")?;
        names.contains(&name).then(|| list.trim_end_matches('"'))
    });
    let number = |text: &str| u32::from_str_radix(text, 16).unwrap();
    lists
        .flat_map(|list| list.split(','))
        .map(|range| match range.split_once('-') {
            Some((first, last)) => (number(first), number(last)),
            None => (number(range), number(range)),
        })
        .collect()
}

/// The text of every `<math>` in some HTML.
fn formulas(html: &str) -> impl Iterator<Item = String> + '_ {
    html.split("<math").skip(1).map(|rest| {
        let formula = rest.split("</math>").next().unwrap_or_default();
        let text: String = formula
            .split('<')
            .map(|tag| tag.split_once('>').map_or("", |(_, text)| text))
            .collect();
        text.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
    })
}

#[test]
fn every_character_of_every_formula_is_in_the_font() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let kept = kept(&std::fs::read_to_string(root.join("docs/subset-math-font.sh")).unwrap());
    assert!(kept.len() > 100, "{kept:?}");
    let content = Content::load(
        &root,
        &Cells {
            public: root.join("public"),
        },
        // Mistakes in lessons are for the build to report.
        true,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let mut missing: BTreeMap<char, String> = BTreeMap::new();
    for page in content.pages() {
        for formula in formulas(&page.article("/")) {
            for c in formula.chars().filter(|c| !c.is_whitespace()) {
                if !kept
                    .iter()
                    .any(|&(first, last)| (first..=last).contains(&u32::from(c)))
                {
                    missing
                        .entry(c)
                        .or_insert_with(|| format!("{} in {formula}", page.file));
                }
            }
        }
    }
    assert!(
        missing.is_empty(),
        "add these to docs/subset-math-font.sh and run it: {missing:?}"
    );
}
