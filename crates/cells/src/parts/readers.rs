//! Trained models that read a text of the reader's, with the attention of all their heads.

use std::sync::Arc;

use engine::nn::attention::Mask;
use engine::token::tokenizer::Tokenizer;
use engine::trace::Recorder;
use ndarray::{Array4, Ix3};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::model_cache::{CausalLm, MaskedLm, ModelCache};
use crate::parts::trained::{BERT, GPT, Offered, Pieces, START};
use crate::parts::untrained::causal_or_none;

/// An encoder or a decoder.
pub(crate) enum Reader {
    /// Reads the text between the tokens for beginning and end.
    Bert(Arc<MaskedLm>),
    /// Reads the token that begins every text and then the pieces.
    Gpt(Arc<CausalLm>),
}

impl Offered for Reader {
    fn open(name: &str, cache: &ModelCache) -> Result<Self, CellError> {
        match name {
            GPT => Offered::open(name, cache).map(Self::Gpt),
            _ => Offered::open(name, cache).map(Self::Bert),
        }
    }
}

/// What a model told of a text.
pub(crate) struct Reading {
    /// All intermediates.
    pub(crate) seen: Recorder,
    /// Layers, and heads of each.
    pub(crate) sizes: (usize, usize),
    /// The model's mask.
    pub(crate) mask: Mask,
    /// The ids of all tokens.
    pub(crate) ids: Vec<usize>,
    /// The first token of the text, and the one after its last: the others are the model's own.
    pub(crate) words: (usize, usize),
}

impl Reading {
    /// The weights of all heads of all layers, `[L, H, T, T]`.
    pub(crate) fn weights(&self) -> Result<Array4<f32>, CellError> {
        let (layers, heads) = self.sizes;
        all_weights(&self.seen, layers, heads)
    }
}

/// The weights of all heads that a recorder saw, `[L, H, T, T]`.
pub(crate) fn all_weights(
    seen: &Recorder,
    layers: usize,
    heads: usize,
) -> Result<Array4<f32>, CellError> {
    let (mut all, mut tokens) = (Vec::new(), 0);
    for layer in 0..layers {
        let name = format!("blocks.{layer}.attention.weights");
        let weights = seen
            .get(&name)
            .and_then(|all| all.view().into_dimensionality::<Ix3>().ok())
            .ok_or(CellError::Missing(name))?;
        tokens = weights.dim().2;
        all.extend(weights.iter().copied());
    }
    let all = Array4::from_shape_vec((layers, heads, tokens, tokens), all);
    all.map_err(|error| CellError::Mismatch(error.to_string()))
}

impl Reader {
    /// Reads a text, the value of an `input` with this name and label; its tokens are noted. Where a
    /// cell shows fewer tokens than the model reads, `most` says how many.
    pub(crate) fn read(
        &self,
        record: &mut Record,
        text: &str,
        input: (&str, &str),
        most: Option<usize>,
    ) -> Result<Reading, CellError> {
        match self {
            Self::Bert(bert) => encoder(record, bert, text, input, most),
            Self::Gpt(gpt) => decoder(record, gpt, text, input, most),
        }
    }
}

fn shorter(pieces: Pieces, most: Option<usize>, input: (&str, &str)) -> Result<Pieces, CellError> {
    match most {
        Some(most) => pieces.at_most(most, input.0, input.1),
        None => Ok(pieces),
    }
}

fn encoder(
    record: &mut Record,
    bert: &MaskedLm,
    text: &str,
    input: (&str, &str),
    most: Option<usize>,
) -> Result<Reading, CellError> {
    let (model, config) = (&bert.model, bert.model.config());
    let words = engine::token::words::split(text, usize::MAX);
    let special = bert.tokenizer.special();
    let added = special.begin.iter().chain(&special.end).count();
    let pieces = shorter(Pieces::of_words(&bert.tokenizer, &words)?, most, input)?
        .within(BERT, (config.context, added), input)?
        .enclosed(&bert.tokenizer);
    let (mut seen, ids) = (Recorder::default(), &pieces.ids[..]);
    shown!(
        record,
        engine::model::bert::Bert::forward,
        model,
        ids,
        Some(&mut seen)
    )?;
    let after = special.end.iter().count();
    record.words("tokens", pieces.texts);
    Ok(Reading {
        seen,
        sizes: (config.layers, config.heads),
        mask: Mask::None,
        words: (added - after, pieces.ids.len() - after),
        ids: pieces.ids,
    })
}

fn decoder(
    record: &mut Record,
    gpt: &CausalLm,
    text: &str,
    input: (&str, &str),
    most: Option<usize>,
) -> Result<Reading, CellError> {
    let (model, config) = (&gpt.model, gpt.model.config());
    let start = gpt.tokenizer.special().end;
    let added = start.iter().count();
    let pieces = Pieces::of_text(&gpt.tokenizer, text.trim())?;
    let pieces = shorter(pieces, most, input)?.within(GPT, (config.context, added), input)?;
    let ids: Vec<usize> = start.into_iter().chain(pieces.ids).collect();
    let (mut seen, read) = (Recorder::default(), &ids[..]);
    shown!(
        record,
        engine::model::decoder::DecoderExt::forward,
        model,
        read,
        Some(&mut seen)
    )?;
    let texts = std::iter::once(START.to_owned()).chain(pieces.texts);
    record.words("tokens", texts.collect());
    Ok(Reading {
        seen,
        sizes: (config.layers, config.heads),
        mask: causal_or_none(record, true, ids.len()),
        words: (added, ids.len()),
        ids,
    })
}
