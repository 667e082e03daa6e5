//! A model to train, as the frame sees it.

use crate::Result;
use engine::grad::{Draw, Schedule, Tape, Var};
use engine::parameters::Parameters;
use engine::rng::Rng;
use engine::trainable::Trainable;
use serde_json::Value;
use std::ops::RangeInclusive;

/// A model with its data. The frame keeps the parameters, and hands them in.
pub trait Subject: Sync {
    /// The model to train.
    type Model: Trainable + Sync;

    /// The name that it ships under, and that `train` takes.
    fn name(&self) -> &'static str;

    /// The model with parameters of any source, in the names that [`Trainable`] gives them.
    ///
    /// # Errors
    /// When a parameter is missing or has another shape.
    fn load(&self, source: &mut dyn Parameters) -> Result<Self::Model>;

    /// Names and shapes of all parameters, for a model that is drawn anew.
    fn shapes(&self) -> Vec<(String, Vec<usize>)>;

    /// Changes a model whose parameters have just been drawn, before the first step.
    ///
    /// # Errors
    /// When the model cannot visit its parameters.
    fn begin(&self, _model: &mut Self::Model) -> Result<()> {
        Ok(())
    }

    /// The configuration in the shipped file, as a `config.json` would have it.
    fn config(&self) -> Value;

    /// A file that the model needs beside its weights, with its usual name: a vocabulary. The
    /// shipped file holds it as metadata.
    ///
    /// # Errors
    /// When it cannot be written in that form.
    fn beside(&self) -> Result<Option<(String, String)>> {
        Ok(None)
    }

    /// True for a matrix that is shipped in half precision though others are signed bytes.
    fn keeps(&self, _name: &str) -> bool {
        false
    }

    /// The bits that a number of its shipped matrices uses of a byte: fewer than 8 for a file that
    /// is smaller after gzip.
    fn bits(&self) -> u8 {
        8
    }

    /// Its recipe.
    fn recipe(&self) -> Recipe;

    /// The batches of one pass over the training data: places in it, or whatever numbers
    /// [`Self::loss`] understands. The order is to depend on `rng` alone.
    fn batches(&self, rng: &mut Rng) -> Vec<Vec<usize>>;

    /// The mean loss of a part of a batch, `[1, 1]`, on a tape; several threads call it at once. What is random about it, such as changes to
    /// pictures, comes from `rng`.
    ///
    /// # Errors
    /// When the engine refuses.
    fn loss(
        &self,
        model: &Self::Model,
        tape: &mut Tape,
        batch: &[usize],
        rng: &mut Rng,
    ) -> Result<Var>;

    /// Its score on the validation examples, by which the best step is chosen.
    ///
    /// # Errors
    /// When the engine refuses.
    fn evaluate(&self, model: &Self::Model) -> Result<Evaluation>;

    /// The figures that the model's card states, on data that training never touched; the first is
    /// the score.
    ///
    /// # Errors
    /// When the engine refuses.
    fn measure(&self, model: &Self::Model) -> Result<Vec<Figure>>;

    /// Further text of its card.
    fn card(&self) -> Card;
}

/// The measure by which the best step is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The score, as of shares that are right.
    LargestScore,
    /// The score, as of bits.
    SmallestScore,
    /// The loss, which tells steps apart where the score is of few examples.
    SmallestLoss,
}

impl Choice {
    /// The value that is compared.
    pub fn value(self, found: Evaluation) -> f64 {
        match self {
            Self::LargestScore | Self::SmallestScore => found.score,
            Self::SmallestLoss => found.loss,
        }
    }

    /// Returns whether a new value is better than an old one.
    pub fn is_better(self, new: f64, old: f64) -> bool {
        match self {
            Self::LargestScore => new > old,
            Self::SmallestScore | Self::SmallestLoss => new < old,
        }
    }
}

/// The recipe of a training run. A run can be resumed only with the recipe that it was started
/// with.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// The most steps.
    pub steps: u64,
    /// The learning rate.
    pub schedule: Schedule,
    /// AdamW's β₂.
    pub beta_2: f32,
    /// AdamW's λ.
    pub decay: f32,
    /// The longest gradient.
    pub clip: f32,
    /// The share of numbers that dropout sets to 0.
    pub dropout: f32,
    /// Distribution of the initial parameters.
    pub draw: Draw,
    /// Steps between evaluations.
    pub evaluate_every: u64,
    /// After so many evaluations without a better one training stops.
    pub patience: u64,
    /// Name of the score, with its unit.
    pub score: &'static str,
    /// The measure by which the best step is chosen.
    pub choice: Choice,
    /// The checkpoints that are kept besides the best one and the last.
    pub keep: Option<Keep>,
}

/// Checkpoints of the last part of a training run: the last step and those before it at equal
/// distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Their number.
    pub count: u64,
    /// Steps between them.
    pub apart: u64,
}

impl Recipe {
    /// The steps whose parameters are kept, in their order; steps before the first are left out.
    pub fn kept_steps(&self) -> Vec<u64> {
        let Some(Keep { count, apart }) = self.keep else {
            return Vec::new();
        };
        let before = (0..count).rev().map(|n| n.saturating_mul(apart));
        let steps = before.filter_map(|before| self.steps.checked_sub(before));
        steps.filter(|&step| step > 0).collect()
    }

    /// The same over another number of steps.
    pub fn of_steps(mut self, most: u64) -> Self {
        self.steps = most;
        if let Schedule::Cosine { warmup, steps, .. } = &mut self.schedule {
            *steps = most;
            *warmup = (*warmup).min(most);
        }
        self
    }
}

/// The scores of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// The mean loss, in nats.
    pub loss: f64,
    /// A score for the reader, such as the share of right answers.
    pub score: f64,
}

/// One figure of a card.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The measured quantity, with its unit and its data.
    pub name: String,
    /// The figure.
    pub value: f64,
    /// Digits behind the point.
    pub decimals: usize,
    /// Tolerance for the same file on another machine, whose instructions add in another order.
    pub tolerance: f64,
    /// The changes, in its unit, that smaller weights may make: none downwards by more than a bound
    /// where more is better, and so on.
    pub allowed: RangeInclusive<f64>,
}

impl Figure {
    /// The figure as the card prints it.
    pub fn shown(&self) -> String {
        format!("{:.*}", self.decimals, self.value)
    }

    /// True if smaller weights may make it what it is, from `half` in half precision.
    pub fn holds(&self, half: f64) -> bool {
        self.allowed.contains(&(self.value - half))
    }
}

/// The texts of a model's card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// The model and its use, in a sentence or two.
    pub about: String,
    /// Its training data.
    pub data: String,
    /// The data's licence.
    pub licence: String,
    /// Source of the public original of the data.
    pub source: String,
}
