//! Translation: three kinds of model behind one type, with the vocabulary that they share.
//!
//! ```text
//! text -> normalised -> ids of the source -> [model, token after token from ⟨end⟩ until ⟨end⟩] -> ids -> text
//! ```
//! One token, `<|endoftext|>`, begins and ends every target. A file of a model is safetensors with
//! two texts as metadata: `config`, the sizes with `model_type` as a `config.json` has them, and
//! `tokenizer.json`, the vocabulary.

mod alignments;
mod file;
mod reading;
mod set;
mod text;

pub use alignments::{Alignments, aligned, by_words, crossings, heaviest, words};
pub use file::{CONFIG, Stored, TOKENIZER, open};
pub use reading::Reading;
pub use set::{Pair, read_set};
pub use text::{length, normalised};

use crate::beam::{Beam, Hypothesis, NextToken, search_watched};
use crate::error::{EngineError, Result};
use crate::model::encoder_decoder::EncoderDecoder;
use crate::model::seq2seq::Seq2Seq;
use crate::model::seq2seq_attention::AttentiveSeq2Seq;
use crate::model::transformer::Transformer;
use crate::nn::compute::Compute;
use crate::nn::packed::Packed;
use crate::sample::greedy;
use crate::token::byte_bpe::ByteBpe;
use crate::token::tokenizer::Tokenizer;
use crate::trainable::{Trainable, Visit};
use ndarray::Array1;

/// A translation model of one of three kinds.
#[derive(Debug, Clone)]
pub enum TranslationModel {
    /// With one context vector, the encoder's final hidden state.
    Gru(Seq2Seq),
    /// With additive attention.
    Attention(Box<AttentiveSeq2Seq>),
    /// The Transformer of 2017.
    Transformer(Transformer),
}

impl EncoderDecoder for TranslationModel {
    fn run<C: Compute>(
        &self,
        compute: &mut C,
        source: &Packed,
        target: &Packed,
    ) -> Result<C::Matrix> {
        // source ids [M], target ids [N] -> [N, V]
        match self {
            Self::Gru(model) => model.run(compute, source, target),
            Self::Attention(model) => model.run(compute, source, target),
            Self::Transformer(model) => model.run(compute, source, target),
        }
    }
}

impl Trainable for TranslationModel {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        match self {
            Self::Gru(model) => model.parameters(visit),
            Self::Attention(model) => model.parameters(visit),
            Self::Transformer(model) => model.parameters(visit),
        }
    }
}

/// A model with its vocabulary: of the kind that the file holds, or of the one kind `M`.
#[derive(Debug, Clone)]
pub struct Translator<M = TranslationModel> {
    /// The model.
    pub model: M,
    tokenizer: ByteBpe,
    end: usize,
}

/// A beam search: what it found, and its way there.
#[derive(Debug, Clone, PartialEq)]
pub struct BeamTree {
    /// The best translations, best first.
    pub best: Vec<Hypothesis>,
    /// The texts that were kept after each token: those that it ended, then those that continue.
    pub kept: Vec<Vec<Hypothesis>>,
}

/// The most tokens that are written for a source.
pub const LONGEST: usize = 60;

impl<M: Stored> Translator<M> {
    /// A model and its vocabulary, of which the special token for the end begins and ends targets.
    ///
    /// # Errors
    /// When the vocabulary has no token for the end, or is not as large as the model's.
    pub fn new(model: M, tokenizer: ByteBpe) -> Result<Self> {
        let refused = |expected: &str, found: &dyn std::fmt::Display| {
            EngineError::value("translator", "vocabulary", expected, found)
        };
        let end = tokenizer.special().end;
        let end = end.ok_or_else(|| refused("with a token for the end", &"none"))?;
        let sizes = model.vocabularies();
        if sizes != [tokenizer.size(); 2] {
            let expected = format!("of {sizes:?} tokens");
            return Err(refused(&expected, &tokenizer.size()));
        }
        Ok(Self {
            model,
            tokenizer,
            end,
        })
    }
}

impl<M> Translator<M> {
    /// The vocabulary.
    pub fn tokenizer(&self) -> &ByteBpe {
        &self.tokenizer
    }

    /// The token that begins and ends a target.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The ids of a sentence of either language: normalised, every word with the space before it,
    /// so a word has the same tokens at every position.
    ///
    /// # Errors
    /// When the vocabulary cannot write it.
    pub fn ids(&self, sentence: &str) -> Result<Vec<usize>> {
        ids(&self.tokenizer, sentence)
    }

    /// The text of a target's ids.
    ///
    /// # Errors
    /// When there is no token of one of these ids.
    pub fn text(&self, ids: &[usize]) -> Result<String> {
        Ok(self.tokenizer.decode(ids)?.trim().to_owned())
    }
}

impl Translator {
    /// Reads a source, to be asked token by token.
    ///
    /// # Errors
    /// When it has no token, or an id is outside the vocabulary.
    pub fn read(&self, source: &[usize]) -> Result<Reading<'_>> {
        Reading::new(&self.model, source)
    }

    /// A target by greedy decoding, the most likely token at each step, until the end (which is not
    /// returned) or [`LONGEST`] tokens.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn greedy(&self, source: &[usize]) -> Result<Vec<usize>> {
        let mut reading = self.read(source)?;
        let (mut target, mut last) = (Vec::new(), self.end);
        while target.len() < LONGEST {
            last = greedy(reading.feed(last)?.view())?;
            if last == self.end {
                break;
            }
            target.push(last);
        }
        Ok(target)
    }

    /// A sentence in the other language, by [`Self::greedy`]; empty for an empty sentence.
    ///
    /// # Errors
    /// When the vocabulary cannot write the sentence.
    pub fn translate(&self, sentence: &str) -> Result<String> {
        let source = self.ids(sentence)?;
        if source.is_empty() {
            return Ok(String::new());
        }
        self.text(&self.greedy(&source)?)
    }

    /// The best translations of a source by beam search, best first, each of at most [`LONGEST`]
    /// tokens.
    ///
    /// # Errors
    /// As [`Self::read`], and when a number of the search has no meaning.
    pub fn beam(&self, source: &[usize], width: usize, penalty: f32) -> Result<Vec<Hypothesis>> {
        Ok(self.beam_tree(source, width, penalty)?.best)
    }

    /// As [`Self::beam`], with all texts that the search kept on its way.
    ///
    /// # Errors
    /// As [`Self::beam`].
    pub fn beam_tree(&self, source: &[usize], width: usize, penalty: f32) -> Result<BeamTree> {
        let mut next = Beams {
            start: self.read(source)?,
            known: Vec::new(),
        };
        let beam = Beam {
            width,
            length_penalty: penalty,
            max_tokens: LONGEST,
            end: Some(self.end),
        };
        let mut kept = Vec::new();
        let mut watch = |texts: &[Hypothesis]| kept.push(texts.to_vec());
        let best = search_watched(&mut next, &[self.end], &beam, &mut watch)?;
        Ok(BeamTree { best, kept })
    }
}

/// The ids of a sentence in a vocabulary; see [`Translator::ids`].
///
/// # Errors
/// When the vocabulary cannot write it.
pub fn ids(tokenizer: &ByteBpe, sentence: &str) -> Result<Vec<usize>> {
    let sentence = normalised(sentence);
    if sentence.is_empty() {
        return Ok(Vec::new());
    }
    tokenizer.encode(&format!(" {sentence}"))
}

/// Continues the readings of the texts that were asked for last: a search asks for all texts of one
/// length before the next.
struct Beams<'a> {
    start: Reading<'a>,
    /// Texts of the two latest lengths, each with its reading.
    known: Vec<(Vec<usize>, Reading<'a>)>,
}

impl NextToken for Beams<'_> {
    fn logits(&mut self, ids: &[usize]) -> Result<Array1<f32>> {
        let Some((&last, before)) = ids.split_last() else {
            return Err(EngineError::value(
                "translator",
                "target",
                "at least 1 token",
                0,
            ));
        };
        self.known.retain(|(text, _)| text.len() >= before.len());
        let known = self.known.iter().find(|(text, _)| text == before);
        let mut reading = match known {
            Some((_, reading)) => reading.clone(),
            None => {
                let mut reading = self.start.clone();
                for &id in before {
                    reading.feed(id)?;
                }
                reading
            }
        };
        let logits = reading.feed(last)?;
        self.known.push((ids.to_vec(), reading));
        Ok(logits)
    }
}
