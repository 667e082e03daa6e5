//! The tensors of the trained translator in the figure of the 2017 paper: the encoder first, then
//! the decoder token by token.

use engine::model::transformer::Transformer;
use engine::nn::softmax::top_indices;
use engine::trace::Recorder;
use engine::translate::Translator;
use ndarray::{Array2, ArrayView2, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::race;
use crate::parts::trained::{START, told};
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The model's file below `models/`.
const FILE: &str = "translator.safetensors";

/// Most tokens of the sentence, and of its translation.
const MOST: usize = 16;

/// Tokens whose logits and probabilities are shown.
pub const TOP: usize = 6;

/// Of each box of the figure: the name of its tensor in the result.
pub const TENSORS: [&str; 17] = [
    "encoder.embedding",
    "encoder.input",
    "encoder.weights",
    "encoder.middle",
    "encoder.mlp",
    "encoder.block",
    "encoder.output",
    "decoder.embedding",
    "decoder.input",
    "decoder.weights",
    "decoder.middle",
    "cross.weights",
    "decoder.upper",
    "decoder.mlp",
    "decoder.block",
    "logits",
    "probabilities",
];

/// What the model calls them; `#` is the number of the block.
const TRACES: [&str; 15] = [
    "encoder.embedding",
    "encoder.input",
    "encoder.blocks.#.attention.weights",
    "encoder.blocks.#.norm_1",
    "encoder.blocks.#.mlp.output",
    "encoder.blocks.#.output",
    "encoder.output",
    "decoder.embedding",
    "decoder.input",
    "decoder.blocks.#.attention.weights",
    "decoder.blocks.#.norm_1",
    "decoder.blocks.#.cross.attention.weights",
    "decoder.blocks.#.norm_2",
    "decoder.blocks.#.mlp.output",
    "decoder.blocks.#.output",
];

/// The boxes that show attention weights.
pub const ATTENTIONS: [usize; 3] = [2, 9, 11];

/// The cell `live-figure`.
pub const SPEC: CellSpec = CellSpec {
    name: "live-figure",
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
        InputSpec::number("step", "Step", (0.0, (MOST + 1) as f64, 1.0), 3.0),
        InputSpec::choice("block", "Block", &["1", "2"]),
        InputSpec::entry("box", "Selected box", 1, Some(&[11])),
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
    let (reads, last) = (&source[..], MOST);
    let written = shown!(
        record,
        engine::model::transformer::Transformer::greedy,
        model,
        reads,
        end,
        end,
        last
    )?;
    let step = inputs.count("step")?.min(written.len());
    let block = inputs.choice("block")?.parse::<usize>().unwrap_or(1) - 1;
    let fed: Vec<usize> = std::iter::once(end)
        .chain(written.iter().copied())
        .take(step)
        .collect();
    let mut seen = Recorder::default();
    if step == 0 {
        model.read(reads, Some(&mut seen))?;
    } else {
        let fed = &fed[..];
        shown!(
            record,
            engine::model::transformer::Transformer::forward,
            model,
            reads,
            fed,
            Some(&mut seen)
        )?;
    }
    let here = if step == 0 { 7 } else { TRACES.len() };
    for (name, trace) in TENSORS.iter().zip(TRACES).take(here) {
        let trace = trace.replace('#', &block.to_string());
        let tensor = seen.get(&trace).ok_or(CellError::Missing(trace))?;
        record.tensor(name, tensor);
    }
    if step > 0 {
        predictions(&mut record, &seen, translator)?;
    }
    lengths(&mut record, &seen, model.config().width)?;
    sizes(&mut record, model);
    record.number("step", step as f64);
    record.number("count", written.len() as f64);
    record.number("source.count", source.len() as f64);
    record.number("target.count", fed.len() as f64);
    record.words("source", race::pieces(translator, &source)?);
    let mut target = race::texts(translator, &fed)?;
    if let Some(first) = target.first_mut() {
        START.clone_into(first);
    }
    record.words("target", target);
    let steps = race::texts(translator, &written)?;
    record.words("written", steps[..step].to_vec());
    record.words("steps", [vec!["encode".to_owned()], steps].concat());
    Ok(record.finish())
}

/// The sizes of the model, and how many parameters it has.
fn sizes(record: &mut Record, model: &Transformer) {
    let sizes = model.config();
    let all = [
        sizes.vocabulary,
        sizes.width,
        sizes.inner,
        sizes.encoder_layers,
    ];
    let [v, c, f, n] = all.map(|size| size as u64);
    let count = shown!(record, explain::parameter_count::parameters, v, c, f, n);
    for (name, number) in [
        ("vocabulary", v),
        ("width", c),
        ("layers", n),
        ("heads", sizes.heads as u64),
        ("parameters", count.total),
        ("table", count.table),
        ("untied", count.total + 2 * count.table),
    ] {
        record.number(name, number as f64);
    }
    record.number("table.share", count.table as f64 / count.total as f64);
}

/// The most likely next tokens: their logits and probabilities.
fn predictions(
    record: &mut Record,
    seen: &Recorder,
    translator: &Translator<Transformer>,
) -> Result<(), CellError> {
    let logits = told(seen, "logits")?;
    let row = logits.row(logits.nrows().saturating_sub(1));
    let probabilities = shown!(record, engine::nn::softmax::softmax, row);
    let order = top_indices(row, TOP);
    let pick = |from: &dyn Fn(usize) -> f32| order.iter().map(|&id| f64::from(from(id))).collect();
    record.numbers("logits", pick(&|id| row[id]));
    record.numbers("probabilities", pick(&|id| probabilities[id]));
    record.words("top", race::texts(translator, &order)?);
    Ok(())
}

/// The mean lengths of the source's vectors: out of the table, times √C, and of what the positions
/// add.
fn lengths(record: &mut Record, seen: &Recorder, width: usize) -> Result<(), CellError> {
    let mean = |x: ArrayView2<'_, f32>| {
        let length = |row: ndarray::ArrayView1<'_, f32>| f64::from(row.dot(&row)).sqrt();
        x.rows().into_iter().map(length).sum::<f64>() / x.len_of(Axis(0)).max(1) as f64
    };
    let (scaled, input) = (
        told(seen, "encoder.embedding")?,
        told(seen, "encoder.input")?,
    );
    let positions: Array2<f32> = &input - &scaled;
    record.number("length.scaled", mean(scaled.view()));
    record.number("length.plain", mean(scaled.view()) / (width as f64).sqrt());
    record.number("length.positions", mean(positions.view()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, number, text};

    fn at_step(step: f64) -> Computation {
        let given = Inputs::defaults(&inputs()).with("step", number(step));
        computed(&SPEC, &given).unwrap()
    }

    /// The encoder alone first; then a row more in the decoder with each step.
    #[test]
    fn the_decoder_grows_by_a_row_a_step() {
        let none = at_step(0.0);
        assert!(none.tensor("encoder.output").is_some() && none.tensor("logits").is_none());
        let last = none.at("count", &[]).unwrap() as usize;
        for step in 1..=last {
            let c = at_step(step as f64);
            let rows = c.tensor("decoder.block").unwrap().shape()[0];
            assert_eq!(rows, step);
            // Earlier rows stay as they are.
            for row in 1..step {
                let [now, before] = [&c, &at_step((step - 1) as f64)]
                    .map(|c| c.at("decoder.block", &[row - 1, 0]).unwrap());
                assert!((now - before).abs() < 1e-4);
            }
            // The token that follows is the most likely one.
            assert_eq!(c.words("top")[0], c.words("written")[step - 1]);
        }
        let c = at_step(17.0);
        assert_eq!(
            c.words("written").last().map(String::as_str),
            Some(race::END)
        );
        assert_eq!(c.words("written")[..4], ["ha", "gli", "occhi", "blu"]);
        assert_eq!(c.at("step", &[]), Some(last as f64));
    }

    /// What the lesson says of the shipped model's sizes and of √C.
    #[test]
    fn the_figures_of_the_lesson_hold() {
        let c = at_step(3.0);
        let at = |name: &str| c.at(name, &[]).unwrap();
        assert_eq!(at("parameters"), 1_225_984.0);
        assert_eq!((at("table.share") * 100.0).round(), 37.0);
        assert!(at("length.plain") < 0.5 * at("length.positions"));
        assert!(at("length.scaled") > at("length.positions"));
        assert!((at("length.positions") - 56f64.sqrt()).abs() < 1e-4);
    }

    #[test]
    fn the_second_block_has_other_numbers() {
        let given = Inputs::defaults(&inputs()).with("block", choice("2"));
        let (first, second) = (at_step(3.0), computed(&SPEC, &given).unwrap());
        assert_eq!(
            first.tensor("encoder.input"),
            second.tensor("encoder.input")
        );
        assert_ne!(
            first.tensor("cross.weights"),
            second.tensor("cross.weights")
        );
        let outputs = [
            second.tensor("encoder.block"),
            second.tensor("encoder.output"),
        ];
        assert_eq!(outputs[0], outputs[1], "no norm after the last block");
    }

    #[test]
    fn a_sentence_without_words_is_refused() {
        for sentence in ["", "...", &"the ".repeat(17)] {
            let given = Inputs::defaults(&inputs()).with("sentence", text(sentence));
            assert!(matches!(
                computed(&SPEC, &given),
                Err(CellError::Input { .. })
            ));
        }
    }
}
