//! The cross-attention of every head of the trained translator, from word to word.

use engine::model::transformer::Transformer;
use engine::nn::attention::Mask;
use engine::trace::Recorder;
use engine::translate::Translator;
use ndarray::{Array4, Axis, Ix3};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::race;
use crate::parts::trained::Head;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The model's file below `models/`.
const FILE: &str = "translator.safetensors";

/// Most tokens of the sentence, and of its translation.
const MOST: usize = 24;

/// The cell `cross-heads`.
pub const SPEC: CellSpec = CellSpec {
    name: "cross-heads",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| vec![FILE],
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::text("sentence", "English sentence", "She has blue eyes."),
        InputSpec::entry("selected", "Selected layer and head", 2, Some(&[1, 0])),
    ]
}

/// Begins to compute.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let translator = cache.opened::<Translator<Transformer>>(FILE)?;
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &translator)))
}

fn compute(
    inputs: &Inputs,
    translator: &Translator<Transformer>,
) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let (model, end) = (&translator.model, translator.end());
    let source = race::typed(inputs, "sentence", "English sentence", translator, MOST)?;
    let written = model.greedy(&source, end, end, MOST)?;
    // The query at a position writes the token after it.
    let fed: Vec<usize> = std::iter::once(end)
        .chain(written.iter().copied())
        .take(written.len())
        .collect();
    let (mut seen, reads, writes) = (Recorder::default(), &source[..], &fed[..]);
    shown!(
        record,
        engine::model::transformer::Transformer::forward,
        model,
        reads,
        writes,
        Some(&mut seen)
    )?;
    let words = |ids: &[usize]| engine::translate::words(translator, ids);
    let (to, from) = (words(&written)?, words(&source)?);
    let (layers, heads) = (model.config().decoder_layers, model.config().heads);
    let mut all = Vec::new();
    for layer in 0..layers {
        let name = format!("decoder.blocks.{layer}.cross.attention.weights");
        let weights = seen
            .get(&name)
            .and_then(|all| all.view().into_dimensionality::<Ix3>().ok());
        let weights = weights.ok_or(CellError::Missing(name))?;
        for head in weights.axis_iter(Axis(0)) {
            let by_words = shown!(
                record,
                engine::translate::by_words,
                head,
                &to[..],
                &from[..]
            )?;
            all.extend(by_words);
        }
    }
    let all = Array4::from_shape_vec((layers, heads, to.len(), from.len()), all);
    let all = all.map_err(|error| CellError::Mismatch(error.to_string()))?;
    record.tensor("weights", &all);
    record.number("layers", layers as f64);
    record.number("heads", heads as f64);
    record.number("count", (layers * heads) as f64);
    // For "Show the Rust": the function that the model called in its first layer.
    let first = Head { layer: 0, head: 0 };
    first.attention(
        &mut record,
        &seen,
        ("decoder.", "cross.attention"),
        &Mask::None,
    )?;
    let text = |ids: &[usize]| race::text(translator, ids);
    let texts = |ids: &[usize], words: &[std::ops::Range<usize>]| {
        let word = |range: &std::ops::Range<usize>| match &ids[range.clone()] {
            [only] if *only == end => Ok(race::END.to_owned()),
            word => text(word),
        };
        words.iter().map(word).collect::<Result<Vec<_>, _>>()
    };
    record.words("target", texts(&written, &to)?);
    record.words("source", texts(&source, &from)?);
    record.words("translation", vec![text(&written)?]);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, text};

    /// Rows of all heads sum to one, and words are words.
    #[test]
    fn every_head_of_every_layer_is_there() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        let weights = &c.tensor("weights").unwrap().values;
        assert_eq!(weights.shape(), [2, 4, 5, 4]);
        assert_eq!(c.words("target"), ["ha", "gli", "occhi", "blu", race::END]);
        assert_eq!(c.words("source"), ["she", "has", "blue", "eyes"]);
        for row in weights.lanes(Axis(3)) {
            assert!((row.sum() - 1.0).abs() < 1e-5);
        }
        // What the lesson says: all heads of the last layer align nouns and adjectives; one of the
        // first layer looks elsewhere.
        for head in 0..4 {
            assert!(
                weights[[1, head, 2, 3]] > 0.9 && weights[[1, head, 3, 2]] > 0.8,
                "{head}"
            );
        }
        for (row, column) in [(0, 0), (1, 1), (4, 2)] {
            assert!(weights[[0, 1, row, column]] > 0.9, "{row}");
        }
    }

    #[test]
    fn a_sentence_without_words_is_refused() {
        for sentence in ["", "...", &"the ".repeat(25)] {
            let given = Inputs::defaults(&inputs()).with("sentence", text(sentence));
            assert!(matches!(
                computed(&SPEC, &given),
                Err(CellError::Input { .. })
            ));
        }
    }
}
