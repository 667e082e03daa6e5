//! A model from the bytes of a file.

use std::sync::Arc;

use engine::format::gguf::Gguf;
use engine::format::names::Architecture;
use engine::format::safetensors::SafeTensors;
use engine::format::tensors::Tensors;
use engine::model::{bert, gpt2, llama, vit};
use engine::nn::position::rotary::Pairing;
use engine::parameters::Parameters;
use serde_json::Value;

use super::error::ModelError;
use super::sizes::Sizes;

/// What a file holds.
pub struct Opened {
    /// Which model, of which sizes.
    pub sizes: Sizes,
    /// Its parameters.
    pub source: Box<dyn Parameters>,
}

/// Reads a GGUF file, or a safetensors file with the text of its `config.json`.
///
/// # Errors
/// When the bytes are neither, the file is damaged, or its model is none of ours.
pub fn open(bytes: Arc<[u8]>, config: Option<&str>) -> Result<Opened, ModelError> {
    if bytes.starts_with(b"GGUF") {
        return open_gguf(bytes);
    }
    // Eight bytes of length, then a JSON object.
    if bytes.get(8) != Some(&b'{') {
        return Err(ModelError::NotAModel);
    }
    let tensors = SafeTensors::parse(bytes)?.tensors;
    let config = config.ok_or_else(|| ModelError::Config("there is none.".to_owned()))?;
    let config =
        serde_json::from_str(config).map_err(|error| ModelError::Config(error.to_string()))?;
    let sizes = sizes_of(&tensors, &config)?;
    Ok(Opened {
        sizes,
        source: Box::new(tensors),
    })
}

fn open_gguf(bytes: Arc<[u8]>) -> Result<Opened, ModelError> {
    let file = Gguf::parse(bytes)?;
    let sizes = match file.architecture()? {
        Architecture::Gpt2 => Sizes::Gpt2(file.gpt2()?),
        Architecture::Llama | Architecture::Qwen2 => Sizes::Llama(file.llama()?),
        Architecture::Bert => Sizes::Bert(file.bert()?),
    };
    Ok(Opened {
        sizes,
        source: Box::new(file.parameters()?),
    })
}

/// The kind of model by the names of its tensors, its sizes by its configuration.
fn sizes_of(tensors: &Tensors, config: &Value) -> Result<Sizes, ModelError> {
    let names = tensors.names();
    let has = |end: &str| names.iter().any(|name| name.ends_with(end));
    let lookup = |key: &str| number(config, key).or_else(|| classes(tensors, key));
    Ok(if has("wte.weight") {
        Sizes::Gpt2(gpt2::Config::from_keys(&lookup)?)
    } else if has("embed_tokens.weight") {
        Sizes::Llama(llama::Config::from_keys(&lookup, Pairing::Halves)?)
    } else if has("embeddings.word_embeddings.weight") {
        Sizes::Bert(bert::Config::from_keys(&lookup)?)
    } else if has("patch_embed.proj.weight") || has("patch_embeddings.projection.weight") {
        Sizes::Vit(vit::Config::from_keys(&lookup)?)
    } else {
        return Err(ModelError::UnknownFamily);
    })
}

/// A number of the configuration; a dot leads into an object.
fn number(config: &Value, key: &str) -> Option<f64> {
    key.split('.')
        .try_fold(config, |at, part| at.get(part))?
        .as_f64()
}

/// Hugging Face's configurations list the labels of a classifier instead of counting them.
fn classes(tensors: &Tensors, key: &str) -> Option<f64> {
    let heads = (key == "num_labels").then_some(["classifier.bias", "head.bias"])?;
    let shape = heads.iter().find_map(|name| tensors.shape(name))?;
    shape.first().map(|&classes| classes as f64)
}
