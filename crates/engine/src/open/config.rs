//! `config.json`, as Hugging Face's and timm's libraries write it.

use serde_json::Value;

use super::pictures::{Labels, Preparation};
use super::{Files, OpenError, OpenedModel, supported};
use crate::error::EngineError;
use crate::format::names::Architecture;
use crate::model::bert::{self, Bert};
#[cfg(feature = "all-models")]
use crate::model::dinov2::{self, Dinov2};
use crate::model::gpt2::{self, Gpt2};
use crate::model::llama::{self, Llama};
#[cfg(feature = "all-models")]
use crate::model::swin::{self, Swin};
use crate::model::vit::{self, Vit};
use crate::nn::position::rope::Pairing;
use crate::parameters::Parameters;

/// The names of the files that are read here.
pub(super) const NAMES: [&str; 2] = ["config.json", "preprocessor_config.json"];

/// The kinds that are built here, for errors.
const KINDS: &str = if cfg!(feature = "all-models") {
    "a model_type of gpt2, llama, mistral, mixtral, qwen2, bert, vit, dinov2 or swinv2"
} else {
    "a model_type of gpt2, llama, mistral, mixtral, qwen2, bert or vit"
};

/// The sizes of a model that reads text, of a kind that GGUF files hold.
#[derive(Debug, Clone, PartialEq)]
pub enum TextConfig {
    /// GPT-2's.
    Gpt2(gpt2::Config),
    /// Llama's and its relatives'.
    Llama(llama::Config),
    /// BERT's.
    Bert(bert::Config),
}

impl TextConfig {
    /// Loads the model of these sizes.
    pub(super) fn load(self, source: &mut dyn Parameters) -> Result<OpenedModel, EngineError> {
        match self {
            Self::Gpt2(config) => Gpt2::load(config, source).map(OpenedModel::Gpt2),
            Self::Llama(config) => Llama::load(config, source).map(OpenedModel::Llama),
            Self::Bert(config) => Bert::load(config, source).map(OpenedModel::Bert),
        }
    }
}

/// The error of a value in `config.json`.
pub(super) fn refuse(expected: impl Into<String>, found: impl ToString) -> OpenError {
    OpenError::beside(NAMES[0], expected, found)
}

/// The content of `config.json` and `preprocessor_config.json`.
pub(super) struct ConfigFile {
    config: Value,
    preprocessor: Value,
}

impl ConfigFile {
    /// The `config` in the weights' own metadata; without that `config.json`, and
    /// `preprocessor_config.json` where it is there.
    pub(super) fn of(files: &Files, metadata: &[(String, String)]) -> Result<Self, OpenError> {
        let parse = |file: &str, bytes: &[u8]| {
            serde_json::from_slice(bytes).map_err(|error| OpenError::beside(file, "JSON", error))
        };
        let mut own = metadata.iter();
        if let Some((_, own)) = own.find(|(key, _)| key == super::shipped::CONFIG) {
            return Ok(Self {
                config: parse(&files.name, own.as_bytes())?,
                preprocessor: Value::Null,
            });
        }
        let read = |name: &str| {
            let found = files.find(&[name]);
            found.map(|(name, bytes)| parse(name, bytes)).transpose()
        };
        let config = read(NAMES[0])?.ok_or_else(|| OpenError::Missing {
            file: files.name.clone(),
            needed: NAMES[0].to_owned(),
        })?;
        Ok(Self {
            config,
            preprocessor: read(NAMES[1])?.unwrap_or(Value::Null),
        })
    }

    /// A number under a name, 1 for true and 0 for false; dots lead into objects and lists.
    fn number(&self, name: &str) -> Option<f64> {
        let mut parts = name.split('.');
        let found = parts.try_fold(&self.config, |value, part| match value {
            Value::Array(list) => list.get(part.parse::<usize>().ok()?),
            _ => value.get(part),
        })?;
        found.as_f64().or_else(|| found.as_bool().map(f64::from))
    }

    /// As [`Self::number`]; the number of classes is that of their names where the file does not
    /// have it; the kind of scaling of rotary positions and the windows of layers have names of
    /// their own (see [`llama::Config::from_keys`]).
    fn lookup(&self, name: &str) -> Option<f64> {
        // Of two descriptions of rotary positions one counts, as a whole.
        if let Some((entry @ ("rope_scaling" | "rope_parameters"), _)) = name.split_once('.')
            && !std::ptr::eq(&self.config[entry], supported::rope(&self.config))
        {
            return None;
        }
        self.number(name).or_else(|| match name.split_once('.') {
            None if name == "num_labels" => Some(self.config["id2label"].as_object()?.len() as f64),
            // The defaults of transformers' configurations.
            None if name == "rms_norm_eps" && self.kind() != "mixtral" => Some(1e-6),
            None if name == "rope_theta" && self.kind() == "mixtral" => Some(1e6),
            // Of the Llamas only Llama itself has biases in its MLP, where it says so.
            None if name == "mlp_bias" => Some(0.0),
            None if name == "has_windows" => {
                let window = |layer| supported::window(&self.config, self.kind(), layer);
                let layers = self.config["num_hidden_layers"].as_u64()? as usize;
                (0..layers)
                    .any(|layer| window(layer).is_some())
                    .then_some(1.0)
            }
            Some(("rope_type", kind)) => {
                (supported::rope_type(&self.config) == Some(kind)).then_some(1.0)
            }
            Some(("windows", layer)) => {
                let window = supported::window(&self.config, self.kind(), layer.parse().ok()?);
                window.map(|tokens| tokens as f64)
            }
            _ => None,
        })
    }

    #[cfg(feature = "all-models")]
    fn numbers(&self, name: &str) -> Vec<usize> {
        let list = self.config[name].as_array();
        let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
        list.map_or_else(Vec::new, |list| list.iter().filter_map(number).collect())
    }

    /// The kind of model: Hugging Face's `model_type`, or the first part of timm's `architecture`.
    fn kind(&self) -> &str {
        let kind = self.config["model_type"].as_str();
        kind.or_else(|| self.config["architecture"].as_str()?.split('_').next())
            .unwrap_or("none")
    }

    /// The model.
    pub(super) fn model(
        &self,
        files: &Files,
        source: &mut dyn Parameters,
    ) -> Result<OpenedModel, OpenError> {
        supported::check(&self.config, self.kind())?;
        match self.kind() {
            "gpt2" | "llama" | "mistral" | "mixtral" | "qwen2" | "bert" => {
                let (_, config) = self.text()?;
                files.model(config.load(source))
            }
            "vit" => self.build(files, vit::Config::from_keys, |mut config| {
                // timm's models have another epsilon, which their files may lack.
                let is_timm = self.config["architecture"].is_string();
                if is_timm && self.number("layer_norm_eps").is_none() {
                    config.norm_eps = 1e-6;
                }
                let pool = self.config["pool"].as_str();
                if pool.or(self.config["global_pool"].as_str()) == Some("avg") {
                    config.pooling = vit::Pooling::Mean;
                }
                Vit::load(config, source).map(OpenedModel::Vit)
            }),
            #[cfg(feature = "all-models")]
            "dinov2" => self.build(files, dinov2::Config::from_keys, |config| {
                Dinov2::load(config, source).map(OpenedModel::Dinov2)
            }),
            #[cfg(feature = "all-models")]
            "swinv2" => {
                let config = self.swin();
                self.build(
                    files,
                    |_| Ok(config),
                    |config| Swin::load(config, source).map(OpenedModel::Swin),
                )
            }
            other => Err(refuse(KINDS, other)),
        }
    }

    /// The sizes, for a model that GGUF files hold.
    pub(super) fn text(&self) -> Result<(Architecture, TextConfig), OpenError> {
        supported::check(&self.config, self.kind())?;
        let lookup = |name: &str| self.lookup(name);
        let (architecture, text) = match self.kind() {
            "gpt2" => (
                Architecture::Gpt2,
                gpt2::Config::from_keys(&lookup).map(TextConfig::Gpt2),
            ),
            kind @ ("llama" | "mistral" | "mixtral" | "qwen2") => {
                let architecture = if kind == "qwen2" {
                    Architecture::Qwen2
                } else {
                    Architecture::Llama
                };
                let config = llama::Config::from_keys(&lookup, Pairing::Halves);
                (architecture, config.map(TextConfig::Llama))
            }
            "bert" => (
                Architecture::Bert,
                bert::Config::from_keys(&lookup).map(TextConfig::Bert),
            ),
            other => {
                let expected =
                    "a model_type of gpt2, llama, mistral, qwen2 or bert, which GGUF has names for";
                return Err(refuse(expected, other));
            }
        };
        let text = text.map_err(|source| OpenError::model(NAMES[0], source))?;
        Ok((architecture, text))
    }

    fn build<C>(
        &self,
        files: &Files,
        read: impl FnOnce(&dyn Fn(&str) -> Option<f64>) -> Result<C, EngineError>,
        load: impl FnOnce(C) -> Result<OpenedModel, EngineError>,
    ) -> Result<OpenedModel, OpenError> {
        let config = read(&|name| self.lookup(name));
        let config = config.map_err(|source| OpenError::model(NAMES[0], source))?;
        files.model(load(config))
    }

    #[cfg(feature = "all-models")]
    fn swin(&self) -> swin::Config {
        let size = |name: &str, usual: usize| self.lookup(name).map_or(usual, |n| n as usize);
        swin::Config {
            width: size("embed_dim", 96),
            depths: self.numbers("depths"),
            heads: self.numbers("num_heads"),
            window: size("window_size", 7),
            trained_windows: self.numbers("pretrained_window_sizes"),
            patch: size("patch_size", 4),
            image: size("image_size", 224),
            classes: size("num_labels", 2),
            inner_ratio: size("mlp_ratio", 4),
            norm_eps: self.number("layer_norm_eps").unwrap_or(1e-5) as f32,
        }
    }

    /// The names of the classes.
    pub(super) fn labels(&self) -> Option<Labels> {
        Labels::from_config(&self.config)
    }

    /// The preparation of pictures for a model.
    pub(super) fn preparation(&self, model: &OpenedModel) -> Result<Preparation, OpenError> {
        let (side, channels) = match model {
            OpenedModel::Vit(model) => (model.config().image, model.config().channels),
            OpenedModel::Dinov2(_) => (224, 3),
            OpenedModel::Swin(model) => (model.config().image, 3),
            _ => (0, 3),
        };
        let (file, source) = match &self.preprocessor {
            Value::Null => (NAMES[0], &self.config),
            given => (NAMES[1], given),
        };
        Preparation::from_json(source, side, channels)
            .map_err(|found| OpenError::beside(file, "how pictures are prepared", found))
    }
}
