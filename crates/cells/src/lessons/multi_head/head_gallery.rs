//! The weights of all heads of all layers of a trained model over a sentence.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::readers;
use crate::parts::trained::{self, BERT, GPT, Head};
use crate::spec::{CellSpec, Job, Run, WorkerKind};
use crate::text_model::Reader;

/// The text that is read: its name and its label.
const SENTENCE: (&str, &str) = ("sentence", "Your sentence");

/// Most tokens of a text: more would be too small to be told apart in a thumbnail.
const MOST: usize = 16;

/// The cell `head-gallery`.
pub const SPEC: CellSpec = CellSpec {
    name: "head-gallery",
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

/// The cell on a model that the reader has opened.
pub const OPENED: CellSpec = CellSpec {
    name: SPEC.name,
    inputs: || readers::opened_inputs(inputs()),
    run: SPEC.run,
};

/// Starts the cell on a model that the reader has opened.
///
/// # Errors
/// None: the computation has its own.
pub fn start_opened(inputs: &Inputs, reader: Reader) -> Result<Box<dyn Job>, CellError> {
    Ok(readers::once_with(inputs, reader, compute))
}

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::text(SENTENCE.0, SENTENCE.1, "The cat sat on the mat"),
        trained::model(&[BERT, GPT]),
        InputSpec::entry("selected", "Selected layer and head", 2, Some(&[0, 1])),
    ]
}

fn compute(inputs: &Inputs, model: Option<&Reader>) -> Result<Computation, CellError> {
    let reader = model.ok_or_else(|| CellError::Missing("model".to_owned()))?;
    let mut record = Record::new();
    let text = inputs.text(SENTENCE.0)?;
    let reading = readers::read(reader, &mut record, text, SENTENCE, Some(MOST))?;
    let (layers, heads) = reading.sizes;
    let all = reading.weights()?;
    record.tensor("weights", &all);
    record.number("layers", layers as f64);
    record.number("heads", heads as f64);
    record.number("count", (layers * heads) as f64);
    // For "Show the Rust": the function that the model called in its first layer.
    let first = Head { layer: 0, head: 0 };
    let place = ("", "attention");
    first.attention(&mut record, &reading.seen, place, &reading.mask)?;
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, text};

    fn of(model: &str) -> Computation {
        let given = Inputs::defaults(&inputs()).with("model", choice(model));
        computed(&SPEC, &given).unwrap()
    }

    /// All heads, each with rows that sum to one, and a decoder sees nothing later.
    #[test]
    fn every_head_of_every_layer_is_there() {
        for (model, is_causal) in [(BERT, false), (GPT, true)] {
            let c = of(model);
            let weights = &c.tensor("weights").unwrap().values;
            let &[layers, heads, tokens, sources] = weights.shape() else {
                panic!("four axes");
            };
            assert_eq!(c.at("count", &[]), Some((layers * heads) as f64));
            assert_eq!((tokens, sources), (c.words("tokens").len(), tokens));
            for layer in 0..layers {
                for head in 0..heads {
                    for t in 0..tokens {
                        let row = (0..tokens).map(|s| weights[[layer, head, t, s]]);
                        assert!((row.sum::<f64>() - 1.0).abs() < 1e-5);
                        let later = (t + 1..tokens).map(|s| weights[[layer, head, t, s]]);
                        assert!(!is_causal || later.sum::<f64>() == 0.0);
                    }
                }
            }
        }
    }

    /// What the lesson says of two heads of tiny-bert's first layer.
    #[test]
    fn two_heads_of_one_layer_look_at_different_neighbours() {
        let c = of(BERT);
        for t in 2..6 {
            assert!(c.at("weights", &[0, 1, t, t - 1]).unwrap() > 0.5);
            assert!(c.at("weights", &[0, 3, t, t + 1]).unwrap() > 0.5);
        }
    }

    #[test]
    fn a_text_that_is_too_long_for_thumbnails_is_refused() {
        for words in [" ".to_owned(), "the ".repeat(17)] {
            let given = Inputs::defaults(&inputs()).with("sentence", text(&words));
            let found = computed(&SPEC, &given);
            assert!(matches!(found, Err(CellError::Input { .. })), "{words}");
        }
        let given = Inputs::defaults(&inputs()).with("sentence", text(&"the ".repeat(16)));
        assert!(computed(&SPEC, &given).is_ok());
    }
}
