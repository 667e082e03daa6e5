//! Options of `config.json` that change the computation of a model: the values that are computed
//! here, and an error for all others.

use serde_json::Value;

use super::OpenError;
use super::config::refuse;

/// An option with its values that are computed here, as JSON. An option that is absent or null has
/// one of them.
type Known = (&'static str, &'static [&'static str]);

const GPT2: &[Known] = &[
    (
        "activation_function",
        &["\"gelu_new\"", "\"gelu_pytorch_tanh\""],
    ),
    ("scale_attn_weights", &["true"]),
    ("scale_attn_by_inverse_layer_idx", &["false"]),
    ("add_cross_attention", &["false"]),
];

/// Llama, Mistral, Mixtral and Qwen2.
const LLAMA_LIKE: &[Known] = &[
    ("hidden_act", &["\"silu\""]),
    ("partial_rotary_factor", &["1", "1.0"]),
];

const BERT: &[Known] = &[
    ("hidden_act", &["\"gelu\""]),
    ("position_embedding_type", &["\"absolute\""]),
    ("is_decoder", &["false"]),
    ("add_cross_attention", &["false"]),
];

const VIT: &[Known] = &[("hidden_act", &["\"gelu\""])];

const DINOV2: &[Known] = &[
    ("hidden_act", &["\"gelu\""]),
    ("use_swiglu_ffn", &["false"]),
];

const SWINV2: &[Known] = &[
    ("hidden_act", &["\"gelu\""]),
    ("use_absolute_embeddings", &["false"]),
];

/// Refuses a `config.json` of a kind of model (`model_type`) with an option that is not computed
/// here.
pub(super) fn check(config: &Value, kind: &str) -> Result<(), OpenError> {
    let tables: &[&[Known]] = match kind {
        "gpt2" => &[GPT2],
        // Biases of attention and of the MLP are computed where the file has them.
        "llama" | "mistral" | "mixtral" | "qwen2" => &[LLAMA_LIKE],
        "bert" => &[BERT],
        "vit" => &[VIT],
        "dinov2" => &[DINOV2],
        "swinv2" => &[SWINV2],
        _ => &[],
    };
    for (option, known) in tables.iter().copied().flatten() {
        expect(option, &config[*option], known)?;
    }
    if matches!(kind, "llama" | "mistral" | "mixtral" | "qwen2") {
        for name in ["rope_scaling", "rope_parameters"] {
            check_rope(name, &config[name], config)?;
        }
        check_window(config, kind)?;
    }
    Ok(())
}

/// Refuses a value that is none of the known ones.
fn expect(option: &str, found: &Value, known: &[&str]) -> Result<(), OpenError> {
    let found = found.to_string();
    if found == "null" || known.contains(&found.as_str()) {
        return Ok(());
    }
    Err(refuse(format!("{option} of {}", known.join(" or ")), found))
}

/// Numbers that describe YaRN, each of which may be absent.
const YARN: [&str; 7] = [
    "factor",
    "beta_fast",
    "beta_slow",
    "mscale",
    "mscale_all_dim",
    "attention_factor",
    "original_max_position_embeddings",
];

/// Refuses a scaling of rotary positions that is not computed here.
fn check_rope(name: &str, rope: &Value, config: &Value) -> Result<(), OpenError> {
    let Some(all) = rope.as_object() else {
        return expect(name, rope, &["an object"]);
    };
    if let Some((layers, _)) = all.iter().find(|(_, value)| value.is_object()) {
        return Err(refuse(
            format!("{name} that are the same in all layers"),
            format!("some for {layers}"),
        ));
    }
    let option = match rope["rope_type"] {
        Value::Null => "type",
        _ => "rope_type",
    };
    let known = [
        "\"default\"",
        "\"linear\"",
        "\"llama3\"",
        "\"dynamic\"",
        "\"yarn\"",
        "\"longrope\"",
    ];
    expect(&format!("{name}.{option}"), &rope[option], &known)?;
    let factor = "partial_rotary_factor";
    expect(&format!("{name}.{factor}"), &rope[factor], &["1", "1.0"])?;
    let needs = |part: &str| {
        if rope[part].is_number() {
            return Ok(());
        }
        Err(refuse(
            format!("{name}.{part} for {}", rope[option]),
            &rope[part],
        ))
    };
    match rope[option].as_str() {
        Some("default") => expect(&format!("{name}.factor"), &rope["factor"], &["1", "1.0"]),
        Some("linear" | "dynamic") => needs("factor"),
        Some("longrope") => ["long_factor", "short_factor"]
            .into_iter()
            .try_for_each(|part| match rope[part].as_array() {
                Some(list) if !list.is_empty() && list.iter().all(Value::is_number) => Ok(()),
                _ => Err(refuse(format!("{name}.{part}, numbers"), &rope[part])),
            }),
        Some("yarn") => {
            let given = YARN.iter().filter(|part| !rope[**part].is_null());
            given.copied().try_for_each(needs)?;
            // Without a factor the first length says by how much positions are stretched.
            let original = "original_max_position_embeddings";
            match rope["factor"].is_null() && config[original].is_null() {
                true => needs(original),
                false => Ok(()),
            }
        }
        Some("llama3") => ["factor", "low_freq_factor", "high_freq_factor"]
            .into_iter()
            .try_for_each(needs),
        _ => Ok(()),
    }
}

/// The description of rotary positions: the older entry where it is there and not empty, as
/// transformers chooses.
pub(super) fn rope(config: &Value) -> &Value {
    match config["rope_scaling"].as_object() {
        Some(all) if !all.is_empty() => &config["rope_scaling"],
        _ => &config["rope_parameters"],
    }
}

/// The kind of scaling of rotary positions; `None` where the configuration does not describe them.
pub(super) fn rope_type(config: &Value) -> Option<&str> {
    let rope = rope(config);
    rope.as_object()?;
    let name = rope["rope_type"].as_str().or_else(|| rope["type"].as_str());
    Some(name.unwrap_or("default"))
}

/// The window of attention in a layer, in tokens, where it is shorter than the longest text.
pub(super) fn window(config: &Value, kind: &str, layer: usize) -> Option<usize> {
    let size = match (kind, config.get("sliding_window")) {
        // The default of their configurations in transformers.
        ("mistral" | "qwen2", None) => 4096,
        (_, size) => size?.as_u64()?,
    };
    let layers = config["layer_types"].as_array();
    let is_windowed = match (kind, layers) {
        // Qwen2 uses its window only with `use_sliding_window`.
        ("qwen2", _) if config["use_sliding_window"] != true => false,
        ("qwen2" | "mistral", Some(layers)) => {
            layers.get(layer)?.as_str() == Some("sliding_attention")
        }
        // Qwen2's first layers see everything; the default is that of its configuration.
        ("qwen2", None) => layer as u64 >= config["max_window_layers"].as_u64().unwrap_or(28),
        // Mixtral reads no list of layers. What a Llama would do is not defined: it is refused.
        _ => true,
    };
    let positions = config["max_position_embeddings"].as_u64();
    let is_shorter = positions.is_none_or(|positions| size < positions);
    (is_windowed && is_shorter).then_some(usize::try_from(size).ok()?)
}

/// Refuses windows of attention that are not computed here.
fn check_window(config: &Value, kind: &str) -> Result<(), OpenError> {
    let known =
        |layer: &Value| matches!(layer.as_str(), Some("full_attention" | "sliding_attention"));
    let layers = config["layer_types"].as_array();
    if let Some(other) = layers.and_then(|layers| layers.iter().find(|layer| !known(layer))) {
        let expected = "layer_types of full_attention or sliding_attention";
        return Err(refuse(expected, other));
    }
    let count = config["num_hidden_layers"].as_u64();
    if let (Some(layers), Some(count)) = (layers, count)
        && layers.len() as u64 != count
    {
        let expected = format!("one of layer_types for each of the {count} layers");
        return Err(refuse(expected, layers.len()));
    }
    match &config["sliding_window"] {
        Value::Null => Ok(()),
        size if size.as_u64().is_none_or(|size| size == 0) => {
            Err(refuse("a sliding_window of at least 1 token", size))
        }
        // What a Llama does with one is not defined.
        size if kind == "llama" && window(config, kind, 0).is_some() => {
            Err(refuse("no sliding_window in a llama", size))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_that_are_not_computed_are_named() {
        for (kind, config, option) in [
            (
                "llama",
                json!({"rope_parameters": {"rope_type": "proportional", "factor": 4.0}}),
                "rope_parameters.rope_type",
            ),
            (
                "llama",
                json!({"rope_scaling": {"type": "dynamic"}}),
                "rope_scaling.factor for \"dynamic\"",
            ),
            (
                "qwen2",
                json!({"rope_scaling": {"rope_type": "longrope", "long_factor": [1.0]}}),
                "rope_scaling.short_factor",
            ),
            (
                "llama",
                json!({"rope_scaling": {"rope_type": "longrope", "long_factor": []}}),
                "rope_scaling.long_factor",
            ),
            (
                "llama",
                json!({"rope_parameters": {"rope_type": "yarn"}}),
                "original_max_position_embeddings for \"yarn\"",
            ),
            (
                "llama",
                json!({"rope_parameters": {"rope_type": "yarn", "factor": 4.0, "beta_fast": "32"}}),
                "beta_fast for \"yarn\"",
            ),
            (
                "llama",
                json!({"sliding_window": 4, "layer_types": ["full_attention", "sliding_attention"]}),
                "no sliding_window in a llama",
            ),
            (
                "qwen2",
                json!({"num_hidden_layers": 2, "layer_types": ["full_attention"]}),
                "each of the 2 layers",
            ),
            (
                "llama",
                json!({"rope_parameters": {"rope_type": "llama3", "factor": 8.0}}),
                "low_freq_factor for \"llama3\"",
            ),
            (
                "llama",
                json!({"rope_parameters": {"rope_type": "default", "factor": 8.0}}),
                "rope_parameters.factor",
            ),
            (
                "llama",
                json!({"rope_parameters": {"full_attention": {"rope_theta": 1e6}}}),
                "the same in all layers",
            ),
            (
                "llama",
                json!({"rope_parameters": {"partial_rotary_factor": 0.5}}),
                "partial_rotary_factor",
            ),
            (
                "llama",
                json!({"hidden_act": "gelu"}),
                "hidden_act of \"silu\"",
            ),
            (
                "llama",
                json!({"sliding_window": 4, "max_position_embeddings": 32}),
                "sliding_window",
            ),
            ("mistral", json!({"sliding_window": 0}), "at least 1 token"),
            (
                "qwen2",
                json!({"layer_types": ["full_attention", "chunked_attention"]}),
                "layer_types",
            ),
            (
                "gpt2",
                json!({"scale_attn_by_inverse_layer_idx": true}),
                "scale_attn_by_inverse_layer_idx",
            ),
            (
                "gpt2",
                json!({"activation_function": "relu"}),
                "activation_function",
            ),
            (
                "bert",
                json!({"position_embedding_type": "relative_key"}),
                "position_embedding_type",
            ),
            ("vit", json!({"hidden_act": "quick_gelu"}), "hidden_act"),
            ("dinov2", json!({"use_swiglu_ffn": true}), "use_swiglu_ffn"),
            (
                "swinv2",
                json!({"use_absolute_embeddings": true}),
                "use_absolute_embeddings",
            ),
        ] {
            let refused = check(&config, kind).unwrap_err();
            assert!(
                refused.to_string().contains(option),
                "{kind} {config}: {refused:?}"
            );
        }
    }

    #[test]
    fn options_that_are_computed_pass() {
        for (kind, config) in [
            ("llama", json!({})),
            (
                "llama",
                json!({"rope_scaling": null, "attention_bias": true, "hidden_act": "silu"}),
            ),
            (
                "llama",
                json!({"rope_parameters": {"rope_type": "default", "rope_theta": 1e4}}),
            ),
            (
                "llama",
                json!({"rope_parameters": {"rope_type": "linear", "factor": 4.0}}),
            ),
            (
                "llama",
                json!({"rope_parameters": {"rope_type": "yarn", "factor": 4.0}, "mlp_bias": true}),
            ),
            (
                "llama",
                json!({"rope_scaling": {"type": "longrope", "long_factor": [2.0], "short_factor": [1.0]}}),
            ),
            (
                "mistral",
                json!({"sliding_window": 4, "max_position_embeddings": 32}),
            ),
            (
                "llama",
                json!({"rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}}),
            ),
            ("mistral", json!({"sliding_window": null})),
            (
                "mistral",
                json!({"sliding_window": 4096, "max_position_embeddings": 4096}),
            ),
            (
                "qwen2",
                json!({"sliding_window": 4, "use_sliding_window": false, "max_position_embeddings": 32}),
            ),
            (
                "qwen2",
                json!({"sliding_window": 4, "max_position_embeddings": 32}),
            ),
            (
                "gpt2",
                json!({"activation_function": "gelu_new", "scale_attn_weights": true}),
            ),
        ] {
            assert_eq!(check(&config, kind), Ok(()), "{kind} {config}");
        }
    }
    #[test]
    fn one_entry_describes_rotary_positions() {
        let both =
            json!({"rope_scaling": {"factor": 2.0}, "rope_parameters": {"rope_type": "yarn"}});
        assert_eq!(
            (rope(&both), rope_type(&both)),
            (&json!({"factor": 2.0}), Some("default"))
        );
        let newer = json!({"rope_scaling": {}, "rope_parameters": {"type": "linear"}});
        assert_eq!(rope_type(&newer), Some("linear"));
        assert_eq!(rope_type(&json!({"rope_scaling": null})), None);
    }

    #[test]
    fn windows_are_those_of_their_layers() {
        let of = |kind, config: Value| [0, 1, 2].map(|layer| window(&config, kind, layer));
        let mistral = json!({"sliding_window": 4, "max_position_embeddings": 32});
        assert_eq!(of("mistral", mistral), [Some(4); 3]);
        let wide = json!({"sliding_window": 32, "max_position_embeddings": 32});
        assert_eq!(of("mistral", wide), [None; 3]);
        // Mistral has no `use_sliding_window`, and a window of 4,096 where none is named.
        let ignored = json!({"sliding_window": 4, "use_sliding_window": false});
        assert_eq!(of("mistral", ignored), [Some(4); 3]);
        let unnamed = json!({"max_position_embeddings": 32_768});
        assert_eq!(of("mistral", unnamed.clone()), [Some(4096); 3]);
        assert_eq!(of("mixtral", unnamed), [None; 3]);
        let no_window = json!({"sliding_window": null});
        assert_eq!(of("mistral", no_window), [None; 3]);
        // Mixtral reads no list.
        let of_mixtral = json!({"sliding_window": 4, "layer_types": ["full_attention"]});
        assert_eq!(of("mixtral", of_mixtral), [Some(4); 3]);
        let unused = json!({"sliding_window": 4, "max_window_layers": 0});
        assert_eq!(of("qwen2", unused), [None; 3]);
        let later =
            json!({"sliding_window": 4, "use_sliding_window": true, "max_window_layers": 1});
        assert_eq!(of("qwen2", later), [None, Some(4), Some(4)]);
        let listed = json!({"sliding_window": 4, "use_sliding_window": true,
            "layer_types": ["sliding_attention", "full_attention"]});
        assert_eq!(of("qwen2", listed), [Some(4), None, None]);
    }
}
