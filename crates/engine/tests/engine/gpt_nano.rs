//! A trained GPT of 86,000 numbers that sorts letters, against all the intermediates that its
//! authors' page stores.

use engine::model::decoder::DecoderExt;
use engine::model::gpt2::{Config, Gpt2};
use engine::ndarray::{Array2, ArrayD, ArrayView2, Axis, Ix3, IxDyn, concatenate};
use engine::nn::softmax::softmax_rows;
use engine::parameters::Memory;
use engine::trace::Recorder;
use serde_json::Value;

/// f32 through three blocks, numbers up to 10 in size.
const F32_TOLERANCE: f32 = 5e-6;

/// The bytes of base64 text (RFC 4648, section 4).
fn base64(text: &str) -> Vec<u8> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter(|&digit| digit != b'=');
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for digit in digits {
        let value = alphabet.iter().position(|&known| known == digit).unwrap();
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

fn tensor(value: &Value) -> ArrayD<f32> {
    let shape = value["shape"].as_array().unwrap().iter();
    let shape: Vec<usize> = shape.map(|n| n.as_u64().unwrap() as usize).collect();
    let bytes = base64(value["data"].as_str().unwrap());
    let numbers = bytes
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()));
    ArrayD::from_shape_vec(IxDyn(&shape), numbers.collect()).unwrap()
}

fn read(name: &str) -> Option<Value> {
    let path = skip::shared(&format!("data/gpt-nano-sort/{name}"))?;
    Some(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

fn model(file: &Value) -> Gpt2 {
    let config = Config::from_keys(&|key| file["config"][key].as_f64()).unwrap();
    let mut source = Memory::default();
    for (name, value) in file.as_object().unwrap() {
        if name != "config" {
            source.insert(name.clone(), tensor(value));
        }
    }
    Gpt2::load(config, &mut source).unwrap()
}

/// [H, T, D] -> [T, H·D].
fn joined(heads: &ArrayD<f32>) -> Array2<f32> {
    let heads = heads.view().into_dimensionality::<Ix3>().unwrap();
    let views: Vec<_> = heads.outer_iter().collect();
    concatenate(Axis(1), &views).unwrap()
}

/// What our trace has under the page's name.
fn ours(name: &str, seen: &Recorder, ids: &ArrayView2<'_, f32>) -> ArrayD<f32> {
    let get = |name: &str| {
        seen.get(name)
            .unwrap_or_else(|| panic!("no {name}"))
            .clone()
    };
    let first = |name: &str| get(&format!("blocks.0.{name}"));
    match name {
        "idx" => ids.to_owned().into_dyn(),
        "tok_emb" => get("embedding"),
        "pos_emb" => get("input") - get("embedding"),
        "x" => get("input"),
        "ln1" => first("norm_1"),
        "q" | "k" | "v" => first(&format!("attention.{name}")),
        "qkv" => {
            let parts = ["q", "k", "v"].map(|part| joined(&first(&format!("attention.{part}"))));
            let views = parts.each_ref().map(|part| part.view());
            concatenate(Axis(1), &views).unwrap().into_dyn()
        }
        "att" => first("attention.scores"),
        "attSm" => first("attention.weights"),
        "y" => joined(&first("attention.heads")).into_dyn(),
        "yProj" => first("attention.output"),
        "attnResid" => first("residual_1"),
        "ln2" => first("norm_2"),
        "fc" => first("mlp.before"),
        "gelu" => first("mlp.inner"),
        "mlp" => first("mlp.output"),
        "mlpResid" | "block0" => first("output"),
        "block1" => get("blocks.1.output"),
        "block2" => get("blocks.2.output"),
        "ln_f" => get("norm"),
        "lm_head" => get("logits"),
        "probs" => {
            let logits = get("logits");
            softmax_rows(logits.view().into_dimensionality().unwrap()).into_dyn()
        }
        unknown => panic!("no tensor of ours is called {unknown}"),
    }
}

#[test]
fn every_stored_intermediate() {
    let (Some(file), Some(partials)) = (
        read("gpt-nano-sort-model.json"),
        read("gpt-nano-sort-t0-partials.json"),
    ) else {
        return;
    };
    let model = model(&file);
    let inputs = tensor(&partials["idx"]);
    let partials = partials.as_object().unwrap();
    let mut compared = 0;
    for (n, row) in inputs.outer_iter().enumerate() {
        let ids: Vec<usize> = row.iter().map(|&id| id as usize).collect();
        let mut seen = Recorder::default();
        model.forward(&ids, Some(&mut seen)).unwrap();
        let row = row.to_shape((1, ids.len())).unwrap();
        for (name, value) in partials.iter().filter(|(name, _)| *name != "config") {
            let expected = tensor(value);
            // The position table is stored once for all inputs.
            let expected = expected.index_axis(Axis(0), n.min(expected.shape()[0] - 1));
            let found = ours(name, &seen, &row.view());
            assert_eq!(found.len(), expected.len(), "{name}");
            let mut largest = 0.0f32;
            for (found, expected) in found.iter().zip(expected) {
                // Their scores are stored after the mask, ours are told before it.
                if name == "att" && *expected == f32::NEG_INFINITY {
                    continue;
                }
                largest = largest.max((found - expected).abs());
                assert!(
                    (found - expected).abs() <= F32_TOLERANCE,
                    "{name}: {found}, {expected}"
                );
            }
            println!("input {n} {name:<10} largest difference {largest:.1e}");
            compared += 1;
        }
    }
    assert_eq!(compared, 3 * 25);
}

#[test]
fn it_sorts() {
    let Some(file) = read("gpt-nano-sort-model.json") else {
        return;
    };
    let model = model(&file);
    let mut draws = engine::rng::Rng::new(6);
    for _ in 0..50 {
        let list: Vec<usize> = (0..6).map(|_| draws.below(3)).collect();
        let mut session = engine::model::decoder::Session::new(&model);
        let mut logits = session.feed(&list).unwrap();
        let mut sorted = Vec::new();
        loop {
            let best = (0..3)
                .max_by(|&a, &b| logits[a].total_cmp(&logits[b]))
                .unwrap();
            sorted.push(best);
            if sorted.len() == list.len() {
                break;
            }
            logits = session.feed(&[best]).unwrap();
        }
        let mut expected = list.clone();
        expected.sort_unstable();
        assert_eq!(sorted, expected, "{list:?}");
    }
}
