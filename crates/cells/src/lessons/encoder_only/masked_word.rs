//! The guesses for a hidden word: tiny-bert's, from both sides, and tiny-gpt's, from the left alone.

use std::sync::Arc;

use engine::nn::softmax::top_indices;
use engine::token::tokenizer::Tokenizer;
use engine::trace::Observer;
use ndarray::Array1;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::{CausalLm, MaskedLm, ModelCache, Shipped};
use crate::parts::trained::{self, BERT, GPT, Pieces, visible};
use crate::parts::words;
use crate::spec::{CellSpec, Run, WorkerKind, once};

/// Most words and signs of a sentence.
const MOST: usize = 20;

/// Guesses of each model that are shown.
pub const TOP: usize = 5;

/// The text that is read: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Your sentence");

/// The cell `masked-word`.
pub const SPEC: CellSpec = CellSpec {
    name: "masked-word",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| [BERT, GPT].into_iter().filter_map(trained::file).collect(),
    start: |inputs, cache| {
        let (bert, gpt, inputs) = (here(cache, BERT)?, here(cache, GPT)?, inputs.clone());
        Ok(once(move || {
            compute(&inputs, bert.as_deref(), gpt.as_deref())
        }))
    },
    partial_from: Some(0),
};

/// A model, where its file is here.
fn here<M: Shipped>(cache: &ModelCache, name: &str) -> Result<Option<Arc<M>>, CellError> {
    let file = trained::file(name).unwrap_or_default();
    cache.has(file).then(|| cache.opened(file)).transpose()
}

fn inputs() -> Vec<InputSpec> {
    let most = MOST as f64;
    vec![
        InputSpec::text(SENTENCE.0, SENTENCE.1, "My brother is older than me."),
        InputSpec::number("hidden", "Hidden word", (1.0, most, 1.0), 4.0),
    ]
}

/// The guesses of the models that are here.
fn compute(
    inputs: &Inputs,
    bert: Option<&MaskedLm>,
    gpt: Option<&CausalLm>,
) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let text = inputs.text(SENTENCE.0)?;
    let typed = words::tokens(inputs, SENTENCE.0, SENTENCE.1, MOST)?;
    let hidden = inputs.count("hidden")?.clamp(1, typed.len()) - 1;
    if let Some(bert) = bert {
        both_sides(&mut record, bert, &typed, hidden)?;
    }
    if let Some(gpt) = gpt {
        left_side(&mut record, gpt, text, &typed, hidden)?;
    }
    record.number("hidden", (hidden + 1) as f64);
    record.number("count", typed.len() as f64);
    record.words("right", vec![typed[hidden].clone()]);
    Ok(record.finish())
}

/// What tiny-bert puts in the position of the word.
fn both_sides(
    record: &mut Record,
    bert: &MaskedLm,
    typed: &[String],
    hidden: usize,
) -> Result<(), CellError> {
    let (model, tokenizer) = (&bert.model, &bert.tokenizer);
    let mask = tokenizer.special().mask;
    let mask = mask.ok_or_else(|| CellError::Missing("[MASK]".to_owned()))?;
    let cut = |words: &[String]| Pieces::of_words(tokenizer, words);
    let (mut pieces, right) = (cut(&typed[..hidden])?, cut(&typed[hidden..=hidden])?);
    let (place, after) = (pieces.ids.len() + 1, cut(&typed[hidden + 1..])?);
    pieces.ids.push(mask);
    pieces.texts.push("[MASK]".to_owned());
    pieces.words.push(hidden);
    pieces.ids.extend(after.ids);
    pieces.texts.extend(after.texts);
    pieces.words.extend(after.words);
    let pieces = pieces.within(BERT, (model.config().context, 2), SENTENCE)?;
    let pieces = pieces.enclosed(tokenizer);
    let read = &pieces.ids[..];
    let logits = shown!(
        record,
        engine::model::bert::Bert::forward,
        model,
        read,
        None::<&mut dyn Observer>
    )?;
    let p = engine::nn::softmax::softmax(logits.row(place));
    let best = top_indices(p.view(), TOP);
    let word = |&id: &usize| visible(tokenizer.token(id).unwrap_or_default());
    record.words("bert.words", best.iter().map(word).collect());
    keep(record, "bert", &p, &best);
    // One [MASK] is one piece: a word of several has no chance.
    let known = (right.ids.len() == 1).then(|| p[right.ids[0]]);
    record.number("bert.right", f64::from(known.unwrap_or(0.0)));
    record.words("tokens", pieces.texts);
    Ok(())
}

/// What tiny-gpt expects after the words on the left, and the probability that it gives to all
/// tokens of the hidden word, one after the other.
fn left_side(
    record: &mut Record,
    gpt: &CausalLm,
    text: &str,
    typed: &[String],
    hidden: usize,
) -> Result<(), CellError> {
    let (model, tokenizer) = (&gpt.model, &gpt.tokenizer);
    let begin = found(text, typed, hidden);
    let left = text[..begin].trim();
    let start = tokenizer.special().end;
    let start =
        start.ok_or_else(|| CellError::Missing("the token that begins a text".to_owned()))?;
    // The tokens of a word hold the space before it.
    let is_spaced = text[..begin].trim_end().len() < begin;
    let space = if is_spaced && !left.is_empty() {
        " "
    } else {
        ""
    };
    let right = tokenizer.encode(&format!("{space}{}", typed[hidden]))?;
    let before = tokenizer.encode(left)?;
    let all: Vec<usize> = std::iter::once(start)
        .chain(before.iter().copied())
        .chain(right.iter().copied())
        .collect();
    Pieces::of_ids(tokenizer, all.clone())?.within(GPT, (model.config().context, 0), SENTENCE)?;
    let read = &all[..all.len().saturating_sub(1).max(1)];
    let logits = shown!(
        record,
        engine::model::decoder::DecoderExt::forward,
        model,
        read,
        None::<&mut dyn Observer>
    )?;
    let at = |place: usize| engine::nn::softmax::softmax(logits.row(place));
    let p = at(before.len());
    let best = top_indices(p.view(), TOP);
    record.words("gpt.words", Pieces::of_ids(tokenizer, best.clone())?.texts);
    keep(record, "gpt", &p, &best);
    let tokens = right.iter().enumerate();
    let all = tokens.fold(1.0, |all, (n, &id)| all * at(before.len() + n)[id]);
    record.number("gpt.right", f64::from(all));
    record.number("gpt.tokens", right.len() as f64);
    record.words("left", vec![left.to_owned()]);
    Ok(())
}

fn keep(record: &mut Record, name: &str, p: &Array1<f32>, best: &[usize]) {
    let shares = best.iter().map(|&id| f64::from(p[id])).collect();
    record.numbers(&format!("{name}.probabilities"), shares);
}

/// Where the word begins in the text, in bytes.
fn found(text: &str, typed: &[String], hidden: usize) -> usize {
    let mut begin = 0;
    let mut end = 0;
    for word in &typed[..=hidden] {
        begin = end + text[end..].find(word.as_str()).unwrap_or(0);
        end = begin + word.len();
    }
    begin
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, number, text};

    fn of(sentence: &str, hidden: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("sentence", text(sentence))
            .with("hidden", number(hidden));
        computed(&SPEC, &given).unwrap()
    }

    fn share(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// What the lesson says of *older*: the word *than* on the right makes it a comparison.
    #[test]
    fn the_right_side_tells_that_it_is_a_comparison() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        assert_eq!(c.words("tokens")[4], "[MASK]");
        assert_eq!(c.words("left"), ["My brother is"]);
        assert_eq!(c.words("bert.words")[..2], ["older", "better"]);
        let bert = c.words("bert.words");
        assert!(bert.iter().all(|word| word.ends_with("er")), "{bert:?}");
        assert_eq!(c.words("gpt.words")[0], "\u{2423}a");
        assert_eq!(share(&c, "gpt.tokens"), 2.0);
        assert!(share(&c, "bert.right") > 0.2 && share(&c, "gpt.right") < 0.01);
        assert_eq!(c.at("bert.probabilities", &[0]), c.at("bert.right", &[]));
    }

    /// The solution of the exercise.
    #[test]
    fn not_is_known_from_its_right_side() {
        let c = of("He did not say anything.", 3.0);
        assert!(share(&c, "bert.right") > 0.9 && share(&c, "gpt.right") < 0.3);
    }

    /// Without the last full stop, tiny-bert thinks that the sentence ends at the hidden word.
    #[test]
    fn a_sentence_needs_its_full_stop() {
        let c = of("I want to eat a cake", 6.0);
        assert_eq!(c.words("bert.words")[0], ".");
        assert!(c.at("bert.probabilities", &[0]).unwrap() > 0.99);
    }

    #[test]
    fn the_first_word_has_no_left_side() {
        let c = of("The cat sat", 1.0);
        assert_eq!(c.words("left"), [""]);
        let same = of("The dog ran away", 1.0);
        assert_eq!(c.words("gpt.words"), same.words("gpt.words"));
        // A number beyond the sentence hides its last word.
        assert_eq!(of("The cat sat", 20.0).words("right"), ["sat"]);
        let none = Inputs::defaults(&inputs()).with("sentence", text(" "));
        assert!(computed(&SPEC, &none).is_err());
    }

    /// A word of several pieces cannot be the guess for one [MASK].
    #[test]
    fn a_word_of_several_pieces_has_no_chance() {
        let c = of("The xylophonist sat down.", 2.0);
        assert_eq!(share(&c, "bert.right"), 0.0);
        assert!(share(&c, "gpt.right") > 0.0);
    }

    /// The guesses of one model are there before the other's file is, and stay as they are.
    #[test]
    fn each_model_guesses_by_itself() {
        let whole = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models/").to_owned();
        for (name, there, missing) in [
            (BERT, "bert.words", "gpt.words"),
            (GPT, "gpt.words", "bert.words"),
        ] {
            let (cache, file) = (ModelCache::default(), trained::file(name).unwrap());
            cache.put(file, std::fs::read(folder.clone() + file).unwrap().into());
            let mut job = (ENTRY.start)(&Inputs::defaults(&inputs()), &cache).unwrap();
            let crate::Progress::Done(part) = job.advance().unwrap() else {
                panic!("it is done in one go");
            };
            assert_eq!(part.words(there), whole.words(there), "{name}");
            assert!(part.words(missing).is_empty(), "{name}");
        }
    }
}
