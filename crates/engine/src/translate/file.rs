//! A translator in a file.

use super::{Model, Translator};
use crate::error::EngineError;
use crate::format::safetensors::SafeTensors;
use crate::model::seq2seq::{self, Seq2Seq};
use crate::model::seq2seq_attention::{self, AttentiveSeq2Seq};
use crate::model::transformer::{self, Transformer};
use crate::open::OpenError;
use crate::token::json::read_byte_bpe;
use serde_json::Value;
use std::sync::Arc;

/// The metadata that holds the sizes.
pub const CONFIG: &str = "config";
/// The metadata that holds the vocabulary.
pub const TOKENIZER: &str = "tokenizer.json";

/// The translator in a file; `name` is the file's, for messages.
///
/// # Errors
/// When the bytes are no safetensors, its metadata is missing or of another kind of model, or the parameters do not fit it.
pub fn open(name: &str, bytes: Arc<[u8]>) -> Result<Translator, OpenError> {
    let file = SafeTensors::parse(bytes).map_err(|source| OpenError::Damaged {
        file: name.to_owned(),
        source,
    })?;
    let text = |key: &str| {
        let found = file.metadata().iter().find(|(known, _)| known == key);
        let missing = || OpenError::Beside {
            file: name.to_owned(),
            expected: format!("{key} in its metadata"),
            found: "none".to_owned(),
        };
        found.map(|(_, text)| text.as_str()).ok_or_else(missing)
    };
    let config: Value = serde_json::from_str(text(CONFIG)?).map_err(|error| OpenError::Beside {
        file: name.to_owned(),
        expected: format!("JSON as {CONFIG}"),
        found: error.to_string(),
    })?;
    let wrong = |source: EngineError| OpenError::Model {
        file: name.to_owned(),
        source,
    };
    let number = |key: &str| match &config[key] {
        Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
        other => other.as_f64(),
    };
    let mut source = file.tensors.clone();
    let source = &mut source;
    let model = match config["model_type"].as_str().unwrap_or("none") {
        "seq2seq-gru" => seq2seq::Config::from_keys(&number)
            .and_then(|config| Seq2Seq::load(config, source))
            .map(Model::Gru),
        "seq2seq-attention" => seq2seq_attention::Config::from_keys(&number)
            .and_then(|config| AttentiveSeq2Seq::load(config, source))
            .map(|model| Model::Attention(Box::new(model))),
        "transformer" => transformer::Config::from_keys(&number)
            .and_then(|config| Transformer::load(config, source))
            .map(Model::Transformer),
        other => {
            return Err(OpenError::Beside {
                file: name.to_owned(),
                expected: "a model_type of seq2seq-gru, seq2seq-attention or transformer"
                    .to_owned(),
                found: other.to_owned(),
            });
        }
    };
    let model = model.map_err(wrong)?;
    let tokenizer = read_byte_bpe(text(TOKENIZER)?).map_err(wrong)?;
    Translator::new(model, tokenizer).map_err(wrong)
}
