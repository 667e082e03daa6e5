//! A translator in a file.

use super::{TranslationModel, Translator};
use crate::model::seq2seq::{self, Seq2Seq};
use crate::model::seq2seq_attention::{self, AttentiveSeq2Seq};
use crate::model::transformer::{self, Transformer};
use crate::open::OpenError;
use crate::open::shipped::Shipped;
use crate::token::json::read_byte_bpe;
use std::sync::Arc;

pub use crate::open::shipped::CONFIG;

/// The metadata that holds the vocabulary.
pub const TOKENIZER: &str = "tokenizer.json";

/// The translator in a file; `name` is the file's, for messages.
///
/// # Errors
/// When the bytes are no safetensors, its metadata is missing or of another kind of model, or the
/// parameters do not fit it.
pub fn open(name: &str, bytes: Arc<[u8]>) -> Result<Translator, OpenError> {
    let file = Shipped::parse(name, bytes)?;
    let model = match file.kind() {
        "seq2seq-gru" => file.model(|number, source| {
            Seq2Seq::load(seq2seq::Config::from_keys(number)?, source).map(TranslationModel::Gru)
        })?,
        "seq2seq-attention" => file.model(|number, source| {
            let config = seq2seq_attention::Config::from_keys(number)?;
            AttentiveSeq2Seq::load(config, source)
                .map(|model| TranslationModel::Attention(Box::new(model)))
        })?,
        "transformer" => file.model(|number, source| {
            Transformer::load(transformer::Config::from_keys(number)?, source)
                .map(TranslationModel::Transformer)
        })?,
        other => {
            let known = "a model_type of seq2seq-gru, seq2seq-attention or transformer";
            return Err(file.refuse(known, if other.is_empty() { "none" } else { other }));
        }
    };
    let tokenizer = file.check(read_byte_bpe(file.text(TOKENIZER)?))?;
    file.check(Translator::new(model, tokenizer))
}
