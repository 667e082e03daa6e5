//! Models that read a text of the reader's, with the attention of all their heads.

use std::sync::Arc;

use engine::nn::attention::Mask;
use engine::nn::packed::Packed;
use engine::trace::Recorder;
use ndarray::{Array4, Ix3};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::model_cache::{MaskedLm, ModelCache};
use crate::parts::trained::{self, GPT, Offered, Pieces, START};
use crate::parts::untrained::causal_or_none;
use crate::spec::{Job, once};
use crate::text_model::{Reader, SentenceModel, TextModel};

impl Offered for Reader {
    fn open(name: &str, cache: &ModelCache) -> Result<Self, CellError> {
        match name {
            GPT => trained::gpt(cache).map(Self::Decoder),
            _ => {
                let bert: Arc<MaskedLm> = Offered::open(name, cache)?;
                Ok(Self::Encoder(bert))
            }
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

/// Reads a text, the value of an `input` with this name and label; its tokens are noted. Where a cell
/// shows fewer tokens than the model reads, `most` says how many.
pub(crate) fn read(
    reader: &Reader,
    record: &mut Record,
    text: &str,
    input: (&str, &str),
    most: Option<usize>,
) -> Result<Reading, CellError> {
    match reader {
        Reader::Encoder(model) => encoder(record, &**model, text, input, most),
        Reader::Decoder(model) => decoder(record, &**model, text, input, most),
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
    sentence_model: &dyn SentenceModel,
    text: &str,
    input: (&str, &str),
    most: Option<usize>,
) -> Result<Reading, CellError> {
    let (model, tokenizer) = (sentence_model.encoder(), sentence_model.tokenizer());
    let config = model.config();
    let words = engine::token::words::split(text, usize::MAX);
    let special = tokenizer.special();
    let added = special.begin.iter().chain(&special.end).count();
    let pieces = shorter(Pieces::of_words(tokenizer, &words)?, most, input)?
        .within(sentence_model.name(), (config.context, added), input)?
        .enclosed(tokenizer);
    let (mut seen, ids) = (Recorder::default(), &pieces.ids[..]);
    if model.fills_masks() {
        shown!(
            record,
            engine::model::bert::Bert::forward,
            model,
            ids,
            Some(&mut seen)
        )?;
    } else {
        // A file may have come without the head that fills masks.
        model.hidden(&Packed::one(ids), None, &mut Some(&mut seen))?;
    }
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
    text_model: &dyn TextModel,
    text: &str,
    input: (&str, &str),
    most: Option<usize>,
) -> Result<Reading, CellError> {
    let (model, start) = (text_model.decoder(), text_model.start()?);
    let pieces = Pieces::of_text(text_model.tokenizer(), text.trim())?;
    let pieces =
        shorter(pieces, most, input)?.within(text_model.name(), (model.context(), 1), input)?;
    let ids: Vec<usize> = std::iter::once(start).chain(pieces.ids).collect();
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
        sizes: (model.layers(), model.heads()),
        mask: causal_or_none(record, true, ids.len()),
        words: (1, ids.len()),
        ids,
    })
}

/// The inputs of a cell that reads a text with a model that the reader has opened: those of the
/// lesson's cell without the choice of a model.
pub(crate) fn opened_inputs(inputs: Vec<InputSpec>) -> Vec<InputSpec> {
    let all = inputs.into_iter();
    all.filter(|input| input.name != "model").collect()
}

/// A computation in one slice on the reader's inputs and a model.
pub(crate) fn once_with(
    inputs: &Inputs,
    reader: Reader,
    compute: fn(&Inputs, Option<&Reader>) -> Result<Computation, CellError>,
) -> Box<dyn Job> {
    let inputs = inputs.clone();
    once(move || compute(&inputs, Some(&reader)))
}
