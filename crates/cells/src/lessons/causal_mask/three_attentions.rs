//! The three attentions of the 2017 Transformer side by side: encoder, decoder, and the decoder
//! asking the encoder.

use engine::model::transformer::Transformer;
use engine::nn::attention::Mask;
use engine::trace::Recorder;
use engine::translate::Translator;
use explain::one_head::SelfAttention;
use ndarray::Array2;
use std::sync::Arc;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::trained::{self, Head, Pieces, RANDOM, START, TRANSLATOR};
use crate::parts::untrained::{Layer, causal_or_none, embedded, placed, positions};
use crate::parts::words;
use crate::spec::{CellSpec, Run, WorkerKind};

/// Most words of a sentence.
const MOST_WORDS: usize = 10;

/// Most tokens of a translator's sentence.
const MOST_PIECES: usize = 16;

/// Width of word vectors, queries, keys and values of the random layers.
const WIDTH: usize = 8;

/// Spread of their weights.
const STD: f32 = 0.5;

/// The cell `three-attentions`.
pub const SPEC: CellSpec = CellSpec {
    name: "three-attentions",
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
    let mut all = vec![
        InputSpec::text(
            "sentence",
            "Source sentence (encoder)",
            "The cat sat on the mat",
        ),
        InputSpec::text(
            "target",
            "Target so far (decoder)",
            "Il gatto sedeva sul tappeto",
        ),
        trained::model(&[TRANSLATOR, RANDOM]),
        InputSpec::seed(7),
        InputSpec::entry("pair", "Selected pair, after its figure", 3, None),
    ];
    all.extend(trained::layer_and_head(2.0, 1.0));
    all
}

/// Word vectors with position vectors added.
fn sequence(
    record: &mut Record,
    tokens: &[String],
    seed: u64,
    name: &str,
) -> Result<Array2<f32>, CellError> {
    let x = embedded(record, tokens, seed, name, WIDTH)?;
    let places = positions(record, tokens.len(), WIDTH);
    placed(record, x.view(), places.view())
}

fn keep(record: &mut Record, name: &str, found: &SelfAttention) {
    let weights = &found.attention.weights;
    // A pair that may not be seen has weight exactly 0; a visible one could reach it only by
    // underflow.
    let pairs = found
        .attention
        .masked
        .iter()
        .filter(|s| **s > f32::NEG_INFINITY)
        .count();
    record.tensor(&format!("{name}.weights"), weights);
    record.tensor(&format!("{name}.masked"), &found.attention.masked);
    record.tensor(&format!("{name}.output"), &found.attention.output);
    record.number(&format!("{name}.pairs"), pairs as f64);
    record.number(&format!("{name}.rows"), weights.nrows() as f64);
    record.number(&format!("{name}.cols"), weights.ncols() as f64);
}

/// Computes the cell with the weights that the reader chose.
fn compute(
    inputs: &Inputs,
    model: Option<&Arc<Translator<Transformer>>>,
) -> Result<Computation, CellError> {
    let source = words::tokens(inputs, "sentence", "Source sentence", MOST_WORDS)?;
    let target = words::tokens(inputs, "target", "Target so far", MOST_WORDS)?;
    let mut record = Record::new();
    match model {
        None => random(&mut record, inputs, source, target)?,
        Some(translator) => translated(&mut record, inputs, translator)?,
    }
    Ok(record.finish())
}

/// One layer of each kind with random weights.
fn random(
    record: &mut Record,
    inputs: &Inputs,
    source: Vec<String>,
    target: Vec<String>,
) -> Result<(), CellError> {
    let seed = inputs.seed()?;
    let x = sequence(record, &source, seed, "source")?;
    let y = sequence(record, &target, seed, "target")?;

    let layer = Layer::draw(record, seed, "encoder.", WIDTH, STD);
    let encoder = layer.run(record, x.view(), &Mask::None)?;
    keep(record, "encoder", &encoder);

    let layer = Layer::draw(record, seed, "decoder.", WIDTH, STD);
    let causal = causal_or_none(record, true, target.len());
    let decoder = layer.run(record, y.view(), &causal)?;
    keep(record, "decoder", &decoder);

    let layer = Layer::draw(record, seed, "cross.", WIDTH, STD);
    let (asks, answers) = (&decoder.attention.output, &encoder.attention.output);
    let cross = layer.run_across(record, asks.view(), answers.view())?;
    keep(record, "cross", &cross);

    record.words("source", source);
    record.words("target", target);
    Ok(())
}

/// One head of the trained Transformer in each of the three places. The decoder reads the token
/// that begins every target, and then what was typed.
fn translated(
    record: &mut Record,
    inputs: &Inputs,
    translator: &Translator<Transformer>,
) -> Result<(), CellError> {
    let model = &translator.model;
    let tokenizer = translator.tokenizer();
    let pieces = |name: &str, label: &str| {
        let ids = translator.ids(inputs.text(name)?)?;
        Pieces::of_ids(tokenizer, ids)?.at_most(MOST_PIECES, name, label)
    };
    let source = pieces("sentence", "Source sentence")?;
    let target = pieces("target", "Target so far")?;
    let config = model.config();
    let layers = config.encoder_layers.min(config.decoder_layers);
    let head = Head::chosen(record, inputs, (layers, config.heads))?;
    let from_start: Vec<usize> = std::iter::once(translator.end())
        .chain(target.ids)
        .collect();
    let (mut seen, asks, writes) = (Recorder::default(), &source.ids[..], &from_start[..]);
    shown!(
        record,
        engine::model::transformer::Transformer::forward,
        model,
        asks,
        writes,
        Some(&mut seen)
    )?;
    let causal = causal_or_none(record, true, writes.len());
    for (name, place, mask) in [
        ("encoder", ("encoder.", "attention"), &Mask::None),
        ("decoder", ("decoder.", "attention"), &causal),
        ("cross", ("decoder.", "cross.attention"), &Mask::None),
    ] {
        let found = head.attention(record, &seen, place, mask)?;
        keep(record, name, &found);
    }
    let texts = std::iter::once(START.to_owned()).chain(target.texts);
    record.words("source", source.texts);
    record.words("target", texts.collect());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, text};

    fn given(source: &str, target: &str) -> Inputs {
        Inputs::defaults(&inputs())
            .with("model", choice(RANDOM))
            .with("sentence", text(source))
            .with("target", text(target))
    }

    #[test]
    fn shapes_and_masks_are_those_of_the_three() {
        let c = computed(&SPEC, &given("a b c d", "x y z")).unwrap();
        for (name, rows, cols, pairs) in [
            ("encoder", 4, 4, 16.0),
            ("decoder", 3, 3, 6.0),
            ("cross", 3, 4, 12.0),
        ] {
            let weights = c.tensor(&format!("{name}.weights")).unwrap();
            assert_eq!(weights.shape(), [rows, cols], "{name}");
            assert_eq!(c.at(&format!("{name}.pairs"), &[]), Some(pairs));
            for row in weights.values.rows() {
                assert!((row.sum() - 1.0).abs() < 1e-6);
            }
        }
        assert_eq!(c.at("decoder.weights", &[0, 1]), Some(0.0));
    }

    /// The flow of words: a source word reaches encoder and cross-attention, a later target word no
    /// earlier row of either.
    #[test]
    fn words_reach_only_what_may_see_them() {
        let a = computed(&SPEC, &given("the cat sat", "il gatto sedeva")).unwrap();
        let b = computed(&SPEC, &given("the dog sat", "il gatto sedeva")).unwrap();
        assert_eq!(a.tensor("decoder.weights"), b.tensor("decoder.weights"));
        assert_ne!(a.tensor("encoder.weights"), b.tensor("encoder.weights"));
        assert_ne!(a.tensor("cross.weights"), b.tensor("cross.weights"));
        let c = computed(&SPEC, &given("the cat sat", "il gatto dorme")).unwrap();
        assert_eq!(a.tensor("encoder.weights"), c.tensor("encoder.weights"));
        for name in ["decoder.weights", "cross.weights"] {
            for t in 0..3 {
                let row = |c: &Computation| (0..3).map(|s| c.at(name, &[t, s])).collect::<Vec<_>>();
                assert_eq!(row(&a) == row(&c), t < 2, "{name} row {t}");
            }
        }
    }

    #[test]
    fn signs_alone_are_no_sentence_for_the_translator() {
        let given = given("...", "il gatto").with("model", choice(TRANSLATOR));
        let found = computed(&SPEC, &given);
        assert!(matches!(found, Err(CellError::Input { .. })));
    }

    /// The trained model as it runs: its own weights are those shown, the mask and the shapes are
    /// those of the three places.
    #[test]
    fn the_trained_translator_has_the_three_attentions() {
        let given = given("the cat sleeps", "il gatto").with("model", choice(TRANSLATOR));
        let c = computed(&SPEC, &given).unwrap();
        let (source, target) = (c.words("source").len(), c.words("target").len());
        assert_eq!(c.words("target")[0], START);
        for (name, rows, cols) in [
            ("encoder", source, source),
            ("decoder", target, target),
            ("cross", target, source),
        ] {
            let weights = c.tensor(&format!("{name}.weights")).unwrap();
            assert_eq!(weights.shape(), [rows, cols], "{name}");
            for row in weights.values.rows() {
                assert!((row.sum() - 1.0).abs() < 1e-6);
            }
        }
        assert_eq!(c.at("decoder.weights", &[0, 1]), Some(0.0));
        let cache = crate::parts::test_models::cache();
        let translator = cache
            .opened::<Translator<Transformer>>("translator.safetensors")
            .unwrap();
        let model = &translator.model;
        let mut seen = Recorder::default();
        let source = translator.ids("the cat sleeps").unwrap();
        let mut target = translator.ids("il gatto").unwrap();
        target.insert(0, translator.end());
        model.forward(&source, &target, Some(&mut seen)).unwrap();
        for (name, own) in [
            ("encoder", "encoder.blocks.1.attention.weights"),
            ("decoder", "decoder.blocks.1.attention.weights"),
            ("cross", "decoder.blocks.1.cross.attention.weights"),
        ] {
            let own = seen.get(own).unwrap();
            let shown = c.at(&format!("{name}.weights"), &[1, 0]).unwrap();
            assert!((f64::from(own[[0, 1, 0]]) - shown).abs() < 1e-6, "{name}");
        }
    }
}
