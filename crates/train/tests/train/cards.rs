//! What `public/models/MODELS.md` says, and whether a file holds and does it.

use engine::format::safetensors::SafeTensors;
use engine::trainable::count;
use std::path::{Path, PathBuf};
use training::frame::{Figure, GZIP, HALF, Subject, Table, WEIGHTS, gzip_size, tables};

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

/// Compares a card with what its file holds and does.
pub(crate) fn check<S: Subject>(subject: &S) {
    let name = subject.name();
    let card = &card(name);
    let bytes = std::fs::read(folder().join(card.get("file").unwrap())).unwrap();
    assert_eq!(number(card, "bytes"), bytes.len() as f64, "{name}");
    let gzip = gzip_size(&bytes).unwrap();
    assert_eq!(number(card, GZIP), gzip as f64, "{name}");
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
    let is_scaled = card.get(WEIGHTS).unwrap().starts_with("Q8_0");
    assert_eq!(said("weights") == "Q8_0", is_scaled, "{name}");
    let half = card.get(HALF).map(|row| row.split(", "));
    assert_eq!(half.is_some(), is_scaled, "{name}");
    let half: Vec<f64> = half
        .into_iter()
        .flatten()
        .map(|x| x.parse().unwrap())
        .collect();
    let mut model = subject.load(&mut file.tensors).unwrap();
    let figures = subject.measure(&model).unwrap();
    assert!(
        !is_scaled || half.len() == figures.len(),
        "{name}: {half:?}"
    );
    for (figure, half) in figures.iter().zip(&half) {
        // Both as they were printed on the machine that made the file.
        let one = 10f64.powi(-(figure.decimals as i32));
        let stated = number(card, &figure.name);
        let printed = [-one, 0.0, one].map(|error| Figure {
            value: stated + error,
            ..figure.clone()
        });
        assert!(
            printed.iter().any(|figure| figure.holds(*half)),
            "{name}: {}: {stated} and {half} in half precision",
            figure.name
        );
    }
    for figure in figures {
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
