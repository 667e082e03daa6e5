//! What `tiny-bert` and `tiny-gpt` learn from, and the vocabulary of the first.

use engine::translate::normalised;
use skip::shared;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use training::text::corpus::{Corpus, words};
use training::text::pieces::Pieces;
use training::text::questions::questions;
use training::text::{own, pairs, stories};

/// A word of an example occurs at least this often in the training text.
const FEWEST: usize = 20;

fn data() -> Option<PathBuf> {
    for file in [
        pairs::FILE,
        stories::SAMPLE,
        stories::UNMARKED,
        stories::MARKED,
    ] {
        shared(&format!("data/{file}"))?;
    }
    shared("data")
}

/// A sentence of the paper of 2017 that a lesson quotes: its words were not chosen to be frequent.
const QUOTED: &str = "The Law will never be perfect but its application should be just";

/// The sentences and texts of the cells in lessons that speak of tiny-bert.
fn examples() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lessons");
    let mut examples = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        if !text.contains("/models#tiny-bert") {
            continue;
        }
        for line in text.lines() {
            let value = ["sentence = \"", "text = \""].map(|name| line.strip_prefix(name));
            let value = value.into_iter().flatten().next();
            let value = value.and_then(|value| value.strip_suffix('"'));
            examples.extend(value.filter(|v| !v.starts_with('$')).map(str::to_owned));
        }
    }
    assert!(examples.len() >= 4, "{examples:?}");
    examples
}

#[test]
fn what_the_first_version_held_out_is_not_trained_on() {
    let Some(data) = data() else { return };
    let (corpus, first) = (Corpus::read(&data).unwrap(), Corpus::first(&data).unwrap());
    let texts = corpus.training.iter().map(|text| normalised(text));
    let texts: Vec<String> = texts.collect();
    let whole: HashSet<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(whole.len(), texts.len());
    let stories = texts.iter().filter(|text| text.len() > 300);
    let stories: Vec<&String> = stories.collect();
    assert!(stories.len() > 2_000, "{}", stories.len());
    for text in first.test.iter().chain(&first.validation) {
        let held = normalised(text);
        assert!(!whole.contains(held.as_str()), "{text}");
        if words(text).len() >= 12 {
            let story = stories.iter().find(|story| story.contains(&held));
            assert!(story.is_none(), "{text}");
        }
    }
    let held = corpus.test.iter().chain(&corpus.validation);
    assert!(
        held.map(|text| normalised(text))
            .all(|text| !whole.contains(text.as_str()))
    );
    assert!(corpus.test.len() * 16 > corpus.training.len());
}

/// The questions can be answered: nearly every hidden word is one piece.
#[test]
fn words_of_the_lessons_are_one_piece_and_frequent() {
    let Some(data) = data() else { return };
    let (corpus, first) = (Corpus::read(&data).unwrap(), Corpus::first(&data).unwrap());
    let pieces = Pieces::new(&corpus.training).unwrap();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for word in corpus.training.iter().flat_map(|text| words(text)) {
        *counts.entry(word).or_default() += 1;
    }
    let named = [
        "mat",
        "bank",
        "train",
        "animal",
        "telescope",
        "river",
        "money",
    ];
    let mut shown = examples();
    assert!(shown.remove(QUOTED), "no lesson quotes it");
    let shown = shown.iter().flat_map(|example| words(example));
    for word in shown.chain(named.map(str::to_owned)) {
        let count = counts.get(&word).copied().unwrap_or(0);
        assert!(count >= FEWEST, "{word}: {count}");
        assert!(pieces.whole(&word).is_some(), "{word} is not one piece");
    }
    let (_, test) = questions(&first).unwrap();
    let known = test.iter().filter(|q| pieces.whole(&q.answer).is_some());
    let known = known.count();
    assert!(known * 100 >= 98 * test.len(), "{known} of {}", test.len());
}

#[test]
fn sentences_of_our_own_are_no_examples() {
    let shown: HashSet<String> = examples().iter().map(|text| normalised(text)).collect();
    for sentence in own::sentences() {
        assert!(!shown.contains(&normalised(&sentence)), "{sentence}");
    }
}
