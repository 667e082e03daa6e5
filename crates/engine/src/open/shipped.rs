//! A file of weights that needs no other: safetensors whose metadata holds `config`, the sizes as a `config.json` has them, and, for
//! a model of text, the file of its vocabulary.

use std::sync::Arc;

use serde_json::Value;

use super::OpenError;
use crate::error::EngineError;
use crate::format::safetensors::SafeTensors;
use crate::format::tensors::Tensors;
use crate::parameters::Parameters;

/// The metadata that holds the sizes.
pub const CONFIG: &str = "config";

/// Such a file, read.
#[derive(Debug, Clone)]
pub struct Shipped {
    name: String,
    config: Value,
    metadata: Vec<(String, String)>,
    tensors: Tensors,
}

impl Shipped {
    /// Reads the file; `name` is what it is called in messages.
    ///
    /// # Errors
    /// When the bytes are no safetensors, or the metadata lacks the sizes.
    pub fn parse(name: &str, bytes: Arc<[u8]>) -> Result<Self, OpenError> {
        let file = SafeTensors::parse(bytes).map_err(|source| OpenError::Damaged {
            file: name.to_owned(),
            source,
        })?;
        let mut read = Self {
            name: name.to_owned(),
            config: Value::Null,
            metadata: file.metadata().to_vec(),
            tensors: file.tensors,
        };
        read.config = serde_json::from_str(read.text(CONFIG)?)
            .map_err(|error| read.refuse(&format!("JSON as {CONFIG}"), &error.to_string()))?;
        Ok(read)
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

    /// What kind of model it is, `model_type`; empty where it does not say.
    pub fn kind(&self) -> &str {
        self.config["model_type"].as_str().unwrap_or_default()
    }

    /// The model, from its sizes and its parameters.
    ///
    /// # Errors
    /// What `load` says.
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

    /// An error of the model's, with the file's name.
    ///
    /// # Errors
    /// The error.
    pub fn check<T>(&self, result: Result<T, EngineError>) -> Result<T, OpenError> {
        result.map_err(|source| OpenError::Model {
            file: self.name.clone(),
            source,
        })
    }

    /// The error that the file is not what it should be.
    pub fn refuse(&self, expected: &str, found: &str) -> OpenError {
        OpenError::Beside {
            file: self.name.clone(),
            expected: expected.to_owned(),
            found: found.to_owned(),
        }
    }
}
