//! The continuation of a text, one step at a time, and the attention weights of its tokens.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use engine::EngineError;
use engine::generate::{Generation, Options};
use engine::model::decoder::{Decoder, Session};
use engine::ndarray::{Array1, ArrayViewD};
use engine::nn::kv_cache::Precision;
use engine::open::top;
use engine::sample::Sampling;
use engine::token::tokenizer::Tokenizer;
use engine::trace::Observer;

use super::error::ModelError;
use super::protocol::{AttentionPosition, Candidate, ModelEvent, WritingRequest};

/// Tokens of a prompt that are read in one step.
const STEP: usize = 32;

/// Number of the most likely tokens that the page gets.
const CANDIDATES: usize = 10;

/// The tokens of the text, and events that the last step has left.
#[derive(Default)]
pub(super) struct WritingState {
    pub(super) ids: RefCell<Vec<usize>>,
    pub(super) events: RefCell<Vec<ModelEvent>>,
}

/// A model with its vocabulary.
#[derive(Clone)]
pub(super) struct CausalLm {
    pub(super) model: Arc<dyn Decoder>,
    pub(super) tokenizer: Arc<dyn Tokenizer>,
}

/// Returns to the caller of the future, which continues when it is polled again.
async fn pause() {
    let mut paused = false;
    poll_fn(move |_| match std::mem::replace(&mut paused, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// Continues a text. It pauses after each step, which reads a part of the prompt or writes a token,
/// and leaves its events in `text`.
///
/// # Errors
/// When the prompt is empty, too long or cannot be written in the vocabulary, or the sampling has
/// no meaning.
pub(super) async fn write(
    writer: CausalLm,
    asked: WritingRequest,
    text: Rc<WritingState>,
) -> Result<(), ModelError> {
    let CausalLm { model, tokenizer } = writer;
    let ids = prompt(&*tokenizer, &asked.prompt)?;
    if ids.len() >= model.context() {
        return Err(ModelError::TooLong {
            context: model.context(),
            asked: ids.len() + 1,
        });
    }
    text.ids.replace(ids.clone());
    let precision = match asked.half_cache {
        true => Precision::Half,
        false => Precision::Single,
    };
    let mut session = Session::in_precision(model, precision);
    let mut scores = Array1::zeros(0);
    let mut tokens = token_texts(&*tokenizer, &ids)?;
    let mut done = 0;
    for piece in ids.chunks(STEP) {
        scores = session.feed(piece)?;
        done += piece.len();
        text.events.borrow_mut().push(ModelEvent::Reading {
            tokens: std::mem::take(&mut tokens),
            done,
            elapsed_ms: 0.0,
        });
        pause().await;
    }
    let bytes_per_token = session.size_bytes() / ids.len();
    let options = Options {
        sampling: Sampling {
            temperature: asked.temperature,
            top_k: asked.top_k,
            top_p: asked.top_p,
            repetition_penalty: asked.repetition_penalty,
        },
        seed: asked.seed,
        max_tokens: asked.new,
        ..Options::default()
    };
    let mut generation = Generation::after(&mut session, &*tokenizer, &ids, scores, options)?;
    while let Some(piece) = generation.next() {
        let piece = piece?;
        let tokens_read = text.ids.borrow().len();
        text.ids.borrow_mut().push(piece.id);
        let scores = generation.chosen_from();
        let candidates = scores.map_or_else(
            || Ok(Vec::new()),
            |scores| candidates(&*tokenizer, scores, piece.id),
        )?;
        text.events.borrow_mut().push(ModelEvent::Wrote {
            token: token_text(&*tokenizer, piece.id, false)?,
            text: piece.text,
            candidates,
            cache_bytes: (tokens_read * bytes_per_token) as u64,
            elapsed_ms: 0.0,
        });
        pause().await;
    }
    let why = generation.ending().map(ToString::to_string);
    text.events
        .borrow_mut()
        .push(ModelEvent::Written(why.unwrap_or_default()));
    Ok(())
}

/// The tokens of a prompt, after the token that starts a text where the model was trained with one.
/// An empty prompt is that token, or the one that separates two texts.
fn prompt(tokenizer: &dyn Tokenizer, text: &str) -> Result<Vec<usize>, ModelError> {
    let special = tokenizer.special();
    let mut ids: Vec<usize> = special
        .begin
        .filter(|_| special.add_begin)
        .into_iter()
        .collect();
    ids.extend(tokenizer.encode(text)?);
    if ids.is_empty() {
        let first = special
            .begin
            .or(special.end)
            .ok_or_else(|| EngineError::value("write", "prompt", "at least one token", "none"))?;
        ids.push(first);
    }
    Ok(ids)
}

/// The texts of tokens, each by itself.
pub(super) fn token_texts(tokenizer: &dyn Tokenizer, ids: &[usize]) -> engine::Result<Vec<String>> {
    let place = |(n, &id): (usize, &usize)| token_text(tokenizer, id, n == 0);
    ids.iter().enumerate().map(place).collect()
}

/// The text of a token by itself; its name in the vocabulary where it is no text, or a part of a
/// character.
pub(super) fn token_text(
    tokenizer: &dyn Tokenizer,
    id: usize,
    first: bool,
) -> engine::Result<String> {
    let bytes = tokenizer.token_bytes(id, first)?;
    let text = bytes
        .as_deref()
        .and_then(|bytes| std::str::from_utf8(bytes).ok());
    let name = || tokenizer.token(id).unwrap_or_default();
    Ok(text
        .filter(|text| !text.is_empty())
        .unwrap_or_else(name)
        .to_owned())
}

fn candidates(
    tokenizer: &dyn Tokenizer,
    scores: &Array1<f32>,
    taken: usize,
) -> engine::Result<Vec<Candidate>> {
    // scores [V]
    let best = top(scores, CANDIDATES)
        .into_iter()
        .map(|(id, probability)| {
            Ok(Candidate {
                text: token_text(tokenizer, id, false)?,
                probability,
                taken: id == taken,
            })
        });
    best.collect()
}

/// The attention weights of one token in all layers and heads, kept until another token is asked
/// for.
pub(super) struct TokenAttention {
    ids: Vec<usize>,
    /// `[layers × H × T]`
    layers: Vec<Vec<Vec<f32>>>,
}

impl TokenAttention {
    /// Runs the model over the text up to a token, and over that token with an observer.
    ///
    /// # Errors
    /// When there is no such token.
    pub(super) fn of(model: &Arc<dyn Decoder>, ids: &[usize]) -> engine::Result<Self> {
        let (last, before) = ids
            .split_last()
            .ok_or_else(|| EngineError::value("attend", "token", "a token of the text", "none"))?;
        let mut session = Session::new(Arc::clone(model));
        if !before.is_empty() {
            session.feed(before)?;
        }
        let mut rows = Rows::default();
        session.feed_traced(&[*last], Some(&mut rows))?;
        Ok(Self {
            ids: ids.to_vec(),
            layers: rows.0,
        })
    }

    /// Returns whether these are the weights of the last of these tokens.
    pub(super) fn is_of(&self, ids: &[usize]) -> bool {
        self.ids == ids
    }

    /// The weights in a layer and a head.
    pub(super) fn row(&self, place: AttentionPosition) -> Option<Vec<f32>> {
        self.layers.get(place.layer)?.get(place.head).cloned()
    }
}

/// An observer that keeps the attention weights of one token, layer by layer.
#[derive(Default)]
struct Rows(Vec<Vec<Vec<f32>>>);

impl Observer for Rows {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        // tensor [H, 1, T]
        if name.starts_with("blocks.") && name.ends_with(".attention.weights") {
            let heads = tensor
                .outer_iter()
                .map(|head| head.iter().copied().collect());
            self.0.push(heads.collect());
        }
    }
}
