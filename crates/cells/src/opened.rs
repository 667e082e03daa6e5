//! Cells that also compute with a model that the reader has opened, in the worker that holds it:
//! the functions of the lessons' cells, with a description whose inputs fit a model of any size. A cell that
//! only opened models have is in this folder.

pub mod patch_filters;
pub mod window_heads;
pub mod window_reach;

use std::sync::Arc;

use crate::error::CellError;
use crate::input::Inputs;
use crate::jobs::JobCache;
use crate::lessons::decoder_only::{logit_lens, perplexity, sampling, whole_model};
use crate::lessons::heads::{ablation_sweep, induction, pattern_atlas, rollout};
use crate::lessons::multi_head::head_gallery;
use crate::lessons::positions_2d::position_similarity;
use crate::lessons::vit::{class_heads, class_token_lens, patch_attention};
use crate::model_cache::ModelCache;
use crate::picture_model::OpenedPicture;
use crate::spec::{CellSpec, Job};
use crate::text_model::{Reader, SentenceModel, TextModel};
use window_reach::OpenedWindows;

/// The answer of a cell about decoders where the open model is none.
const NO_DECODER: &str = "This cell computes with a model that continues a text, such as a GPT-2 or a Llama. The open model is an encoder.";

/// The answer of a cell about encoders where the open model is none.
const NO_ENCODER: &str = "This cell computes with a model that fills in hidden words, such as a BERT. The open model is a decoder.";

/// The answer of a cell about text where the open model reads pictures.
const NO_READER: &str =
    "This cell computes with a model that reads text. The open model reads pictures.";

/// The answer of a cell about pictures where the open model reads text.
const NO_PICTURES: &str =
    "This cell computes with a model that reads pictures. The open model reads text.";

/// The answer of a cell about heads that attend to all of a picture where the open model has windows.
const WINDOWS: &str = "This cell looks at heads that attend to all of the picture. The open model attends within windows.";

/// The answer of a cell about windows where the open model has none.
const NO_WINDOWS: &str = "This cell computes with a model that attends within windows, such as a Swin V2. The open model attends to all of the picture.";

/// A model that the reader has opened.
#[derive(Clone)]
pub enum Model {
    /// One that reads text.
    Text(Reader),
    /// One whose heads attend to all of a picture, with the picture that it read last.
    Picture(Arc<OpenedPicture>),
    /// One that attends within windows, with the picture that it read last.
    Windows(Arc<OpenedWindows>),
}

impl From<Reader> for Model {
    fn from(reader: Reader) -> Self {
        Self::Text(reader)
    }
}

impl From<Arc<OpenedPicture>> for Model {
    fn from(picture: Arc<OpenedPicture>) -> Self {
        Self::Picture(picture)
    }
}

impl From<Arc<OpenedWindows>> for Model {
    fn from(windows: Arc<OpenedWindows>) -> Self {
        Self::Windows(windows)
    }
}

/// A function that starts the job of a cell with a model of the type `M`.
type StartWith<M> = fn(&Inputs, M) -> Result<Box<dyn Job>, CellError>;

/// What starts the job of a cell.
enum Start {
    /// Takes a decoder.
    Decoder(StartWith<Arc<dyn TextModel>>),
    /// Takes an encoder.
    Encoder(StartWith<Arc<dyn SentenceModel>>),
    /// Takes a decoder or an encoder.
    Reader(StartWith<Reader>),
    /// Takes a model whose heads attend to all of a picture.
    Picture(StartWith<Arc<OpenedPicture>>),
    /// Takes a model that attends within windows.
    Windows(StartWith<Arc<OpenedWindows>>),
    /// Takes both kinds of models of pictures.
    Either(StartWith<Arc<OpenedPicture>>, StartWith<Arc<OpenedWindows>>),
}

/// The cells. Not for the page, which has the descriptions and not the code that computes.
const ALL: [(&CellSpec, Start); 16] = [
    (
        &whole_model::OPENED,
        Start::Decoder(whole_model::start_opened),
    ),
    (&induction::OPENED, Start::Decoder(induction::start_opened)),
    (&logit_lens::SPEC, Start::Decoder(logit_lens::start)),
    (&ablation_sweep::SPEC, Start::Decoder(ablation_sweep::start)),
    (&sampling::OPENED, Start::Decoder(sampling::start_opened)),
    (&perplexity::SPEC, Start::Decoder(perplexity::start)),
    (
        &head_gallery::OPENED,
        Start::Reader(head_gallery::start_opened),
    ),
    (
        &pattern_atlas::OPENED,
        Start::Reader(pattern_atlas::start_opened),
    ),
    (&rollout::SPEC, Start::Encoder(rollout::start)),
    (
        &patch_attention::OPENED,
        Start::Picture(patch_attention::start_opened),
    ),
    (
        &class_token_lens::OPENED,
        Start::Either(
            class_token_lens::start_opened,
            class_token_lens::start_windows,
        ),
    ),
    (
        &class_heads::OPENED,
        Start::Either(class_heads::start_opened, class_heads::start_windows),
    ),
    (
        &position_similarity::OPENED,
        Start::Picture(position_similarity::start_opened),
    ),
    (
        &patch_filters::OPENED,
        Start::Picture(patch_filters::start_opened),
    ),
    (
        &window_heads::OPENED,
        Start::Windows(window_heads::start_opened),
    ),
    (
        &window_reach::OPENED,
        Start::Windows(window_reach::start_opened),
    ),
];

/// The job of a cell with a model: the kept one of that cell where it can be continued to these
/// inputs, else a new one. The kept jobs are those of this model.
///
/// # Errors
/// A cell that takes no opened model or none of this kind, an input outside its limits, or what the
/// start meets.
pub fn begin(
    kept: &mut JobCache,
    cell: &str,
    inputs: &Inputs,
    model: impl Into<Model>,
) -> Result<Box<dyn Job>, CellError> {
    let found = ALL.iter().find(|(spec, _)| spec.name == cell);
    let (spec, start) = found.ok_or_else(|| CellError::Missing(cell.to_owned()))?;
    spec.check(inputs)?;
    // The model is all that these cells need: no file is fetched for them.
    if let Some(job) = kept.continued(spec.name, inputs, &ModelCache::default())? {
        return Ok(job);
    }
    let refused = |why: &str| Err(CellError::Mismatch(why.to_owned()));
    let reader = match (start, model.into()) {
        (Start::Picture(start) | Start::Either(start, _), Model::Picture(opened)) => {
            return start(inputs, opened);
        }
        (Start::Windows(start) | Start::Either(_, start), Model::Windows(opened)) => {
            return start(inputs, opened);
        }
        (Start::Picture(_), Model::Windows(_)) => return refused(WINDOWS),
        (Start::Windows(_), Model::Picture(_)) => return refused(NO_WINDOWS),
        (Start::Picture(_) | Start::Windows(_) | Start::Either(..), Model::Text(_)) => {
            return refused(NO_PICTURES);
        }
        (_, Model::Picture(_) | Model::Windows(_)) => return refused(NO_READER),
        (_, Model::Text(reader)) => reader,
    };
    match (start, reader) {
        (Start::Decoder(start), Reader::Decoder(model)) => start(inputs, model),
        (Start::Encoder(start), Reader::Encoder(model)) => start(inputs, model),
        (Start::Reader(start), model) => start(inputs, model),
        (Start::Encoder(_), Reader::Decoder(_)) => refused(NO_ENCODER),
        (_, Reader::Encoder(_))
        | (Start::Picture(_) | Start::Windows(_) | Start::Either(..), _) => refused(NO_DECODER),
    }
}

/// Starts the job of a cell with a model.
///
/// # Errors
/// As [`begin`].
pub fn start(
    cell: &str,
    inputs: &Inputs,
    model: impl Into<Model>,
) -> Result<Box<dyn Job>, CellError> {
    begin(&mut JobCache::default(), cell, inputs, model)
}
