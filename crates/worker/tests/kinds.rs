//! Encoders and models of pictures in the worker, driven without a browser, against stored
//! references.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use engine::formula::fill;
use engine::model::bert::Config;
use engine::open::Files;
use serde_json::json;
use worker::model::host::{ModelHost, Source};
use worker::model::packing::Packing;
use worker::model::protocol::{AttentionPosition, Compared, Filled, ModelEvent, Picture, Seen};

fn now() -> f64 {
    0.0
}

/// Files of a folder of the shared data; where it is absent the test is recorded as skipped.
fn shared(folder: &str, names: &[&str]) -> Option<Files> {
    let folder = skip::shared(&format!("data/{folder}"))?;
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let mut files = Files::new("model.safetensors", read("model.safetensors"));
    files.beside = names
        .iter()
        .map(|&name| (name.to_owned(), read(name)))
        .collect();
    Some(files)
}

#[test]
fn sentences_are_as_alike_as_in_the_stored_reference() {
    let names = ["config.json", "tokenizer.json", "reference.json"];
    let Some(mut files) = shared("all-minilm-l6-v2", &names) else {
        return;
    };
    let (_, reference) = files.beside.pop().unwrap();
    let reference: serde_json::Value = serde_json::from_slice(&reference).unwrap();
    let mut host = ModelHost::default();
    let loaded = host.load(Source::Files(files), None, &mut |_| {}).unwrap();
    assert!(loaded.reads && !loaded.writes && loaded.has_vocabulary);
    let sentence = |n: usize| reference["sentences"][n].as_str().unwrap();
    for (a, b) in [(0, 1), (0, 2), (2, 3)] {
        let ModelEvent::Compared(Compared {
            tokens, similarity, ..
        }) = host.compare([sentence(a), sentence(b)], now).unwrap()
        else {
            panic!("no similarity")
        };
        let expected = reference["similarity"][a][b].as_f64().unwrap();
        assert!(
            (f64::from(similarity) - expected).abs() < 2e-5,
            "{a} {b}: {similarity}"
        );
        assert_eq!(
            tokens[0].len(),
            reference["token_ids"][a].as_array().unwrap().len()
        );
        assert_eq!(
            (&*tokens[0][0], &*tokens[1][tokens[1].len() - 1]),
            ("[CLS]", "[SEP]")
        );
    }
    let why = |sentences| host.compare(sentences, now).unwrap_err().to_string();
    assert_eq!(why(["", "one"]), "A sentence has to have a word.");
    let long = "word ".repeat(600);
    assert!(why(["one", &long]).contains("at most 512"));
    // This file has gone without the head that fills gaps.
    assert!(!loaded.fills);
    assert!(host.fill("A [MASK] day.", now).is_err());
}

/// A BERT with its masked-LM head, an embedding of so many rows and a vocabulary of six words, as
/// files.
fn small_bert(rows: usize) -> Files {
    let config = json!({
        "model_type": "bert", "vocab_size": rows, "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1,
        "intermediate_size": 16, "max_position_embeddings": 12, "type_vocab_size": 2, "layer_norm_eps": 1e-12
    });
    let sizes = Config {
        vocabulary: rows,
        width: 8,
        heads: 2,
        layers: 1,
        inner: 16,
        context: 12,
        types: 2,
        norm_eps: 1e-12,
    };
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, shape) in sizes.shapes() {
        let begin = data.len();
        let numbers = fill(&name, shape.len(), shape.iter().product(), 0);
        data.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        header.insert(
            name,
            json!({"dtype": "F32", "shape": shape, "data_offsets": [begin, data.len()]}),
        );
    }
    let header = serde_json::to_vec(&header).unwrap();
    let bytes = [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat();
    let mut files = Files::new("small.safetensors", bytes);
    let words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nday\n";
    files.beside = vec![
        ("config.json".to_owned(), config.to_string().into_bytes()),
        ("vocab.txt".to_owned(), words.as_bytes().to_vec()),
    ];
    files
}

#[test]
fn gaps_are_filled_by_their_most_likely_tokens() {
    // Nine rows: three of them only fill the matrix up, and have no token.
    for rows in [6, 9] {
        let mut host = ModelHost::default();
        let loaded = host
            .load(Source::Files(small_bert(rows)), None, &mut |_| {})
            .unwrap();
        assert!(loaded.fills);
        let ModelEvent::Filled(Filled { tokens, gaps, .. }) =
            host.fill("[MASK] day [MASK]", now).unwrap()
        else {
            panic!("nothing filled")
        };
        assert_eq!(tokens, ["[CLS]", " [MASK]", " day", " [MASK]", "[SEP]"]);
        assert_eq!(gaps.iter().map(|(gap, _)| *gap).collect::<Vec<_>>(), [1, 3]);
        for (_, candidates) in gaps {
            // All six tokens of the vocabulary.
            let sum: f32 = candidates.iter().map(|c| c.probability).sum();
            assert!(candidates.len() == 6 && (sum - 1.0).abs() < 1e-5, "{sum}");
            assert!(candidates.is_sorted_by(|a, b| a.probability >= b.probability));
        }
        let why = host.fill("day", now).unwrap_err().to_string();
        assert!(why.contains("[MASK]"), "{why}");
    }
}

/// The reference's coffee cup, 224 pixels square.
fn coffee(png: &[u8]) -> Picture {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    assert_eq!(info.color_type.samples(), 3);
    Picture {
        width: info.width as usize,
        height: info.height as usize,
        rgb,
    }
}

#[test]
fn the_coffee_is_an_espresso_and_its_patches_attend() {
    let names = ["config.json", "reference/coffee-224.png"];
    let Some(mut files) = shared("vit-tiny-patch16-224", &names) else {
        return;
    };
    let (_, png) = files.beside.pop().unwrap();
    let mut host = ModelHost::default();
    let loaded = host
        .load(Source::Files(files), Some(Packing::Q8_0), &mut |_| {})
        .unwrap();
    assert_eq!((&*loaded.kind, loaded.layers, loaded.heads), ("ViT", 12, 3));
    assert!(!loaded.reads);
    let place = AttentionPosition {
        token: 0,
        layer: 11,
        head: 2,
    };
    assert!(
        host.attend(place)
            .unwrap_err()
            .to_string()
            .contains("picture")
    );
    let ModelEvent::Seen(Seen {
        picture,
        patch,
        before,
        classes,
        ..
    }) = host.see(&coffee(&png), now).unwrap()
    else {
        panic!("not seen")
    };
    assert_eq!(
        (picture.width, picture.rgb.len(), patch, before),
        (224, 224 * 224 * 3, 16, 1)
    );
    assert_eq!((classes[0].0, classes.len()), (967, 10));
    for token in [0, 7, 196] {
        let ModelEvent::Attended { place: of, weights } =
            host.attend(AttentionPosition { token, ..place }).unwrap()
        else {
            panic!("no attention")
        };
        let sum: f32 = weights.iter().sum();
        assert!(
            of.token == token && weights.len() == 197 && (sum - 1.0).abs() < 1e-4,
            "{sum}"
        );
    }
    assert!(
        host.attend(AttentionPosition {
            token: 197,
            ..place
        })
        .is_err()
    );
    assert!(host.compare(["a", "b"], now).is_err() && host.measure(1, 1, 1).is_ok());
}

#[test]
fn a_drawn_shape_reads_pictures_of_its_own_size() {
    let mut host = ModelHost::default();
    host.load(
        Source::shape("vit-b16", 5).unwrap(),
        Some(Packing::Q8_0),
        &mut |_| {},
    )
    .unwrap();
    let picture = Picture {
        width: 2,
        height: 3,
        rgb: vec![200; 18],
    };
    let ModelEvent::Seen(seen) = host.see(&picture, now).unwrap() else {
        panic!("not seen")
    };
    assert_eq!((seen.picture.width, seen.picture.height), (224, 224));
    // Nothing but one colour comes back as that colour.
    assert!(seen.picture.rgb.iter().all(|&x| x == 200));
    assert!(seen.classes[0].1.text.starts_with("class "));
    let none = Picture {
        width: 0,
        height: 0,
        rgb: Vec::new(),
    };
    assert!(host.see(&none, now).is_err());
}
