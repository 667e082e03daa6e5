//! Cells computed with the model that a worker holds, driven without a browser.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use cells::lessons::decoder_only::{logit_lens, perplexity, whole_model};
use cells::lessons::heads::ablation_sweep;
use cells::lessons::vit::{class_heads, class_token_lens, patch_attention};
use cells::{CellError, CellSpec, Computation, InputValue, Inputs};
use engine::open::Files;
use worker::cell_protocol::CellReply;
use worker::model::host::{ModelHost, Source};
use worker::model::packing::Packing;
use worker::model::protocol::{AttentionPosition, ModelEvent, Picture, WritingRequest};
use worker::protocol::{Envelope, unpack};

/// A clock that moves on by a millisecond at each look.
fn clock() -> impl Fn() -> f64 {
    let now = std::cell::Cell::new(0.0);
    move || now.replace(now.get() + 1.0)
}

fn host_of(name: &str, weights: Vec<u8>) -> ModelHost {
    let mut host = ModelHost::default();
    let source = Source::Files(Files::new(name, weights));
    host.load(source, None, &mut |_| {}).unwrap();
    host
}

/// A model that the site ships, opened as a file of the reader's.
fn shipped(name: &str) -> ModelHost {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models");
    let weights = std::fs::read(format!("{folder}/{name}")).unwrap();
    host_of(name, weights)
}

fn defaults(spec: &CellSpec) -> Inputs {
    Inputs::defaults(&(spec.inputs)())
}

/// The answers of a host to all requests, each with its id.
fn answers(host: &mut ModelHost) -> Vec<(u64, CellReply)> {
    let now = clock();
    let events = std::iter::from_fn(|| host.advance(&now));
    let reply = |Envelope { id, body }| match body {
        ModelEvent::Computed(bytes) => (id, unpack(&bytes).unwrap()),
        other => panic!("{other:?}"),
    };
    events.map(reply).collect()
}

/// The last answer to one request.
fn computed(host: &mut ModelHost, cell: &str, inputs: &Inputs) -> Result<Computation, CellError> {
    host.compute(1, cell, inputs, clock());
    match answers(host).pop() {
        Some((1, CellReply::Finished { result, elapsed_ms })) => {
            assert!(elapsed_ms > 0.0);
            result
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_opened_gpt2_computes_the_lessons_cell() {
    let mut host = shipped("tiny-gpt.safetensors");
    let c = computed(&mut host, "logit-lens", &defaults(&logit_lens::SPEC)).unwrap();
    // The answer of the lesson.
    assert_eq!(c.words("prediction"), ["\u{2423}ball"]);
    assert!(c.at("last", &[1]).unwrap() < 0.01 && c.at("last", &[4]).unwrap() > 0.95);
    assert!(host.is_idle());
}

/// One part after another, of the text that was read for the first one, and of another text.
#[test]
fn the_parts_of_an_opened_gpt2_open_one_after_the_other() {
    let mut host = shipped("tiny-gpt.safetensors");
    for (part, text) in [
        ("scores", None),
        ("q", None),
        ("q", Some("The cat")),
        ("norm", None),
    ] {
        let mut inputs =
            defaults(&whole_model::OPENED).with("part", InputValue::Choice(part.to_owned()));
        if let Some(text) = text {
            inputs = inputs.with("sentence", InputValue::Text(text.to_owned()));
        }
        let again = computed(&mut host, "whole-model", &inputs).unwrap();
        let mut new = shipped("tiny-gpt.safetensors");
        assert_eq!(computed(&mut new, "whole-model", &inputs).unwrap(), again);
    }
}

/// Where products round what they multiply, the result says so, and how far its sum is from them.
#[test]
fn of_a_packed_gpt2_the_difference_is_shown() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models");
    let weights = std::fs::read(format!("{folder}/tiny-gpt.safetensors")).unwrap();
    let inputs = defaults(&whole_model::OPENED).with("part", InputValue::Choice("q".to_owned()));
    for (packing, bits, within) in [
        (Packing::F32, 32.0, 0.0..1e-5),
        (Packing::Q8_0, 8.0, 1e-6..0.1),
    ] {
        let mut host = ModelHost::default();
        let source = Source::Files(Files::new("tiny-gpt.safetensors", weights.clone()));
        host.load(source, Some(packing), &mut |_| {}).unwrap();
        let c = computed(&mut host, "whole-model", &inputs).unwrap();
        assert_eq!(c.at("bits", &[]), Some(bits));
        let difference = c.at("difference", &[]).unwrap();
        assert!(within.contains(&difference), "{difference}");
    }
}

#[test]
fn an_opened_llama_computes_them_too() {
    let Some(file) = skip::shared("data/stories260K/stories260K-f32.gguf") else {
        return;
    };
    let mut host = host_of("stories260K-f32.gguf", std::fs::read(file).unwrap());
    let inputs = defaults(&perplexity::SPEC);
    let c = computed(&mut host, "perplexity", &inputs).unwrap();
    let [own, shuffled] = ["own", "shuffled"].map(|of| c.at(&format!("{of}.mean"), &[]).unwrap());
    assert!(own < shuffled, "{own} {shuffled}");
    let c = computed(
        &mut host,
        "ablation-sweep",
        &defaults(&ablation_sweep::SPEC),
    )
    .unwrap();
    let heads = c.at("layers", &[]).unwrap() * c.at("heads", &[]).unwrap();
    assert_eq!(
        (heads, c.tensor("effects").unwrap().values.len()),
        (40.0, 40)
    );
    assert!(c.at("whole", &[]).unwrap().is_finite());
}

/// Each cell gets a step in turn, one that is ended is answered so, and a text goes first.
#[test]
fn several_cells_are_computed_in_turn_and_one_can_be_ended() {
    let mut host = shipped("tiny-gpt.safetensors");
    let inputs = defaults(&logit_lens::SPEC);
    for id in [1, 2, 3] {
        host.compute(id, "logit-lens", &inputs, clock());
    }
    host.cancel(2);
    let now = clock();
    let stopped = host.advance(&now).unwrap();
    assert_eq!((stopped.id, stopped.body), (2, ModelEvent::Stopped));
    let asked = WritingRequest {
        prompt: "Once".to_owned(),
        temperature: 0.0,
        top_k: None,
        top_p: None,
        repetition_penalty: 1.0,
        seed: 0,
        new: 2,
        half_cache: false,
    };
    host.write(9, asked).unwrap();
    while let ModelEvent::Reading { .. } | ModelEvent::Wrote { .. } =
        host.advance(&now).unwrap().body
    {}
    let all = answers(&mut host);
    let ids: Vec<u64> = all.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids[..4], [1, 3, 1, 3]);
    let is_last = |reply: &CellReply| matches!(reply, CellReply::Finished { result: Ok(_), .. });
    assert_eq!(all.iter().filter(|(_, reply)| is_last(reply)).count(), 2);
    // Another model ends what is computed with this one.
    host.compute(4, "logit-lens", &inputs, clock());
    host.clear();
    let stopped = host.advance(&now).unwrap();
    assert_eq!((stopped.id, stopped.body), (4, ModelEvent::Stopped));
    assert!(host.is_idle());
}

#[test]
fn why_a_cell_cannot_be_computed_is_said_in_plain_words() {
    let inputs = defaults(&logit_lens::SPEC);
    let why = |host: &mut ModelHost, inputs: &Inputs| {
        let found = computed(host, "logit-lens", inputs);
        found.unwrap_err().to_string()
    };
    let none = why(&mut ModelHost::default(), &inputs);
    assert_eq!(none, "No model is loaded.");
    let encoder = why(&mut shipped("tiny-bert.safetensors"), &inputs);
    assert!(encoder.contains("is an encoder"), "{encoder}");
    let picture = why(&mut shipped("digit-vit.safetensors"), &inputs);
    assert!(picture.contains("reads pictures"), "{picture}");
    let long = InputValue::Text("once ".repeat(40));
    let long = why(
        &mut shipped("tiny-gpt.safetensors"),
        &inputs.clone().with("sentence", long),
    );
    assert!(long.contains("at most 32"), "{long}");
}

/// A white bar on black, upright or across.
fn bar(upright: bool) -> Picture {
    let (width, height) = (28, 28);
    let rgb = (0..width * height).flat_map(|at| {
        let (row, column) = (at / width, at % width);
        let across = if upright { column } else { row };
        [if (12..16).contains(&across) { 255 } else { 0 }; 3]
    });
    Picture {
        width,
        height,
        rgb: rgb.collect(),
    }
}

/// The cells about pictures look at the one that the model read last.
#[test]
fn an_opened_vit_computes_cells_on_the_picture_that_it_read() {
    let mut host = shipped("digit-vit.safetensors");
    let query = |n: f64| defaults(&patch_attention::OPENED).with("query", InputValue::Number(n));
    let first = computed(&mut host, "patch-attention", &query(0.0));
    assert!(first.unwrap_err().to_string().contains("choose one first"));
    let mut of = |upright: bool| {
        host.see(&bar(upright), clock()).unwrap();
        let attention = computed(&mut host, "patch-attention", &query(10.0)).unwrap();
        let lens = computed(
            &mut host,
            "class-token-lens",
            &defaults(&class_token_lens::OPENED),
        );
        let heads = computed(&mut host, "class-heads", &defaults(&class_heads::OPENED)).unwrap();
        assert_eq!(heads.at("count", &[]), Some(16.0));
        // The same weights as the panel shows.
        let place = AttentionPosition {
            token: 10,
            layer: 2,
            head: 1,
        };
        let ModelEvent::Attended { weights, .. } = host.attend(place).unwrap() else {
            panic!("no weights");
        };
        for patch in 0..49 {
            let found = attention.at("weights", &[2, 1, patch / 7, patch % 7]);
            assert_eq!(found, Some(f64::from(weights[1 + patch])));
        }
        (attention, lens.unwrap())
    };
    let (upright, across) = (of(true), of(false));
    assert_ne!(upright.0.tensor("weights"), across.0.tensor("weights"));
    assert_ne!(
        upright.1.tensor("probabilities"),
        across.1.tensor("probabilities")
    );
}

/// Names come one a line, as many as the model has classes.
#[test]
fn classes_can_be_named_after_the_model_is_open() {
    let mut host = ModelHost::default();
    assert!(host.name_classes("one").is_err());
    let mut host = shipped("digit-vit.safetensors");
    let why = host.name_classes("one\ntwo").unwrap_err().to_string();
    assert_eq!(why, "The list has 2 names, and the model 10 classes.");
    let names = "nil\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
    assert_eq!(host.name_classes(names).unwrap(), ModelEvent::Named);
    let ModelEvent::Seen(seen) = host.see(&bar(true), clock()).unwrap() else {
        panic!("no classes");
    };
    assert_eq!(seen.classes[0].1.text, "one");
    let lens = computed(
        &mut host,
        "class-token-lens",
        &defaults(&class_token_lens::OPENED),
    );
    assert_eq!(lens.unwrap().words("prediction"), ["one"]);
}
