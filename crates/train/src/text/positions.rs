//! `position-race`: one tiny decoder for each way in which positions enter, alike in all else.
//!
//! ```text
//! all training stories, one after the other, ⟨end⟩ between two          a window: 65 tokens, each predicted from those before it
//! held out: the same of the test stories, in windows of 257 tokens      the loss of each position 1 … 256
//! ```
//! Training windows lie anywhere in the stories, so no position is special: where a window begins
//! says nothing about the text, and all positions differ only in how many tokens are before them.
//! Parameters, windows and their order are drawn from streams named by the seed, the same for every
//! scheme.
//!
//! Source of the comparison: Press, Smith and Lewis 2022, "Train short, test long", section 2.

use super::corpus::Corpus;
use super::position_decoder::{PositionDecoder, Positions};
use super::stories;
use super::vocabulary::{END, joined_lines, learned};
use crate::frame::{Card, Choice, Evaluation, Figure, Recipe, Subject};
use crate::{Result, TrainError};
use engine::EngineError;
use engine::grad::{Draw, Schedule, Tape, Var};
use engine::model::gpt2::Config;
use engine::nn::plain::Plain;
use engine::parameters::Parameters;
use engine::rng::Rng;
use engine::token::tokenizer::Tokenizer;
use serde_json::{Value, json};
use std::path::Path;

/// The most tokens of the vocabulary.
const VOCABULARY: usize = 512;
/// T, the length that all models are trained on.
pub const TRAINED: usize = 64;
/// The length of the texts that they are evaluated on.
pub const EVALUATED: usize = 256;
/// Windows in a step.
const BATCH: usize = 16;
/// Windows of the trained length that are looked at for validation.
const LOOKED_AT: usize = 64;
/// Held-out windows whose losses are measured.
const WINDOWS: usize = 256;
/// Windows that are computed together.
const TOGETHER: usize = 8;
/// Distances with a bias of their own; all further ones share the last.
const DISTANCES: usize = 32;
/// Steps of a run.
pub const STEPS: u64 = 1_800;
/// Steps until the highest rate.
const WARMUP: u64 = 45;
const RATE: f32 = 4e-3;

/// The schemes that are trained, with their names in the log.
pub const SCHEMES: [(&str, Positions); 7] = [
    ("none", Positions::None),
    ("sines", Positions::Sines),
    ("learned", Positions::Table),
    (
        "bias",
        Positions::Bias {
            distances: DISTANCES,
        },
    ),
    ("alibi", Positions::Alibi),
    ("rotary", Positions::Rotary { factor: 1.0 }),
    ("appended", Positions::Appended),
];

/// The name of the rotary model whose positions are divided by [`FACTOR`] when it is evaluated.
pub const INTERPOLATED: &str = "rotary-interpolated";
/// Evaluated length over trained length.
pub const FACTOR: usize = EVALUATED / TRAINED;

fn sizes(vocabulary: usize) -> Config {
    Config {
        vocabulary,
        width: 64,
        heads: 4,
        layers: 2,
        inner: 256,
        context: TRAINED,
        norm_eps: 1e-5,
    }
}

/// The texts of all runs as tokens.
#[derive(Debug)]
pub struct Texts {
    vocabulary: usize,
    training: Vec<usize>,
    validation: Vec<usize>,
    test: Vec<usize>,
}

impl Texts {
    /// The stories in the folder of data, and a vocabulary learned from those for training.
    ///
    /// # Errors
    /// When the data cannot be read or are not what they should be.
    pub fn read(data: &Path) -> Result<Self> {
        Self::new(&Corpus::new(stories::stories(data)?))
    }

    /// The tokens of these texts.
    ///
    /// # Errors
    /// When there are too few for a step, an evaluation or a measurement.
    pub fn new(corpus: &Corpus) -> Result<Self> {
        let tokenizer = learned(&joined_lines(&corpus.training), VOCABULARY)?;
        let end = tokenizer.special().end.unwrap_or_default();
        let stream = |texts: &[String], least: usize| -> Result<Vec<usize>> {
            let mut all = vec![end];
            for text in texts {
                all.extend(tokenizer.encode(text)?);
                all.push(end);
            }
            if all.len() <= least {
                let expected = format!("more than {least} with a {END} after each");
                let found = all.len();
                return Err(EngineError::value("position-race", "tokens", expected, found).into());
            }
            Ok(all)
        };
        Ok(Self {
            training: stream(&corpus.training, (BATCH + 1) * TRAINED)?,
            validation: stream(&corpus.validation, TRAINED)?,
            test: stream(&corpus.test, EVALUATED)?,
            vocabulary: tokenizer.size(),
        })
    }

    /// The number of different tokens.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// The number of tokens for training, for validation and for the test.
    pub fn counts(&self) -> [usize; 3] {
        [&self.training, &self.validation, &self.test].map(Vec::len)
    }

    /// The number of held-out windows whose losses are measured.
    pub fn windows(&self) -> usize {
        ((self.test.len() - 1) / EVALUATED).min(WINDOWS)
    }
}

/// One run: a scheme with the texts that all of them learn from.
#[derive(Debug)]
pub struct Run<'a> {
    texts: &'a Texts,
    scheme: &'static str,
    positions: Positions,
}

impl<'a> Run<'a> {
    /// A run of one of [`SCHEMES`].
    pub fn new(texts: &'a Texts, (scheme, positions): (&'static str, Positions)) -> Self {
        Self {
            texts,
            scheme,
            positions,
        }
    }

    /// The mean loss in nats at each position of the held-out windows, cut to `length` tokens.
    ///
    /// # Errors
    /// When a learned table has fewer rows.
    pub fn by_position(&self, model: &PositionDecoder, length: usize) -> Result<Vec<f64>> {
        let starts: Vec<usize> = (0..self.texts.windows()).map(|n| n * EVALUATED).collect();
        losses(model, &self.texts.test, &starts, length)
    }
}

/// The mean loss in nats at each position of the windows of `length` tokens that begin at `starts`.
fn losses(
    model: &PositionDecoder,
    text: &[usize],
    starts: &[usize],
    length: usize,
) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; length];
    for part in starts.chunks(TOGETHER) {
        let ids: Vec<usize> = part
            .iter()
            .flat_map(|&at| &text[at..at + length])
            .copied()
            .collect();
        let next = part.iter().flat_map(|&at| &text[at + 1..=at + length]);
        let mut plain = Plain::silent();
        let hidden = model.run(&mut plain, &ids, &vec![length; part.len()])?;
        let logits = model.run_logits(&mut plain, &hidden)?;
        for ((n, row), &answer) in logits.outer_iter().enumerate().zip(next) {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f64 = row.iter().map(|&x| f64::from(x - largest).exp()).sum();
            sums[n % length] += sum.ln() - f64::from(row[answer] - largest);
        }
    }
    let count = starts.len().max(1) as f64;
    Ok(sums.into_iter().map(|sum| sum / count).collect())
}

impl Subject for Run<'_> {
    type Model = PositionDecoder;

    fn name(&self) -> &'static str {
        self.scheme
    }

    fn load(&self, source: &mut dyn Parameters) -> Result<PositionDecoder> {
        let config = sizes(self.texts.vocabulary);
        Ok(PositionDecoder::load(config, self.positions, source)?)
    }

    fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        PositionDecoder::shapes(&sizes(self.texts.vocabulary), self.positions)
    }

    fn config(&self) -> Value {
        let c = sizes(self.texts.vocabulary);
        json!({
            "model_type": "position-decoder", "positions": self.scheme, "vocab_size": c.vocabulary, "n_embd": c.width,
            "n_head": c.heads, "n_layer": c.layers, "n_inner": c.inner, "n_positions": c.context,
        })
    }

    fn recipe(&self) -> Recipe {
        Recipe {
            steps: STEPS,
            schedule: Schedule::Cosine {
                peak: RATE,
                last: RATE / 50.0,
                warmup: WARMUP,
                steps: STEPS,
            },
            beta_2: 0.99,
            decay: 0.05,
            clip: 1.0,
            dropout: 0.0,
            draw: Draw::Xavier,
            // The last step counts, for every scheme.
            evaluate_every: u64::MAX,
            patience: 1,
            score: "nats per token",
            choice: Choice::SmallestLoss,
            keep: None,
        }
    }

    /// The windows of a pass do not overlap; where they begin is drawn for each pass.
    fn batches(&self, rng: &mut Rng) -> Vec<Vec<usize>> {
        let first = rng.below(TRAINED);
        let count = (self.texts.training.len() - 1 - first) / TRAINED;
        let order = rng.permutation(count);
        let starts: Vec<usize> = order.into_iter().map(|n| first + n * TRAINED).collect();
        starts.chunks_exact(BATCH).map(<[usize]>::to_vec).collect()
    }

    fn loss(
        &self,
        model: &PositionDecoder,
        tape: &mut Tape,
        batch: &[usize],
        _: &mut Rng,
    ) -> Result<Var> {
        let text = &self.texts.training;
        let ids: Vec<usize> = batch
            .iter()
            .flat_map(|&at| &text[at..at + TRAINED])
            .copied()
            .collect();
        let next = batch.iter().flat_map(|&at| &text[at + 1..=at + TRAINED]);
        let next: Vec<Option<usize>> = next.copied().map(Some).collect();
        let hidden = model.run(tape, &ids, &vec![TRAINED; batch.len()])?;
        let logits = model.run_logits(tape, &hidden)?;
        Ok(tape.cross_entropy(&logits, &next, 0.0)?)
    }

    fn evaluate(&self, model: &PositionDecoder) -> Result<Evaluation> {
        let text = &self.texts.validation;
        let count = ((text.len() - 1) / TRAINED).min(LOOKED_AT);
        let starts: Vec<usize> = (0..count).map(|n| n * TRAINED).collect();
        let all = losses(model, text, &starts, TRAINED)?;
        let loss = all.iter().sum::<f64>() / all.len().max(1) as f64;
        Ok(Evaluation { loss, score: loss })
    }

    fn measure(&self, model: &PositionDecoder) -> Result<Vec<Figure>> {
        let all = self.by_position(model, TRAINED)?;
        Ok(vec![Figure {
            name: format!("nats per token at positions 1 to {TRAINED}"),
            value: all.iter().sum::<f64>() / all.len().max(1) as f64,
            decimals: 3,
            tolerance: 0.005,
            allowed: f64::NEG_INFINITY..=0.005,
        }])
    }

    fn card(&self) -> Card {
        Card {
            about: format!(
                "A decoder of two blocks, 64 wide, whose positions enter by: {}.",
                self.scheme
            ),
            data: "tinystories-more; held out by normalised text".to_owned(),
            licence: "CDLA-Sharing-1.0, TinyStories (Eldan and Li 2023)".to_owned(),
            source: stories::SOURCE.to_owned(),
        }
    }
}

/// A mistake in a finished run: its loss is no number at a position that the model can read.
pub(super) fn expect_numbers(path: &Path, losses: &[f64]) -> Result<()> {
    match losses.iter().find(|loss| !loss.is_finite()) {
        Some(loss) => Err(TrainError::content(path, "finite losses", loss)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(words: usize) -> Corpus {
        let mut rng = Rng::new(1);
        let mut story = |_| {
            let word = |_| ["cat", "dog", "ran", "sat", "far"][rng.below(5)];
            (0..words).map(word).collect::<Vec<_>>().join(" ")
        };
        Corpus {
            training: (0..8).map(&mut story).collect(),
            validation: vec![story(0)],
            test: vec![story(0), story(0)],
        }
    }

    /// All runs of a seed see the same windows, each token at most once in a pass.
    #[test]
    fn a_pass_sees_each_token_once_and_alike_in_every_scheme() {
        let texts = Texts::new(&corpus(3000)).unwrap();
        let passes = SCHEMES.map(|scheme| Run::new(&texts, scheme).batches(&mut Rng::new(7)));
        assert!(passes.iter().all(|batches| *batches == passes[0]));
        let mut starts = passes[0].concat();
        assert!(starts.len() >= BATCH);
        starts.sort_unstable();
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= TRAINED));
        assert!(starts.last().unwrap() + TRAINED < texts.training.len());
    }

    /// The loss of a position is that of the tokens there alone: cut shorter, the rest is as before.
    #[test]
    fn losses_are_those_of_their_positions() {
        let texts = Texts::new(&corpus(3000)).unwrap();
        for scheme in SCHEMES {
            let run = Run::new(&texts, scheme);
            let shapes = run.shapes();
            let model = run
                .load(&mut engine::formula::Formula::new(1, shapes))
                .unwrap();
            let short = run.by_position(&model, TRAINED).unwrap();
            assert!(short.iter().all(|loss| loss.is_finite()));
            let long = run.by_position(&model, EVALUATED);
            assert_eq!(long.is_err(), scheme.0 == "learned", "{}", scheme.0);
            for (short, long) in short.iter().zip(long.unwrap_or_default()) {
                assert!((short - long).abs() < 1e-4, "{}", scheme.0);
            }
        }
    }

    #[test]
    fn too_little_text_is_refused() {
        let error = Texts::new(&corpus(3)).unwrap_err().to_string();
        assert!(error.contains("tokens"), "{error}");
        assert!(Texts::new(&Corpus::default()).is_err());
    }
}
