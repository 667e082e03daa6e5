//! Where decoders get their sizes and parameters from, and what they refuse.

use engine::formula::Formula;
use engine::model::decoder::{Decoder, DecoderExt};
use engine::model::gpt2::{self, Gpt2};
use engine::model::llama::{self, Llama};
use engine::ndarray::{Array2, Axis, s};
use engine::nn::position::rope::Pairing;
use engine::nn::position::rope::Scaling;
use engine::parameters::{Memory, Parameters};
use engine::trace::Recorder;

use crate::support::small::{IDS, gpt2, gpt2_config, llama, llama_config};

#[test]
fn hidden_numbers_that_are_no_numbers_stay_where_they_are() {
    let config = gpt2_config();
    let mut source = Formula::new(3, config.shapes());
    let mut memory = Memory::default();
    for name in source.names() {
        let mut tensor = source.read(&name).unwrap();
        if name == "transformer.wte.weight" {
            tensor.index_axis_mut(Axis(0), 22).fill(f32::NAN);
        }
        memory.insert(name, tensor);
    }
    let model = Gpt2::load(config, &mut memory).unwrap();
    let hidden = |ids: &[usize]| {
        let mut seen = Recorder::default();
        model.forward(ids, Some(&mut seen)).unwrap();
        seen.get("norm").unwrap().clone()
    };
    let (clean, poisoned) = (hidden(&[1, 2, 3]), hidden(&[1, 2, 22]));
    let before = s![..2, ..];
    assert_eq!(clean.slice(before), poisoned.slice(before));
}

#[test]
fn gpt2_is_read_in_both_orientations_and_without_its_prefix() {
    let config = gpt2_config();
    let mut source = Formula::new(3, config.shapes());
    let mut turned = Memory::default();
    for name in source.names() {
        let tensor = source.read(&name).unwrap();
        let conv1d = name.contains(".c_") && tensor.ndim() == 2;
        let tensor = if conv1d {
            tensor.reversed_axes()
        } else {
            tensor
        };
        turned.insert(name.trim_start_matches("transformer."), tensor);
    }
    let other = Gpt2::load(config, &mut turned).unwrap();
    assert_eq!(
        other.forward(&IDS, None).unwrap(),
        gpt2().forward(&IDS, None).unwrap()
    );
}

#[test]
fn sizes_are_read_from_each_formats_names() {
    let keys = |pairs: &'static [(&str, f64)]| {
        move |key: &str| pairs.iter().find(|(name, _)| *name == key).map(|(_, n)| *n)
    };
    let gguf = keys(&[
        ("vocab_size", 23.0),
        ("embedding_length", 12.0),
        ("attention.head_count", 6.0),
        ("attention.head_count_kv", 2.0),
        ("attention.key_length", 4.0),
        ("block_count", 2.0),
        ("feed_forward_length", 20.0),
        ("context_length", 9.0),
        ("rope.freq_base", 10_000.0),
        ("attention.layer_norm_rms_epsilon", 1e-5),
    ]);
    assert_eq!(
        llama::Config::from_keys(&gguf, Pairing::Halves).unwrap(),
        llama_config()
    );
    let hf = keys(&[
        ("vocab_size", 23.0),
        ("n_embd", 12.0),
        ("n_head", 3.0),
        ("n_layer", 2.0),
        ("n_inner", 40.0),
        ("n_positions", 9.0),
    ]);
    assert_eq!(gpt2::Config::from_keys(&hf).unwrap(), gpt2_config());
    let error = gpt2::Config::from_keys(&|_| None).unwrap_err().to_string();
    assert_eq!(
        error,
        "gpt2: width must be given as width or n_embd or embedding_length, found none"
    );
    for bad in [0.0, -1.0, 2.5, 1e12, f64::NAN, f64::INFINITY] {
        let error = gpt2::Config::from_keys(&|_| Some(bad))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("gpt2: width must be a whole number from 1 to"),
            "{error}"
        );
    }
    let scaled = |key: &str| match key {
        "rope_type.llama3" => Some(1.0),
        "rope_scaling.factor" => Some(32.0),
        "rope_scaling.low_freq_factor" => Some(1.0),
        "rope_scaling.high_freq_factor" => Some(4.0),
        "rope_scaling.original_max_position_embeddings" => Some(8192.0),
        _ => gguf(key),
    };
    let config = llama::Config::from_keys(&scaled, Pairing::Halves).unwrap();
    let expected = Scaling::Llama3 {
        factor: 32.0,
        low: 1.0,
        high: 4.0,
        original_context: 8192,
    };
    assert_eq!(config.rope.scaling, expected);
    // The entries of another kind do not count.
    let default = |key: &str| match key {
        "rope_type.llama3" => None,
        "rope_type.default" => Some(1.0),
        _ => scaled(key),
    };
    let config = llama::Config::from_keys(&default, Pairing::Halves).unwrap();
    assert_eq!(config.rope.scaling, Scaling::None);
    let linear = |key: &str| {
        if key == "rope.scaling.factor" {
            Some(2.0)
        } else {
            gguf(key)
        }
    };
    let config = llama::Config::from_keys(&linear, Pairing::Halves).unwrap();
    assert_eq!(config.rope.scaling, Scaling::Linear { factor: 2.0 });
    let experts = |key: &str| match key {
        "expert_count" => Some(2.0),
        "expert_used_count" => Some(3.0),
        _ => gguf(key),
    };
    assert!(llama::Config::from_keys(&experts, Pairing::Halves).is_err());
    let header = [64, 172, 5, 8, 4, -512, 512];
    let config = llama::Config::from_llama2c(header).unwrap();
    assert_eq!((config.head_width, config.vocabulary), (8, 512));
    assert!(llama::Config::from_llama2c([i32::MIN; 7]).is_err());
    assert!(llama::Config::from_llama2c([64, 172, 5, 8, 3, 512, 512]).is_err());
}

#[test]
fn what_does_not_fit_is_named() {
    let mut shapes = gpt2_config().shapes();
    shapes.retain(|(name, _)| name != "transformer.h.1.mlp.c_fc.bias");
    let error = Gpt2::load(gpt2_config(), &mut Formula::new(0, shapes)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "parameter transformer.h.1.mlp.c_fc.bias: expected [40], found none"
    );
    let mut config = llama_config();
    config.kv_heads = 4;
    let shapes = config.shapes();
    assert!(Llama::load(config, &mut Formula::new(0, shapes)).is_err());
    let mut source = Memory::default();
    source.insert(
        "model.embed_tokens.weight",
        Array2::<f32>::zeros((23, 11)).into_dyn(),
    );
    assert!(Llama::load(llama_config(), &mut source).is_err());
    // Another model's caches are refused.
    let mut caches = gpt2().caches(1);
    let other = llama(llama_config(), &[]);
    assert!(other.feed(&[1], &[1], &mut caches, None).is_err());
}
