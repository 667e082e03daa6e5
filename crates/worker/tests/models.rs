//! Models in the worker, driven without a browser.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use engine::format::gguf_value::Value;
use engine::formula::fill;
use engine::open::Files;
use engine::quant::{Type, quantize};
use std::collections::BTreeMap;
use tools::TensorBytes;
use tools::gguf::write;
use worker::bench::{BenchSettings, Figures, Report};
use worker::build::Build;
use worker::model::error::ModelError;
use worker::model::host::{ModelHost, Source};
use worker::model::packing::Packing;
use worker::model::protocol::{
    AttentionPosition, ModelEvent, ModelInfo, ModelRequest, Origin, WritingRequest,
};
use worker::model::shape::{SHAPES, Shape};
use worker::protocol::{Envelope, decode, encode};

/// A clock that moves on by a millisecond at each look.
fn clock() -> impl Fn() -> f64 {
    let now = std::cell::Cell::new(0.0);
    move || now.replace(now.get() + 1.0)
}

/// A Llama of two blocks as a GGUF file.
fn small_gguf() -> Vec<u8> {
    let (width, inner, vocabulary) = (32, 64, 48);
    let number = |key: &str, value: u32| (format!("llama.{key}"), Value::U32(value));
    let metadata = [
        (
            "general.architecture".to_owned(),
            Value::Text("llama".to_owned()),
        ),
        number("embedding_length", 32),
        number("attention.head_count", 4),
        number("attention.head_count_kv", 2),
        number("block_count", 2),
        number("feed_forward_length", 64),
        number("context_length", 40),
    ];
    let mut tensors = vec![("token_embd.weight".to_owned(), vec![vocabulary, width])];
    for n in 0..2 {
        for (name, shape) in [
            ("attn_norm", vec![width]),
            ("attn_q", vec![width, width]),
            ("attn_k", vec![width / 2, width]),
            ("attn_v", vec![width / 2, width]),
            ("attn_output", vec![width, width]),
            ("ffn_norm", vec![width]),
            ("ffn_gate", vec![inner, width]),
            ("ffn_up", vec![inner, width]),
            ("ffn_down", vec![width, inner]),
        ] {
            tensors.push((format!("blk.{n}.{name}.weight"), shape));
        }
    }
    tensors.push(("output_norm.weight".to_owned(), vec![width]));
    let packed = tensors.into_iter().map(|(name, shape)| {
        let kind = if shape.len() == 2 {
            Type::Q4_0
        } else {
            Type::F32
        };
        let numbers = fill(&name, shape.len(), shape.iter().product(), 0);
        (name, shape, kind, quantize(kind, &numbers).unwrap())
    });
    let packed: Vec<_> = packed.collect();
    let tensors: Vec<_> = packed.iter().map(TensorBytes::from).collect();
    write(&metadata, &tensors).unwrap()
}

fn files(name: &str, weights: &[u8]) -> Source {
    Source::Files(Files::new(name, weights))
}

fn load(host: &mut ModelHost, source: Source, packing: Option<Packing>) -> ModelInfo {
    host.load(source, packing, &mut |_| {}).unwrap()
}

/// The id of the request that a test makes.
const ID: u64 = 7;

/// The answers to that request, to the last.
fn run(host: &mut ModelHost) -> Vec<ModelEvent> {
    let now = clock();
    let events = std::iter::from_fn(|| host.advance(&now));
    let answer = |Envelope { id, body }| {
        assert_eq!(id, ID);
        body
    };
    events.map(answer).collect()
}

#[test]
fn shapes_have_the_parameters_of_the_reference_files() {
    let Some(folder) = skip::shared("reference") else {
        return;
    };
    for (shape, file) in SHAPES.iter().zip(["gpt2", "llama", "vit", "bert"]) {
        let text = std::fs::read_to_string(folder.join(format!("{file}.json"))).unwrap();
        let reference: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut expected: BTreeMap<String, Vec<usize>> =
            serde_json::from_value(reference["parameters"].clone()).unwrap();
        // The sentence encoder is BERT without the head that fills masks.
        expected.retain(|name, _| !name.starts_with("cls."));
        let found: BTreeMap<_, _> = shape.parameters().into_iter().collect();
        assert_eq!(found, expected, "{}", shape.name);
    }
}

#[test]
fn larger_shapes_have_the_published_numbers_of_parameters() {
    // The numbers on the models' cards; Qwen2.5 has three biases in each of its 24 layers.
    for (name, parameters, biases) in [
        ("smollm2-360m", 361_821_120, 0),
        ("qwen2-500m", 494_032_768, 72),
        ("llama3-1b", 1_235_814_400, 0),
    ] {
        let all = Shape::from_name(name).unwrap().parameters();
        let sizes = all.iter().map(|(_, shape)| shape.iter().product::<usize>());
        let found = all.iter().filter(|(name, _)| name.ends_with(".bias"));
        assert_eq!(
            (sizes.sum::<usize>(), found.count()),
            (parameters, biases),
            "{name}"
        );
    }
}

#[test]
fn a_file_is_loaded_in_any_form_and_measured_token_by_token() {
    let bytes = small_gguf();
    let mut host = ModelHost::default();
    let mut sizes = Vec::new();
    for packing in Packing::ALL {
        let loaded = load(&mut host, files("small.gguf", &bytes), Some(packing));
        assert!(loaded.writes && loaded.reads);
        sizes.push(loaded.weight_bytes);
        host.measure(ID, 30, 4).unwrap();
        let news = run(&mut host);
        assert_eq!(news.len(), 5, "{news:?}");
        let Some(ModelEvent::Measured(figures)) = news.last() else {
            panic!("{news:?}")
        };
        // The clock moves on by one millisecond for the prompt and for each token.
        assert_eq!(figures.prefill_tokens_per_s, Some(30_000.0));
        assert_eq!(figures.decode_tokens_per_s, Some(1000.0));
        assert_eq!(figures.picture_ms, None);
        assert!(host.is_idle());
    }
    let matrices = 48 * 32 + 2 * (3 * 32 * 32 + 3 * 64 * 32);
    let norms = 5 * 32 * 4;
    assert_eq!(
        sizes,
        [
            matrices * 4 + norms,
            matrices / 32 * 34 + norms,
            matrices / 32 * 18 + norms
        ]
    );
}

#[test]
fn a_run_stops_between_two_tokens_and_the_model_stays() {
    let mut host = ModelHost::default();
    load(
        &mut host,
        files("small.gguf", &small_gguf()),
        Some(Packing::F32),
    );
    host.measure(ID, 4, 30).unwrap();
    let now = clock();
    for _ in 0..2 {
        let event = host.advance(&now).map(|event| event.body);
        assert!(matches!(event, Some(ModelEvent::Measuring(_))));
    }
    // A cancellation of another request changes nothing.
    host.cancel(ID + 1);
    assert!(matches!(
        host.advance(&now).map(|event| event.body),
        Some(ModelEvent::Measuring(_))
    ));
    host.cancel(ID);
    assert_eq!(run(&mut host), [ModelEvent::Stopped]);
    assert!(host.is_idle());
    host.measure(ID, 4, 0).unwrap();
    assert!(matches!(
        run(&mut host)[..],
        [ModelEvent::Measured(Figures {
            decode_tokens_per_s: None,
            ..
        })]
    ));
}

/// A greedy continuation.
fn writing(prompt: &str, new: usize) -> WritingRequest {
    WritingRequest {
        prompt: prompt.to_owned(),
        temperature: 0.0,
        top_k: None,
        top_p: None,
        repetition_penalty: 1.0,
        seed: 0,
        new,
        half_cache: false,
    }
}

#[test]
fn a_text_is_continued_token_by_token_and_tells_what_it_chose_from() {
    let mut host = ModelHost::default();
    let loaded = load(&mut host, files("small.gguf", &small_gguf()), None);
    assert_eq!(
        (&*loaded.kind, loaded.format.as_deref()),
        ("Llama", Some("GGUF"))
    );
    assert_eq!((loaded.layers, loaded.heads, loaded.context), (2, 4, 40));
    // The file has no vocabulary: its text is the numbers of tokens.
    assert!(!loaded.has_vocabulary);
    host.write(ID, writing("3 1 4", 5)).unwrap();
    let news = run(&mut host);
    let [
        ModelEvent::Reading {
            tokens, done: 3, ..
        },
        written @ ..,
        ModelEvent::Written(why),
    ] = &news[..]
    else {
        panic!("{news:?}")
    };
    assert_eq!(tokens, &["3", " 1", " 4"]);
    assert!(why.contains("asked for"), "{why}");
    assert_eq!(written.len(), 5);
    for (n, news) in written.iter().enumerate() {
        let ModelEvent::Wrote {
            token,
            text,
            candidates,
            cache_bytes,
            elapsed_ms,
        } = news
        else {
            panic!("{news:?}")
        };
        assert_eq!((token, *elapsed_ms), (text, 1.0));
        // Keys and values of two heads, eight wide, in two layers; the new token is not read yet.
        assert_eq!(*cache_bytes, (3 + n as u64) * 2 * 2 * 2 * 8 * 4);
        // Without a temperature the most likely token is taken.
        assert!(candidates[0].taken && candidates[0].text == *token);
        let order = candidates.windows(2);
        assert!(
            order
                .into_iter()
                .all(|two| two[0].probability >= two[1].probability)
        );
        assert_eq!(candidates.iter().filter(|c| c.taken).count(), 1);
    }
    for (layer, head, token) in [(0, 0, 0), (1, 3, 4), (0, 2, 7)] {
        let place = AttentionPosition { token, layer, head };
        let Ok(ModelEvent::Attended { place: of, weights }) = host.attend(place) else {
            panic!("no attention")
        };
        assert_eq!((of, weights.len()), (place, token + 1));
        let sum: f32 = weights.iter().sum();
        assert!((sum - 1.0).abs() < 1e-5, "{sum}");
    }
    let outside = host.attend(AttentionPosition {
        token: 8,
        layer: 0,
        head: 0,
    });
    assert!(outside.is_err());
}

#[test]
fn failed_attention_leaves_the_text_that_is_written() {
    let mut host = ModelHost::default();
    load(&mut host, files("small.gguf", &small_gguf()), None);
    host.write(ID, writing("1", 6)).unwrap();
    let now = clock();
    for _ in 0..3 {
        assert!(host.advance(&now).is_some_and(|event| event.id == ID));
    }
    // The text can be looked at while it is written.
    let place = |token, layer| AttentionPosition {
        token,
        layer,
        head: 1,
    };
    assert!(host.attend(place(2, 1)).is_ok());
    for wrong in [place(2, 9), place(99, 0)] {
        assert!(host.attend(wrong).is_err());
    }
    let rest = run(&mut host);
    let wrote = |event: &&ModelEvent| matches!(event, ModelEvent::Wrote { .. });
    assert_eq!(rest.iter().filter(wrote).count(), 4, "{rest:?}");
    assert!(matches!(rest.last(), Some(ModelEvent::Written(_))));
}

#[test]
fn keys_and_values_can_be_kept_in_half_the_memory() {
    let mut host = ModelHost::default();
    load(&mut host, files("small.gguf", &small_gguf()), None);
    let mut sizes = |half_cache| {
        let asked = WritingRequest {
            half_cache,
            ..writing("3 1 4", 5)
        };
        host.write(ID, asked).unwrap();
        let sizes = run(&mut host).into_iter().filter_map(|event| match event {
            ModelEvent::Wrote { cache_bytes, .. } => Some(cache_bytes),
            _ => None,
        });
        sizes.collect::<Vec<_>>()
    };
    let (single, half) = (sizes(false), sizes(true));
    assert_eq!(single.len(), 5);
    assert_eq!(single, half.iter().map(|size| 2 * size).collect::<Vec<_>>());
}

#[test]
fn every_request_is_answered_also_where_a_newer_one_takes_its_place() {
    let mut host = ModelHost::default();
    load(&mut host, files("small.gguf", &small_gguf()), None);
    host.write(1, writing("1", 30)).unwrap();
    let now = clock();
    for _ in 0..3 {
        assert!(host.advance(&now).is_some_and(|event| event.id == 1));
    }
    host.write(2, writing("1 2", 30)).unwrap();
    host.measure(3, 4, 0).unwrap();
    let rest: Vec<_> = std::iter::from_fn(|| host.advance(&now)).collect();
    let [first, second, Envelope { id: 3, body }] = &rest[..] else {
        panic!("{rest:?}")
    };
    for (stopped, id) in [(first, 1), (second, 2)] {
        let body = ModelEvent::Stopped;
        assert_eq!(*stopped, Envelope { id, body });
    }
    assert!(matches!(body, ModelEvent::Measured(_)));
}

#[test]
fn a_text_stops_between_two_tokens_and_another_one_can_be_begun() {
    let mut host = ModelHost::default();
    load(&mut host, files("small.gguf", &small_gguf()), None);
    host.write(ID, writing("1", 30)).unwrap();
    let now = clock();
    for _ in 0..3 {
        assert!(host.advance(&now).is_some());
    }
    host.cancel(ID);
    assert_eq!(run(&mut host), [ModelEvent::Stopped]);
    assert!(host.is_idle());
    for (prompt, word) in [("fifty", "fifty"), ("48", "below 48"), ("", "at least one")] {
        host.write(ID, writing(prompt, 1)).unwrap();
        let news = run(&mut host);
        let [ModelEvent::Failed(why)] = &news[..] else {
            panic!("{news:?}")
        };
        assert!(why.contains(word), "{why}");
    }
    host.write(ID, writing(&"1 ".repeat(40), 1)).unwrap();
    assert!(matches!(&run(&mut host)[..], [ModelEvent::Failed(why)] if why.contains("at most 40")));
    // A text that would be longer than the model reads ends there.
    host.write(ID, writing("1 2", 99)).unwrap();
    let news = run(&mut host);
    assert!(
        matches!(news.last(), Some(ModelEvent::Written(why)) if why.contains("context is full"))
    );
}

#[test]
fn what_cannot_be_done_is_said_in_words() {
    let mut host = ModelHost::default();
    assert!(matches!(host.measure(ID, 1, 1), Err(ModelError::None)));
    let unknown = Source::shape("gpt3", 0).err().unwrap().to_string();
    assert!(
        unknown.contains("gpt3") && unknown.contains("smollm2-135m"),
        "{unknown}"
    );
    let mut error = |name: &str, weights: &[u8], beside: &[(&str, &str)]| {
        let mut files = Files::new(name, weights);
        for (name, text) in beside {
            let file = ((*name).to_owned(), text.as_bytes().to_vec());
            files.beside.push(file);
        }
        let loaded = host.load(Source::Files(files), None, &mut |_| {});
        loaded.err().unwrap().to_string()
    };
    assert_eq!(
        error("page.html", b"<!doctype html>", &[]),
        "page.html is no model: it begins with \"<!doctyp\", and is neither GGUF, safetensors nor llama2.c."
    );
    let cut = small_gguf();
    let cut = error("small.gguf", &cut[..cut.len() / 2], &[]);
    assert!(cut.contains("small.gguf"), "{cut}");
    let header = br#"{"one":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let tensors = [&(header.len() as u64).to_le_bytes()[..], header, &[0; 4]].concat();
    for beside in [&[][..], &[("config.json", "{")], &[("config.json", "{}")]] {
        let why = error("one.safetensors", &tensors, beside);
        assert!(why.contains("config.json"), "{why}");
    }
    load(
        &mut host,
        files("small.gguf", &small_gguf()),
        Some(Packing::F32),
    );
    let long = host.measure(ID, 38, 3).unwrap_err().to_string();
    assert_eq!(
        long,
        "The model reads at most 40 tokens, and 41 were asked for."
    );
}

#[test]
fn a_query_is_read_and_what_is_wrong_with_it_is_named() {
    let read = |query: &'static str| {
        let pairs: BTreeMap<_, _> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .collect();
        BenchSettings::parse(|key| pairs.get(key).map(|&value| value.to_owned()))
    };
    assert_eq!(read(""), Ok(BenchSettings::default()));
    let asked = read("model=gpt2&type=Q4_0&threads=2&prompt=7&new=0&runs=9&build=relaxed").unwrap();
    assert_eq!(
        (asked.packing, asked.build),
        (Packing::Q4_0, Some(Build::Relaxed))
    );
    assert_eq!(
        (asked.threads, asked.prompt, asked.new, asked.runs),
        (Some(2), 7, 0, 9)
    );
    for (query, word) in [
        ("type=q2_k", "q2_k"),
        ("build=fast", "fast"),
        ("threads=0", "threads"),
        ("prompt=many", "prompt"),
        ("new=-1", "new"),
        ("runs=0", "runs"),
    ] {
        assert!(read(query).unwrap_err().contains(word), "{query}");
    }
}

#[test]
fn a_report_has_the_documented_keys_and_medians() {
    let asked = BenchSettings {
        model: "gpt2".to_owned(),
        ..BenchSettings::default()
    };
    let loaded = ModelInfo {
        writes: true,
        reads: true,
        weight_bytes: 5,
        memory_bytes: 9,
        activation_bits: 8,
        repacked: vec!["Q6_K as Q6".to_owned()],
        load_ms: 1.5,
        ..ModelInfo::default()
    };
    let runs = [3.0, 1.0, 2.0, 10.0].map(|rate| Figures {
        decode_tokens_per_s: Some(rate),
        memory_bytes: rate as u64,
        ..Figures::default()
    });
    let report = Report::new(&asked, Build::Relaxed, 1, &loaded, &runs);
    let json = serde_json::to_value(&report).unwrap();
    let mut keys: Vec<_> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    let mut documented = [
        "model",
        "type",
        "build",
        "threads",
        "prompt",
        "new",
        "load_ms",
        "prefill_tokens_per_s",
        "decode_tokens_per_s",
        "picture_ms",
        "weight_bytes",
        "peak_bytes",
        "activation_bits",
        "runs",
    ];
    documented.sort_unstable();
    assert_eq!(keys, documented);
    assert_eq!(json["decode_tokens_per_s"], 2.5);
    assert_eq!(json["picture_ms"], serde_json::Value::Null);
    assert_eq!(
        (json["peak_bytes"].as_u64(), json["type"].as_str()),
        (Some(10), Some("q8_0"))
    );
}

#[test]
fn requests_survive_the_way_to_the_worker() {
    let url = Origin::Url("http://host/a.gguf".to_owned());
    for body in [
        ModelRequest::Load {
            origin: url,
            packing: Some(Packing::Q4_0),
        },
        ModelRequest::Measure {
            prompt: 128,
            new: 64,
        },
        ModelRequest::Cancel,
    ] {
        let envelope = Envelope { id: ID, body };
        assert_eq!(decode(&encode(&envelope).unwrap()), Ok(envelope));
    }
}
