//! What the translators are trained and measured on.

use engine::translate::{length, normalised};
use explain::score::bleu::words;
use skip::shared;
use std::collections::{HashMap, HashSet};
use training::text::pairs::{self, LONGEST};
use training::text::split::{OWN, SHOWN, Split, is_long, own};

#[test]
fn the_sites_own_set_is_spread_over_lengths_and_has_no_sentence_twice() {
    let own = own().unwrap();
    assert!(own.len() >= 240, "{}", own.len());
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    let (mut english, mut versions) = (HashSet::new(), 0);
    for pair in &own {
        *lengths.entry(pair.words()).or_default() += 1;
        assert!(
            english.insert(&pair.english),
            "{} comes twice",
            pair.english
        );
        let different: HashSet<&String> = pair.italian.iter().collect();
        assert_eq!(different.len(), pair.italian.len(), "{}", pair.english);
        versions += pair.italian.len();
        assert!(pair.italian.iter().all(|known| !words(known).is_empty()));
    }
    for words in 2..=LONGEST {
        let count = lengths.get(&words).copied().unwrap_or(0);
        assert!((18..=26).contains(&count), "{count} of {words} words");
    }
    assert_eq!(lengths.len(), LONGEST - 1);
    // More than one way to say most of them is accepted.
    assert!(versions >= 2 * own.len(), "{versions}");
}

#[test]
fn lines_of_the_set_are_as_people_write() {
    for line in OWN.lines() {
        let (english, italian) = line.split_once('\t').unwrap();
        for sentence in std::iter::once(english).chain(italian.split(" | ")) {
            assert_eq!(sentence.trim(), sentence, "{line}");
            let ends = sentence.ends_with(['.', '!', '?']);
            let begins = sentence.chars().next().is_some_and(char::is_uppercase);
            assert!(ends && begins && !sentence.contains("  "), "{sentence:?}");
            let question = normalised(sentence).ends_with('?');
            assert_eq!(question, english.ends_with('?'), "{line}");
        }
    }
}

#[test]
fn nothing_that_is_measured_on_is_trained_on() {
    let Some(file) = shared(&format!("data/{}", pairs::FILE)) else {
        return;
    };
    let data = file.ancestors().nth(2).unwrap();
    let own = own().unwrap();
    let split = Split::new(pairs::read(data).unwrap(), &own);
    println!("{}", split.described());
    let english: HashSet<&str> = split.training.iter().map(|(e, _)| e.as_str()).collect();
    let italian: HashSet<&str> = split.training.iter().map(|(_, i)| i.as_str()).collect();
    assert_eq!(english.len(), split.training.len());
    for pair in own.iter().chain(&split.test).chain(&split.validation) {
        assert!(!english.contains(pair.english.as_str()), "{}", pair.english);
        for version in &pair.italian {
            assert!(!italian.contains(version.as_str()), "{version}");
        }
    }
    let held: HashSet<&str> = split
        .test
        .iter()
        .map(|pair| pair.english.as_str())
        .collect();
    assert!(
        split
            .validation
            .iter()
            .all(|pair| !held.contains(pair.english.as_str()))
    );
    for shown in SHOWN {
        assert!(!english.contains(shown) && !held.contains(shown));
    }
    assert!(!italian.contains("vediamo il cielo") && !italian.contains("noi vediamo il cielo"));
    let long = split.test.iter().filter(|pair| is_long(pair)).count();
    assert!(long >= 500, "{long}");
    assert!(split.training.len() > 100_000, "{}", split.training.len());
    assert!(
        split
            .training
            .iter()
            .all(|(e, i)| length(e) <= LONGEST && length(i) <= LONGEST)
    );
}

#[test]
fn words_of_the_set_are_words_that_are_trained_on() {
    let Some(file) = shared(&format!("data/{}", pairs::FILE)) else {
        return;
    };
    let data = file.ancestors().nth(2).unwrap();
    let own = own().unwrap();
    let split = Split::new(pairs::read(data).unwrap(), &own);
    let known: HashSet<String> = split.training.iter().flat_map(|(e, _)| words(e)).collect();
    let all: Vec<String> = own.iter().flat_map(|pair| words(&pair.english)).collect();
    let unknown: Vec<&String> = all.iter().filter(|word| !known.contains(*word)).collect();
    assert!(
        unknown.len() * 200 <= all.len(),
        "{unknown:?} of {}",
        all.len()
    );
}
