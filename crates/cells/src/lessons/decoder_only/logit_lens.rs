//! The logit lens on tiny-gpt: what it would predict if its later blocks added nothing.

use engine::token::tokenizer::Tokenizer;
use ndarray::{Array1, Array2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::CausalLm;
use crate::parts::trained::{self, GPT, Pieces};
use crate::spec::{CellSpec, Run, WorkerKind};

/// Most tokens that are read.
const MOST_TOKENS: usize = 32;

/// Predictions that are shown at each depth.
pub const TOP: usize = 3;

/// Depths: the embedding, and after each of the four blocks.
pub const DEPTHS: [&str; 5] = ["embedding", "block 1", "block 2", "block 3", "block 4"];

/// The text that is read: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Sentence");

/// The cell `logit-lens`.
pub const SPEC: CellSpec = CellSpec {
    name: "logit-lens",
    summary: "The logit lens on tiny-gpt: the next token read off the residual stream after every block.",
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
    let sentence = "Lily had a red ball. Tom wanted to play with the red";
    vec![InputSpec::text(SENTENCE.0, SENTENCE.1, sentence)]
}

fn compute(inputs: &Inputs, gpt: &CausalLm) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let tokenizer = &gpt.tokenizer;
    let text = inputs.text(SENTENCE.0)?.trim();
    let pieces = Pieces::of_text(tokenizer, text)?.at_most(MOST_TOKENS, SENTENCE.0, SENTENCE.1)?;
    let start = tokenizer.special().end;
    let start =
        start.ok_or_else(|| CellError::Missing("the token that begins a text".to_owned()))?;
    let ids: Vec<usize> = std::iter::once(start).chain(pieces.ids).collect();
    let (model, ids) = (&gpt.model, &ids[..]);
    let sub_layers = 2 * model.config().layers;
    let mut rows: Vec<Array1<f32>> = Vec::new();
    for depth in 0..DEPTHS.len() {
        // Everything above this depth adds nothing.
        let off: Vec<usize> = (2 * depth..sub_layers).collect();
        let off = &off[..];
        let found = match depth {
            // The others repeat the call of the first.
            0 => shown!(record, explain::sub_layers::stream, model, ids, off)?,
            _ => explain::sub_layers::stream(model, ids, off)?,
        };
        rows.push(engine::nn::softmax::softmax(found.logits.view()));
    }
    let best: Vec<Vec<usize>> = rows.iter().map(most_likely).collect();
    let last = best
        .last()
        .and_then(|best| best.first())
        .copied()
        .unwrap_or_default();
    let shares = Array2::from_shape_fn((rows.len(), TOP), |(n, t)| rows[n][best[n][t]]);
    record.tensor("probabilities", &shares);
    record.words("words", Pieces::of_ids(tokenizer, best.concat())?.texts);
    record.numbers(
        "last",
        rows.iter().map(|row| f64::from(row[last])).collect(),
    );
    record.words("prediction", Pieces::of_ids(tokenizer, vec![last])?.texts);
    Ok(record.finish())
}

/// The tokens of the largest probabilities, the largest first; of equal ones the first.
fn most_likely(probabilities: &Array1<f32>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    order.truncate(TOP);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, text};

    /// The last row is the model's own prediction, and the others add up to less than one.
    #[test]
    fn the_last_depth_is_the_model() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        let last = DEPTHS.len() - 1;
        assert_eq!(c.at("last", &[last]), c.at("probabilities", &[last, 0]));
        assert_eq!(c.words("words")[last * TOP], c.words("prediction")[0]);
        // What the lesson says: the answer appears in block 2.
        assert_eq!(c.words("prediction")[0], "\u{2423}ball");
        let at = |depth: usize| c.at("last", &[depth]).unwrap();
        assert!(at(1) < 0.01 && at(2) > 0.9 && at(3) > 0.8 && at(4) > 0.95);
    }

    #[test]
    fn a_sentence_without_tokens_is_refused() {
        for sentence in ["", "   ", &"word ".repeat(100)] {
            let given = Inputs::defaults(&inputs()).with("sentence", text(sentence));
            assert!(computed(&SPEC, &given).is_err());
        }
    }
}
