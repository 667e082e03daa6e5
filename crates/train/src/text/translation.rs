//! The three translators of the race: one through a fixed vector, one with attention, the
//! Transformer of 2017.
//!
//! They have the same pairs, vocabulary and batches, and parameters (embeddings counted) within 10
//! % of each other.

use super::batches::batches;
use super::pairs;
use super::score::{figures, scored};
use super::split::{Split, own};
use super::vocabulary::{joined, learned};
use crate::Result;
use crate::frame::{Card, Choice, Evaluation, Figure, Recipe, Subject};
use engine::grad::{Draw, Schedule, Tape, Var};
use engine::model::encoder_decoder::EncoderDecoder;
use engine::model::seq2seq::{self, Seq2Seq};
use engine::model::seq2seq_attention::{self, AttentiveSeq2Seq};
use engine::model::transformer::{self, Transformer};
use engine::ndarray::ArrayView1;
use engine::nn::packed::Packed;
use engine::nn::plain::Plain;
use engine::parameters::Parameters;
use engine::rng::Rng;
use engine::token::byte_bpe::ByteBpe;
use engine::token::tokenizer::Tokenizer;
use engine::translate::{Pair, TOKENIZER, TranslationModel, Translator, ids};
use serde_json::{Value, json};
use std::path::Path;
use tools::tokenizer_json::tokenizer_json;

/// V, for English and Italian together.
pub const VOCABULARY: usize = 4096;
/// Pairs in a batch.
const BATCH: usize = 64;
/// One of this number of validation pairs is evaluated.
const LOOKED_AT: usize = 8;
/// ε of label smoothing.
pub const SMOOTHING: f32 = 0.1;
/// The highest learning rate of the Transformer.
pub(super) const PEAK: f32 = 1.5e-3;

/// The one of the three models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `seq2seq-gru`.
    Gru,
    /// `seq2seq-attention`.
    Attention,
    /// `translator`.
    Transformer,
}

fn gru(vocabulary: usize) -> seq2seq::Config {
    seq2seq::Config {
        source_vocabulary: vocabulary,
        target_vocabulary: vocabulary,
        embedding: 48,
        width: 224,
        layers: 1,
        readout: Some(80),
        feeds_context: true,
        reverse_source: false,
    }
}

fn attention(vocabulary: usize) -> seq2seq_attention::Config {
    seq2seq_attention::Config {
        source_vocabulary: vocabulary,
        target_vocabulary: vocabulary,
        embedding: 48,
        width: 128,
        inner: 128,
        readout: Some(112),
    }
}

fn transformer(vocabulary: usize) -> transformer::Config {
    transformer::Config {
        vocabulary,
        width: 112,
        heads: 4,
        inner: 512,
        encoder_layers: 2,
        decoder_layers: 2,
        norm_eps: 1e-5,
    }
}

/// A translator with the pairs that it learns from.
#[derive(Debug)]
pub struct Translation {
    kind: Kind,
    split: Split,
    own: Vec<Pair>,
    tokenizer: ByteBpe,
    end: usize,
    examples: Vec<Example>,
}

/// A pair as ids.
#[derive(Debug, Clone)]
pub(super) struct Example {
    source: Vec<usize>,
    target: Vec<usize>,
}

impl Example {
    /// The number of tokens to predict, the end among them.
    pub(super) fn answers(&self) -> usize {
        self.target.len() + 1
    }
}

impl Translation {
    /// The pairs in the folder of data, dealt out, and the vocabulary of all three models, learned
    /// from those for training.
    ///
    /// # Errors
    /// When the data or the site's own evaluation set cannot be read or is not what it should be.
    pub fn read(kind: Kind, data: &Path) -> Result<Self> {
        let own = own()?;
        let split = Split::new(pairs::read(data)?, &own);
        eprintln!("{}", split.described());
        Self::new(kind, split, own)
    }

    /// A translator of these pairs.
    ///
    /// # Errors
    /// None that sentences could cause; the type is that of the vocabulary.
    pub fn new(kind: Kind, split: Split, own: Vec<Pair>) -> Result<Self> {
        let sides =
            (split.training.iter()).flat_map(|(english, italian)| [english.as_str(), italian]);
        let tokenizer = learned(&joined(sides), VOCABULARY)?;
        let example = |(english, italian): &(String, String)| {
            Ok(Example {
                source: ids(&tokenizer, english)?,
                target: ids(&tokenizer, italian)?,
            })
        };
        Ok(Self {
            kind,
            own,
            examples: split.training.iter().map(example).collect::<Result<_>>()?,
            split,
            end: tokenizer.special().end.unwrap_or_default(),
            tokenizer,
        })
    }

    /// The model as one that translates.
    pub(super) fn translator(&self, model: &TranslationModel) -> Result<Translator> {
        Ok(Translator::new(model.clone(), self.tokenizer.clone())?)
    }

    /// Sources, targets and what is to be predicted at each place of the targets.
    fn packed<'a>(
        &self,
        examples: impl Iterator<Item = &'a Example>,
    ) -> Result<(Packed, Packed, Vec<Option<usize>>)> {
        let (mut sources, mut targets, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        let (mut source_lengths, mut target_lengths) = (Vec::new(), Vec::new());
        for Example { source, target } in examples {
            sources.extend_from_slice(source);
            source_lengths.push(source.len());
            targets.push(self.end);
            targets.extend_from_slice(target);
            target_lengths.push(target.len() + 1);
            answers.extend(target.iter().copied().chain([self.end]).map(Some));
        }
        Ok((
            Packed::many(sources, source_lengths)?,
            Packed::many(targets, target_lengths)?,
            answers,
        ))
    }

    /// Pairs as ids, each with its first version.
    pub(super) fn examples<'a>(
        &self,
        pairs: impl Iterator<Item = &'a Pair>,
    ) -> Result<Vec<Example>> {
        let example = |pair: &Pair| {
            Ok(Example {
                source: ids(&self.tokenizer, &pair.english)?,
                target: ids(&self.tokenizer, &pair.italian[0])?,
            })
        };
        pairs.map(example).collect()
    }

    /// The pairs that no training and no choice of a step has seen.
    pub(super) fn test(&self) -> &[Pair] {
        &self.split.test
    }

    /// The number of pairs that are trained on.
    pub(super) fn training_pairs(&self) -> usize {
        self.examples.len()
    }

    /// Calls `with` with the logits and the right token of each position of some targets, after right
    /// tokens.
    pub(super) fn each_answer(
        &self,
        model: &TranslationModel,
        examples: &[Example],
        mut with: impl FnMut(ArrayView1<'_, f32>, usize) -> Result<()>,
    ) -> Result<()> {
        for part in examples.chunks(BATCH) {
            let (source, target, answers) = self.packed(part.iter())?;
            let logits = model.run(&mut Plain::silent(), &source, &target)?;
            for (row, answer) in logits.outer_iter().zip(answers.into_iter().flatten()) {
                with(row, answer)?;
            }
        }
        Ok(())
    }

    /// The mean loss of a part of a batch with some label smoothing; see [`Subject::loss`].
    pub(super) fn smoothed_loss(
        &self,
        model: &TranslationModel,
        tape: &mut Tape,
        batch: &[usize],
        smoothing: f32,
    ) -> Result<Var> {
        let examples = batch.iter().map(|&place| &self.examples[place]);
        let (source, target, answers) = self.packed(examples)?;
        let logits = model.run(tape, &source, &target)?;
        Ok(tape.cross_entropy(&logits, &answers, smoothing)?)
    }

    /// The pairs by which the best step is chosen.
    fn looked_at(&self) -> impl Iterator<Item = &Pair> {
        self.split.validation.iter().step_by(LOOKED_AT)
    }
}

impl Subject for Translation {
    type Model = TranslationModel;

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Gru => "seq2seq-gru",
            Kind::Attention => "seq2seq-attention",
            Kind::Transformer => "translator",
        }
    }

    fn load(&self, source: &mut dyn Parameters) -> Result<TranslationModel> {
        let vocabulary = self.tokenizer.size();
        Ok(match self.kind {
            Kind::Gru => TranslationModel::Gru(Seq2Seq::load(gru(vocabulary), source)?),
            Kind::Attention => TranslationModel::Attention(Box::new(AttentiveSeq2Seq::load(
                attention(vocabulary),
                source,
            )?)),
            Kind::Transformer => {
                TranslationModel::Transformer(Transformer::load(transformer(vocabulary), source)?)
            }
        })
    }

    fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let vocabulary = self.tokenizer.size();
        match self.kind {
            Kind::Gru => gru(vocabulary).shapes(),
            Kind::Attention => attention(vocabulary).shapes(),
            Kind::Transformer => transformer(vocabulary).shapes(),
        }
    }

    fn config(&self) -> Value {
        let vocabulary = self.tokenizer.size();
        match self.kind {
            Kind::Gru => {
                let c = gru(vocabulary);
                json!({
                    "model_type": "seq2seq-gru", "source_vocabulary": vocabulary, "target_vocabulary": vocabulary,
                    "embedding": c.embedding, "width": c.width, "layers": c.layers, "readout": c.readout,
                    "feeds_context": c.feeds_context, "reverse_source": c.reverse_source,
                })
            }
            Kind::Attention => {
                let c = attention(vocabulary);
                json!({
                    "model_type": "seq2seq-attention", "source_vocabulary": vocabulary, "target_vocabulary": vocabulary,
                    "embedding": c.embedding, "width": c.width, "inner": c.inner, "readout": c.readout,
                })
            }
            Kind::Transformer => {
                let c = transformer(vocabulary);
                json!({
                    "model_type": "transformer", "vocabulary": vocabulary, "width": c.width, "heads": c.heads,
                    "inner": c.inner, "encoder_layers": c.encoder_layers, "decoder_layers": c.decoder_layers,
                    "norm_eps": 1e-5,
                })
            }
        }
    }

    fn beside(&self) -> Result<Option<(String, String)>> {
        Ok(Some((
            TOKENIZER.to_owned(),
            tokenizer_json(&self.tokenizer)?,
        )))
    }

    fn recipe(&self) -> Recipe {
        // About seven passes over the pairs; a step of the Transformer takes half as long again.
        let (peak, steps) = match self.kind {
            Kind::Gru | Kind::Attention => (2e-3, 15_000),
            Kind::Transformer => (PEAK, 12_000),
        };
        Recipe {
            steps,
            schedule: Schedule::Cosine {
                peak,
                last: peak / 50.0,
                warmup: steps / 20,
                steps,
            },
            beta_2: 0.98,
            decay: 0.0,
            clip: 1.0,
            dropout: 0.0,
            draw: Draw::Xavier,
            evaluate_every: 1_000,
            patience: 5,
            score: "BLEU",
            choice: Choice::LargestScore,
            keep: None,
        }
    }

    fn batches(&self, rng: &mut Rng) -> Vec<Vec<usize>> {
        let length = |example: &Example| 2 * example.target.len() + example.source.len();
        let lengths: Vec<usize> = self.examples.iter().map(length).collect();
        batches(&lengths, BATCH, rng)
    }

    fn loss(
        &self,
        model: &TranslationModel,
        tape: &mut Tape,
        batch: &[usize],
        _: &mut Rng,
    ) -> Result<Var> {
        self.smoothed_loss(model, tape, batch, SMOOTHING)
    }

    fn evaluate(&self, model: &TranslationModel) -> Result<Evaluation> {
        let translator = self.translator(model)?;
        let examples = self.examples(self.looked_at())?;
        let (source, target, answers) = self.packed(examples.iter())?;
        let mut tape = Tape::new();
        let logits = model.run(&mut tape, &source, &target)?;
        let loss = tape.cross_entropy(&logits, &answers, 0.0)?;
        let loss = tape.value(&loss)?.sum();
        Ok(Evaluation {
            loss: f64::from(loss),
            score: 100.0 * scored(&translator, self.looked_at())?.bleu(),
        })
    }

    fn measure(&self, model: &TranslationModel) -> Result<Vec<Figure>> {
        figures(&self.translator(model)?, &self.split.test, &self.own)
    }

    fn card(&self) -> Card {
        let about = match self.kind {
            Kind::Gru => {
                "English to Italian through one fixed vector: the last state of a GRU is all that a second GRU learns of the sentence; it sees this vector at every step (Cho et al. 2014)."
            }
            Kind::Attention => {
                "English to Italian with additive attention: at each word the decoder looks at all states of a GRU in both directions (Bahdanau, Cho and Bengio 2015)."
            }
            Kind::Transformer => {
                "English to Italian by the Transformer of 2017, two blocks on each side (Vaswani et al. 2017)."
            }
        };
        Card {
            about: about.to_owned(),
            data: format!("{} English sentences of at most 14 words, one Italian version each; held out by normalised English sentence, no held-out Italian side in training", self.split.training.len()),
            licence: "CC BY 2.0 FR, Tatoeba (tatoeba.org)".to_owned(),
            source: "github.com/nikodallanoce/NeuralMachineTranslation, dataset/formatted.zip, commit b9ae3fab, from manythings.org/anki (ita-eng)".to_owned(),
        }
    }
}
