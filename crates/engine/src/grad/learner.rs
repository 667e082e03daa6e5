//! A model that learns a task from nothing, a step at a time.
//!
//! ```text
//! step n:  pairs from the stream of the seed → loss → gradients, clipped to norm 1 → Adam (β₂ = 0.98) at the schedule's rate
//! ```
//! Its state is a function of the model's sizes, the [`TaskConfig`], the kernels and the number of
//! steps: a second learner after as many steps has the same bits. A [`TrainingConfig`] is a task
//! and the sizes of the Transformer that learns it.
//!
//! ```
//! use engine::grad::{Learner, TrainingConfig, Schedule, Settings, Task};
//! let config = TrainingConfig {
//!     width: 8,
//!     ..TrainingConfig::of(Task::Copy { symbols: 4, length: 8 }, Schedule::InverseRoot { peak: 0.01, warmup: 10 })
//! };
//! let mut learner = Learner::new(config, Settings::default())?;
//! let before = learner.step()?;
//! for _ in 0..30 {
//!     learner.step()?;
//! }
//! assert!(learner.step()? < before);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, sections 3 (model) and 5.3 (optimiser); Pascanu, Mikolov and Bengio
//! 2013 (clipping).

use super::adam::AdamW;
use super::gradients::{Gradients, Settings, gradients};
use super::initial::{Draw, initialise};
use super::schedule::Schedule;
use super::tape::{Tape, Var};
use super::task::{Pairs, Task};
use crate::error::Result;
use crate::formula::Formula;
use crate::model::encoder_decoder::EncoderDecoder;
use crate::model::transformer::{Config, Transformer};
use crate::nn::parts::Parts;
use crate::rng::Rng;
use std::collections::BTreeMap;

/// H of every such model.
const HEADS: usize = 4;

/// The norm above which gradients are clipped.
const LONGEST: f32 = 1.0;

/// A task with its batches, schedule and seed, for any model.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskConfig {
    /// The task; its length is that of the longest sequences.
    pub task: Task,
    /// The length of the shortest sequences: each has a length of its own, drawn evenly from here
    /// to the task's.
    pub shortest: usize,
    /// B: pairs in a step.
    pub batch: usize,
    /// The learning rate of each step.
    pub schedule: Schedule,
    /// The seed of the parameters, the pairs and dropout.
    pub seed: u64,
}

impl TaskConfig {
    /// The pairs of the next step.
    fn pairs(&self, rng: &mut Rng) -> Result<Pairs> {
        let longest = self.task.sizes().1;
        let choice = longest.saturating_sub(self.shortest) + 1;
        let lengths: Vec<usize> = match choice {
            1 => vec![longest; self.batch],
            _ => (0..self.batch)
                .map(|_| self.shortest + rng.below(choice))
                .collect(),
        };
        Pairs::draw_lengths(&self.task, rng, &lengths, false)
    }
}

/// A task, a Transformer, and how it is trained.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingConfig {
    /// The task.
    pub task: Task,
    /// Blocks of the encoder, and of the decoder.
    pub layers: usize,
    /// C, a multiple of 4, the number of heads; F is 4 C.
    pub width: usize,
    /// The parts of the model that are in use.
    pub parts: Parts,
    /// B: pairs in a step.
    pub batch: usize,
    /// The learning rate of each step.
    pub schedule: Schedule,
    /// The seed of the parameters, the pairs and dropout.
    pub seed: u64,
}

impl TrainingConfig {
    /// Two blocks on each side, width 64, all parts in use, 16 pairs a step, seed 1.
    pub fn of(task: Task, schedule: Schedule) -> Self {
        Self {
            task,
            layers: 2,
            width: 64,
            parts: Parts::default(),
            batch: 16,
            schedule,
            seed: 1,
        }
    }

    /// The part that does not depend on the model.
    pub fn task_config(&self) -> TaskConfig {
        TaskConfig {
            task: self.task.clone(),
            shortest: self.task.sizes().1,
            batch: self.batch,
            schedule: self.schedule,
            seed: self.seed,
        }
    }

    /// The sizes of the model.
    pub fn config(&self) -> Config {
        Config {
            vocabulary: self.task.vocabulary(),
            width: self.width,
            heads: HEADS,
            inner: 4 * self.width,
            encoder_layers: self.layers,
            decoder_layers: self.layers,
            norm_eps: 1e-5,
        }
    }
}

/// A model's loss and accuracy on some pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// The mean cross-entropy, in nats for each symbol.
    pub loss: f32,
    /// Pairs with an exact match ([`Pairs::right`]).
    pub right: usize,
}

/// A model that is being trained.
#[derive(Debug, Clone)]
pub struct Learner<M = Transformer> {
    /// The model as it is now.
    pub model: M,
    /// The optimiser, which counts the steps.
    pub optimiser: AdamW,
    /// Settings of the passes; the seed of dropout follows the steps.
    pub settings: Settings,
    config: TaskConfig,
    rng: Rng,
}

impl Learner {
    /// The Transformer of a configuration before its first step.
    ///
    /// # Errors
    /// When the heads do not divide the width.
    pub fn new(config: TrainingConfig, settings: Settings) -> Result<Self> {
        let sizes = config.config();
        let model = Transformer::load(sizes.clone(), &mut Formula::new(0, sizes.shapes()))?
            .with_parts(config.parts);
        Self::of(model, config.task_config(), settings)
    }
}

impl<M: EncoderDecoder> Learner<M> {
    /// A model before its first step, with newly drawn parameters.
    ///
    /// # Errors
    /// When the model cannot visit its parameters.
    pub fn of(mut model: M, config: TaskConfig, settings: Settings) -> Result<Self> {
        initialise(&mut model, config.seed, Draw::Xavier)?;
        Ok(Self {
            model,
            optimiser: AdamW {
                beta_2: 0.98,
                ..AdamW::default()
            },
            settings,
            rng: Rng::named(config.seed, "training"),
            config,
        })
    }

    /// The task with its batches and schedule.
    pub fn task_config(&self) -> &TaskConfig {
        &self.config
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.optimiser.steps
    }

    /// One step; returns the loss before it, in nats for each symbol.
    ///
    /// # Errors
    /// When the task has no sequences to draw, or a parameter that the model uses got no gradient.
    pub fn step(&mut self) -> Result<f32> {
        let pairs = self.config.pairs(&mut self.rng)?;
        self.settings.seed = self.optimiser.steps;
        let (loss, mut found) = self.gradients(&pairs)?;
        found.check_complete(|name| self.model.uses(name))?;
        found.clip(LONGEST);
        let rate = self.config.schedule.rate(self.optimiser.steps + 1);
        self.optimiser.step(&mut self.model, &found, rate)?;
        Ok(loss)
    }

    /// The loss of some pairs, and its gradients.
    ///
    /// # Errors
    /// When they are another task's.
    pub fn gradients(&mut self, pairs: &Pairs) -> Result<(f32, Gradients)> {
        gradients(&mut self.model, &self.settings, |model, tape| {
            pairs.loss(model, tape, 0.0)
        })
    }

    /// Loss and accuracy on some pairs, without gradients.
    ///
    /// # Errors
    /// When they are another task's.
    pub fn evaluate(&self, pairs: &Pairs) -> Result<Evaluation> {
        let (mut tape, logits) = self.logits(pairs)?;
        let loss = tape.cross_entropy(&logits, &pairs.answers, 0.0)?;
        let loss = tape.value(&loss)?.iter().copied().next();
        let right = pairs.right_positions(tape.value(&logits)?.view());
        Ok(Evaluation {
            loss: loss.unwrap_or_default(),
            right: pairs.whole(&right),
        })
    }

    /// The number of correct symbols of each pair, each predicted from the correct beginning; no
    /// gradients.
    ///
    /// # Errors
    /// When they are another task's.
    pub fn symbols_right(&self, pairs: &Pairs) -> Result<Vec<usize>> {
        let (tape, logits) = self.logits(pairs)?;
        Ok(pairs.right_positions(tape.value(&logits)?.view()))
    }

    /// The logits of some pairs, on a tape without parameters.
    fn logits(&self, pairs: &Pairs) -> Result<(Tape, Var)> {
        let mut tape = Tape::of(&self.settings, BTreeMap::new());
        let logits = self.model.run(&mut tape, &pairs.source, &pairs.target)?;
        Ok((tape, logits))
    }

    /// Pairs that are never trained on, the same ones each time.
    ///
    /// # Errors
    /// When the task has no sequences to draw.
    pub fn held_out(&self, count: usize) -> Result<Pairs> {
        self.held_out_lengths(&vec![self.config.task.sizes().1; count])
    }

    /// A pair of each of these lengths that is never trained on, the same ones each time.
    ///
    /// # Errors
    /// When the task has no sequences of such a length to draw.
    pub fn held_out_lengths(&self, lengths: &[usize]) -> Result<Pairs> {
        let mut rng = Rng::named(self.config.seed, "held out");
        Pairs::draw_lengths(&self.config.task, &mut rng, lengths, true)
    }

    /// The share of exact matches among `count` held-out sequences ([`Pairs::right`]).
    ///
    /// # Errors
    /// When the task has no sequences to draw.
    pub fn score(&self, count: usize) -> Result<f32> {
        let pairs = self.held_out(count)?;
        Ok(pairs.right(&self.model)? as f32 / count.max(1) as f32)
    }

    /// The number of exact matches of the free-running model ([`Pairs::written`]).
    ///
    /// # Errors
    /// When they are another task's.
    pub fn written_right(&self, pairs: &Pairs) -> Result<usize> {
        let written = pairs.written(&self.model)?;
        let answers = pairs.target.ranges().map(|rows| &pairs.answers[rows]);
        let whole = |(written, answer): &(&Vec<usize>, &[Option<usize>])| {
            written.iter().copied().map(Some).eq(answer.iter().copied())
        };
        Ok(written.iter().zip(answers).filter(whole).count())
    }
}
