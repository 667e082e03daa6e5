//! Trained models in each format.

use engine::format::gguf::Gguf;
use engine::format::llama2c::Llama2c;
use engine::model::decoder::{DecoderExt, Session};
use engine::model::llama::Llama;
use engine::ndarray::Array1;
use engine::token::tokenizer::Tokenizer;
use serde_json::Value;
use skip::shared;
use std::path::Path;

/// Two next tokens are as good as equal when their logits are this close; rounding may choose
/// either.
const TIE: f32 = 0.05;

/// A text that is known to no model's file, for the loss.
const TEXT: &str = "Once upon a time, there was a little dog. He liked to play with his ball in the park. \
    One day, he saw a big cat. The cat was sad. The dog gave the ball to the cat and they were happy.";

fn gguf(folder: &Path, form: &str) -> (Llama, Box<dyn Tokenizer>) {
    let bytes = std::fs::read(folder.join(format!("stories260K-{form}.gguf"))).unwrap();
    let file = Gguf::parse(bytes.into()).unwrap();
    file.tensors.check_finite().unwrap();
    let model = Llama::load(file.llama().unwrap(), &mut file.parameters().unwrap()).unwrap();
    (model, file.vocabulary().unwrap().tokenizer().unwrap())
}

fn llama2c(path: &Path) -> Llama {
    let file = Llama2c::parse(std::fs::read(path).unwrap().into()).unwrap();
    let mut tensors = file.tensors;
    Llama::load(file.config, &mut tensors).unwrap()
}

fn best(logits: &Array1<f32>) -> usize {
    let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
    best.unwrap()
}

/// The most likely token, again and again, from the start token on; and the logits that chose each.
fn greedy(model: &Llama, count: usize) -> (Vec<usize>, Vec<Array1<f32>>) {
    let (mut session, mut ids, mut all) = (Session::new(model), vec![1], Vec::new());
    while ids.len() < count {
        let logits = session.feed(&[*ids.last().unwrap()]).unwrap();
        ids.push(best(&logits));
        all.push(logits);
    }
    (ids, all)
}

fn expected(folder: &Path) -> (Value, Vec<usize>) {
    let text = std::fs::read_to_string(folder.join("expected_greedy.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let ids = serde_json::from_value(file["greedy_ids"].clone()).unwrap();
    (file, ids)
}

#[test]
fn stories260k_tells_the_published_story_from_three_files() {
    let Some(folder) = shared("data/stories260K") else {
        return;
    };
    let (file, ids) = expected(&folder);
    let published = file["published_expected_text"].as_str().unwrap();
    assert_eq!(published.chars().count(), 464);
    let (f32_model, tokenizer) = gguf(&folder, "f32");
    let models = [
        ("llama2.c", llama2c(&folder.join("stories260K.bin"))),
        ("f32", f32_model),
        ("f16", gguf(&folder, "f16").0),
    ];
    for (name, model) in models {
        let (found, _) = greedy(&model, ids.len());
        assert_eq!(found, ids, "{name}");
        let text = tokenizer.decode(&found).unwrap();
        assert_eq!(text.trim_end(), published.trim_end(), "{name}");
    }
}

#[test]
fn q8_0_chooses_the_tokens_of_f32() {
    let Some(folder) = shared("data/stories260K") else {
        return;
    };
    let (exact, logits) = greedy(&gguf(&folder, "f32").0, 101);
    let (found, _) = greedy(&gguf(&folder, "q8_0").0, 101);
    let Some(at) = (1..exact.len()).find(|&n| exact[n] != found[n]) else {
        println!("q8_0: all 100 tokens as with f32");
        return;
    };
    let mut sorted = logits[at - 1].to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let gap = sorted[0] - sorted[1];
    println!("q8_0: token {at} differs, where the first two of f32 are {gap} apart");
    assert!(gap < TIE);
}

/// Mean of −log p over a text's tokens, after the start token.
fn loss(model: &Llama, tokenizer: &dyn Tokenizer) -> f64 {
    let ids = [vec![1], tokenizer.encode(TEXT).unwrap()].concat();
    let logits = model.forward(&ids, None).unwrap();
    let each = ids[1..]
        .iter()
        .zip(logits.outer_iter())
        .map(|(&next, row)| {
            let top = row.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
            let sum: f64 = row.iter().map(|&x| f64::from(x - top).exp()).sum();
            sum.ln() - f64::from(row[next] - top)
        });
    each.sum::<f64>() / (ids.len() - 1) as f64
}

#[test]
fn what_compression_costs() {
    let Some(folder) = shared("data/stories260K") else {
        return;
    };
    let (exact, tokenizer) = gguf(&folder, "f32");
    let exact = loss(&exact, &*tokenizer);
    println!("f32: mean loss {exact:.4} nats a token");
    for (form, most) in [("f16", 0.01), ("q8_0", 0.05), ("q4_0", 0.5)] {
        let found = loss(&gguf(&folder, form).0, &*tokenizer);
        println!("{form}: mean loss {found:.4} nats a token");
        assert!((found - exact).abs() < most, "{form}");
    }
}
