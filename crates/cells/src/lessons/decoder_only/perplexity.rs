//! The bits of each token of a sentence by tiny-gpt, or by a model that the reader has opened, and of
//! the same words in another order.

use std::sync::Arc;

use engine::rng::Rng;
use ndarray::Array1;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::trained::{self, GPT, Pieces};
use crate::spec::{CellSpec, Job, Run, WorkerKind};
use crate::text_model::TextModel;

/// Most tokens of the sentence, and of its words in another order.
const MOST_TOKENS: usize = 48;

/// The text that is read: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Sentence");

/// The cell `perplexity`.
pub const SPEC: CellSpec = CellSpec {
    name: "perplexity",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| trained::file(GPT).into_iter().collect(),
    start: |inputs, cache| start(inputs, trained::gpt(cache)?),
    partial_from: None,
};

/// Starts the cell on a model.
///
/// # Errors
/// None: the computation has its own.
pub fn start(inputs: &Inputs, model: Arc<dyn TextModel>) -> Result<Box<dyn Job>, CellError> {
    Ok(trained::once_with(inputs, model, compute))
}

fn inputs() -> Vec<InputSpec> {
    let sentence = "The little girl wanted to play with her new ball.";
    vec![
        InputSpec::text(SENTENCE.0, SENTENCE.1, sentence),
        InputSpec::seed(1),
    ]
}

fn compute(inputs: &Inputs, model: &dyn TextModel) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let sentence = inputs.text(SENTENCE.0)?;
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let order = Rng::named(inputs.seed()?, "order").permutation(words.len());
    let shuffled: Vec<&str> = order.iter().map(|&n| words[n]).collect();
    for (name, words) in [("own", words), ("shuffled", shuffled)] {
        one(&mut record, model, name, &words.join(" "))?;
    }
    Ok(record.finish())
}

/// Notes tokens, bits and perplexity of one text.
fn one(
    record: &mut Record,
    model: &dyn TextModel,
    name: &str,
    text: &str,
) -> Result<(), CellError> {
    use engine::model::decoder::DecoderExt;
    let (decoder, start) = (model.decoder(), model.start()?);
    let pieces = Pieces::of_text(model.tokenizer(), text)?
        .at_most(MOST_TOKENS, SENTENCE.0, SENTENCE.1)?
        .within(model.name(), (decoder.context(), 1), SENTENCE)?;
    let answers = &pieces.ids[..];
    let ids: Vec<usize> = std::iter::once(start)
        .chain(answers.iter().copied())
        .collect();
    let logits = decoder.forward(&ids[..answers.len()], None)?;
    let logits = logits.view();
    let bits: Array1<f32> = shown!(record, explain::surprise::next_token_bits, logits, answers)?;
    let perplexity = explain::surprise::perplexity(bits.view());
    record.number(&format!("{name}.perplexity"), f64::from(perplexity));
    record.number(
        &format!("{name}.mean"),
        f64::from(bits.mean().unwrap_or_default()),
    );
    record.number(&format!("{name}.total"), f64::from(bits.sum()));
    record.tensor(&format!("{name}.bits"), &bits);
    record.words(&format!("{name}.tokens"), pieces.texts);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, number, text};

    /// What the lesson says, for every one of ten orders.
    #[test]
    fn shuffled_words_surprise_more() {
        for seed in 0..10 {
            let given = Inputs::defaults(&inputs()).with("seed", number(f64::from(seed)));
            let c = computed(&SPEC, &given).unwrap();
            let [own, shuffled] =
                ["own", "shuffled"].map(|n| c.at(&format!("{n}.perplexity"), &[]).unwrap());
            assert!(5.0 * own < shuffled, "{seed}: {own} {shuffled}");
            let mean = c.at("own.mean", &[]).unwrap();
            assert!((mean.exp2() - own).abs() < 1e-3);
        }
    }

    #[test]
    fn a_sentence_without_words_is_refused() {
        for sentence in ["", "  ", &"word ".repeat(400)] {
            let given = Inputs::defaults(&inputs()).with("sentence", text(sentence));
            assert!(computed(&SPEC, &given).is_err());
        }
    }
}
