//! Change one word and look at every logit before it: with the causal mask not one bit moves, without it they all do.

use engine::model::tiny_decoder::{Positions, TinyConfig, TinyDecoder};
use ndarray::{Array2, Axis, Slice};

use crate::computation::Computation;
use crate::error::CellError;
use crate::input::{InputSpec, Inputs};
use crate::measure::{bits_changed, largest, row_differences};
use crate::shown::Record;
use crate::spec::{CellSpec, Run};
use crate::words;

/// Most words that the table can show.
const MOST_WORDS: usize = 12;

/// Logits of each place that the heat map shows; the counts are over all of them.
const SHOWN: usize = 16;

/// Sizes of the untrained model.
const MODEL: TinyConfig = TinyConfig {
    vocabulary: 500,
    width: 32,
    heads: 4,
    blocks: 2,
    max_tokens: MOST_WORDS,
    positions: Positions::Sinusoidal,
};

/// The cell `leak-test`.
pub const SPEC: CellSpec = CellSpec {
    name: "leak-test",
    summary: "An untrained decoder before and after one word changes: which logits move, with the causal mask and without.",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::text("sentence", "Sentence", "The cat sat on the mat"),
        InputSpec::number(
            "place",
            "Place of the word to change",
            (1.0, MOST_WORDS as f64, 1.0),
            6.0,
        ),
        InputSpec::text("word", "New word", "moon"),
        InputSpec::seed(7),
    ]
}

/// The new word, and the id that the model knows it by.
fn replacement(inputs: &Inputs, old: &str) -> Result<String, CellError> {
    let refuse = |text: String| CellError::input("word", "New word", text);
    let word = words::tokens(inputs, "word", "New word", 1)?.remove(0);
    let ids = engine::token::words::ids(&[old, &word], MODEL.vocabulary);
    if word.to_lowercase() == old.to_lowercase() {
        return Err(refuse(format!(
            "\u{201c}{old}\u{201d} stands there already; type another word to change it to."
        )));
    }
    if ids[0] == ids[1] {
        return Err(refuse(format!(
            "\u{201c}{word}\u{201d} and \u{201c}{old}\u{201d} happen to share a row of the small untrained table; type another word."
        )));
    }
    Ok(word)
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let tokens = words::tokens(inputs, "sentence", "Sentence", MOST_WORDS)?;
    // A place behind the end of a shortened sentence means its last word.
    let place = inputs.count("place")?.clamp(1, tokens.len()) - 1;
    let mut changed = tokens.clone();
    changed[place] = replacement(inputs, &tokens[place])?;
    let (seed, vocabulary) = (inputs.seed()?, MODEL.vocabulary);
    let mut record = Record::new();
    let model = shown!(
        record,
        engine::model::tiny_decoder::TinyDecoder::new,
        &MODEL,
        seed
    )?;
    let before = shown!(record, engine::token::words::ids, &tokens[..], vocabulary);
    let after = shown!(record, engine::token::words::ids, &changed[..], vocabulary);
    for (name, causal) in [("with", true), ("without", false)] {
        let first = logits(&mut record, &model, &before, causal)?;
        let second = logits(&mut record, &model, &after, causal)?;
        compare(&mut record, name, &first, &second, place);
    }
    record.number("place", (place + 1) as f64);
    record.number("logits", vocabulary as f64);
    record.number("before", place as f64);
    record.words("tokens", tokens);
    record.words("changed", changed);
    record.words("logit", (1..=SHOWN).map(|v| format!("logit {v}")).collect());
    Ok(record.finish())
}

fn logits(
    record: &mut Record,
    model: &TinyDecoder,
    ids: &[usize],
    causal: bool,
) -> Result<Array2<f32>, CellError> {
    Ok(shown!(
        record,
        engine::model::tiny_decoder::TinyDecoder::logits,
        model,
        ids,
        causal,
        true
    )?)
}

/// Keeps how far each place's logits moved and how many of them differ in any bit.
fn compare(
    record: &mut Record,
    name: &str,
    first: &Array2<f32>,
    second: &Array2<f32>,
    place: usize,
) {
    let moved = row_differences(first.view(), second.view());
    let bits = bits_changed(first.view(), second.view());
    let shown = Slice::from(..SHOWN);
    let difference = second - first;
    record.tensor(
        &format!("{name}.difference"),
        &difference.slice_axis(Axis(1), shown),
    );
    record.tensor(&format!("{name}.first"), &first.slice_axis(Axis(1), shown));
    record.number(&format!("{name}.earlier"), bits[..place].iter().sum());
    record.number(&format!("{name}.earlier.largest"), largest(&moved[..place]));
    record.numbers(&format!("{name}.moved"), moved);
    record.numbers(&format!("{name}.bits"), bits);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn given(sentence: &str, place: usize, word: &str, seed: u32) -> Inputs {
        Inputs::defaults(&inputs())
            .with("sentence", InputValue::Text(sentence.into()))
            .with("place", InputValue::Number(place as f64))
            .with("word", InputValue::Text(word.into()))
            .with("seed", InputValue::Number(f64::from(seed)))
    }

    /// The curriculum's check: earlier logits stay bit for bit the same with the mask, and move without it.
    #[test]
    fn nothing_leaks_with_the_mask_and_everything_without() {
        for seed in [0, 7, 1234] {
            for place in 1..=6 {
                let c = SPEC
                    .compute(&given("The cat sat on the mat", place, "moon", seed))
                    .unwrap();
                assert_eq!(
                    c.at("with.earlier", &[]),
                    Some(0.0),
                    "seed {seed}, place {place}"
                );
                for t in 0..6 {
                    let (with, without) = (
                        c.at("with.bits", &[t]).unwrap(),
                        c.at("without.bits", &[t]).unwrap(),
                    );
                    assert_eq!(
                        with == 0.0,
                        t + 1 < place,
                        "seed {seed}, place {place}, {t}: {with}"
                    );
                    assert!(
                        without > 400.0,
                        "seed {seed}, place {place}, {t}: {without}"
                    );
                    assert!(c.at("without.moved", &[t]).unwrap() > 1e-4);
                }
            }
        }
    }

    #[test]
    fn it_holds_for_every_length() {
        let words = "one two three four five six seven eight nine ten eleven twelve";
        for length in 2..=MOST_WORDS {
            let sentence: Vec<&str> = words.split(' ').take(length).collect();
            let c = SPEC
                .compute(&given(&sentence.join(" "), length, "moon", 7))
                .unwrap();
            assert_eq!(c.at("with.earlier", &[]), Some(0.0), "{length} words");
            assert!(c.at("without.earlier", &[]).unwrap() > 0.0);
        }
    }

    #[test]
    fn a_place_behind_the_end_is_the_last_word() {
        let c = SPEC.compute(&given("The cat", 9, "moon", 7)).unwrap();
        assert_eq!(c.words("changed"), ["The", "moon"]);
        assert_eq!(c.at("place", &[]), Some(2.0));
    }

    #[test]
    fn a_word_that_changes_nothing_gets_a_message() {
        for word in ["", "MAT", "two words"] {
            let found = SPEC.compute(&given("The cat sat on the mat", 6, word, 7));
            assert!(matches!(found, Err(CellError::Input { .. })), "{word}");
        }
    }
}
