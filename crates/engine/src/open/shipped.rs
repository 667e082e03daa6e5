//! A file of weights that needs no other file: safetensors whose metadata has `config`, the sizes
//! in the form of a `config.json`, and, for a model of text, its vocabulary.

use std::sync::Arc;

use serde_json::Value;

use super::OpenError;
use crate::error::EngineError;
use crate::format::json::ReadJson;
use crate::format::safetensors::SafeTensors;
use crate::format::tensors::Tensors;
use crate::parameters::Parameters;

/// The key of the sizes in the metadata.
pub const CONFIG: &str = "config";

/// A model's file with everything that the model needs.
#[derive(Debug, Clone)]
pub struct Shipped {
    name: String,
    read_json: ReadJson,
    config: Value,
    metadata: Vec<(String, String)>,
    tensors: Tensors,
}

impl Shipped {
    /// Reads the file, and what is JSON in it with `read_json`; `name` is its name in messages.
    ///
    /// # Errors
    /// When the bytes are not safetensors, or the metadata lacks the sizes.
    pub fn parse(name: &str, bytes: Arc<[u8]>, read_json: ReadJson) -> Result<Self, OpenError> {
        let file = SafeTensors::parse_with(bytes.into(), read_json)
            .map_err(|source| OpenError::damaged(name, source))?;
        let mut read = Self {
            name: name.to_owned(),
            read_json,
            config: Value::Null,
            metadata: file.metadata().to_vec(),
            tensors: file.tensors,
        };
        read.config = read.json(CONFIG)?;
        Ok(read)
    }

    /// A text of the metadata that is JSON.
    ///
    /// # Errors
    /// When there is none of that name, or it is not JSON.
    pub fn json(&self, key: &str) -> Result<Value, OpenError> {
        (self.read_json)(self.text(key)?)
            .map_err(|error| self.refuse(&format!("JSON as {key}"), &error))
    }

    /// A text of the metadata.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn text(&self, key: &str) -> Result<&str, OpenError> {
        let found = self.metadata.iter().find(|(known, _)| known == key);
        let missing = || self.refuse(&format!("{key} in its metadata"), "none");
        found.map(|(_, text)| text.as_str()).ok_or_else(missing)
    }

    /// The kind of model, `model_type`; empty where the file does not have it.
    pub fn kind(&self) -> &str {
        self.word("model_type")
    }

    /// A word among the sizes, such as that of `global_pool`; empty where the file does not have it.
    pub fn word(&self, key: &str) -> &str {
        self.config[key].as_str().unwrap_or_default()
    }

    /// The model, from its sizes and its parameters.
    ///
    /// # Errors
    /// Those of `load`.
    pub fn model<T>(
        &self,
        load: impl FnOnce(&dyn Fn(&str) -> Option<f64>, &mut dyn Parameters) -> Result<T, EngineError>,
    ) -> Result<T, OpenError> {
        let number = |key: &str| match &self.config[key] {
            Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
            Value::Null if key == "num_labels" => {
                Some(self.config["id2label"].as_object()?.len() as f64)
            }
            other => other.as_f64(),
        };
        self.check(load(&number, &mut self.tensors.clone()))
    }

    /// The result of building a part of the model, with the file's name in an error.
    ///
    /// # Errors
    /// The error in `result`.
    pub fn check<T>(&self, result: Result<T, EngineError>) -> Result<T, OpenError> {
        result.map_err(|source| OpenError::model(&self.name, source))
    }

    /// The error of a content that differs from the expected one.
    pub fn refuse(&self, expected: &str, found: &str) -> OpenError {
        OpenError::beside(&self.name, expected, found)
    }
}
