//! A translator in a file.

use super::{TranslationModel, Translator};
use crate::format::json::ReadJson;
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

/// The `model_type` of each kind.
const GRU: &str = "seq2seq-gru";
const ATTENTION: &str = "seq2seq-attention";
const TRANSFORMER: &str = "transformer";

/// A model of translation, of one kind or of any, that a file holds.
pub trait Stored: Sized {
    /// The model in a file.
    ///
    /// # Errors
    /// When the file is of another kind, or its parameters do not fit its sizes.
    fn load(file: &Shipped) -> Result<Self, OpenError>;

    /// The sizes of the vocabularies that it reads and writes.
    fn vocabularies(&self) -> [usize; 2];
}

impl Stored for Seq2Seq {
    fn load(file: &Shipped) -> Result<Self, OpenError> {
        expect(file, GRU)?;
        file.model(|number, source| Self::load(seq2seq::Config::from_keys(number)?, source))
    }

    fn vocabularies(&self) -> [usize; 2] {
        let config = self.config();
        [config.source_vocabulary, config.target_vocabulary]
    }
}

impl Stored for AttentiveSeq2Seq {
    fn load(file: &Shipped) -> Result<Self, OpenError> {
        expect(file, ATTENTION)?;
        file.model(|number, source| {
            Self::load(seq2seq_attention::Config::from_keys(number)?, source)
        })
    }

    fn vocabularies(&self) -> [usize; 2] {
        let config = self.config();
        [config.source_vocabulary, config.target_vocabulary]
    }
}

impl Stored for Transformer {
    fn load(file: &Shipped) -> Result<Self, OpenError> {
        expect(file, TRANSFORMER)?;
        file.model(|number, source| Self::load(transformer::Config::from_keys(number)?, source))
    }

    fn vocabularies(&self) -> [usize; 2] {
        [self.config().vocabulary; 2]
    }
}

impl Stored for TranslationModel {
    fn load(file: &Shipped) -> Result<Self, OpenError> {
        match file.kind() {
            GRU => Stored::load(file).map(Self::Gru),
            ATTENTION => Stored::load(file).map(|model| Self::Attention(Box::new(model))),
            TRANSFORMER => Stored::load(file).map(Self::Transformer),
            _ => Err(another(
                file,
                "seq2seq-gru, seq2seq-attention or transformer",
            )),
        }
    }

    fn vocabularies(&self) -> [usize; 2] {
        match self {
            Self::Gru(model) => model.vocabularies(),
            Self::Attention(model) => model.vocabularies(),
            Self::Transformer(model) => model.vocabularies(),
        }
    }
}

/// Checks that a file holds a model of this kind.
fn expect(file: &Shipped, kind: &str) -> Result<(), OpenError> {
    match file.kind() == kind {
        true => Ok(()),
        false => Err(another(file, kind)),
    }
}

/// The error of a file with a model of another kind.
fn another(file: &Shipped, known: &str) -> OpenError {
    let found = match file.kind() {
        "" => "none",
        other => other,
    };
    file.refuse(&format!("a model_type of {known}"), found)
}

/// The translator in a file, what is JSON in it read by `read_json`; `name` is the file's, for
/// messages.
///
/// # Errors
/// When the bytes are no safetensors, its metadata is missing or of another kind of model, or the
/// parameters do not fit it.
pub fn open<M: Stored>(
    name: &str,
    bytes: Arc<[u8]>,
    read_json: ReadJson,
) -> Result<Translator<M>, OpenError> {
    let file = Shipped::parse(name, bytes, read_json)?;
    let model = M::load(&file)?;
    let tokenizer = file.check(read_byte_bpe(&file.json(TOKENIZER)?))?;
    file.check(Translator::new(model, tokenizer))
}
