//! The shipped fonts hold every character of every page; a character outside them would be drawn in
//! another font.

use std::collections::BTreeMap;

use crate::content::real::{content, project};

/// The lists of `docs/subset-fonts.sh` with the characters of formulas.
const OF_FORMULAS: &[&str] = &[
    "text",
    "greek",
    "accents",
    "letters",
    "signs",
    "arrows",
    "operators",
    "brackets",
];

/// The lists with the characters of prose; Greek and operators within it are set in the font of
/// formulas.
const OF_PROSE: &[&str] = &["latin", "marks", "greek", "arrows", "operators", "brackets"];

/// The characters that lists of `docs/subset-fonts.sh` keep.
fn kept(names: &[&str]) -> Vec<(u32, u32)> {
    let script =
        std::fs::read_to_string(project().join("docs/subset-fonts.sh")).unwrap_or_default();
    let number = |text: &str| u32::from_str_radix(text, 16).unwrap_or_default();
    let mut kept = Vec::new();
    for line in script.lines() {
        let Some((_, list)) = line
            .split_once("=\"")
            .filter(|(name, _)| names.contains(name))
        else {
            continue;
        };
        kept.extend(list.trim_end_matches('"').split(',').map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            (number(first), number(last))
        }));
    }
    kept
}

/// Some HTML without its tags.
fn text_of(html: &str) -> String {
    let text: String = html
        .split('<')
        .map(|tag| tag.split_once('>').map_or(tag, |(_, text)| text))
        .collect();
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// The text of every `<math>` in some HTML, and the text around them.
fn formulas_and_prose(html: &str) -> (Vec<String>, String) {
    let mut parts = html.split("<math");
    let mut prose = parts.next().unwrap_or_default().to_owned();
    let mut formulas = Vec::new();
    for part in parts {
        let (formula, after) = part.split_once("</math>").unwrap_or((part, ""));
        formulas.push(text_of(&format!("<math{formula}")));
        prose.push_str(after);
    }
    (formulas, text_of(&prose))
}

/// The characters of `text` outside `kept`.
fn missing(text: &str, kept: &[(u32, u32)]) -> Vec<char> {
    let is_kept = |c: char| {
        kept.iter()
            .any(|&(first, last)| (first..=last).contains(&u32::from(c)))
    };
    let outside = text.chars().filter(|&c| !c.is_whitespace() && !is_kept(c));
    outside.collect()
}

#[test]
fn every_character_of_every_page_is_in_a_font() {
    let (of_formulas, of_prose) = (kept(OF_FORMULAS), kept(OF_PROSE));
    assert!(of_formulas.len() > 100, "{of_formulas:?}");
    let mut outside: BTreeMap<char, String> = BTreeMap::new();
    for page in content().pages() {
        let (formulas, prose) = formulas_and_prose(&page.article("/"));
        for formula in formulas {
            for c in missing(&formula, &of_formulas) {
                outside.insert(c, format!("{} in {formula}", page.file));
            }
        }
        for c in missing(&prose, &of_prose) {
            outside.insert(c, page.file.clone());
        }
    }
    assert!(
        outside.is_empty(),
        "add these to docs/subset-fonts.sh and run it: {outside:?}"
    );
}
