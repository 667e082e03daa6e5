//! All guesses of the next token in one pass over a sentence, with the causal mask and without.

use engine::model::gpt2::Gpt2;
use engine::nn::parts::Parts;
use engine::nn::softmax::top_indices;
use engine::token::tokenizer::Tokenizer;
use engine::trace::Observer;
use ndarray::{Array2, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::CausalLm;
use crate::parts::measure::{largest, row_differences};
use crate::parts::trained::{self, GPT, Pieces, START};
use crate::spec::{CellSpec, Run, WorkerKind};

/// Most tokens, each of which has a row of the table.
const MOST_TOKENS: usize = 16;

/// Guesses that a row shows, the most likely first.
pub const TOP: usize = 3;

/// The text that is read: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Sentence");

/// The cell `next-word-guesses`.
pub const SPEC: CellSpec = CellSpec {
    name: "next-word-guesses",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| trained::file(GPT).into_iter().collect(),
    start: |inputs, cache| trained::once_with_gpt(inputs, cache, compute),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let sentence = "Once there was a little girl named Lily";
    vec![
        InputSpec::text(SENTENCE.0, SENTENCE.1, sentence),
        InputSpec::toggle("mask", "Causal mask", true),
    ]
}

/// Every token of the sentence is guessed from what is before it: the model reads the token that
/// begins every text and all tokens but the last, and its answers are all tokens from the first on.
fn compute(inputs: &Inputs, gpt: &CausalLm) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let tokenizer = &gpt.tokenizer;
    let pieces = Pieces::of_text(tokenizer, inputs.text(SENTENCE.0)?.trim())?.at_most(
        MOST_TOKENS,
        SENTENCE.0,
        SENTENCE.1,
    )?;
    let start = tokenizer.special().end;
    let start =
        start.ok_or_else(|| CellError::Missing("the token that begins a text".to_owned()))?;
    let all: Vec<usize> = std::iter::once(start).chain(pieces.ids).collect();
    let (read, answers) = (&all[..all.len() - 1], &all[1..]);
    for (name, mask) in [("with", true), ("without", false)] {
        let logits = logits(&mut record, &gpt.model, mask, read)?;
        let guesses = shown!(record, engine::nn::softmax::softmax_rows, logits.view());
        keep(&mut record, tokenizer, name, &guesses, answers)?;
        if mask {
            one_at_a_time(&mut record, &gpt.model, read, &logits)?;
        }
    }
    let seen = (0..read.len()).map(|t| beginning(&pieces.texts[..t]));
    record.words("with.seen", seen.collect());
    let whole = beginning(&pieces.texts[..read.len() - 1]);
    record.words("without.seen", vec![whole; read.len()]);
    record.words("next", pieces.texts);
    record.number("tokens", answers.len() as f64);
    Ok(record.finish())
}

/// The start of a text as the page shows it.
fn beginning(pieces: &[String]) -> String {
    let text = pieces.concat().replace('\u{2423}', " ");
    format!("{START} {text}").trim_end().to_owned()
}

/// The logits of all positions in one pass.
fn logits(
    record: &mut Record,
    model: &Gpt2,
    mask: bool,
    ids: &[usize],
) -> Result<Array2<f32>, CellError> {
    let parts = Parts {
        mask,
        ..Parts::default()
    };
    let model = shown!(record, engine::model::gpt2::Gpt2::with_parts, model, parts);
    Ok(shown!(
        record,
        engine::model::decoder::DecoderExt::forward,
        &model,
        ids,
        None::<&mut dyn Observer>
    )?)
}

/// Keeps the most likely tokens of each position, the probability of the right one, and which
/// positions guess it.
fn keep(
    record: &mut Record,
    tokenizer: &dyn Tokenizer,
    name: &str,
    guesses: &Array2<f32>,
    answers: &[usize],
) -> Result<(), CellError> {
    let best: Vec<Vec<usize>> = guesses
        .rows()
        .into_iter()
        .map(|row| top_indices(row, TOP))
        .collect();
    let flat = best.concat();
    let shares = Array2::from_shape_fn((answers.len(), TOP), |(t, n)| guesses[[t, best[t][n]]]);
    let truth = answers
        .iter()
        .enumerate()
        .map(|(t, &id)| f64::from(guesses[[t, id]]));
    let right = answers
        .iter()
        .zip(&best)
        .map(|(&id, best)| f64::from(u8::from(best[0] == id)));
    let right: Vec<f64> = right.collect();
    record.words(
        &format!("{name}.guesses"),
        Pieces::of_ids(tokenizer, flat)?.texts,
    );
    record.tensor(&format!("{name}.probabilities"), &shares);
    record.numbers(&format!("{name}.truth"), truth.collect());
    record.number(&format!("{name}.count"), right.iter().sum());
    record.numbers(&format!("{name}.right"), right);
    Ok(())
}

/// Reads the same tokens one by one with a key-value cache, where no later token exists that a mask
/// could hide, and keeps how far the logits are from those of the one pass.
fn one_at_a_time(
    record: &mut Record,
    model: &Gpt2,
    ids: &[usize],
    logits: &Array2<f32>,
) -> Result<(), CellError> {
    let mut session = engine::model::decoder::Session::new(model);
    let mut found = Array2::zeros((0, logits.ncols()));
    for &id in ids {
        let row = session.feed(&[id])?;
        let added = found.push(Axis(0), row.view());
        added.map_err(|e| CellError::Mismatch(e.to_string()))?;
    }
    let moved = row_differences(logits.view(), found.view());
    record.number("fed.difference", largest(&moved));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::parts::test_models::{computed, text};

    fn found(sentence: &str) -> Computation {
        let given = Inputs::defaults(&inputs()).with("sentence", text(sentence));
        computed(&SPEC, &given).unwrap()
    }

    /// What the lesson says: most guesses are right, fewer without the mask, and one answer leaks.
    #[test]
    fn most_guesses_are_right_and_fewer_without_the_mask() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        let next = c.words("next");
        assert_eq!(next.len(), 8);
        assert_eq!([2, 5].map(|t| &*next[t]), ["\u{2423}was", "\u{2423}girl"]);
        assert_eq!(c.at("tokens", &[]), Some(8.0));
        assert_eq!(c.at("with.count", &[]), Some(6.0));
        assert_eq!(c.at("without.count", &[]), Some(4.0));
        let [with, without] = ["with.truth", "without.truth"].map(|name| {
            let truth = |t: usize| c.at(name, &[t]).unwrap();
            [truth(2), truth(5)]
        });
        // The guess of *girl* becomes surer, the guess of *was* wrong.
        assert!(with[1] < 0.6 && without[1] > 0.85, "{with:?} {without:?}");
        assert!(with[0] > 0.9 && without[0] < 0.1, "{with:?} {without:?}");
    }

    #[test]
    fn a_right_guess_is_the_next_token_and_the_most_likely() {
        let c = found("The cat sat on the mat.");
        for name in ["with", "without"] {
            let of = |part: &str| format!("{name}.{part}");
            let (guesses, next) = (c.words(&of("guesses")), c.words("next"));
            assert_eq!(guesses.len(), TOP * next.len());
            let mut count = 0.0;
            for (t, token) in next.iter().enumerate() {
                let p = |n: usize| c.at(&of("probabilities"), &[t, n]).unwrap();
                assert!(p(0) >= p(1) && p(1) >= p(2) && p(0) + p(1) + p(2) < 1.0001);
                let right = guesses[TOP * t] == *token;
                assert_eq!(c.at(&of("right"), &[t]), Some(f64::from(u8::from(right))));
                let truth = c.at(&of("truth"), &[t]).unwrap();
                assert!(truth <= p(0) && (truth == p(0)) == right, "{name} {t}");
                count += f64::from(u8::from(right));
            }
            assert_eq!(c.at(&of("count"), &[]), Some(count));
        }
    }

    /// With the mask the first guesses do not depend on the rest of the sentence.
    #[test]
    fn a_longer_sentence_keeps_its_first_guesses() {
        let (short, long) = (found("Once upon a"), found("Once upon a time there was"));
        for t in 0..3 {
            for n in 0..TOP {
                let of = |c: &Computation, name| c.at(name, &[t, n]).unwrap();
                let [a, b] = [&short, &long].map(|c| of(c, "with.probabilities"));
                assert!((a - b).abs() < 1e-5, "{a} {b}");
            }
        }
        assert_ne!(
            short.words("without.guesses"),
            &long.words("without.guesses")[..9]
        );
        assert_eq!(
            long.words("with.seen")[..2],
            [START.to_owned(), format!("{START} Once")]
        );
        assert_eq!(
            long.words("without.seen")[0],
            format!("{START} Once upon a time there")
        );
    }

    #[test]
    fn reading_token_by_token_needs_no_mask() {
        let c = found("Once there was a little girl named Lily");
        let difference = c.at("fed.difference", &[]).unwrap();
        assert!(difference < 1e-4, "{difference}");
    }

    #[test]
    fn a_text_without_tokens_or_with_too_many_gets_a_message() {
        for sentence in [" ", &"the ".repeat(MOST_TOKENS + 1)] {
            let given = Inputs::defaults(&inputs()).with("sentence", text(sentence));
            let error = computed(&SPEC, &given).unwrap_err();
            assert!(matches!(error, CellError::Input { .. }), "{error}");
        }
        assert_eq!(found("Once").at("tokens", &[]), Some(1.0));
    }

    #[test]
    fn the_switch_changes_only_what_is_shown() {
        let given = Inputs::defaults(&inputs()).with("mask", InputValue::Toggle(false));
        let off = computed(&SPEC, &given).unwrap();
        assert_eq!(
            off.tensors,
            computed(&SPEC, &Inputs::defaults(&inputs()))
                .unwrap()
                .tensors
        );
    }
}
