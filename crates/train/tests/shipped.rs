//! What `public/models/MODELS.md` says of each shipped model, computed again from its file.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "../../engine/tests/support/shared.rs"]
mod shared;

use engine::format::safetensors::SafeTensors;
use engine::model::cnn::Cnn;
use engine::model::vit::Vit;
use engine::trainable::count;
use shared::shared;
use std::path::{Path, PathBuf};
use training::digits::classifier::Classifier;
use training::digits::data::Mnist;
use training::digits::gpt::DigitGpt;
use training::frame::{LARGEST_ALL, LARGEST_FILE, Subject, Table, tables};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/models")
}

fn cards() -> Vec<Table> {
    tables(&std::fs::read_to_string(folder().join("MODELS.md")).unwrap())
}

/// A number in a card.
fn number(card: &Table, row: &str) -> f64 {
    let found = card.get(row);
    let found = found.unwrap_or_else(|| panic!("{}: no row {row:?}", card.name));
    found.parse().unwrap()
}

/// Compares a card with what its file holds and does.
fn check<S: Subject>(subject: &S) {
    let name = subject.name();
    let cards = cards();
    let card = cards.iter().find(|card| card.name == name).unwrap();
    let bytes = std::fs::read(folder().join(card.get("file").unwrap())).unwrap();
    assert_eq!(number(card, "bytes"), bytes.len() as f64, "{name}");
    let mut file = SafeTensors::parse(bytes.into()).unwrap();
    let said = |key: &str| {
        let found = file.metadata().iter().find(|(known, _)| known == key);
        found.map(|(_, text)| text.clone()).unwrap_or_default()
    };
    assert_eq!(said("config"), subject.config().to_string(), "{name}");
    let command = card.get("command").unwrap();
    assert!(
        command.contains(&format!("--seed {}", said("seed"))),
        "{command}"
    );
    let (score, score_of) = (said("score"), said("score_of"));
    assert_eq!(card.get(&score_of), Some(score.as_str()), "{name}");
    let mut model = subject.load(&mut file.tensors).unwrap();
    for figure in subject.measure(&model).unwrap() {
        let stated = number(card, &figure.name);
        let found = figure.value;
        assert!(
            (stated - found).abs() <= figure.tolerance,
            "{name}: {}: {stated} stated, {found} found",
            figure.name
        );
    }
    assert_eq!(
        number(card, "parameters"),
        count(&mut model).unwrap() as f64
    );
}

fn digits() -> Option<Mnist> {
    Some(Mnist::read(&shared("data/mnist")?).unwrap())
}

#[test]
fn digit_vit() {
    if let Some(digits) = digits() {
        check(&Classifier::<Vit>::new(digits));
    }
}

#[test]
fn digit_cnn() {
    if let Some(digits) = digits() {
        check(&Classifier::<Cnn>::new(digits));
    }
}

#[test]
fn digit_gpt() {
    if let Some(digits) = digits() {
        check(&DigitGpt::new(&digits).unwrap());
    }
}

#[test]
fn every_file_has_a_card_and_all_are_small() {
    let cards = cards();
    let mut all = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.extension().unwrap_or_default();
        if kind != "safetensors" && kind != "gguf" {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let has_card = cards.iter().any(|card| card.get("file") == Some(name));
        assert!(has_card, "{name} is not in MODELS.md");
        let bytes = path.metadata().unwrap().len() as usize;
        assert!(bytes <= LARGEST_FILE, "{name}: {bytes}");
        all += bytes;
    }
    assert!(all <= LARGEST_ALL, "{all}");
    for card in &cards {
        for row in [
            "data",
            "licence of the data",
            "public original",
            "time taken",
        ] {
            assert!(
                card.get(row).is_some_and(|text| !text.is_empty()),
                "{}: {row}",
                card.name
            );
        }
    }
}

#[test]
fn attention_and_convolutions_are_compared_fairly() {
    let cards = cards();
    let card = |name: &str| cards.iter().find(|card| card.name == name).unwrap();
    let (vit, cnn) = (card("digit-vit"), card("digit-cnn"));
    let [a, b] = [vit, cnn].map(|card| number(card, "parameters"));
    assert!((a - b).abs() <= 0.1 * a.min(b), "{a} and {b}");
    assert!(number(vit, "right of 10000 test digits, %") >= 97.0);
}
