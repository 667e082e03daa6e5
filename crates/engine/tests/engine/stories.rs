//! Two trained Llamas in llama2.c's format tell the stories that are known of them.

use engine::format::llama2c::Llama2c;
use engine::model::decoder::{DecoderExt, Session};
use engine::model::llama::Llama;
use serde_json::Value;
use std::path::Path;

/// The model in a llama2.c file.
fn model(path: &Path) -> Llama {
    let bytes = std::fs::read(path).unwrap();
    let Llama2c {
        config,
        mut tensors,
    } = Llama2c::parse(bytes.into()).unwrap();
    Llama::load(config, &mut tensors).unwrap()
}

/// The most likely token, again and again, from the start token on.
fn greedy(model: &Llama, count: usize) -> Vec<u64> {
    let (mut session, mut ids) = (Session::new(model), vec![1]);
    while ids.len() < count {
        let logits = session.feed(&[*ids.last().unwrap()]).unwrap();
        let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
        ids.push(best.unwrap());
    }
    ids.into_iter().map(|id| id as u64).collect()
}

fn expected(path: &Path) -> (Value, Vec<u64>) {
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let ids = file["greedy_ids"].as_array().unwrap().iter();
    let ids = ids.map(|id| id.as_u64().unwrap()).collect();
    (file, ids)
}

/// The pieces in a llama2.c vocabulary: length of the longest, then for each score, length and
/// bytes.
fn pieces(path: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let (mut rest, mut pieces) = (&bytes[4..], Vec::new());
    while rest.len() >= 8 {
        let length = i32::from_le_bytes(rest[4..8].try_into().unwrap()) as usize;
        pieces.push(rest[8..8 + length].to_vec());
        rest = &rest[8 + length..];
    }
    pieces
}

#[test]
fn stories260k_tells_the_published_story() {
    let Some(folder) = skip::shared("data/stories260K") else {
        return;
    };
    let model = model(&folder.join("stories260K.bin"));
    let (file, ids) = expected(&folder.join("expected_greedy.json"));
    let found = greedy(&model, ids.len());
    assert_eq!(found, ids);
    let pieces = pieces(&folder.join("tok512.bin"));
    let bytes: Vec<u8> = found[1..]
        .iter()
        .flat_map(|&id| pieces[id as usize].clone())
        .collect();
    let text = String::from_utf8(bytes).unwrap().replace("<0x0A>", "\n");
    // The start token takes the first space away, and the program's last line is ended.
    let text = text.strip_prefix(' ').unwrap_or(&text);
    let published = file["published_expected_text"].as_str().unwrap();
    assert_eq!(published.chars().count(), 464);
    assert_eq!(text.trim_end(), published.trim_end());
}

#[test]
fn babyllama_tells_its_story() {
    let Some(folder) = skip::shared("data/babyllama-char105") else {
        return;
    };
    let model = model(&folder.join("model5000.bin"));
    let (file, ids) = expected(&folder.join("expected_greedy.json"));
    let found = greedy(&model, ids.len());
    assert_eq!(found, ids);
    let vocabulary = std::fs::read_to_string(folder.join("tok105.vocab")).unwrap();
    let pieces: Vec<&str> = vocabulary
        .lines()
        .map(|line| line.split('\t').next().unwrap())
        .collect();
    let text: String = found[1..].iter().map(|&id| pieces[id as usize]).collect();
    let text = text.replace('\u{2581}', " ");
    assert_eq!(text.trim_start(), file["text"].as_str().unwrap());

    let logits = model.forward(&[1], None).unwrap();
    let stored = file["logits_at_position_0_first16"].as_array().unwrap();
    for (found, expected) in logits.iter().zip(stored) {
        assert!((f64::from(*found) - expected.as_f64().unwrap()).abs() < 1e-5);
    }
}
