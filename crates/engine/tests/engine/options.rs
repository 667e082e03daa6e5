//! Architectures and options of `config.json` against transformers: each model is opened from files
//! as transformers writes them, and its logits are compared (`tests/golden/engine/make_options.py`).
//! `cargo test -p engine --test engine options -- --nocapture` prints the largest difference of each.

use std::collections::BTreeMap;

use engine::formula::fill;
use engine::model::decoder::{Decoder, DecoderExt, Session};
use engine::ndarray::{Array2, ArrayD, IxDyn};
use engine::open::{Files, open};
use engine::parameters::{MatrixForm, Memory};
use engine::quant::Type;
use serde_json::Value;
use tools::safetensors::write_parameters;

/// f32 against float64, relative to the largest logit; transformers has its rotary angles in f32.
const TOLERANCE: f32 = 2e-5;

fn golden() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/golden/engine/options.json"
    );
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn sizes(list: &Value) -> Vec<usize> {
    let list = list.as_array().unwrap().iter();
    list.map(|n| n.as_u64().unwrap() as usize).collect()
}

/// The files of a case: its parameters by the formula, the matrices times the gain.
fn files(golden: &Value, case: &Value) -> Files {
    let seed = golden["header"]["seed"].as_u64().unwrap();
    let gain = golden["gain"].as_f64().unwrap() as f32;
    let mut memory = Memory::default();
    for (name, shape) in case["shapes"].as_object().unwrap() {
        let shape = sizes(shape);
        let mut numbers = fill(name, shape.len(), shape.iter().product(), seed);
        if shape.len() > 1 {
            numbers.iter_mut().for_each(|number| *number *= gain);
        }
        let tensor = ArrayD::from_shape_vec(IxDyn(&shape), numbers).unwrap();
        memory.insert(name.clone(), tensor);
    }
    let weights = write_parameters(&[], &memory, Type::F32).unwrap();
    let mut files = Files::new("model.safetensors", weights);
    let config = case["config"].to_string().into_bytes();
    files.beside.push(("config.json".to_owned(), config));
    files
}

fn expected(case: &Value) -> Array2<f32> {
    let shape = sizes(&case["logits"]["shape"]);
    let data = case["logits"]["data"].as_array().unwrap().iter();
    let data = data.map(|n| n.as_f64().unwrap() as f32).collect();
    Array2::from_shape_vec((shape[0], shape[1]), data).unwrap()
}

fn largest<'a>(numbers: impl IntoIterator<Item = &'a f32>) -> f32 {
    numbers.into_iter().fold(0.0, |most, x| most.max(x.abs()))
}

/// Calls `check` with the name, the model and the logits of each case.
fn each(mut check: impl FnMut(&str, &dyn Decoder, &Array2<f32>, &[usize])) {
    let golden = golden();
    let ids = sizes(&golden["ids"]);
    for (name, case) in golden["cases"].as_object().unwrap() {
        let opened = open(&files(&golden, case), MatrixForm::default());
        let opened = opened.unwrap_or_else(|error| panic!("{name}: {error}"));
        check(name, opened.model.decoder().unwrap(), &expected(case), &ids);
    }
}

#[test]
fn logits_are_those_of_transformers() {
    let mut table = BTreeMap::new();
    each(|name, model, expected, ids| {
        let found = model.forward(ids, None).unwrap();
        assert_eq!(found.dim(), expected.dim(), "{name}");
        let difference = largest(&(&found - expected)) / largest(expected);
        table.insert(name.to_owned(), difference);
    });
    println!(
        "architecture and option: largest difference from transformers' logits, as a share of the largest logit"
    );
    for (name, difference) in &table {
        println!("{name:<36} {difference:.1e}");
    }
    for (name, difference) in &table {
        assert!(*difference < TOLERANCE, "{name}: {difference:.1e}");
    }
}

/// An option that was ignored would be a model that answers like another one.
#[test]
fn every_option_changes_the_logits() {
    let mut known: Vec<(String, Array2<f32>)> = Vec::new();
    each(|name, model, _, ids| {
        let architecture = name.split(", ").next().unwrap();
        let found = model.forward(ids, None).unwrap();
        for (other, logits) in &known {
            if other.split(", ").next() != Some(architecture) {
                continue;
            }
            let difference = largest(&(&found - logits)) / largest(logits);
            // NTK scaling by length leaves texts as they are up to the context.
            let same = [name, other] == ["llama, dynamic", "llama"];
            assert_eq!(
                difference > 1e-3,
                !same,
                "{name}, {other}: {difference:.1e}"
            );
        }
        known.push((name.to_owned(), found));
    });
}

#[test]
fn a_text_read_in_pieces_gives_the_same_logits() {
    each(|name, model, expected, ids| {
        let mut session = Session::new(model);
        // LongRoPE turns the keys of a text that grows past its first context by other angles than
        // those already cached: such a text is first read past that point.
        let first = if name.contains("longrope") { 10 } else { 5 };
        let mut last = session.feed(&ids[..first]).unwrap();
        for id in &ids[first..] {
            last = session.feed(&[*id]).unwrap();
        }
        let wanted = expected.row(ids.len() - 1);
        let difference = largest(&(&last - &wanted)) / largest(expected);
        assert!(difference < TOLERANCE, "{name}: {difference:.1e}");
    });
}
