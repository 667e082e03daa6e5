//! Change one word and look at every logit before it: with the causal mask not one bit moves,
//! without it, or with a mistake in it, they do.

use engine::model::gpt2::{Config, Gpt2};
use engine::token::tokenizer::Tokenizer;
use engine::trace::Recorder;
use explain::wrong_mask::Mistake;
use ndarray::{Array2, Axis, Slice};
use std::sync::Arc;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::CausalLm;
use crate::parts::measure::{bits_changed, largest, row_differences};
use crate::parts::trained::{self, GPT, Pieces, RANDOM};
use crate::parts::words;
use crate::spec::{CellSpec, Run, WorkerKind};

/// Most words, or tokens, that the table can show.
const MOST_WORDS: usize = 12;

/// Logits of each place that the heat map shows; the counts are over all of them.
const SHOWN: usize = 16;

/// Sizes of the untrained model.
const MODEL: Config = Config {
    vocabulary: 500,
    width: 32,
    heads: 4,
    layers: 2,
    inner: 128,
    context: MOST_WORDS,
    norm_eps: 1e-5,
};

/// The number that the mistake `before-scaling` adds to hidden scores.
const PENALTY: f32 = -100.0;

/// Names of the mistakes that the mask on the right may have.
const MISTAKES: &[&str] = &[
    "no-mask",
    "one-too-far",
    "transposed",
    "after-softmax",
    "before-scaling",
];

/// The mistake with a name.
fn mistake(name: &str) -> Mistake {
    match name {
        "one-too-far" => Mistake::OneTooFar,
        "transposed" => Mistake::Transposed,
        "after-softmax" => Mistake::AfterSoftmax,
        "before-scaling" => Mistake::BeforeScaling(PENALTY),
        _ => Mistake::NoMask,
    }
}

/// The cell `leak-test`.
pub const SPEC: CellSpec = CellSpec {
    name: "leak-test",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: trained::files,
    start: |inputs, cache| trained::job(inputs, cache, compute),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::text("sentence", "Sentence", "The cat sat on the mat"),
        trained::model(&[GPT, RANDOM]),
        InputSpec::number(
            "place",
            "Word to change (position)",
            (1.0, MOST_WORDS as f64, 1.0),
            6.0,
        ),
        InputSpec::text("word", "New word", "sun"),
        InputSpec::choice("mistake", "Mistake in the second mask", MISTAKES),
        InputSpec::seed(7),
    ]
}

fn refuse(text: String) -> CellError {
    CellError::input("word", "New word", text)
}

fn stands_there(old: &str) -> CellError {
    refuse(format!(
        "\u{201c}{old}\u{201d} is already there; type another word."
    ))
}

/// A position after the end of a shortened sentence means its last word.
fn place_of(inputs: &Inputs, tokens: usize) -> Result<usize, CellError> {
    Ok(inputs.count("place")?.clamp(1, tokens) - 1)
}

/// Computes the cell with the weights that the reader chose.
fn compute(inputs: &Inputs, model: Option<&Arc<CausalLm>>) -> Result<Computation, CellError> {
    let words = words::tokens(inputs, "sentence", "Sentence", MOST_WORDS)?;
    let new = words::tokens(inputs, "word", "New word", 1)?.remove(0);
    let mut record = Record::new();
    match model {
        None => random(&mut record, inputs, words, new)?,
        Some(gpt) => trained(&mut record, inputs, gpt, &new)?,
    }
    record.words("logit", (1..=SHOWN).map(|v| format!("logit {v}")).collect());
    Ok(record.finish())
}

/// A small decoder with random weights, whose tokens are words.
fn random(
    record: &mut Record,
    inputs: &Inputs,
    tokens: Vec<String>,
    new: String,
) -> Result<(), CellError> {
    let place = place_of(inputs, tokens.len())?;
    let old = &tokens[place];
    let ids = engine::token::words::ids(&[old, &new], MODEL.vocabulary);
    if new.to_lowercase() == old.to_lowercase() {
        return Err(stands_there(old));
    }
    if ids[0] == ids[1] {
        return Err(refuse(format!(
            "\u{201c}{new}\u{201d} and \u{201c}{old}\u{201d} happen to share a row of the small untrained table; type another word."
        )));
    }
    let mut changed = tokens.clone();
    changed[place] = new;
    let (seed, vocabulary) = (inputs.seed()?, MODEL.vocabulary);
    let mistake = mistake(inputs.choice("mistake")?);
    let model = shown!(record, explain::small_decoder::small_decoder, &MODEL, seed)?;
    let before = shown!(record, engine::token::words::ids, &tokens[..], vocabulary);
    let after = shown!(record, engine::token::words::ids, &changed[..], vocabulary);
    let [first, second] = logits(record, &model, [&before, &after])?;
    compare(record, "with", &first, &second, place);
    let [first, second] = logits_with(record, &model, mistake, [&before, &after])?;
    compare(record, "other", &first, &second, place);
    record.number("pieces", 1.0);
    record.words("tokens", tokens);
    record.words("changed", changed);
    Ok(())
}

/// The logits of two texts by the model as it is.
fn logits(
    record: &mut Record,
    model: &Gpt2,
    texts: [&[usize]; 2],
) -> Result<[Array2<f32>; 2], CellError> {
    let [first, second] = texts.map(|ids| {
        let mut seen = Recorder::default();
        Ok::<_, CellError>(shown!(
            record,
            engine::model::decoder::DecoderExt::forward,
            model,
            ids,
            Some(&mut seen)
        )?)
    });
    Ok([first?, second?])
}

/// The same with a mistake in its mask.
fn logits_with(
    record: &mut Record,
    model: &Gpt2,
    mistake: Mistake,
    texts: [&[usize]; 2],
) -> Result<[Array2<f32>; 2], CellError> {
    let [first, second] =
        texts.map(|ids| shown!(record, explain::wrong_mask::forward, model, ids, mistake));
    Ok([first?, second?])
}

/// A trained decoder, whose tokens are pieces of words; it reads them behind the token that begins
/// every text. One piece takes the place of one piece: so all others stay where they are.
fn trained(
    record: &mut Record,
    inputs: &Inputs,
    gpt: &CausalLm,
    new: &str,
) -> Result<(), CellError> {
    let tokenizer = &gpt.tokenizer;
    let pieces = Pieces::of_text(tokenizer, inputs.text("sentence")?.trim())?
        .at_most(MOST_WORDS, "sentence", "Sentence")?;
    let place = place_of(inputs, pieces.ids.len())?;
    // A word inside a text begins with the space before it.
    let space = if place == 0 { "" } else { " " };
    let new = Pieces::of_text(tokenizer, &format!("{space}{new}"))?;
    let mut changed = pieces.clone();
    (changed.ids[place], changed.texts[place]) = (new.ids[0], new.texts[0].clone());
    if changed.ids == pieces.ids {
        return Err(stands_there(&pieces.texts[place]));
    }
    let start = tokenizer.special().end;
    let behind_start = |ids: &[usize]| start.iter().chain(ids).copied().collect::<Vec<usize>>();
    let (before, after) = (behind_start(&pieces.ids), behind_start(&changed.ids));
    // Without the row of the token that begins the text.
    let begin = before.len() - pieces.ids.len();
    let of_text = |all: Array2<f32>| all.slice_axis(Axis(0), Slice::from(begin..)).to_owned();
    let mistake = mistake(inputs.choice("mistake")?);
    let texts = [&before[..], &after[..]];
    let [first, second] = logits(record, &gpt.model, texts)?.map(of_text);
    compare(record, "with", &first, &second, place);
    let [first, second] = logits_with(record, &gpt.model, mistake, texts)?.map(of_text);
    compare(record, "other", &first, &second, place);
    record.number("pieces", new.ids.len() as f64);
    record.words("tokens", pieces.texts);
    record.words("changed", changed.texts);
    Ok(())
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
    record.number("place", (place + 1) as f64);
    record.number("before", place as f64);
    record.number("logits", first.ncols() as f64);
    record.number(&format!("{name}.earlier"), bits[..place].iter().sum());
    record.number(&format!("{name}.earlier.largest"), largest(&moved[..place]));
    record.numbers(&format!("{name}.moved"), moved);
    record.numbers(&format!("{name}.bits"), bits);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, number, text};

    fn given(model: &str, sentence: &str, place: usize, word: &str) -> Inputs {
        Inputs::defaults(&inputs())
            .with("model", choice(model))
            .with("sentence", text(sentence))
            .with("place", number(place as f64))
            .with("word", text(word))
    }

    /// The curriculum's check: earlier logits stay bit for bit the same with the mask, and move
    /// without it.
    fn check(given: &Inputs, place: usize, most: f64) {
        let c = computed(&SPEC, given).unwrap();
        assert_eq!(c.at("with.earlier", &[]), Some(0.0), "place {place}");
        for t in 0..6 {
            let (with, without) = (
                c.at("with.bits", &[t]).unwrap(),
                c.at("other.bits", &[t]).unwrap(),
            );
            assert_eq!(with == 0.0, t + 1 < place, "place {place}, {t}: {with}");
            assert!(without > most, "place {place}, {t}: {without}");
            assert!(c.at("other.moved", &[t]).unwrap() > 1e-4);
        }
    }

    #[test]
    fn nothing_leaks_with_the_mask_and_everything_without() {
        for place in 1..=6 {
            for seed in [0.0, 7.0, 1234.0] {
                let given = given(RANDOM, "The cat sat on the mat", place, "moon");
                check(&given.with("seed", number(seed)), place, 400.0);
            }
            check(
                &given(GPT, "The cat sat on the mat", place, "sun"),
                place,
                1600.0,
            );
        }
    }

    /// Largest changes and numbers of changed logits, when word six of tiny-gpt's text changes.
    fn found(model: &str, mistake: &str) -> (Vec<f64>, Vec<f64>) {
        let given =
            given(model, "The cat sat on the mat", 6, "sun").with("mistake", choice(mistake));
        let c = computed(&SPEC, &given).unwrap();
        assert_eq!(c.at("with.earlier", &[]), Some(0.0));
        let of = |name: &str| -> Vec<f64> {
            let tensor = c.tensor(name).unwrap();
            tensor.values.iter().copied().collect()
        };
        (of("other.moved"), of("other.bits"))
    }

    /// What the lesson says about each mistake.
    #[test]
    fn every_mistake_is_found() {
        // One step in each of four layers: the fifth token before the new one is out of reach.
        let (moved, bits) = found(GPT, "one-too-far");
        assert_eq!(bits[0], 0.0);
        assert!(moved[1..].iter().all(|&m| m > 0.01), "{moved:?}");
        assert!(moved[1..5].windows(2).all(|w| w[0] < w[1]), "{moved:?}");
        let (moved, _) = found(GPT, "transposed");
        assert!(moved[..5].iter().all(|&m| m > 1.0), "{moved:?}");
        // The denominator of the softmax has seen the hidden scores.
        let (moved, _) = found(GPT, "after-softmax");
        assert!(moved[..5].iter().all(|&m| m > 0.01), "{moved:?}");
        // So small that a comparison within 0.0001 finds nothing; bits are another matter.
        let (moved, bits) = found(GPT, "before-scaling");
        assert!(moved[..5].iter().all(|&m| m < 2e-5), "{moved:?}");
        assert!(bits[..5].iter().all(|&b| b > 500.0), "{bits:?}");
    }

    /// In heads 8 wide the penalty is divided by less, and nothing of it is left in 32 bits.
    #[test]
    fn narrow_heads_hide_the_last_mistake() {
        assert_eq!(found(RANDOM, "before-scaling").1[..5], [0.0; 5]);
        for mistake in ["one-too-far", "transposed", "after-softmax"] {
            assert!(found(RANDOM, mistake).1[4] > 0.0, "{mistake}");
        }
    }

    #[test]
    fn it_holds_for_every_length() {
        let words = "one two three four five six seven eight nine ten eleven twelve";
        for length in 2..=MOST_WORDS {
            let sentence: Vec<&str> = words.split(' ').take(length).collect();
            let c = computed(&SPEC, &given(RANDOM, &sentence.join(" "), length, "moon")).unwrap();
            assert_eq!(c.at("with.earlier", &[]), Some(0.0), "{length} words");
            assert!(c.at("other.earlier", &[]).unwrap() > 0.0);
            let short = vec!["a"; length].join(" ");
            let c = computed(&SPEC, &given(GPT, &short, length, "the")).unwrap();
            assert_eq!(c.at("with.earlier", &[]), Some(0.0), "{length} pieces");
            assert!(c.at("other.earlier", &[]).unwrap() > 0.0);
        }
    }

    #[test]
    fn a_place_behind_the_end_is_the_last_word() {
        let c = computed(&SPEC, &given(RANDOM, "The cat", 9, "moon")).unwrap();
        assert_eq!(c.words("changed"), ["The", "moon"]);
        assert_eq!(c.at("place", &[]), Some(2.0));
        let c = computed(&SPEC, &given(GPT, "The cat", 9, "the")).unwrap();
        assert_eq!(c.words("changed"), ["The", "\u{2423}the"]);
    }

    #[test]
    fn a_word_that_changes_nothing_gets_a_message() {
        for (model, word) in [
            (RANDOM, ""),
            (RANDOM, "CAT"),
            (RANDOM, "two words"),
            (GPT, "cat"),
            (GPT, ""),
        ] {
            let found = computed(&SPEC, &given(model, "The cat", 2, word));
            assert!(matches!(found, Err(CellError::Input { .. })), "{word}");
        }
    }
}
