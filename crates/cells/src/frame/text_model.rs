//! The models that a cell about text computes with: one that the site ships, or one that the reader
//! has opened. The cell's functions are the same for both.

use std::sync::Arc;

use engine::model::bert::Bert;
use engine::model::decoder::Decoder;
use engine::token::tokenizer::Tokenizer;

use crate::error::CellError;
use crate::model_cache::{CausalLm, MaskedLm};

/// What a reader is told whose model has no token to begin with.
const NO_START: &str = "This model came without a vocabulary, or its vocabulary has no token that begins a text: \
                        open the weights together with their vocabulary.";

/// A decoder with its vocabulary.
pub trait TextModel: Send + Sync {
    /// The model.
    fn decoder(&self) -> &dyn Decoder;

    /// Its vocabulary.
    fn tokenizer(&self) -> &dyn Tokenizer;

    /// What messages call it.
    fn name(&self) -> &str {
        "this model"
    }

    /// The token that begins every text: the one that the model was trained with, or else the one
    /// that ends a text, which separates two texts.
    ///
    /// # Errors
    /// [`CellError::Mismatch`] where the vocabulary has neither.
    fn start(&self) -> Result<usize, CellError> {
        let special = self.tokenizer().special();
        let begin = special.begin.filter(|_| special.add_begin);
        let start = begin.or(special.end);
        start.ok_or_else(|| CellError::Mismatch(NO_START.to_owned()))
    }
}

impl TextModel for CausalLm {
    fn name(&self) -> &str {
        "tiny-gpt"
    }

    fn decoder(&self) -> &dyn Decoder {
        &self.model
    }

    fn tokenizer(&self) -> &dyn Tokenizer {
        &self.tokenizer
    }
}

/// A decoder that the reader has opened.
#[derive(Clone)]
pub struct OpenedText {
    /// The model.
    pub model: Arc<dyn Decoder>,
    /// Its vocabulary.
    pub tokenizer: Arc<dyn Tokenizer>,
}

impl TextModel for OpenedText {
    fn decoder(&self) -> &dyn Decoder {
        &*self.model
    }

    fn tokenizer(&self) -> &dyn Tokenizer {
        &*self.tokenizer
    }
}

/// An encoder with its vocabulary.
pub trait SentenceModel: Send + Sync {
    /// The model.
    fn encoder(&self) -> &Bert;

    /// Its vocabulary.
    fn tokenizer(&self) -> &dyn Tokenizer;

    /// What messages call it.
    fn name(&self) -> &str {
        "this model"
    }
}

impl SentenceModel for MaskedLm {
    fn name(&self) -> &str {
        "tiny-bert"
    }

    fn encoder(&self) -> &Bert {
        &self.model
    }

    fn tokenizer(&self) -> &dyn Tokenizer {
        &self.tokenizer
    }
}

/// An encoder that the reader has opened.
#[derive(Clone)]
pub struct OpenedSentence {
    /// The model.
    pub model: Arc<Bert>,
    /// Its vocabulary.
    pub tokenizer: Arc<dyn Tokenizer>,
}

impl SentenceModel for OpenedSentence {
    fn encoder(&self) -> &Bert {
        &self.model
    }

    fn tokenizer(&self) -> &dyn Tokenizer {
        &*self.tokenizer
    }
}

/// A model that reads text: a decoder or an encoder.
#[derive(Clone)]
pub enum Reader {
    /// Reads the text between the tokens for beginning and end.
    Encoder(Arc<dyn SentenceModel>),
    /// Reads the token that begins every text and then the text.
    Decoder(Arc<dyn TextModel>),
}
