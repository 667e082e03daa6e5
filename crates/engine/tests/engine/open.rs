//! Models from files: types without a fast product are repacked, and what is not computed is
//! refused by name.

use engine::format::file_bytes::{FileBytes, ReadAt};
use engine::format::gguf::Gguf;
use engine::format::gguf_value::{Array, Value};
use engine::format::names::Architecture;
use engine::formula::Formula;
use engine::model::llama::Config;
use engine::ndarray::{Array2, ArrayD};
use engine::nn::position::rope::Pairing;
use engine::nn::position::rope::{Rope, Scaling};
use engine::open::{Files, Opened, open, open_through};
use engine::parameters::{Compressed, MatrixForm, Memory, Parameters, Weight};
use engine::quant::{Type, quantize};
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tools::TensorBytes;
use tools::gguf::{split, write};
use tools::safetensors::write_parameters;

mod vocabulary;

/// A Llama whose matrices have rows of whole K-blocks.
fn config() -> Config {
    Config {
        vocabulary: 40,
        width: 256,
        heads: 4,
        kv_heads: 2,
        head_width: 64,
        layers: 1,
        inner: 512,
        context: 32,
        norm_eps: 1e-5,
        rope: Rope {
            width: 64,
            base: 10_000.0,
            pairing: Pairing::Neighbours,
            scaling: Scaling::None,
        },
        experts: None,
        windows: Vec::new(),
        mlp_bias: true,
    }
}

/// The parameters of [`config`] with more of these names and shapes.
fn parameters(more: &[(&str, &[usize])]) -> Memory {
    let more = more
        .iter()
        .map(|(name, shape)| ((*name).to_owned(), shape.to_vec()));
    let mut source = Formula::new(5, config().shapes().into_iter().chain(more));
    let mut memory = Memory::default();
    for name in source.names() {
        let tensor = source.read(&name).unwrap();
        memory.insert(name, tensor);
    }
    memory
}

/// The model as GGUF: the matrices in turn in each of `kinds`, with more metadata and tensors.
fn gguf(kinds: &[Type], metadata: &[(&str, Value)], more: &[(&str, ArrayD<f32>)]) -> Files {
    let number = |key: &str, value: u32| (format!("llama.{key}"), Value::U32(value));
    let mut all = vec![
        (
            "general.architecture".to_owned(),
            Value::Text("llama".to_owned()),
        ),
        number("context_length", 32),
        number("embedding_length", 256),
        number("feed_forward_length", 512),
        number("block_count", 1),
        number("attention.head_count", 4),
        number("attention.head_count_kv", 2),
        (
            "llama.attention.layer_norm_rms_epsilon".to_owned(),
            Value::F32(1e-5),
        ),
    ];
    all.extend(
        metadata
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone())),
    );
    let mut kinds = kinds.iter().copied().cycle();
    let memory = parameters(&[]);
    let named = memory
        .iter()
        .map(|(name, tensor)| (Architecture::Llama.gguf_name(name).unwrap(), tensor.clone()));
    let more = more
        .iter()
        .map(|(name, tensor)| ((*name).to_owned(), tensor.clone()));
    let packed = named.chain(more).map(|(name, tensor)| {
        let kind = if tensor.ndim() == 2 {
            kinds.next().unwrap()
        } else {
            Type::F32
        };
        let numbers: Vec<f32> = tensor.iter().copied().collect();
        (
            name,
            tensor.shape().to_vec(),
            kind,
            quantize(kind, &numbers).unwrap(),
        )
    });
    let packed: Vec<_> = packed.collect();
    let tensors: Vec<_> = packed.iter().map(TensorBytes::from).collect();
    Files::new("small.gguf", write(&all, &tensors).unwrap())
}

/// The model as safetensors with its `config.json`, which has more options.
fn safetensors(options: serde_json::Value, more: &[(&str, &[usize])]) -> Files {
    let mut config = json!({
        "model_type": "llama", "vocab_size": 40, "hidden_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2,
        "num_hidden_layers": 1, "intermediate_size": 512, "max_position_embeddings": 32, "rms_norm_eps": 1e-5,
    });
    let options = options.as_object().unwrap().clone();
    config.as_object_mut().unwrap().extend(options);
    let file = write_parameters(&[], &parameters(more), Type::F32).unwrap();
    let mut files = Files::new("model.safetensors", file);
    files
        .beside
        .push(("config.json".to_owned(), config.to_string().into_bytes()));
    files
}

/// The model of [`safetensors`] in three files, whose tensors take turns.
fn safetensors_in_parts() -> Files {
    let mut files = safetensors(json!({}), &[]);
    let all = parameters(&[]);
    let mut parts = (0..3).map(|n| {
        let mut part = Memory::default();
        for (name, tensor) in all.iter().skip(n).step_by(3) {
            part.insert(name, tensor.clone());
        }
        let file = write_parameters(&[], &part, Type::F32).unwrap();
        let name = format!("model-{:05}-of-00003.safetensors", n + 1);
        (name, file.into())
    });
    (files.name, files.weights) = parts.next().unwrap();
    files.more = parts.collect();
    files
}

/// A model as GGUF in several files, whose names do not say so.
fn gguf_in_parts(whole: &Files, count: usize) -> Files {
    let read = Gguf::parse(whole.weights.clone()).unwrap();
    let parts = split(&read, count).unwrap();
    let mut parts = parts
        .into_iter()
        .enumerate()
        .map(|(n, part)| (format!("{}.gguf", n + 1), part.into()));
    let (name, weights) = parts.next().unwrap();
    let mut files = Files::new(name, Vec::new());
    files.weights = weights;
    files.more = parts.collect();
    files
}

fn logits(opened: &Opened) -> Array2<f32> {
    use engine::model::decoder::DecoderExt;
    let model = opened.model.decoder().unwrap();
    model.forward(&[3, 1, 4, 1, 5, 9, 2, 6], None).unwrap()
}

/// Notes the types in which a model gets its matrices.
struct Noted<'a> {
    source: Compressed<Box<dyn Parameters>>,
    kinds: &'a RefCell<BTreeSet<&'static str>>,
}

impl Parameters for Noted<'_> {
    engine::forward_description!(self => self.source);

    fn read(&mut self, name: &str) -> engine::Result<ArrayD<f32>> {
        self.source.read(name)
    }

    fn weight(&mut self, name: &str, rows: usize, cols: usize) -> engine::Result<Weight> {
        let weight = self.source.weight(name, rows, cols)?;
        if let Weight::Packed(matrix) = &weight {
            self.kinds.borrow_mut().insert(matrix.kind().name());
        }
        Ok(weight)
    }
}

/// The model, and the types of its matrices.
fn noted(files: &Files, form: MatrixForm) -> (Opened, Vec<&'static str>) {
    let kinds = RefCell::default();
    let through = |source| {
        let source = Compressed::new(source, form);
        Box::new(Noted {
            source,
            kinds: &kinds,
        }) as Box<dyn Parameters>
    };
    let opened = open_through(files, through).unwrap();
    let kinds = kinds.take().into_iter().collect();
    (opened, kinds)
}

/// The largest difference of two logits, in standard deviations of all.
fn distance(a: &Array2<f32>, b: &Array2<f32>) -> f32 {
    let largest = (a - b).iter().fold(0.0f32, |most, x| most.max(x.abs()));
    largest / a.std(0.0)
}

#[test]
fn types_without_a_fast_product_are_repacked() {
    for (kinds, expected) in [
        (&[Type::Q4K, Type::Q6K][..], &["Q4_1", "Q6"][..]),
        (&[Type::Q6K], &["Q6"]),
        (&[Type::Q5K], &["Q5_1"]),
        (&[Type::Q5_0], &["Q5_1"]),
    ] {
        let file = gguf(kinds, &[], &[]);
        let (exact, plain) = noted(&file, MatrixForm::In(Type::F32));
        assert_eq!(plain, ["F32"]);
        let (fast, repacked) = noted(&file, MatrixForm::default());
        assert_eq!(repacked, expected);
        // Rounding activations to 8 bits moves logits by a few hundredths of their deviation.
        let moved = distance(&logits(&exact), &logits(&fast));
        println!("{kinds:?}: {moved}");
        assert!(moved > 0.0 && moved < 0.06, "{kinds:?}: {moved}");
        let (stored, kept) = noted(&file, MatrixForm::Stored);
        let mut names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
        names.sort_unstable();
        assert_eq!(kept, names);
        let moved = distance(&logits(&exact), &logits(&stored));
        assert!(moved < 1e-4, "{kinds:?}: {moved}");
    }
}

#[test]
fn types_with_a_fast_product_stay() {
    for kind in [
        Type::F32,
        Type::F16,
        Type::Bf16,
        Type::Q8_0,
        Type::Q4_0,
        Type::Q4_1,
        Type::Q5_1,
    ] {
        let file = gguf(&[kind], &[], &[]);
        let (fast, kinds) = noted(&file, MatrixForm::default());
        assert_eq!(kinds, [kind.name()]);
        let (stored, _) = noted(&file, MatrixForm::Stored);
        assert_eq!(logits(&fast), logits(&stored));
        let (exact, _) = noted(&file, MatrixForm::In(Type::F32));
        let moved = distance(&logits(&exact), &logits(&fast));
        println!("{}: {moved}", kind.name());
        assert!(moved < 0.06, "{}: {moved}", kind.name());
    }
}

#[test]
fn options_of_a_config_that_are_not_computed_are_refused() {
    assert!(open(&safetensors(json!({}), &[]), MatrixForm::default()).is_ok());
    for (options, part) in [
        (
            json!({"rope_parameters": {"rope_type": "proportional", "factor": 4.0}}),
            "rope_parameters.rope_type",
        ),
        (
            json!({"rope_scaling": {"type": "dynamic"}}),
            "rope_scaling.factor",
        ),
        (json!({"hidden_act": "gelu"}), "hidden_act"),
        (json!({"sliding_window": 4}), "sliding_window"),
    ] {
        let error = open(&safetensors(options, &[]), MatrixForm::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("config.json: expected ") && error.contains(part),
            "{error}"
        );
    }
}

#[test]
fn options_of_gguf_that_are_not_computed_are_refused() {
    let text = |text: &str| Value::Text(text.to_owned());
    for (key, value) in [
        ("llama.rope.scaling.type", text("longrope")),
        ("llama.rope.scaling.yarn_ext_factor", Value::F32(0.5)),
        ("llama.attention.sliding_window", Value::F32(4.5)),
        ("llama.attention.sliding_window_pattern", Value::U32(2)),
        ("llama.attention.value_length", Value::U32(32)),
        ("llama.attention.causal", Value::Bool(false)),
    ] {
        let extra = [("llama.attention.key_length", Value::U32(64)), (key, value)];
        let error = open(&gguf(&[Type::F32], &extra, &[]), MatrixForm::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains(key), "{key}: {error}");
    }
    let known = [
        ("llama.rope.scaling.type", text("none")),
        ("llama.rope.scaling.factor", Value::F32(8.0)),
        ("llama.attention.sliding_window", Value::U32(32)),
        ("llama.attention.causal", Value::Bool(true)),
    ];
    let plain = open(&gguf(&[Type::F32], &[], &[]), MatrixForm::default()).unwrap();
    let same = open(&gguf(&[Type::F32], &known, &[]), MatrixForm::default()).unwrap();
    assert_eq!(logits(&plain), logits(&same));
}

#[test]
fn a_tensor_that_nothing_read_is_refused() {
    let harmless: (&str, &[usize]) = ("model.layers.0.self_attn.rotary_emb.inv_freq", &[32]);
    assert!(open(&safetensors(json!({}), &[harmless]), MatrixForm::default()).is_ok());
    for name in [
        "model.layers.0.mlp.router.weight",
        "model.layers.0.self_attn.q_norm.weight",
        "model.layers.1.self_attn.q_proj.weight",
    ] {
        let unread: (&str, &[usize]) = (name, &[256]);
        let error = open(
            &safetensors(json!({}), &[unread, harmless]),
            MatrixForm::default(),
        )
        .unwrap_err();
        let start = format!("model.safetensors: the tensor {name} is not read by a Llama here");
        assert!(error.to_string().starts_with(&start), "{error}");
    }
    // Biases of attention's projections are computed.
    let biases = ["q_proj", "k_proj", "v_proj", "o_proj"];
    let mut all = BTreeSet::new();
    for (part, width) in biases.into_iter().zip([256, 128, 128, 256]) {
        let name = format!("model.layers.0.self_attn.{part}.bias");
        let shape: &[usize] = &[width];
        let files = safetensors(json!({"attention_bias": true}), &[(&name, shape)]);
        let opened = open(&files, MatrixForm::default()).unwrap();
        all.insert(
            logits(&opened)
                .iter()
                .map(|x| x.to_bits())
                .collect::<Vec<_>>(),
        );
    }
    assert_eq!(all.len(), biases.len());
    // Under the names of GGUF, known here or not.
    for name in [
        "blk.0.attn_norm.bias",
        "blk.0.attn_q_norm.weight",
        "mm.0.weight",
    ] {
        let more = [(name, ArrayD::zeros(vec![256]))];
        let error = open(&gguf(&[Type::F32], &[], &more), MatrixForm::default()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("the tensor {name} is not read")),
            "{error}"
        );
    }
}

#[test]
fn weights_in_several_files_give_the_model_of_one() {
    let opened = |files: &Files| logits(&open(files, MatrixForm::default()).unwrap());
    let gguf = gguf(&[Type::Q8_0, Type::Q4K], &[], &[]);
    for (whole, parts) in [
        (safetensors(json!({}), &[]), safetensors_in_parts()),
        (gguf.clone(), gguf_in_parts(&gguf, 4)),
    ] {
        let expected = opened(&whole);
        assert_eq!(opened(&parts), expected, "{}", parts.name);
        // In any order.
        let mut turned = parts.clone();
        turned.more.reverse();
        let name = std::mem::replace(&mut turned.name, turned.more[0].0.clone());
        let weights = std::mem::replace(&mut turned.weights, turned.more[0].1.clone());
        turned.more[0] = (name, weights);
        assert_eq!(opened(&turned), expected, "{}", turned.name);
    }
    assert_eq!(safetensors_in_parts().title(), "model");
}

#[test]
fn parts_that_do_not_make_a_model_are_refused() {
    let error = |files: &Files| open(files, MatrixForm::default()).unwrap_err().to_string();
    let parts = safetensors_in_parts();
    let mut alone = parts.clone();
    alone.more.clear();
    assert_eq!(
        error(&alone),
        "model-00001-of-00003.safetensors is part 1 of 3, and model-00002-of-00003.safetensors is missing: open all parts at once"
    );
    let gguf = gguf_in_parts(&gguf(&[Type::F32], &[], &[]), 3);
    let mut alone = gguf.clone();
    alone.more.pop();
    assert_eq!(
        error(&alone),
        "1.gguf is part 1 of 3, and part 3 is missing: open all parts at once"
    );
    let changed = |change: &dyn Fn(&mut Files)| {
        let mut files = parts.clone();
        change(&mut files);
        error(&files)
    };
    let twice = changed(&|files| files.more.push(files.more[0].clone()));
    assert!(twice.contains("two files that are part 2"), "{twice}");
    let other = changed(&|files| files.more[0].0 = "model.safetensors".to_owned());
    assert!(other.contains("found a file that is no part"), "{other}");
    let mixed = changed(&|files| files.more[0] = gguf.more[0].clone());
    assert!(mixed.contains("parts in one format"), "{mixed}");
    // The same tensors under the name of another part.
    let same = changed(&|files| files.more[0].1 = files.more[1].1.clone());
    assert!(same.contains("one of this name"), "{same}");
    // A part of another model, with other tensors: it has one too many.
    let mut other = gguf.clone();
    other.more[1].1 = gguf_in_parts(
        &self::gguf(&[Type::F32], &[], &[("x", ArrayD::zeros(vec![8]))]),
        3,
    )
    .more[1]
        .1
        .clone();
    let why = error(&other);
    assert!(why.contains("split.tensors.count"), "{why}");
}

/// A stored file, which counts what is read of it, and breaks where it is told.
struct Counted {
    bytes: Vec<u8>,
    read: Arc<AtomicUsize>,
    largest: Arc<AtomicUsize>,
    breaks_at: usize,
}

impl ReadAt for Counted {
    fn size(&self) -> usize {
        self.bytes.len()
    }

    fn read_at(&self, start: usize, place: &mut [u8]) -> Result<(), String> {
        let end = start + place.len();
        if (start..end).contains(&self.breaks_at) {
            return Err("the disk was taken away".to_owned());
        }
        self.read.fetch_add(place.len(), Ordering::Relaxed);
        self.largest.fetch_max(place.len(), Ordering::Relaxed);
        place.copy_from_slice(&self.bytes[start..end]);
        Ok(())
    }
}

#[test]
fn a_stored_file_is_read_tensor_by_tensor() {
    // A vocabulary that is longer than what is read first of a file.
    let tokens = (0..40).map(|n| n.to_string().repeat(30_000)).collect();
    let long = [("tokens", Value::Array(Array::Text(tokens)))];
    for whole in [
        safetensors(json!({}), &[]),
        gguf(&[Type::Q8_0, Type::Q4K], &long, &[]),
    ] {
        let bytes = whole.weights.start(usize::MAX).unwrap().into_owned();
        let size = bytes.len();
        let (read, largest) = (Arc::default(), Arc::default());
        let stored = |breaks_at| Counted {
            bytes: bytes.clone(),
            read: Arc::clone(&read),
            largest: Arc::clone(&largest),
            breaks_at,
        };
        let mut files = whole.clone();
        files.weights = FileBytes::stored(stored(usize::MAX));
        let expected = logits(&open(&whole, MatrixForm::default()).unwrap());
        assert_eq!(
            logits(&open(&files, MatrixForm::default()).unwrap()),
            expected
        );
        let (read, largest) = (
            read.load(Ordering::Relaxed),
            largest.load(Ordering::Relaxed),
        );
        println!(
            "{}: {size} bytes, {read} read, at most {largest} at once",
            whole.name
        );
        assert!(
            largest <= (4 << 20) && read <= size + (6 << 20),
            "{read} {largest}"
        );
        // A file that can no longer be read is named with what was needed.
        files.weights = FileBytes::stored(stored(size - 1));
        let error = open(&files, MatrixForm::default()).unwrap_err().to_string();
        assert!(error.contains("the disk was taken away"), "{error}");
    }
}
