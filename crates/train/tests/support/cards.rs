//! What `public/models/MODELS.md` says, and whether a file holds and does it.
#![allow(dead_code, reason = "each test uses a part")]

use engine::format::safetensors::SafeTensors;
use engine::kernel::threads;
use engine::trainable::count;
use std::path::{Path, PathBuf};
use training::frame::{Subject, Table, tables};

/// Where the shipped models are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/models")
}

/// All cards.
pub(crate) fn cards() -> Vec<Table> {
    tables(&std::fs::read_to_string(folder().join("MODELS.md")).unwrap())
}

/// The card of a model.
pub(crate) fn card(name: &str) -> Table {
    let found = cards().into_iter().find(|card| card.name == name);
    found.unwrap_or_else(|| panic!("no card of {name}"))
}

/// A number in a card.
pub(crate) fn number(card: &Table, row: &str) -> f64 {
    let found = card.get(row);
    let found = found.unwrap_or_else(|| panic!("{}: no row {row:?}", card.name));
    found.parse().unwrap()
}

/// Threads change no bit.
pub(crate) fn start_threads() {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    threads::start(count).unwrap();
    threads::limit(count);
}

/// Compares a card with what its file holds and does.
pub(crate) fn check<S: Subject>(subject: &S) {
    start_threads();
    let name = subject.name();
    let card = &card(name);
    let bytes = std::fs::read(folder().join(card.get("file").unwrap())).unwrap();
    assert_eq!(number(card, "bytes"), bytes.len() as f64, "{name}");
    let mut file = SafeTensors::parse(bytes.into()).unwrap();
    let said = |key: &str| {
        let found = file.metadata().iter().find(|(known, _)| known == key);
        found.map(|(_, text)| text.clone()).unwrap_or_default()
    };
    assert_eq!(said("config"), subject.config().to_string(), "{name}");
    if let Some((held, text)) = subject.beside().unwrap() {
        assert_eq!(said(&held), text, "{name}: {held}");
    }
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
