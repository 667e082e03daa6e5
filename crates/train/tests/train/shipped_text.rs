//! The shipped models of text: their cards computed again from their files, and what the lessons
//! promise of them.

use std::path::{Path, PathBuf};

use crate::cards::{card, check, folder, number};
use engine::format::json;
use engine::translate::{Pair, Translator, open};
use explain::hidden_story;
use explain::run_log::rows;
use explain::score::Score;
use explain::score::bleu::{Counts, exact};
use explain::score::bootstrap::interval;
use skip::shared;
use training::frame::{Table, gzip_size};
use training::text::language::Language;
use training::text::masked::{FIRST_LAYER, Masked, first_layer};
use training::text::pairs;
use training::text::score::{own_figures, scored};
use training::text::split::{Split, is_long, own};
use training::text::stories;
use training::text::story_race;
use training::text::translation::{Kind, Translation};

/// The three of the race.
const RACE: [&str; 3] = ["seq2seq-gru", "seq2seq-attention", "translator"];

/// The folder with the sentence pairs.
fn pairs_folder() -> Option<PathBuf> {
    shared(&format!("data/{}", pairs::FILE))?;
    shared("data")
}

/// The folder with the texts for language models: the pairs and the stories.
fn texts_folder() -> Option<PathBuf> {
    for file in [stories::SAMPLE, stories::UNMARKED, stories::MARKED] {
        shared(&format!("data/{file}"))?;
    }
    pairs_folder()
}

fn translator(name: &str) -> Translator {
    let path = folder().join(format!("{name}.safetensors"));
    open(name, std::fs::read(path).unwrap().into(), json::read).unwrap()
}

#[test]
fn translators_do_on_the_sites_own_set_what_their_cards_say() {
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
    // Through one fixed vector it does not: that is what the lesson on the bottleneck is about.
    for name in &RACE[1..] {
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

/// On the same draws of sentences the differences are above 0 throughout: other sentences would
/// give the same order.
#[test]
fn other_sentences_would_give_the_same_winner() {
    let Some(data) = pairs_folder() else { return };
    let split = Split::new(pairs::read(&data).unwrap(), &own().unwrap());
    let long: Vec<&Pair> = split.test.iter().filter(|pair| is_long(pair)).collect();
    let [fixed, attention, transformer] =
        RACE.map(|name| scored(&translator(name), long.iter().copied()).unwrap());
    for (name, other) in [("attention", &attention), ("transformer", &transformer)] {
        let bleu = |score: &Score, drawn: &[usize]| {
            let drawn = drawn.iter().map(|&n| score.counts[n]);
            100.0 * drawn.sum::<Counts>().bleu()
        };
        let difference = |drawn: &[usize]| bleu(other, drawn) - bleu(&fixed, drawn);
        let (low, high) = interval(long.len(), 1000, 1, difference);
        println!("{name} is {low:.1} to {high:.1} BLEU better than the fixed vector");
        assert!(low > 0.0, "{name}: {low} to {high}");
    }
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
    if let Some(data) = pairs_folder() {
        check(&Translation::read(kind, &data).unwrap());
    }
}

#[test]
fn tiny_gpt() {
    if let Some(data) = texts_folder() {
        let language = Language::read(&data).unwrap();
        let log = std::fs::read_to_string(folder().join(story_race::FILE)).unwrap();
        let data = Path::new("../shared/data");
        assert_eq!(story_race::log(&language, data).unwrap(), log);
        check(&language);
    }
}

/// The log of the 4-gram has the words of all gaps of all stories.
#[test]
fn the_four_gram_is_logged_on_every_hidden_word() {
    let log = std::fs::read_to_string(folder().join(story_race::FILE)).unwrap();
    for n in 0..hidden_story::COUNT {
        let gaps = hidden_story::story(n).gaps.len();
        let found = rows(&log, "gap", &n.to_string()).unwrap();
        assert_eq!(found.dim(), (gaps, hidden_story::CHOICES));
        assert_eq!(rows(&log, "token", &n.to_string()).unwrap().nrows(), 1);
    }
}

#[test]
fn tiny_gpt_without_lists() {
    if let Some(data) = texts_folder() {
        check(&Language::read(&data).unwrap().without_lists());
    }
}

/// Induction was taught: without the lists no head does it, and none looks mainly at the token
/// before.
#[test]
fn heads_that_look_back_come_from_the_lists() {
    let [with, without] = ["tiny-gpt", "tiny-gpt-no-lists"].map(card);
    let (induction, previous) = (
        "induction score of the best head",
        "mean weight of the best previous-token head",
    );
    assert!(number(&with, induction) >= 0.9 && number(&without, induction) <= 0.1);
    assert!(number(&with, previous) >= 0.8 && number(&without, previous) <= 0.5);
    let better = "bits per byte better than the 4-gram";
    assert!(number(&with, better) > number(&without, better));
}

#[test]
fn the_card_of_tiny_gpt_keeps_what_lessons_promise() {
    let card = card("tiny-gpt");
    assert!(number(&card, "bits per byte better than the 4-gram") >= 0.12);
    assert!(
        number(
            &card,
            "words of 100 samples that are in the training text, %"
        ) >= 95.0
    );
    assert!(number(&card, "longest run of words copied from it, words") < 12.0);
    assert!(number(&card, "mean weight of the best previous-token head") >= 0.8);
    assert!(number(&card, "induction score of the best head") >= 0.9);
    assert!(
        number(
            &card,
            "stories of 100 tokens that keep their hero's name, %"
        ) >= 80.0
    );
}

#[test]
fn tiny_bert() {
    if let Some(data) = texts_folder() {
        check(&Masked::read(&data).unwrap());
    }
}

/// With `UPDATE_MODELS=1` the file is made again.
#[test]
fn the_first_layer_of_tiny_bert_is_that_of_the_whole() {
    let whole = folder().join("tiny-bert.safetensors");
    let first = first_layer(&whole, &std::fs::read(&whole).unwrap()).unwrap();
    let path = folder().join(FIRST_LAYER);
    if std::env::var_os("UPDATE_MODELS").is_some() {
        std::fs::write(&path, &first).unwrap();
    }
    assert!(std::fs::read(&path).unwrap() == first);
    assert!(gzip_size(&first).unwrap() < 420_000);
}

#[test]
fn the_card_of_tiny_bert_keeps_what_lessons_promise() {
    let card = card("tiny-bert");
    assert!(number(&card, "points above the best of these") >= 18.0);
    assert!(number(&card, "masked words right, %, of 4000 held-out texts") >= 47.0);
}
