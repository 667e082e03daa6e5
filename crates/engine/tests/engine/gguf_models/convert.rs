//! Small models as `convert_hf_to_gguf.py` of llama.cpp writes them.

use engine::format::gguf_value::Value;
use engine::format::names::Architecture;
use engine::formula::Formula;
use engine::model::{bert, gpt2, llama};
use engine::ndarray::{ArrayD, Axis, stack};
use engine::nn::position::rope::Pairing;
use engine::nn::position::rope::{Rope, Scaling};
use engine::parameters::{Memory, Parameters};
use engine::quant::Type;
use tools::TensorBytes;
use tools::gguf::write;

/// A tensor of a file: its name and numbers.
pub(crate) type Named = (String, ArrayD<f32>);
/// A change of a file before it is written.
pub(crate) type Change = fn(&mut Vec<(String, Value)>, &mut Vec<Named>);
/// No change.
pub(crate) const CONVERTED: Change = |_, _| {};

const SEED: u64 = 3;

pub(crate) fn gpt2() -> (gpt2::Config, Formula) {
    let config = gpt2::Config {
        vocabulary: 23,
        width: 12,
        heads: 3,
        layers: 2,
        inner: 40,
        context: 9,
        norm_eps: 1e-5,
    };
    let source = Formula::new(SEED, config.shapes());
    (config, source)
}

pub(crate) fn bert() -> (bert::Config, Formula) {
    let config = bert::Config {
        vocabulary: 23,
        width: 12,
        heads: 3,
        layers: 2,
        inner: 20,
        context: 9,
        types: 2,
        norm_eps: 1e-12,
    };
    let source = Formula::new(SEED, config.shapes());
    (config, source)
}

/// Three query heads for each of two key/value heads, eight numbers each.
pub(crate) fn llama_config(pairing: Pairing) -> llama::Config {
    llama::Config {
        vocabulary: 23,
        width: 12,
        heads: 6,
        kv_heads: 2,
        head_width: 8,
        layers: 2,
        inner: 20,
        context: 9,
        norm_eps: 1e-5,
        rope: Rope {
            width: 8,
            base: 10_000.0,
            pairing,
            scaling: Scaling::None,
        },
        experts: None,
        windows: Vec::new(),
        mlp_bias: true,
    }
}

/// Its parameters; with biases of q, k and v and a head of its own where asked for.
pub(crate) fn llama_source(config: &llama::Config, more: bool) -> Formula {
    let mut shapes = config.shapes();
    if more {
        for n in 0..config.layers {
            for (part, heads) in [
                ("q", config.heads),
                ("k", config.kv_heads),
                ("v", config.kv_heads),
            ] {
                let name = format!("model.layers.{n}.self_attn.{part}_proj.bias");
                shapes.push((name, vec![heads * config.head_width]));
            }
        }
        let head = vec![config.vocabulary, config.width];
        shapes.push(("lm_head.weight".to_owned(), head));
    }
    Formula::new(SEED, shapes)
}

/// The parameters with rows of q and k so ordered that the numbers of a rotary plane are
/// neighbours.
pub(crate) fn permuted(config: &llama::Config, source: &mut dyn Parameters) -> Memory {
    let mut memory = Memory::default();
    for name in source.names() {
        let tensor = source.read(&name).unwrap();
        let tensor = if name.contains(".q_proj.") || name.contains(".k_proj.") {
            // Row 2i + s of a head is row s D/2 + i of the other order.
            let (d, half) = (config.head_width, config.head_width / 2);
            let rows = 0..tensor.shape()[0];
            let from = rows.map(|row| row / d * d + row % 2 * half + row % d / 2);
            tensor.select(Axis(0), &from.collect::<Vec<_>>())
        } else {
            tensor
        };
        memory.insert(name, tensor);
    }
    memory
}

pub(crate) fn number(key: &str, n: usize) -> (String, Value) {
    (key.to_owned(), Value::U32(u32::try_from(n).unwrap()))
}

fn text(key: &str, text: &str) -> (String, Value) {
    (key.to_owned(), Value::Text(text.to_owned()))
}

/// The file of parameters under Hugging Face's names; those without a name in GGUF are left out.
fn file(
    architecture: Architecture,
    mut metadata: Vec<(String, Value)>,
    source: &mut dyn Parameters,
    change: Change,
) -> Vec<u8> {
    let mut tensors = Vec::new();
    for name in source.names() {
        let Some(known) = architecture.gguf_name(&name) else {
            assert!(name.starts_with("cls."), "{name}");
            continue;
        };
        tensors.push((known, source.read(&name).unwrap()));
    }
    change(&mut metadata, &mut tensors);
    let bytes: Vec<(Vec<usize>, Vec<u8>)> = tensors
        .iter()
        .map(|(_, tensor)| {
            let numbers = tensor.iter().flat_map(|x| x.to_le_bytes());
            (tensor.shape().to_vec(), numbers.collect())
        })
        .collect();
    let tensors = tensors.iter().zip(&bytes);
    let tensors = tensors.map(|((name, _), (shape, bytes))| TensorBytes {
        name,
        shape,
        kind: Type::F32,
        bytes,
    });
    write(&metadata, &tensors.collect::<Vec<_>>()).unwrap()
}

/// The file of [`gpt2`], matrices as `[C_out, C_in]`.
pub(crate) fn gpt2_file(change: Change) -> Vec<u8> {
    let (config, mut source) = gpt2();
    let metadata = vec![
        text("general.architecture", "gpt2"),
        number("gpt2.block_count", config.layers),
        number("gpt2.context_length", config.context),
        number("gpt2.embedding_length", config.width),
        number("gpt2.feed_forward_length", config.inner),
        number("gpt2.attention.head_count", config.heads),
        (
            "gpt2.attention.layer_norm_epsilon".to_owned(),
            Value::F32(config.norm_eps),
        ),
    ];
    let mut turned = Memory::default();
    for name in source.names() {
        let tensor = source.read(&name).unwrap();
        let parts = ["c_attn.weight", "c_proj.weight", "c_fc.weight"];
        let turn = parts.iter().any(|part| name.ends_with(part));
        let tensor = if turn { tensor.reversed_axes() } else { tensor };
        turned.insert(name, tensor);
    }
    file(Architecture::Gpt2, metadata, &mut turned, change)
}

/// The file of [`bert`], without the head.
pub(crate) fn bert_file(change: Change) -> Vec<u8> {
    let (config, mut source) = bert();
    let metadata = vec![
        text("general.architecture", "bert"),
        number("bert.block_count", config.layers),
        number("bert.context_length", config.context),
        number("bert.embedding_length", config.width),
        number("bert.feed_forward_length", config.inner),
        number("bert.attention.head_count", config.heads),
        (
            "bert.attention.layer_norm_epsilon".to_owned(),
            Value::F32(config.norm_eps),
        ),
        ("bert.attention.causal".to_owned(), Value::Bool(false)),
        number("tokenizer.ggml.token_type_count", config.types),
    ];
    file(Architecture::Bert, metadata, &mut source, change)
}

/// The file of a llama or a qwen2: q and k of a llama permuted, experts stacked.
pub(crate) fn llama_file(
    architecture: &str,
    config: &llama::Config,
    more: bool,
    change: Change,
) -> Vec<u8> {
    let mut source = llama_source(config, more);
    let key = |key: &str| format!("{architecture}.{key}");
    let mut metadata = vec![
        text("general.architecture", architecture),
        number(&key("block_count"), config.layers),
        number(&key("context_length"), config.context),
        number(&key("embedding_length"), config.width),
        number(&key("feed_forward_length"), config.inner),
        number(&key("attention.head_count"), config.heads),
        number(&key("attention.head_count_kv"), config.kv_heads),
        number(&key("attention.key_length"), config.head_width),
        number(&key("rope.dimension_count"), config.rope.width),
        number(&key("vocab_size"), config.vocabulary),
        (key("rope.freq_base"), Value::F32(config.rope.base)),
        (
            key("attention.layer_norm_rms_epsilon"),
            Value::F32(config.norm_eps),
        ),
    ];
    let mut scaling = |kind: &str, parts: &[(&str, Value)]| {
        metadata.push(text(&key("rope.scaling.type"), kind));
        for (part, value) in parts {
            metadata.push((key(&format!("rope.scaling.{part}")), value.clone()));
        }
    };
    match config.rope.scaling {
        Scaling::Linear { factor } => scaling("linear", &[("factor", Value::F32(factor))]),
        Scaling::Yarn {
            factor,
            fast,
            slow,
            original_context,
            truncate: true,
            attention,
        } => {
            // llama.cpp multiplies with the usual factor by itself.
            let more = attention / (1.0 + 0.1 * factor.ln());
            let original = u32::try_from(original_context).unwrap();
            scaling(
                "yarn",
                &[
                    ("factor", Value::F32(factor)),
                    ("original_context_length", Value::U32(original)),
                    ("yarn_ext_factor", Value::F32(1.0)),
                    ("yarn_attn_factor", Value::F32(more)),
                    ("yarn_beta_fast", Value::F32(fast)),
                    ("yarn_beta_slow", Value::F32(slow)),
                ],
            );
        }
        _ => {}
    }
    if let Some(window) = config.windows.first().copied().flatten() {
        metadata.push(number(&key("attention.sliding_window"), window));
    }
    let (experts, chosen) = config.experts.unwrap_or((0, 0));
    metadata.push(number(&key("expert_count"), experts));
    metadata.push(number(&key("expert_used_count"), chosen));
    let known = Architecture::from_name(architecture).unwrap();
    if known == Architecture::Qwen2 {
        return file(known, metadata, &mut source, change);
    }
    let mut source = permuted(config, &mut source);
    if experts == 0 {
        return file(known, metadata, &mut source, change);
    }
    file(known, metadata, &mut source, |metadata, tensors| {
        stack_experts(metadata, tensors);
    })
}

/// `blk.N.ffn_gate.E.weight` `[F, C]` of all experts becomes `blk.N.ffn_gate_exps.weight` `[E, F,
/// C]`.
fn stack_experts(_: &mut Vec<(String, Value)>, tensors: &mut Vec<Named>) {
    let of = |name: &str| {
        let (stem, number) = name.strip_suffix(".weight")?.rsplit_once('.')?;
        Some((format!("{stem}_exps.weight"), number.parse::<usize>().ok()?))
    };
    let (experts, rest): (Vec<Named>, Vec<Named>) =
        tensors.drain(..).partition(|(name, _)| of(name).is_some());
    *tensors = rest;
    let mut names: Vec<(String, usize)> = experts.iter().filter_map(|(name, _)| of(name)).collect();
    names.sort();
    names.dedup_by(|a, b| a.0 == b.0);
    for (name, _) in names {
        let mut parts: Vec<(usize, &ArrayD<f32>)> = experts
            .iter()
            .filter_map(|(part, tensor)| of(part).map(|found| (found, tensor)))
            .filter(|((stack, _), _)| *stack == name)
            .map(|((_, number), tensor)| (number, tensor))
            .collect();
        parts.sort_by_key(|(number, _)| *number);
        let views: Vec<_> = parts.iter().map(|(_, tensor)| tensor.view()).collect();
        tensors.push((name, stack(Axis(0), &views).unwrap()));
    }
}
