//! GGUF files that are not the model they say they are, and what is said of them.

use super::convert::{Change, bert_file, gpt2_file, llama_config, llama_file, number};
use engine::error::EngineError;
use engine::format::gguf::Gguf;
use engine::format::gguf_value::Value;
use engine::model::bert::Bert;
use engine::model::gpt2::Gpt2;
use engine::model::llama::Llama;
use engine::ndarray::{ArrayD, IxDyn};
use engine::nn::position::rope::Pairing;

/// What loading the model in a changed file says.
fn error(architecture: &str, change: Change) -> EngineError {
    let config = llama_config(Pairing::Halves);
    let bytes = match architecture {
        "gpt2" => gpt2_file(change),
        "bert" => bert_file(change),
        _ => llama_file(architecture, &config, architecture == "qwen2", change),
    };
    let file = Gguf::parse(bytes.into()).unwrap();
    let mut source = file.parameters().unwrap();
    let loaded = match architecture {
        "gpt2" => file.gpt2().and_then(|c| Gpt2::load(c, &mut source)).err(),
        "bert" => file.bert().and_then(|c| Bert::load(c, &mut source)).err(),
        _ => file.llama().and_then(|c| Llama::load(c, &mut source)).err(),
    };
    loaded.unwrap()
}

#[test]
fn a_missing_tensor_is_named() {
    let all: [(&str, Change, &str); 7] = [
        (
            "gpt2",
            |_, tensors| tensors.retain(|(name, _)| name != "blk.1.ffn_up.weight"),
            "parameter blk.1.ffn_up.weight: expected [40, 12], found none",
        ),
        (
            "gpt2",
            |_, tensors| tensors.retain(|(name, _)| name != "output_norm.bias"),
            "parameter output_norm.bias: expected [12], found none",
        ),
        (
            "qwen2",
            |_, tensors| tensors.retain(|(name, _)| name != "blk.0.attn_v.weight"),
            "parameter blk.0.attn_v.weight: expected [16, 12], found none",
        ),
        (
            "llama",
            |_, tensors| tensors.retain(|(name, _)| name != "blk.1.attn_norm.weight"),
            "parameter blk.1.attn_norm.weight: expected [12], found none",
        ),
        (
            "llama",
            |metadata, _| {
                metadata.retain(|(key, _)| !key.starts_with("llama.expert_"));
                metadata.push(("llama.expert_count".to_owned(), Value::U32(4)));
            },
            "parameter blk.0.ffn_gate_inp.weight: expected [4, 12], found none",
        ),
        (
            "bert",
            |_, tensors| tensors.retain(|(name, _)| name != "token_types.weight"),
            "parameter token_types.weight: expected [2, 12], found none",
        ),
        (
            "bert",
            |_, tensors| tensors.retain(|(name, _)| name != "blk.0.attn_output_norm.bias"),
            "parameter blk.0.attn_output_norm.bias: expected [12], found none",
        ),
    ];
    for (architecture, change, expected) in all {
        let error = error(architecture, change);
        assert!(matches!(error, EngineError::Parameter { .. }), "{error:?}");
        assert_eq!(error.to_string(), expected);
    }
}

/// Puts a tensor of zeros of another shape in place of one.
fn reshape(tensors: &mut [(String, ArrayD<f32>)], name: &str, shape: &[usize]) {
    let place = tensors.iter_mut().find(|(known, _)| known == name);
    place.unwrap().1 = ArrayD::zeros(IxDyn(shape));
}

#[test]
fn a_wrong_shape_is_named() {
    let all: [(&str, Change, &str); 5] = [
        (
            "gpt2",
            |_, tensors| reshape(tensors, "blk.1.attn_output.weight", &[12, 11]),
            "parameter blk.1.attn_output.weight: expected [12, 12], found [12, 11]",
        ),
        (
            "gpt2",
            |_, tensors| reshape(tensors, "position_embd.weight", &[8, 12]),
            "parameter position_embd.weight: expected [9, 12], found [8, 12]",
        ),
        (
            "qwen2",
            |_, tensors| reshape(tensors, "blk.1.attn_q.bias", &[12]),
            "parameter blk.1.attn_q.bias: expected [48], found [12]",
        ),
        (
            "llama",
            |_, tensors| reshape(tensors, "blk.0.ffn_down.weight", &[20, 12]),
            "parameter blk.0.ffn_down.weight: expected [12, 20], found [20, 12]",
        ),
        (
            "bert",
            |_, tensors| reshape(tensors, "token_embd_norm.weight", &[12, 1]),
            "parameter token_embd_norm.weight: expected [12], found [12, 1]",
        ),
    ];
    for (architecture, change, expected) in all {
        let error = error(architecture, change);
        assert!(matches!(error, EngineError::Parameter { .. }), "{error:?}");
        assert_eq!(error.to_string(), expected);
    }
}

/// Puts a number in the third place of a tensor.
fn put(tensors: &mut [(String, ArrayD<f32>)], name: &str, number: f32) {
    let place = tensors.iter_mut().find(|(known, _)| known == name);
    *place.unwrap().1.iter_mut().nth(2).unwrap() = number;
}

#[test]
fn a_number_that_is_not_finite_is_named() {
    let all: [(&str, Change, &str); 4] = [
        (
            "gpt2",
            |_, tensors| put(tensors, "token_embd.weight", f32::NAN),
            "parameter token_embd.weight: expected finite numbers, found NaN at 2",
        ),
        (
            "qwen2",
            |_, tensors| put(tensors, "blk.1.attn_k.bias", f32::INFINITY),
            "parameter blk.1.attn_k.bias: expected finite numbers, found inf at 2",
        ),
        (
            "llama",
            |_, tensors| put(tensors, "output_norm.weight", f32::NEG_INFINITY),
            "parameter output_norm.weight: expected finite numbers, found -inf at 2",
        ),
        (
            "bert",
            |_, tensors| put(tensors, "blk.0.ffn_up.weight", f32::NAN),
            "parameter blk.0.ffn_up.weight: expected finite numbers, found NaN at 2",
        ),
    ];
    for (architecture, change, expected) in all {
        let error = error(architecture, change);
        assert!(matches!(error, EngineError::Parameter { .. }), "{error:?}");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_size_that_is_missing_or_absurd_is_named() {
    let all: [(&str, Change, &str); 5] = [
        (
            "gpt2",
            |metadata, _| metadata.retain(|(key, _)| key != "gpt2.block_count"),
            "gpt2: layers must be given as layers or n_layer or block_count, found none",
        ),
        (
            "bert",
            |metadata, _| {
                metadata.retain(|(key, _)| key != "bert.context_length");
                metadata.push(("bert.context_length".to_owned(), Value::U64(1 << 63)));
            },
            "bert: context must be a whole number from 1 to 16777216, found 9223372036854776000",
        ),
        (
            "llama",
            |metadata, _| metadata.retain(|(key, _)| key != "llama.attention.head_count_kv"),
            "parameter blk.0.attn_k.weight: expected [48, 12], found [16, 12]",
        ),
        (
            "qwen2",
            |metadata, _| {
                let dynamic = Value::Text("dynamic".to_owned());
                metadata.push(("qwen2.rope.scaling.type".to_owned(), dynamic));
            },
            "gguf: expected qwen2.rope.scaling.type none, linear or yarn, found \"dynamic\"",
        ),
        (
            "qwen2",
            |metadata, _| metadata.push(number("qwen2.attention.sliding_window", 4)),
            "gguf: expected qwen2.attention.sliding_window 0, or no window shorter than the context of 9, \
             found 4",
        ),
    ];
    for (architecture, change, expected) in all {
        assert_eq!(error(architecture, change).to_string(), expected);
    }
}
