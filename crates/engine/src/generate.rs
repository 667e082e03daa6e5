//! Autoregressive generation of text with a decoder.
//!
//! [`Generation`] reads the prompt, then chooses a token, returns the text that is complete with
//! it, and feeds the token back, until one of four conditions ends the text ([`Ending`]). Text that
//! may be the beginning of a stop string is held back.
//!
//! ```
//! use engine::generate::{IncrementalDecoder, Ending, Generation, Options};
//! use engine::sample::Sampling;
//! use engine::token::{split::Split, train::train};
//! use ndarray::Array1;
//!
//! /// Counts: after each byte comes the next one.
//! struct Counting { last: usize, fed: usize }
//! impl IncrementalDecoder for Counting {
//!     fn feed(&mut self, ids: &[usize]) -> engine::Result<Array1<f32>> {
//!         self.fed += ids.len();
//!         self.last = ids.last().copied().unwrap_or(self.last);
//!         Ok(Array1::from_shape_fn(256, |id| f32::from(u8::from(id == self.last + 1))))
//!     }
//!     fn context(&self) -> usize { 64 }
//!     fn position(&self) -> usize { self.fed }
//! }
//!
//! // Without merges each byte is a token, and its id is its value.
//! let (mut model, bytes) = (Counting { last: 0, fed: 0 }, train("", 0, Split::Gpt2)?.tokenizer);
//! let options = Options { sampling: Sampling::greedy(), stop: vec!["67".to_owned()], ..Options::default() };
//! let mut generation = Generation::new(&mut model, &bytes, &[49, 50], options)?;
//! let texts: engine::Result<Vec<String>> = generation.by_ref().map(|token| Ok(token?.text)).collect();
//! assert_eq!(texts?, ["3", "4", "5", "", ""]);
//! assert_eq!(generation.ending(), Some(&Ending::Stop("67".to_owned())));
//! # Ok::<(), engine::EngineError>(())
//! ```

use ndarray::{Array1, s};

use crate::error::{EngineError, Result};
use crate::sample::{Sampler, Sampling};
use crate::token::stop::StopStrings;
use crate::token::stream::StreamDecoder;
use crate::token::tokenizer::Tokenizer;

/// A model that keeps the keys and values of the tokens that it has read.
pub trait IncrementalDecoder {
    /// Reads more tokens of the text and returns the scores `[V]` of the token after them.
    ///
    /// # Errors
    /// When the context is full, or there is no such id.
    fn feed(&mut self, ids: &[usize]) -> Result<Array1<f32>>;

    /// The most tokens that the model can read.
    fn context(&self) -> usize;

    /// The number of tokens that it has read.
    fn position(&self) -> usize;
}

/// The options of a generation.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The parameters by which each token is chosen. The repetition penalty counts the prompt as
    /// text.
    pub sampling: Sampling,
    /// The seed of the random draws.
    pub seed: u64,
    /// The most tokens after the prompt.
    pub max_tokens: usize,
    /// Texts that end the generation and are not part of its text.
    pub stop: Vec<String>,
    /// Tokens that end a text besides the end token of the tokenizer.
    pub end_tokens: Vec<usize>,
}

impl Default for Options {
    /// The model's own distribution, at most 256 tokens.
    fn default() -> Self {
        Self {
            sampling: Sampling::default(),
            seed: 0,
            max_tokens: 256,
            stop: Vec::new(),
            end_tokens: Vec::new(),
        }
    }
}

/// The reason why a text ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The text contains this stop string.
    Stop(String),
    /// The model ended the text.
    EndOfText,
    /// The text has the most tokens that the options allow.
    Length,
    /// The model can read no more.
    ContextFull,
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stop(text) => write!(f, "stopped at {text:?}"),
            Self::EndOfText => write!(f, "the model ended the text"),
            Self::Length => write!(f, "the number of tokens that was asked for is reached"),
            Self::ContextFull => {
                write!(f, "the context is full: the model can read no more tokens")
            }
        }
    }
}

/// A token of a generated text, and the text that is complete with it, which may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedToken {
    /// The token's id.
    pub id: usize,
    /// The text of this token and of earlier ones whose text was held back.
    pub text: String,
}

/// An iterator over the tokens of a text that is being generated. It ends after an error. An id for
/// which the model has a score and the tokenizer no token is never chosen.
pub struct Generation<'a> {
    decoder: &'a mut dyn IncrementalDecoder,
    sampler: Sampler,
    stream: StreamDecoder<'a>,
    stop: StopStrings,
    end_tokens: Vec<usize>,
    /// The number of ids that have a token.
    known: usize,
    /// The prompt and every token since.
    ids: Vec<usize>,
    /// The number of tokens that may still come.
    left: usize,
    /// The scores of the next token, unless the last one has not been fed yet.
    scores: Option<Array1<f32>>,
    /// The scores that the last token was chosen from.
    chosen_from: Option<Array1<f32>>,
    ending: Option<Ending>,
    failed: bool,
}

impl<'a> Generation<'a> {
    /// Reads the prompt.
    ///
    /// # Errors
    /// When the prompt is empty or longer than the room that is left in the context, has an id that
    /// the tokenizer or the model does not know, a stop string is empty, or a parameter of the
    /// sampling is out of range.
    pub fn new(
        decoder: &'a mut dyn IncrementalDecoder,
        tokenizer: &'a dyn Tokenizer,
        prompt: &[usize],
        options: Options,
    ) -> Result<Self> {
        let room = decoder.context().saturating_sub(decoder.position());
        if prompt.is_empty() || prompt.len() > room {
            let expected = format!("between 1 and {room} tokens, the room in the context");
            let found = prompt.len();
            return Err(EngineError::value("generate", "prompt", expected, found));
        }
        let scores = decoder.feed(prompt)?;
        Self::after(decoder, tokenizer, prompt, scores, options)
    }

    /// Continues from a prompt that the decoder has read already; `scores` are those of the token
    /// after it.
    ///
    /// # Errors
    /// When the prompt has an id that the tokenizer does not know, a stop string is empty, or a
    /// parameter of the sampling is out of range.
    pub fn after(
        decoder: &'a mut dyn IncrementalDecoder,
        tokenizer: &'a dyn Tokenizer,
        prompt: &[usize],
        scores: Array1<f32>,
        options: Options,
    ) -> Result<Self> {
        let sampler = Sampler::new(options.sampling, options.seed)?;
        let stop = StopStrings::new(options.stop)?;
        let mut stream = StreamDecoder::new(tokenizer);
        for &id in prompt {
            stream.push(id)?;
        }
        let mut end_tokens = options.end_tokens;
        end_tokens.extend(tokenizer.special().end);
        Ok(Self {
            decoder,
            sampler,
            stream,
            stop,
            end_tokens,
            known: tokenizer.size(),
            ids: prompt.to_vec(),
            left: options.max_tokens,
            scores: Some(scores),
            chosen_from: None,
            ending: (options.max_tokens == 0).then_some(Ending::Length),
            failed: false,
        })
    }

    /// The reason why the text ended; `None` before its end, and after an error.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// The prompt and every token since. The decoder has not read the last one: to continue the
    /// text, feed that token first.
    pub fn ids(&self) -> &[usize] {
        &self.ids
    }

    /// The scores that the last token was chosen from, `[V]`, of the ids that have a token; `None`
    /// before the first.
    pub fn chosen_from(&self) -> Option<&Array1<f32>> {
        self.chosen_from.as_ref()
    }

    fn step(&mut self) -> Result<GeneratedToken> {
        let mut scores = match self.scores.take() {
            Some(scores) => scores,
            None => self.decoder.feed(&self.ids[self.ids.len() - 1..])?,
        };
        // The rows that fill a model's matrices up to a round size have scores and no token.
        if self.known < scores.len() {
            scores = scores.slice(s![..self.known]).to_owned();
        }
        let id = self.sampler.next(scores.view(), &self.ids)?;
        self.chosen_from = Some(scores);
        self.ids.push(id);
        self.left -= 1;
        let mut text = String::new();
        if self.end_tokens.contains(&id) {
            self.ending = Some(Ending::EndOfText);
        } else {
            let more = self.stream.push(id)?;
            text = self.take(&more);
        }
        if self.ending.is_none() {
            self.ending = if self.left == 0 {
                Some(Ending::Length)
            } else if self.decoder.position() >= self.decoder.context() {
                Some(Ending::ContextFull)
            } else {
                return Ok(GeneratedToken { id, text });
            };
        }
        if !matches!(self.ending, Some(Ending::Stop(_))) {
            let rest = self.stream.finish();
            text += &self.take(&rest);
        }
        if !matches!(self.ending, Some(Ending::Stop(_))) {
            text += &self.stop.finish();
        }
        Ok(GeneratedToken { id, text })
    }

    /// Takes more text and returns the text that is known to be before a stop string; a complete
    /// stop string ends the generation.
    fn take(&mut self, more: &str) -> String {
        let (text, found) = self.stop.push(more);
        if let Some(stop) = found {
            self.ending = Some(Ending::Stop(stop));
        }
        text
    }
}

impl Iterator for Generation<'_> {
    type Item = Result<GeneratedToken>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ending.is_some() || self.failed {
            return None;
        }
        let token = self.step();
        if token.is_err() {
            self.failed = true;
            self.ending = None;
        }
        Some(token)
    }
}
