//! The names of ImageNet's classes in a script of the npm package `@tensorflow-models/mobilenet`.
//!
//! ```text
//! /**
//!  * the licence
//!  */
//! exports.IMAGENET_CLASSES = {
//!     0: 'tench, Tinca tinca',
//!     2: 'great white shark, white shark, man-eater, man-eating shark, ' +
//!         'Carcharodon carcharias',
//! };
//! ```

use std::collections::BTreeMap;

/// The object in the script.
const OBJECT: &str = "IMAGENET_CLASSES = {";

/// The first name of each class, or all of its names where another class has the same first one; and the
/// licence at the head of the script. `None` where the script is of another form.
pub(crate) fn in_script(script: &str) -> Option<(Vec<String>, String)> {
    let (_, after) = script.split_once("/**")?;
    let (notice, _) = after.split_once("*/")?;
    let notice = notice
        .lines()
        .map(|line| line.trim().trim_start_matches('*').trim())
        .filter(|line| !line.is_empty() && !line.starts_with('=') && !line.starts_with('@'));
    let notice = notice.collect::<Vec<_>>().join("\n") + "\n";
    let (_, object) = script.split_once(OBJECT)?;
    let all = entries(object)?;
    let first = |names: &str| {
        let (first, _) = names.split_once(',').unwrap_or((names, ""));
        first.trim().to_owned()
    };
    let mut counts = BTreeMap::new();
    for names in &all {
        *counts.entry(first(names)).or_insert(0) += 1;
    }
    let shown = |names: &String| match counts.get(&first(names)) {
        Some(1) => first(names),
        _ => names.clone(),
    };
    Some((all.iter().map(shown).collect(), notice))
}

/// The texts of an object whose keys are 0, 1, 2 …
fn entries(object: &str) -> Option<Vec<String>> {
    let (mut all, mut text, mut key) = (Vec::new(), String::new(), String::new());
    let mut letters = object.chars();
    loop {
        match letters.next()? {
            '\'' => loop {
                match letters.next()? {
                    '\'' => break,
                    '\\' => text.push(letters.next()?),
                    letter => text.push(letter),
                }
            },
            end @ (',' | '}') => {
                if !text.is_empty() {
                    if key.parse::<usize>().ok() != Some(all.len()) {
                        return None;
                    }
                    all.push(std::mem::take(&mut text));
                    key.clear();
                }
                if end == '}' {
                    return Some(all);
                }
            }
            digit if digit.is_ascii_digit() => key.push(digit),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_a_script() {
        let script = r"'use strict';
            /**
             * @license
             * Copyright 2019 Google LLC.
             * ====
             */
            exports.IMAGENET_CLASSES = {
                0: 'tench, Tinca tinca',
                1: 'maillot',
                2: 'great white shark, white shark, ' +
                    'Carcharodon carcharias',
                3: 'jack-o\'-lantern',
                4: 'maillot, tank suit'
            };";
        let (names, notice) = in_script(script).unwrap();
        let expected = [
            "tench",
            "maillot",
            "great white shark",
            "jack-o'-lantern",
            "maillot, tank suit",
        ];
        assert_eq!(names, expected);
        assert_eq!(notice, "Copyright 2019 Google LLC.\n");
    }

    #[test]
    fn another_form_is_refused() {
        for script in [
            "",
            "/** */ exports.IMAGENET_CLASSES = {",
            "/** */ exports.IMAGENET_CLASSES = { 1: 'goldfish' };",
        ] {
            assert_eq!(in_script(script), None);
        }
    }
}
