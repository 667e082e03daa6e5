//! The model in a GGUF file: its sizes, its vocabulary, and its parameters under the names that
//! models ask for.
//!
//! ```text
//! let file = Gguf::parse(bytes)?;
//! let tokenizer = file.vocabulary()?.tokenizer()?;
//! let model = Llama::load(file.llama()?, &mut file.parameters()?)?;
//! ```
//!
//! Source: the GGUF specification (ggml, `docs/gguf.md`), "Standardized key-value pairs".

use super::error::{FormatError, shortened};
use super::gguf::{Gguf, refuse};
use super::gguf_value::{Array, Value};
use super::names::{Architecture, Renamed, unstacked_name};
use super::tensors::Tensors;
use crate::error::Result;
use crate::model::{bert, gpt2, llama};
use crate::nn::position::rope::Pairing;
use crate::token::gguf::GgufVocabulary;

/// The key of the metadata that names the kind of model.
const ARCHITECTURE: &str = "general.architecture";

impl Gguf {
    /// The kind of model.
    ///
    /// # Errors
    /// When `general.architecture` is missing or not one of the known names.
    pub fn architecture(&self) -> Result<Architecture, FormatError> {
        let name = self.value(ARCHITECTURE).and_then(Value::text);
        let known = name.and_then(Architecture::from_name);
        known.ok_or_else(|| {
            let name = name.map(|name| format!("{:?}", shortened(name)));
            let found = name.unwrap_or_else(|| "none".to_owned());
            refuse(ARCHITECTURE, "gpt2, llama, qwen2 or bert", found)
        })
    }

    /// The parameters under Hugging Face's names; a tensor that holds all experts of a block is
    /// read as one matrix for each expert.
    ///
    /// # Errors
    /// As [`Self::architecture`], and when the file has an expert twice.
    pub fn parameters(&self) -> Result<Renamed<Tensors>, FormatError> {
        let tensors = self.tensors.unstacked(unstacked_name)?;
        Ok(Renamed::new(tensors, self.architecture()?))
    }

    /// The sizes of a GPT-2.
    ///
    /// # Errors
    /// When the file holds another kind of model, or a size is missing or not in range.
    pub fn gpt2(&self) -> Result<gpt2::Config> {
        self.expect("gpt2", &[Architecture::Gpt2])
            .map_err(FormatError::into_engine)?;
        gpt2::Config::from_keys(&|key| self.size(Architecture::Gpt2, key))
    }

    /// The sizes of a Llama or a Qwen2.
    ///
    /// # Errors
    /// When the file holds another kind of model, a size is missing or not in range, or an option
    /// is not computed here.
    pub fn llama(&self) -> Result<llama::Config> {
        let architecture = self.check_llama().map_err(FormatError::into_engine)?;
        let pairing = match architecture {
            Architecture::Llama => Pairing::Neighbours,
            _ => Pairing::Halves,
        };
        llama::Config::from_keys(&|key| self.size(architecture, key), pairing)
    }

    /// The sizes of a BERT.
    ///
    /// # Errors
    /// When the file holds another kind of model, a size is missing or not in range, or an option
    /// is not computed here.
    pub fn bert(&self) -> Result<bert::Config> {
        self.check_bert().map_err(FormatError::into_engine)?;
        bert::Config::from_keys(&|key| self.size(Architecture::Bert, key))
    }

    /// Refuses models other than a Llama or a Qwen2, and their options that are not computed here.
    fn check_llama(&self) -> Result<Architecture, FormatError> {
        let known = [Architecture::Llama, Architecture::Qwen2];
        let architecture = self.expect("llama or qwen2", &known)?;
        let number = |key| self.size(architecture, key);
        let context = number("context_length").unwrap_or(f64::MAX);
        let key_length = number("attention.key_length").or(number("attention.value_length"));
        let check = |key, expected: &str, is_known: &dyn Fn(&Value) -> bool| {
            self.check_option(architecture, key, expected, is_known)
        };
        check("rope.scaling.type", "none, linear or yarn", &|value| {
            matches!(value.text(), Some("none" | "linear" | "yarn"))
        })?;
        // The share of YaRN's ramp; below 0 it is not set.
        check("rope.scaling.yarn_ext_factor", "1", &|value| {
            value.number().is_some_and(|n| n == 1.0 || n < 0.0)
        })?;
        let window = format!("0, or no window shorter than the context of {context}");
        check("attention.sliding_window", &window, &|value| {
            // Qwen2 has its window in some layers only, which the file does not name.
            let whole = |n: f64| n >= 0.0 && n.fract() == 0.0;
            value.number().is_some_and(|n| match architecture {
                Architecture::Llama => whole(n),
                _ => n == 0.0 || n >= context,
            })
        })?;
        check("attention.sliding_window_pattern", "none", &|_| false)?;
        check("attention.value_length", "the key_length", &|value| {
            value.number() == key_length
        })?;
        check("attention.causal", "true", &|value| {
            value.truth() == Some(true)
        })?;
        Ok(architecture)
    }

    /// Refuses models other than a BERT, and its options that are not computed here.
    fn check_bert(&self) -> Result<(), FormatError> {
        self.expect("bert", &[Architecture::Bert])?;
        let check = |key, expected: &str, is_known: &dyn Fn(&Value) -> bool| {
            self.check_option(Architecture::Bert, key, expected, is_known)
        };
        check("attention.causal", "false", &|value| {
            value.truth() == Some(false)
        })?;
        // `enum llama_pooling_type`: none, mean.
        check("pooling_type", "1, the mean of the tokens", &|value| {
            matches!(value.number(), Some(0.0 | 1.0))
        })
    }

    /// Refuses a value under the architecture's `key` for which `is_known` is false.
    fn check_option(
        &self,
        architecture: Architecture,
        key: &str,
        expected: &str,
        is_known: &dyn Fn(&Value) -> bool,
    ) -> Result<(), FormatError> {
        let key = format!("{}.{key}", architecture.name());
        let Some(value) = self.value(&key).filter(|value| !is_known(value)) else {
            return Ok(());
        };
        let text = value.text().map(|text| format!("{:?}", shortened(text)));
        let number = || value.number().map(|number| number.to_string());
        let truth = || value.truth().map(|truth| truth.to_string());
        let found = text.or_else(number).or_else(truth);
        let found = found.unwrap_or_else(|| "another type".to_owned());
        Err(refuse(&key, expected, found))
    }

    fn expect(&self, expected: &str, known: &[Architecture]) -> Result<Architecture, FormatError> {
        let found = self.architecture()?;
        if known.contains(&found) {
            return Ok(found);
        }
        Err(refuse(ARCHITECTURE, expected, found.name()))
    }

    /// The number of a key under the architecture's name. The token table may give the size of the
    /// vocabulary instead, and the number of token types is among the tokenizer's keys. A count of
    /// 0 experts means that there are none. The kind of scaling and the windows are asked for as
    /// [`llama::Config::from_keys`] says.
    fn size(&self, architecture: Architecture, key: &str) -> Option<f64> {
        let value = |key: &str| self.value(&format!("{}.{key}", architecture.name()));
        let number = |key: &str| value(key).and_then(Value::number);
        let scaling = value("rope.scaling.type").and_then(Value::text);
        let found = number(key).filter(|&n| match key {
            "rope.scaling.factor" => scaling != Some("none"),
            _ => n != 0.0 || !key.starts_with("expert_"),
        });
        let window = || {
            let context = number("context_length").unwrap_or(f64::MAX);
            number("attention.sliding_window").filter(|&n| n > 0.0 && n < context)
        };
        found.or_else(|| match key {
            "vocab_size" => {
                let table = self.tensors.entry("token_embd.weight")?;
                table.shape().first().map(|&rows| rows as f64)
            }
            "token_type_count" => self.value("tokenizer.ggml.token_type_count")?.number(),
            "has_windows" => window(),
            _ => match key.split_once('.')? {
                ("rope_type", kind) => (scaling == Some(kind)).then_some(1.0),
                ("windows", _) => window(),
                _ => None,
            },
        })
    }

    /// The vocabulary in the metadata.
    ///
    /// # Errors
    /// When there is none, or one of its values has the wrong type.
    pub fn vocabulary(&self) -> Result<GgufVocabulary, FormatError> {
        let texts = |key| {
            self.typed(key, "texts", |value| {
                value.array()?.texts().map(<[_]>::to_vec)
            })
        };
        let size = |key| self.typed(key, "an id", Value::size);
        let truth = |key| self.typed(key, "a truth value", Value::truth);
        let text = |key| self.typed(key, "a text", |value| value.text().map(str::to_owned));
        let missing = |key: &str| {
            let key = format!("tokenizer.ggml.{key}");
            refuse(&key, "in the metadata", "none")
        };
        Ok(GgufVocabulary {
            model: text("model")?.ok_or_else(|| missing("model"))?,
            pre: text("pre")?,
            tokens: texts("tokens")?.ok_or_else(|| missing("tokens"))?,
            scores: self.typed("scores", "numbers in f32", |value| match value {
                Value::Array(Array::F32(scores)) => Some(scores.clone()),
                _ => None,
            })?,
            token_types: self.typed("token_type", "whole numbers", |value| match value {
                Value::Array(Array::I32(types)) => Some(types.clone()),
                Value::Array(Array::U32(types)) => {
                    types.iter().map(|&kind| i32::try_from(kind).ok()).collect()
                }
                _ => None,
            })?,
            merges: texts("merges")?,
            begin: size("bos_token_id")?,
            end: size("eos_token_id")?,
            unknown: size("unknown_token_id")?,
            class: size("cls_token_id")?,
            separator: size("seperator_token_id")?,
            padding: size("padding_token_id")?,
            mask: size("mask_token_id")?,
            add_begin: truth("add_bos_token")?,
            add_end: truth("add_eos_token")?,
            add_space_before: truth("add_space_prefix")?,
        })
    }

    /// The value of a key under `tokenizer.ggml`; an error where the value has another type.
    fn typed<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, FormatError> {
        let key = format!("tokenizer.ggml.{key}");
        let typed = |value| read(value).ok_or_else(|| refuse(&key, expected, "another type"));
        self.value(&key).map(typed).transpose()
    }
}
