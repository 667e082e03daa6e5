//! The shipped models of text: their cards computed again from their files, and what the lessons promise of them.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "support/cards.rs"]
mod cards;
#[path = "../../engine/tests/support/shared.rs"]
mod shared;

use cards::{cards, check, folder, number, start_threads};
use engine::score::bleu::exact;
use engine::translate::{Translator, open};
use shared::shared;
use training::frame::Table;
use training::text::language::Language;
use training::text::masked::Masked;
use training::text::score::own_figures;
use training::text::split::own;
use training::text::translation::{Kind, Translation};

/// The three of the race.
const RACE: [&str; 3] = ["seq2seq-gru", "seq2seq-attention", "translator"];

fn card(name: &str) -> Table {
    let found = cards().into_iter().find(|card| card.name == name);
    found.unwrap_or_else(|| panic!("no card of {name}"))
}

fn translator(name: &str) -> Translator {
    let path = folder().join(format!("{name}.safetensors"));
    open(name, std::fs::read(path).unwrap().into()).unwrap()
}

#[test]
fn translators_do_on_the_sites_own_set_what_their_cards_say() {
    start_threads();
    let own = own().unwrap();
    for name in RACE {
        let card = card(name);
        for (row, share) in own_figures(&translator(name), &own).unwrap() {
            let (stated, found) = (number(&card, &row), 100.0 * share);
            assert!(
                (stated - found).abs() <= 0.3,
                "{name}: {row}: {stated} stated, {found} found"
            );
        }
    }
}

#[test]
fn the_sentence_that_pages_show_comes_out_as_good_italian() {
    let good = ["vediamo il cielo", "noi vediamo il cielo"].map(str::to_owned);
    for name in RACE {
        let found = translator(name).translate("we see the sky").unwrap();
        assert!(exact(&found, &good), "{name}: {found}");
    }
}

#[test]
fn the_race_is_fair_and_attention_wins_it() {
    let all = RACE.map(card);
    let sizes = all.each_ref().map(|card| number(card, "parameters"));
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    let most = sizes.iter().copied().fold(0.0, f64::max);
    assert!(most <= 1.1 * least, "{sizes:?}");
    let long = |card: &Table| {
        let row = card.rows.iter().find(|(name, _)| {
            name.starts_with("BLEU, ") && name.ends_with(" held-out sentences of 9 and 10 words")
        });
        let (name, value) = row.unwrap();
        let count: usize = name.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(count >= 500, "{name}");
        value.parse::<f64>().unwrap()
    };
    let [fixed, attention, transformer] = all.each_ref().map(long);
    assert!(attention >= fixed + 8.0, "{attention} and {fixed}");
    assert!(transformer >= fixed + 5.0, "{transformer} and {fixed}");
}

#[test]
fn seq2seq_gru() {
    race(Kind::Gru);
}

#[test]
fn seq2seq_attention() {
    race(Kind::Attention);
}

#[test]
fn the_transformer() {
    race(Kind::Transformer);
}

fn race(kind: Kind) {
    if let Some(data) = shared("data") {
        check(&Translation::read(kind, &data).unwrap());
    }
}

#[test]
fn tiny_gpt() {
    let card = card("tiny-gpt");
    assert!(number(&card, "bits per byte better than the 4-gram") > 0.0);
    assert!(
        number(
            &card,
            "words of 100 samples that are in the training text, %"
        ) >= 95.0
    );
    assert!(number(&card, "longest run of words copied from it, words") < 12.0);
    assert!(number(&card, "mean weight of the best previous-token head") >= 0.5);
    if let Some(data) = shared("data") {
        check(&Language::read(&data).unwrap());
    }
}

#[test]
fn tiny_bert() {
    let card = card("tiny-bert");
    assert!(number(&card, "points above the best of these") >= 8.0);
    if let Some(data) = shared("data") {
        check(&Masked::read(&data).unwrap());
    }
}
