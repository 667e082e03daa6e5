//! A model's files as one GGUF file, under llama.cpp's names: what `convert_hf_to_gguf.py` and
//! `llama-quantize` do.
//!
//! Matrices are packed into one type; what has one axis, position tables and token types keep plain
//! numbers, as in llama.cpp's own files, and so do matrices whose rows are not whole blocks (in
//! half precision).
//!
//! Source: llama.cpp, `convert_hf_to_gguf.py`; the GGUF specification (ggml, `docs/gguf.md`).

use crate::TensorBytes;
use crate::gguf::{vocabulary_metadata, write};
use engine::EngineError;
use engine::format::gguf::Gguf;
use engine::format::gguf_value::Value;
use engine::format::names::Architecture;
use engine::format::tensors::{Element, Tensors};
use engine::model::llama;
use engine::ndarray::{ArrayD, Axis};
use engine::nn::position::rope::Pairing;
use engine::nn::position::rope::{Rope, Scaling};
use engine::open::{Files, OpenError, TextConfig, Weights, text_config, tokenizer};
use engine::parameters::Parameters;
use engine::quant::{Type, quantize};

/// A tensor of the new file.
struct Packed {
    name: String,
    shape: Vec<usize>,
    kind: Type,
    bytes: Vec<u8>,
}

/// The number by which GGUF files say what most of their matrices are (`enum llama_ftype`).
fn file_type(kind: Type) -> u32 {
    match kind {
        Type::F32 => 0,
        Type::F16 => 1,
        Type::Q4_0 => 2,
        Type::Q4_1 => 3,
        Type::Q8_0 => 7,
        Type::Q5_0 => 8,
        Type::Q5_1 => 9,
        Type::Q4K => 14,
        Type::Q5K => 16,
        Type::Q6K => 18,
        Type::Bf16 => 32,
        // No file has it: no numbers are packed into it.
        Type::Q6 => u32::MAX,
    }
}

/// A GGUF file of the model in some files, its matrices in `kind`. `progress` is told how many
/// tensors are done, and of how many.
///
/// # Errors
/// When the files are no model that GGUF has names for (GPT-2, Llama, Qwen2, BERT), or are damaged.
pub fn to_gguf(
    files: &Files,
    kind: Type,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<u8>, OpenError> {
    let weights = Weights::of(files)?;
    let (mut metadata, mut source) = match weights {
        Weights::Gguf(file) => from_gguf(*file),
        other => {
            let (architecture, config) = text_config(files, &other)?;
            let described = described(files, &other, architecture, &config)?;
            let source = Source::new(other.tensors().clone(), architecture, &config);
            (described, source)
        }
    };
    let own = ["general.file_type", "general.quantization_version"];
    metadata.retain(|(key, _)| !own.contains(&key.as_str()));
    metadata.push((own[0].to_owned(), Value::U32(file_type(kind))));
    metadata.push((own[1].to_owned(), Value::U32(2)));

    let wrong = |source| OpenError::Model {
        file: files.name.clone(),
        source,
    };
    let names = source.names();
    let mut packed = Vec::new();
    for (done, (theirs, name)) in names.iter().enumerate() {
        progress(done, names.len());
        let numbers = source.read(theirs).map_err(wrong)?;
        packed.push(pack(name, &numbers, kind).map_err(wrong)?);
    }
    packed.extend(source.divisors.take());
    progress(names.len(), names.len());
    let tensors = packed.iter().map(|tensor| TensorBytes {
        name: &tensor.name,
        shape: &tensor.shape,
        kind: tensor.kind,
        bytes: &tensor.bytes,
    });
    let written = write(&metadata, &tensors.collect::<Vec<_>>());
    written.map_err(|source| OpenError::Damaged {
        file: files.name.clone(),
        source,
    })
}

/// A tensor in the form that it is written in.
fn pack(name: &str, numbers: &ArrayD<f32>, kind: Type) -> Result<Packed, EngineError> {
    let plain = numbers.ndim() != 2
        || ["position_embd.", "token_types."]
            .iter()
            .any(|table| name.starts_with(table));
    let columns = numbers.shape().last().copied().unwrap_or(1);
    let kind = match kind {
        _ if plain => Type::F32,
        _ if !columns.is_multiple_of(kind.block_len()) => Type::F16,
        kind => kind,
    };
    let numbers = numbers.as_standard_layout();
    let flat = numbers.as_slice().unwrap_or_default();
    let bytes = quantize(kind, flat).map_err(|error| EngineError::Parameter {
        name: name.to_owned(),
        expected: format!("numbers to pack into {}", kind.name()),
        found: error.to_string(),
    })?;
    Ok(Packed {
        name: name.to_owned(),
        shape: numbers.shape().to_vec(),
        kind,
        bytes,
    })
}

/// What is done to a matrix on its way.
enum Turn {
    /// Nothing.
    Keep,
    /// GPT-2's `[C_in, C_out]` become `[C_out, C_in]`.
    Transpose,
    /// Rows of q and k with planes of halves become planes of neighbours, in heads of so many rows.
    Neighbours(usize),
}

/// What is done to a tensor of a name and shape.
type Turns = Box<dyn Fn(&str, &[usize]) -> Turn>;

/// Tensors, and what becomes of each.
struct Source {
    tensors: Tensors,
    architecture: Option<Architecture>,
    turn: Turns,
    divisors: Option<Packed>,
}

impl Source {
    fn new(tensors: Tensors, architecture: Architecture, text: &TextConfig) -> Self {
        let turn: Turns = match text {
            TextConfig::Gpt2(config) => {
                let (width, inner) = (config.width, config.inner);
                Box::new(move |name, shape| {
                    let stored = [
                        ("c_attn.weight", [width, 3 * width]),
                        ("c_fc.weight", [width, inner]),
                        ("mlp.c_proj.weight", [inner, width]),
                        ("attn.c_proj.weight", [width, width]),
                    ];
                    let turned = stored
                        .iter()
                        .any(|(end, turned)| name.ends_with(end) && shape == turned);
                    if turned { Turn::Transpose } else { Turn::Keep }
                })
            }
            TextConfig::Llama(config)
                if architecture == Architecture::Llama
                    && config.rope.pairing == Pairing::Halves =>
            {
                let head = config.head_width;
                Box::new(move |name, _| {
                    let turned = name.contains(".q_proj.") || name.contains(".k_proj.");
                    if turned {
                        Turn::Neighbours(head)
                    } else {
                        Turn::Keep
                    }
                })
            }
            _ => Box::new(|_, _| Turn::Keep),
        };
        let divisors = match text {
            TextConfig::Llama(config) => divisors(&config.rope),
            _ => None,
        };
        Self {
            tensors,
            architecture: Some(architecture),
            turn,
            divisors,
        }
    }

    /// The source's names with those of the new file; what has none is left out.
    fn names(&self) -> Vec<(String, String)> {
        let new = |name: &String| match self.architecture {
            Some(architecture) => architecture.gguf_name(name),
            None => Some(name.clone()),
        };
        let names = self.tensors.names().into_iter();
        names
            .filter_map(|name| Some((name.clone(), new(&name)?)))
            .collect()
    }

    fn read(&mut self, name: &str) -> Result<ArrayD<f32>, EngineError> {
        let tensor = self.tensors.read(name)?;
        Ok(match (self.turn)(name, tensor.shape()) {
            Turn::Keep => tensor,
            Turn::Transpose => tensor.reversed_axes(),
            Turn::Neighbours(head) => {
                // Row 2i + s of a head is row s D/2 + i of the other order.
                let rows = 0..tensor.len_of(Axis(0));
                let from =
                    rows.map(|row| row / head * head + row % 2 * (head / 2) + row % head / 2);
                tensor.select(Axis(0), &from.collect::<Vec<_>>())
            }
        })
    }
}

/// A GGUF file again, with its own metadata.
fn from_gguf(file: Gguf) -> (Vec<(String, Value)>, Source) {
    let source = Source {
        tensors: file.tensors.clone(),
        architecture: None,
        turn: Box::new(|_, _| Turn::Keep),
        divisors: None,
    };
    (file.metadata().to_vec(), source)
}

/// Positions that are stretched in another way than evenly, as `rope_freqs.weight`.
fn divisors(rope: &Rope) -> Option<Packed> {
    if matches!(rope.scaling, Scaling::None | Scaling::Linear { .. }) {
        return None;
    }
    let plain = Rope {
        scaling: Scaling::None,
        ..rope.clone()
    };
    let (plain, scaled) = (plain.angular(0).ok()?, rope.angular(0).ok()?);
    let numbers: Vec<f32> = plain
        .iter()
        .zip(&scaled)
        .map(|(a, b)| (a / b) as f32)
        .collect();
    Some(Packed {
        name: "rope_freqs.weight".to_owned(),
        shape: vec![numbers.len()],
        kind: Type::F32,
        bytes: numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
    })
}

/// The metadata of a model and its vocabulary, which the file of weights may hold in its own
/// metadata.
fn described(
    files: &Files,
    weights: &Weights,
    architecture: Architecture,
    text: &TextConfig,
) -> Result<Vec<(String, Value)>, OpenError> {
    let name = architecture.name();
    let mut all = vec![
        (
            "general.architecture".to_owned(),
            Value::Text(name.to_owned()),
        ),
        ("general.name".to_owned(), Value::Text(files.title())),
    ];
    let mut add = |key: &str, value: Value| all.push((format!("{name}.{key}"), value));
    let whole = |n: usize| Value::U32(u32::try_from(n).unwrap_or(u32::MAX));
    match text {
        TextConfig::Gpt2(config) => {
            add("context_length", whole(config.context));
            add("embedding_length", whole(config.width));
            add("feed_forward_length", whole(config.inner));
            add("block_count", whole(config.layers));
            add("attention.head_count", whole(config.heads));
            add("attention.layer_norm_epsilon", Value::F32(config.norm_eps));
        }
        TextConfig::Llama(config) => {
            check_llama(config)?;
            add("vocab_size", whole(config.vocabulary));
            add("context_length", whole(config.context));
            add("embedding_length", whole(config.width));
            add("feed_forward_length", whole(config.inner));
            add("block_count", whole(config.layers));
            add("attention.head_count", whole(config.heads));
            add("attention.head_count_kv", whole(config.kv_heads));
            add(
                "attention.layer_norm_rms_epsilon",
                Value::F32(config.norm_eps),
            );
            if config.head_width * config.heads != config.width {
                add("attention.key_length", whole(config.head_width));
                add("attention.value_length", whole(config.head_width));
            }
            add("rope.dimension_count", whole(config.rope.width));
            add("rope.freq_base", Value::F32(config.rope.base));
            if let Scaling::Linear { factor } = config.rope.scaling {
                add("rope.scaling.type", Value::Text("linear".to_owned()));
                add("rope.scaling.factor", Value::F32(factor));
            }
        }
        TextConfig::Bert(config) => {
            add("context_length", whole(config.context));
            add("embedding_length", whole(config.width));
            add("feed_forward_length", whole(config.inner));
            add("block_count", whole(config.layers));
            add("attention.head_count", whole(config.heads));
            add("attention.layer_norm_epsilon", Value::F32(config.norm_eps));
            add("attention.causal", Value::Bool(false));
            // The mean over the tokens (`enum llama_pooling_type`).
            add("pooling_type", Value::U32(1));
            all.push((
                "tokenizer.ggml.token_type_count".to_owned(),
                whole(config.types),
            ));
        }
    }
    let tokenizer = tokenizer(files, weights)?.ok_or_else(|| OpenError::Missing {
        file: files.name.clone(),
        needed: "a vocabulary".to_owned(),
    })?;
    let written = tokenizer.gguf().ok_or_else(|| OpenError::Beside {
        file: "vocabulary".to_owned(),
        expected: "byte-level BPE, Llama's or WordPiece".to_owned(),
        found: "one that GGUF files have no form for".to_owned(),
    })?;
    all.extend(vocabulary_metadata(&written));
    Ok(all)
}

/// Refuses what GGUF keeps in a form that is not written here.
fn check_llama(config: &llama::Config) -> Result<(), OpenError> {
    let refuse = |expected: &str, found: String| {
        Err(OpenError::Beside {
            file: "config.json".to_owned(),
            expected: expected.to_owned(),
            found,
        })
    };
    if let Some((count, _)) = config.experts {
        let found = format!("{count} experts, which GGUF keeps as one tensor");
        return refuse("one MLP in each block", found);
    }
    if let Some(window) = config.windows.iter().flatten().next() {
        return refuse(
            "attention to all tokens",
            format!("a window of {window} tokens"),
        );
    }
    let expected = "positions that are not scaled, or linearly or as Llama 3's";
    match config.rope.scaling {
        Scaling::Yarn { .. } => refuse(expected, "YaRN".to_owned()),
        Scaling::LongRope { .. } => refuse(expected, "LongRoPE".to_owned()),
        _ => Ok(()),
    }
}

/// Whether a file has tensors that are not plain numbers already, so that packing them again loses
/// twice.
///
/// # Errors
/// When the file is not one of weights.
pub fn is_packed(files: &Files) -> Result<bool, OpenError> {
    let weights = Weights::of(files)?;
    let blocks = |element| match element {
        Element::Number(kind) => kind.block_len() > 1,
        Element::Scaled { .. } => true,
        Element::Other(_) => false,
    };
    Ok(weights
        .tensors()
        .entries()
        .iter()
        .any(|entry| blocks(entry.element())))
}
