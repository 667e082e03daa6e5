//! The residual stream of tiny-gpt at the last token of a sentence: what each sub-layer adds, and
//! what the model predicts with some of them switched off.

use engine::nn::softmax::top_indices;
use engine::token::tokenizer::Tokenizer;
use explain::sub_layers::Stream;
use ndarray::Array1;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::CausalLm;
use crate::parts::trained::{self, GPT, Pieces};
use crate::spec::{CellSpec, Run, WorkerKind};

/// Most tokens that are read.
const MOST_TOKENS: usize = 24;

/// Predictions that are shown.
pub const TOP: usize = 3;

/// The text that is read: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Sentence");

/// The sub-layers of tiny-gpt, from the input up: name of the switch and its label.
pub const SUB_LAYERS: [(&str, &str); 8] = [
    ("attention-1", "Attention 1"),
    ("mlp-1", "MLP 1"),
    ("attention-2", "Attention 2"),
    ("mlp-2", "MLP 2"),
    ("attention-3", "Attention 3"),
    ("mlp-3", "MLP 3"),
    ("attention-4", "Attention 4"),
    ("mlp-4", "MLP 4"),
];

/// The cell `residual-stream`.
pub const SPEC: CellSpec = CellSpec {
    name: "residual-stream",
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
    let sentence = "Once upon a time there was a little";
    let mut all = vec![InputSpec::text(SENTENCE.0, SENTENCE.1, sentence)];
    all.extend(SUB_LAYERS.map(|(name, label)| InputSpec::toggle(name, label, true)));
    all
}

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
    let ids: Vec<usize> = std::iter::once(start).chain(pieces.ids).collect();
    let mut off = Vec::new();
    for (n, (name, _)) in SUB_LAYERS.into_iter().enumerate() {
        if !inputs.toggle(name)? {
            off.push(n);
        }
    }
    let (model, ids, off) = (&gpt.model, &ids[..], &off[..]);
    let now = shown!(record, explain::sub_layers::stream, model, ids, off)?;
    let logits = now.logits.view();
    let probabilities = shown!(record, engine::nn::softmax::softmax, logits);
    let whole = explain::sub_layers::stream(model, ids, &[])?;
    let before = of(&whole);
    let best = top_indices(before.view(), TOP);
    keep(&mut record, tokenizer, "whole", &before)?;
    keep(&mut record, tokenizer, "now", &probabilities)?;
    let first = best[0];
    record.number("first.whole", f64::from(before[first]));
    record.number("first.now", f64::from(probabilities[first]));
    // Each sub-layer off by itself.
    let mut alone = Vec::new();
    for n in 0..SUB_LAYERS.len() {
        let cut = of(&explain::sub_layers::stream(model, ids, &[n])?);
        alone.push(f64::from(cut[first]));
    }
    record.numbers("alone", alone);
    let longest = now.lengths.iter().copied().fold(1e-9, f32::max);
    record.tensor("lengths", &now.lengths);
    record.tensor("added", &now.added);
    record.tensor(
        "lengths.share",
        &now.lengths.mapv(|length| length / longest),
    );
    record.tensor("added.share", &now.added.mapv(|length| length / longest));
    record.number("difference", f64::from(now.difference));
    record.number("off", off.len() as f64);
    record.number("width", model.config().width as f64);
    record.words("tokens", pieces.texts);
    Ok(record.finish())
}

/// The probabilities of the next token.
fn of(stream: &Stream) -> Array1<f32> {
    engine::nn::softmax::softmax(stream.logits.view())
}

/// Keeps the most likely tokens and their probabilities.
fn keep(
    record: &mut Record,
    tokenizer: &dyn Tokenizer,
    name: &str,
    probabilities: &Array1<f32>,
) -> Result<(), CellError> {
    let best = top_indices(probabilities.view(), TOP);
    let shares = best.iter().map(|&id| f64::from(probabilities[id]));
    record.numbers(&format!("{name}.probabilities"), shares.collect());
    let words = Pieces::of_ids(tokenizer, best)?.texts;
    record.words(&format!("{name}.words"), words);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::parts::test_models::{computed, text};

    fn with(off: &[&str]) -> Computation {
        let mut given = Inputs::defaults(&inputs());
        for name in off {
            given = given.with(name, InputValue::Toggle(false));
        }
        computed(&SPEC, &given).unwrap()
    }

    fn number(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// The lines of the table are those of the model, which has as many sub-layers.
    #[test]
    fn the_stream_is_the_sum_of_its_arrows() {
        let c = with(&[]);
        assert_eq!(c.tensor("added").unwrap().values.len(), SUB_LAYERS.len());
        assert_eq!(
            c.tensor("lengths").unwrap().values.len(),
            SUB_LAYERS.len() + 1
        );
        assert!(number(&c, "difference") < 1e-4);
        assert_eq!(number(&c, "first.whole"), number(&c, "first.now"));
        for n in 0..SUB_LAYERS.len() {
            let off = with(&[SUB_LAYERS[n].0]);
            assert_eq!(off.at("added", &[n]), Some(0.0));
            assert_eq!(off.at("alone", &[n]), Some(number(&off, "first.now")));
            assert_eq!(off.at("alone", &[n]), c.at("alone", &[n]));
        }
    }

    #[test]
    fn a_sentence_without_tokens_is_refused() {
        for sentence in ["", "   "] {
            let given = Inputs::defaults(&inputs()).with("sentence", text(sentence));
            assert!(computed(&SPEC, &given).is_err());
        }
    }

    /// What the lesson says: without the first attention the prediction is lost, without any other
    /// sub-layer it stays, and without the last MLP, which adds most, it is even surer.
    #[test]
    fn only_the_first_attention_cannot_be_left_out() {
        let c = with(&[]);
        let whole = number(&c, "first.whole");
        assert_eq!(c.words("whole.words")[0], "\u{2423}girl");
        assert!((0.5..0.6).contains(&whole), "{whole}");
        let alone = |n: usize| c.at("alone", &[n]).unwrap();
        assert!(alone(0) < 0.001, "{}", alone(0));
        for n in 1..SUB_LAYERS.len() {
            assert!(alone(n) > 0.35, "{n}: {}", alone(n));
            let off = with(&[SUB_LAYERS[n].0]);
            assert_eq!(off.words("now.words")[0], "\u{2423}girl", "{n}");
        }
        assert!(alone(7) > whole);
        let added = |n: usize| c.at("added", &[n]).unwrap();
        assert!(
            (0..7).all(|n| 2.0 * added(n) < added(7)),
            "the longest by far"
        );
        assert_ne!(with(&["attention-1"]).words("now.words")[0], "\u{2423}girl");
        // The stream grows with each sub-layer, and the embedding is short.
        let lengths = |n: usize| c.at("lengths", &[n]).unwrap();
        assert!((0..8).all(|n| lengths(n) < lengths(n + 1)));
        assert!(20.0 * lengths(0) < lengths(8));
    }
}
