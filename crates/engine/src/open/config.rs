//! `config.json`, as Hugging Face's and timm's libraries write it.

use serde_json::Value;

use super::pictures::{Labels, Preparation};
use super::{Files, Model, OpenError, supported};
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
use crate::nn::position::rotary::Pairing;
use crate::parameters::Parameters;

/// The files that this reads.
pub(super) const NAMES: [&str; 2] = ["config.json", "preprocessor_config.json"];

/// The kinds that are built here.
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
    pub(super) fn load(self, source: &mut dyn Parameters) -> Result<Model, EngineError> {
        match self {
            Self::Gpt2(config) => Gpt2::load(config, source).map(Model::Gpt2),
            Self::Llama(config) => Llama::load(config, source).map(Model::Llama),
            Self::Bert(config) => Bert::load(config, source).map(Model::Bert),
        }
    }
}

/// What the files beside the weights say.
pub(super) struct Config {
    config: Value,
    preprocessor: Value,
}

impl Config {
    /// What the weights' own metadata says; without that `config.json`, and `preprocessor_config.json` where it is there.
    pub(super) fn of(files: &Files, metadata: &[(String, String)]) -> Result<Self, OpenError> {
        let parse = |file: &str, bytes: &[u8]| {
            serde_json::from_slice(bytes).map_err(|error| OpenError::Beside {
                file: file.to_owned(),
                expected: "JSON".to_owned(),
                found: error.to_string(),
            })
        };
        if let Some((_, own)) = metadata
            .iter()
            .find(|(key, _)| key == super::shipped::CONFIG)
        {
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

    /// A number under a name; dots lead into objects.
    fn number(&self, name: &str) -> Option<f64> {
        let mut parts = name.split('.');
        let found = parts.try_fold(&self.config, |value, part| value.get(part))?;
        found.as_f64()
    }

    /// As [`Self::number`]; the number of classes may also be that of their names.
    fn lookup(&self, name: &str) -> Option<f64> {
        self.number(name).or_else(|| match name {
            "num_labels" => Some(self.config["id2label"].as_object()?.len() as f64),
            _ => None,
        })
    }

    #[cfg(feature = "all-models")]
    fn numbers(&self, name: &str) -> Vec<usize> {
        let list = self.config[name].as_array();
        let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
        list.map_or_else(Vec::new, |list| list.iter().filter_map(number).collect())
    }

    /// What kind of model it is: Hugging Face's `model_type`, or the first part of timm's `architecture`.
    fn kind(&self) -> &str {
        let kind = self.config["model_type"].as_str();
        kind.or_else(|| self.config["architecture"].as_str()?.split('_').next())
            .unwrap_or("none")
    }

    fn refuse(expected: &str, found: impl Into<String>) -> OpenError {
        OpenError::Beside {
            file: NAMES[0].to_owned(),
            expected: expected.to_owned(),
            found: found.into(),
        }
    }

    /// The model.
    pub(super) fn model(
        &self,
        files: &Files,
        source: &mut dyn Parameters,
    ) -> Result<Model, OpenError> {
        self.check()?;
        match self.kind() {
            "gpt2" | "llama" | "mistral" | "mixtral" | "qwen2" | "bert" => {
                let (_, config) = self.text()?;
                files.model(config.load(source))
            }
            "vit" => self.build(files, vit::Config::from_keys, |mut config| {
                // timm's models have another epsilon and do not always say it.
                if self.config["architecture"].is_string()
                    && self.number("layer_norm_eps").is_none()
                {
                    config.norm_eps = 1e-6;
                }
                if self.config["pool"]
                    .as_str()
                    .or(self.config["global_pool"].as_str())
                    == Some("avg")
                {
                    config.pooling = vit::Pooling::Mean;
                }
                Vit::load(config, source).map(Model::Vit)
            }),
            #[cfg(feature = "all-models")]
            "dinov2" => self.build(files, dinov2::Config::from_keys, |config| {
                Dinov2::load(config, source).map(Model::Dinov2)
            }),
            #[cfg(feature = "all-models")]
            "swinv2" => {
                let config = self.swin();
                self.build(
                    files,
                    |_| Ok(config),
                    |config| Swin::load(config, source).map(Model::Swin),
                )
            }
            other => Err(Self::refuse(KINDS, other)),
        }
    }

    /// The sizes, for a model that GGUF files hold.
    pub(super) fn text(&self) -> Result<(Architecture, TextConfig), OpenError> {
        let wrong = |source| OpenError::Model {
            file: NAMES[0].to_owned(),
            source,
        };
        self.check()?;
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
                return Err(Self::refuse(expected, other));
            }
        };
        Ok((architecture, text.map_err(wrong)?))
    }

    fn build<C>(
        &self,
        files: &Files,
        read: impl FnOnce(&dyn Fn(&str) -> Option<f64>) -> Result<C, EngineError>,
        load: impl FnOnce(C) -> Result<Model, EngineError>,
    ) -> Result<Model, OpenError> {
        let config = read(&|name| self.lookup(name));
        let config = config.map_err(|source| OpenError::Model {
            file: NAMES[0].to_owned(),
            source,
        })?;
        files.model(load(config))
    }

    /// Refuses options that are not computed here.
    fn check(&self) -> Result<(), OpenError> {
        supported::check(&self.config, self.kind())
            .map_err(|refused| Self::refuse(&refused.expected, refused.found))
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

    /// What is done with a picture.
    pub(super) fn preparation(&self, model: &Model) -> Result<Preparation, OpenError> {
        let side = match model {
            Model::Vit(model) => model.config().image,
            Model::Dinov2(_) => 224,
            Model::Swin(model) => model.config().image,
            _ => 0,
        };
        let (file, source) = match &self.preprocessor {
            Value::Null => (NAMES[0], &self.config),
            given => (NAMES[1], given),
        };
        let channels = match model {
            Model::Vit(model) => model.config().channels,
            _ => 3,
        };
        Preparation::from_json(source, side, channels).map_err(|found| OpenError::Beside {
            file: file.to_owned(),
            expected: "how pictures are prepared".to_owned(),
            found,
        })
    }
}
