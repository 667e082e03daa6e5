//! Small valid files.

use engine::format::gguf_value::{Array, Value};
use engine::quant::Type;
use tools::TensorBytes;
use tools::gguf::write;

/// Metadata with a value of every type.
pub(crate) fn metadata() -> Vec<(String, Value)> {
    let nested = Array::Array(vec![
        Array::Array(vec![Array::U8(vec![1, 2])]),
        Array::Text(vec!["é".to_owned(), String::new()]),
    ]);
    let tokens = ["<unk>", "<s>", "</s>", "▁a", "b"]
        .map(str::to_owned)
        .to_vec();
    let values = [
        ("general.architecture", Value::Text("llama".to_owned())),
        ("general.alignment", Value::U32(64)),
        ("llama.block_count", Value::U8(1)),
        ("llama.embedding_length", Value::I64(4)),
        ("llama.attention.head_count", Value::U16(2)),
        ("llama.feed_forward_length", Value::U64(6)),
        ("llama.context_length", Value::I32(9)),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
        ("llama.rope.freq_base", Value::F64(10_000.0)),
        ("other.i8", Value::I8(-3)),
        ("other.i16", Value::I16(-300)),
        ("other.bool", Value::Bool(true)),
        ("other.bools", Value::Array(Array::Bool(vec![true, false]))),
        ("other.nested", Value::Array(nested)),
        ("other.empty", Value::Array(Array::F64(Vec::new()))),
        ("tokenizer.ggml.model", Value::Text("llama".to_owned())),
        ("tokenizer.ggml.tokens", Value::Array(Array::Text(tokens))),
        (
            "tokenizer.ggml.scores",
            Value::Array(Array::F32(vec![0.0, 0.0, 0.0, -1.0, -2.0])),
        ),
        (
            "tokenizer.ggml.token_type",
            Value::Array(Array::I32(vec![2, 3, 3, 1, 1])),
        ),
        ("tokenizer.ggml.bos_token_id", Value::U32(1)),
    ];
    values.map(|(key, value)| (key.to_owned(), value)).to_vec()
}

/// The parameters of a Llama of one block, width 4, inner 6 and five tokens: name, shape, bytes.
pub(crate) fn llama() -> Vec<(&'static str, Vec<usize>, Vec<u8>)> {
    [
        ("token_embd.weight", vec![5, 4]),
        ("blk.0.attn_norm.weight", vec![4]),
        ("blk.0.attn_q.weight", vec![4, 4]),
        ("blk.0.attn_k.weight", vec![4, 4]),
        ("blk.0.attn_v.weight", vec![4, 4]),
        ("blk.0.attn_output.weight", vec![4, 4]),
        ("blk.0.ffn_norm.weight", vec![4]),
        ("blk.0.ffn_gate.weight", vec![6, 4]),
        ("blk.0.ffn_up.weight", vec![6, 4]),
        ("blk.0.ffn_down.weight", vec![4, 6]),
        ("output_norm.weight", vec![4]),
    ]
    .map(|(name, shape)| {
        let count: usize = shape.iter().product();
        let bytes = (0..count).flat_map(|n| (n as f32 * 0.1 - 0.5).to_le_bytes());
        (name, shape, bytes.collect())
    })
    .to_vec()
}

/// A GGUF file with all of that and a matrix of blocks.
pub(crate) fn gguf() -> Vec<u8> {
    let tensors = llama();
    let blocks = [0u8; 2 * 34];
    let plain = tensors.iter().map(|(name, shape, bytes)| TensorBytes {
        name,
        shape,
        kind: Type::F32,
        bytes,
    });
    let blocks = TensorBytes {
        name: "blocks",
        shape: &[2, 32],
        kind: Type::Q8_0,
        bytes: &blocks,
    };
    let tensors: Vec<TensorBytes<'_>> = plain.chain([blocks]).collect();
    write(&metadata(), &tensors).unwrap()
}

/// A safetensors file with this header.
pub(crate) fn safetensors_with(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u64).to_le_bytes();
    [&length, header.as_bytes(), data].concat()
}

/// A safetensors file with a tensor of each kind of number, and one of integers.
pub(crate) fn safetensors() -> Vec<u8> {
    let header = r#"{"__metadata__":{"format":"pt"},
        "a":{"dtype":"F32","shape":[2,32],"data_offsets":[0,256]},
        "b":{"dtype":"F16","shape":[3],"data_offsets":[256,262]},
        "c":{"dtype":"BF16","shape":[],"data_offsets":[262,264]},
        "d":{"dtype":"I64","shape":[1,1],"data_offsets":[264,272]}}"#;
    let numbers = (0..64).flat_map(|n| (n as f32 - 32.0).to_le_bytes());
    let mut data: Vec<u8> = numbers.collect();
    // 1, −2 and 0.5 as f16, 1 as bf16, 7.
    data.extend([0x00, 0x3c, 0x00, 0xc0, 0x00, 0x38, 0x80, 0x3f]);
    data.extend(7i64.to_le_bytes());
    safetensors_with(header, &data)
}

/// A llama2.c file with these sizes and as many numbers as given.
pub(crate) fn llama2c_with(header: [i32; 7], numbers: usize) -> Vec<u8> {
    let header = header.into_iter().flat_map(i32::to_le_bytes);
    let numbers = (0..numbers).flat_map(|n| ((n % 17) as f32 * 0.1 - 0.8).to_le_bytes());
    header.chain(numbers).collect()
}

/// Width 4, inner 6, a block of two heads, five tokens, context 3, with a head of its own.
pub(crate) fn llama2c() -> Vec<u8> {
    // Two tables of 20, three norms, four matrices of attention, three of the MLP, cosines
    // and sines.
    llama2c_with(
        [4, 6, 1, 2, 2, -5, 3],
        2 * 20 + 3 * 4 + 4 * 16 + 3 * 24 + 3 * 2,
    )
}
