//! A Transformer that learns a task from nothing, a step at a time.
//!
//! ```text
//! step n:  pairs from the stream of the seed → loss → gradients, shortened to norm 1 → Adam (β₂ = 0.98) at the schedule's rate
//! ```
//! Its state is a function of the [`Plan`], the kernels and the number of steps: one that is made anew and stepped as often has the same
//! bits.
//!
//! ```
//! use engine::grad::{Learner, Plan, Schedule, Settings, Task};
//! let plan = Plan {
//!     width: 8,
//!     ..Plan::of(Task::Copy { symbols: 4, length: 8 }, Schedule::InverseRoot { peak: 0.01, warmup: 10 })
//! };
//! let mut learner = Learner::new(plan, Settings::default())?;
//! let before = learner.step()?;
//! for _ in 0..30 {
//!     learner.step()?;
//! }
//! assert!(learner.step()? < before);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, sections 3 (model) and 5.3 (optimiser); Pascanu, Mikolov and Bengio 2013 (clipping).

use super::adam::AdamW;
use super::gradients::{Gradients, Settings, gradients};
use super::initial::{Draw, initialise};
use super::schedule::Schedule;
use super::tape::Tape;
use super::task::{Pairs, Task};
use crate::error::Result;
use crate::formula::Formula;
use crate::model::transformer::{Config, Transformer};
use crate::nn::parts::Parts;
use crate::rng::Rng;
use std::collections::BTreeMap;

/// H of every such model.
const HEADS: usize = 4;

/// The longest gradient that is gone along unshortened.
const LONGEST: f32 = 1.0;

/// What is learned, by which model, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What is to be learned.
    pub task: Task,
    /// Blocks of the encoder, and of the decoder.
    pub layers: usize,
    /// C, a multiple of 4, the number of heads; F is 4 C.
    pub width: usize,
    /// Which parts of the model are in use.
    pub parts: Parts,
    /// B: pairs in a step.
    pub batch: usize,
    /// The learning rate of each step.
    pub schedule: Schedule,
    /// Of the parameters, the pairs and dropout.
    pub seed: u64,
}

impl Plan {
    /// Two blocks on each side, 64 wide, all parts in use, 16 pairs a step, seed 1.
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

/// What a model says of some pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// The mean cross-entropy, in nats for each symbol.
    pub loss: f32,
    /// How many are answered wholly right ([`Pairs::right`]).
    pub right: usize,
}

/// A model that is being trained.
#[derive(Debug, Clone)]
pub struct Learner {
    /// The model as it is now.
    pub model: Transformer,
    /// The optimiser, which counts the steps.
    pub optimiser: AdamW,
    /// How passes are run; the seed of dropout follows the steps.
    pub settings: Settings,
    plan: Plan,
    rng: Rng,
}

impl Learner {
    /// A model before its first step.
    ///
    /// # Errors
    /// When the heads do not divide the width.
    pub fn new(plan: Plan, settings: Settings) -> Result<Self> {
        let config = plan.config();
        let mut model = Transformer::load(config.clone(), &mut Formula::new(0, config.shapes()))?
            .with_parts(plan.parts);
        initialise(&mut model, plan.seed, Draw::Xavier)?;
        Ok(Self {
            model,
            optimiser: AdamW {
                beta_2: 0.98,
                ..AdamW::default()
            },
            settings,
            rng: Rng::named(plan.seed, "training"),
            plan,
        })
    }

    /// What is learned, and how.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many steps were made.
    pub fn steps(&self) -> u64 {
        self.optimiser.steps
    }

    /// One step; gives the loss that it began with, in nats for each symbol.
    ///
    /// # Errors
    /// When the task has no sequences to draw.
    pub fn step(&mut self) -> Result<f32> {
        let plan = &self.plan;
        let pairs = Pairs::draw(&plan.task, &mut self.rng, plan.batch, false)?;
        self.settings.seed = self.optimiser.steps;
        let (loss, mut found) = self.gradients(&pairs)?;
        found.clip(LONGEST);
        let rate = self.plan.schedule.rate(self.optimiser.steps + 1);
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

    /// What it says of some pairs; no gradients.
    ///
    /// # Errors
    /// When they are another task's.
    pub fn look(&self, pairs: &Pairs) -> Result<Look> {
        let mut tape = Tape::of(&self.settings, BTreeMap::new());
        let logits = self.model.run(&mut tape, &pairs.source, &pairs.target)?;
        let loss = tape.cross_entropy(&logits, &pairs.answers, 0.0)?;
        let loss = tape.value(&loss)?.iter().copied().next();
        let right = pairs.right_by(tape.value(&logits)?.view());
        Ok(Look {
            loss: loss.unwrap_or_default(),
            right,
        })
    }

    /// Pairs that are never trained on, the same ones each time.
    ///
    /// # Errors
    /// When the task has no sequences to draw.
    pub fn held_out(&self, count: usize) -> Result<Pairs> {
        let mut rng = Rng::named(self.plan.seed, "held out");
        Pairs::draw(&self.plan.task, &mut rng, count, true)
    }

    /// The share of `count` held-out sequences that it answers wholly right ([`Pairs::right`]).
    ///
    /// # Errors
    /// When the task has no sequences to draw.
    pub fn score(&self, count: usize) -> Result<f32> {
        let pairs = self.held_out(count)?;
        Ok(pairs.right(&self.model)? as f32 / count.max(1) as f32)
    }

    /// How many of some pairs it writes wholly right by itself ([`Pairs::written`]).
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
