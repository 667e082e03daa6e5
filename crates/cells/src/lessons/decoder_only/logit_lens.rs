//! The logit lens on tiny-gpt, or on a model that the reader has opened: what it would predict if its
//! later blocks added nothing.

use std::sync::Arc;

use engine::nn::softmax::top_indices;
use ndarray::{Array1, Array2};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::trained::{self, GPT, Pieces};
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};
use crate::text_model::TextModel;

/// Most tokens that are read.
const MOST_TOKENS: usize = 32;

/// Predictions that are shown at each depth.
pub const TOP: usize = 3;

/// Depths of tiny-gpt: the embedding, and after each of the four blocks.
pub const DEPTHS: [&str; 5] = ["embedding", "block 1", "block 2", "block 3", "block 4"];

/// The text that is read: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Sentence");

/// The cell `logit-lens`.
pub const SPEC: CellSpec = CellSpec {
    name: "logit-lens",
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

fn inputs() -> Vec<InputSpec> {
    let sentence = "Lily had a red ball. Tom wanted to play with the red";
    vec![InputSpec::text(SENTENCE.0, SENTENCE.1, sentence)]
}

/// Starts the lens on a model.
///
/// # Errors
/// A text without tokens, or with too many.
pub fn start(inputs: &Inputs, model: Arc<dyn TextModel>) -> Result<Box<dyn Job>, CellError> {
    let text = inputs.text(SENTENCE.0)?.trim();
    let pieces = Pieces::of_text(model.tokenizer(), text)?
        .at_most(MOST_TOKENS, SENTENCE.0, SENTENCE.1)?
        .within(model.name(), (model.decoder().context(), 1), SENTENCE)?;
    let start = model.start()?;
    Ok(Box::new(Lens {
        ids: std::iter::once(start).chain(pieces.ids).collect(),
        model,
        record: Record::new(),
        rows: Vec::new(),
    }))
}

/// The depths that have been read off so far.
struct Lens {
    model: Arc<dyn TextModel>,
    /// The tokens of the text.
    ids: Vec<usize>,
    record: Record,
    /// `[V]` for each depth: the probabilities of the next token.
    rows: Vec<Array1<f32>>,
}

impl Job for Lens {
    /// One depth.
    fn advance(&mut self) -> Result<Progress, CellError> {
        let (model, ids) = (self.model.decoder(), &self.ids[..]);
        let (depth, layers) = (self.rows.len(), model.layers());
        if depth > layers {
            self.finish()?;
            let record = std::mem::take(&mut self.record);
            return Ok(Progress::Done(Box::new(record.finish())));
        }
        // Everything above this depth adds nothing.
        let off: Vec<usize> = (2 * depth..2 * layers).collect();
        let off = &off[..];
        let record = &mut self.record;
        let found = match depth {
            // The others repeat the call of the first.
            0 => shown!(record, explain::sub_layers::stream, model, ids, off)?,
            _ => explain::sub_layers::stream(model, ids, off)?,
        };
        let row = engine::nn::softmax::softmax(found.logits.view());
        self.rows.push(row);
        Ok(Progress::Working((depth + 1) as f32 / (layers + 2) as f32))
    }
}

impl Lens {
    /// Keeps the best tokens of each depth.
    fn finish(&mut self) -> Result<(), CellError> {
        let (rows, record) = (&self.rows, &mut self.record);
        let tokenizer = self.model.tokenizer();
        let best: Vec<Vec<usize>> = rows
            .iter()
            .map(|row| top_indices(row.view(), TOP))
            .collect();
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
        let depths = (0..rows.len()).map(|depth| match depth {
            0 => DEPTHS[0].to_owned(),
            _ => format!("block {depth}"),
        });
        record.words("depths", depths.collect());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{FewerTokens, computed, text};

    /// The last row is the model's own prediction, and the others add up to less than one.
    #[test]
    fn the_last_depth_is_the_model() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        let last = DEPTHS.len() - 1;
        assert_eq!(c.at("last", &[last]), c.at("probabilities", &[last, 0]));
        assert_eq!(c.words("words")[last * TOP], c.words("prediction")[0]);
        assert_eq!(c.words("depths"), DEPTHS);
        // What the lesson says: the answer appears in block 2.
        assert_eq!(c.words("prediction")[0], "\u{2423}ball");
        let at = |depth: usize| c.at("last", &[depth]).unwrap();
        assert!(at(1) < 0.01 && at(2) > 0.9 && at(3) > 0.8 && at(4) > 0.95);
    }

    /// A row that fills the embedding up may be read off an early block: it is named by its number.
    #[test]
    fn a_row_without_a_token_has_its_number() {
        let whole = trained::gpt(&crate::parts::test_models::cache()).unwrap();
        let model: Arc<dyn TextModel> = Arc::new(FewerTokens::before("Ġball", whole).unwrap());
        let id = model.tokenizer().size();
        let mut job = start(&Inputs::defaults(&inputs()), model).unwrap();
        let found = loop {
            if let Progress::Done(found) = job.advance().unwrap() {
                break found;
            }
        };
        assert_eq!(found.words("prediction")[0], format!("id {id}, no token"));
    }

    #[test]
    fn a_sentence_without_tokens_is_refused() {
        for sentence in ["", "   ", &"word ".repeat(100)] {
            let given = Inputs::defaults(&inputs()).with("sentence", text(sentence));
            assert!(computed(&SPEC, &given).is_err());
        }
    }
}
