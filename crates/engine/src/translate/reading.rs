//! A source that was read, and the state of its translation.

use super::TranslationModel;
use crate::error::{EngineError, Result};
use crate::model::seq2seq::{self, Seq2Seq};
use crate::model::seq2seq_attention::{self, AttentiveSeq2Seq};
use crate::model::transformer::Translation;
use ndarray::Array1;

/// A translation that is being written. A clone continues independently, as beams do.
#[derive(Debug, Clone)]
pub struct Reading<'a>(Inner<'a>);

#[derive(Debug, Clone)]
enum Inner<'a> {
    Gru(&'a Seq2Seq, seq2seq::State),
    Attention(&'a AttentiveSeq2Seq, seq2seq_attention::State),
    Transformer(Translation<'a>),
}

impl<'a> Reading<'a> {
    pub(super) fn new(model: &'a TranslationModel, source: &[usize]) -> Result<Self> {
        if source.is_empty() {
            let name = "source tokens";
            return Err(EngineError::value("translator", name, "at least 1", 0));
        }
        Ok(Self(match model {
            TranslationModel::Gru(model) => Inner::Gru(model, model.encode(source, None)?),
            TranslationModel::Attention(model) => {
                Inner::Attention(model, model.encode(source, None)?)
            }
            TranslationModel::Transformer(model) => Inner::Transformer(model.read(source, None)?),
        }))
    }

    /// Reads one more token of the target; returns the scores of the next, `[V]`.
    ///
    /// # Errors
    /// When the id is outside the vocabulary.
    pub fn feed(&mut self, id: usize) -> Result<Array1<f32>> {
        match &mut self.0 {
            Inner::Gru(model, state) => model.step(state, id, None),
            Inner::Attention(model, state) => model.step(state, id, None),
            Inner::Transformer(translation) => translation.feed(&[id]),
        }
    }
}
