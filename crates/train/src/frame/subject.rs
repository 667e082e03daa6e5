//! What the frame needs to know of a model that is trained.

use crate::Result;
use engine::grad::{Draw, Schedule, Tape, Var};
use engine::parameters::Parameters;
use engine::rng::Rng;
use engine::trainable::Trainable;
use serde_json::Value;

/// A model with its data. The frame keeps the parameters, and hands them in.
pub trait Subject {
    /// What is trained.
    type Model: Trainable;

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

    /// What the shipped file says of the model, as a `config.json` would.
    fn config(&self) -> Value;

    /// A file that the model needs beside its weights, with its usual name: a vocabulary. The shipped file holds it as metadata.
    ///
    /// # Errors
    /// When it cannot be written in that form.
    fn beside(&self) -> Result<Option<(String, String)>> {
        Ok(None)
    }

    /// How it is trained.
    fn recipe(&self) -> Recipe;

    /// The batches of one pass over the training data: places in it, or whatever numbers [`Self::loss`] understands. The order is
    /// to depend on `rng` alone.
    fn batches(&self, rng: &mut Rng) -> Vec<Vec<usize>>;

    /// The mean loss of a batch, `[1, 1]`, on a tape. What is random about it, such as changes to pictures, comes from `rng`.
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

    /// How well it does on examples that are kept from training but not for the last figures: by these the best step is chosen.
    ///
    /// # Errors
    /// When the engine refuses.
    fn evaluate(&self, model: &Self::Model) -> Result<Evaluation>;

    /// The figures that the model's card states, on data that training never touched; the first is the score.
    ///
    /// # Errors
    /// When the engine refuses.
    fn measure(&self, model: &Self::Model) -> Result<Vec<Figure>>;

    /// What the card says besides.
    fn card(&self) -> Card;
}

/// By what the best step is chosen.
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
    /// What is compared.
    pub fn value(self, found: Evaluation) -> f64 {
        match self {
            Self::LargestScore | Self::SmallestScore => found.score,
            Self::SmallestLoss => found.loss,
        }
    }

    /// Whether a new value is better than an old one.
    pub fn is_better(self, new: f64, old: f64) -> bool {
        match self {
            Self::LargestScore => new > old,
            Self::SmallestScore | Self::SmallestLoss => new < old,
        }
    }
}

/// How a model is trained. A training can be resumed only with the recipe that it was begun with.
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
    /// How parameters are drawn.
    pub draw: Draw,
    /// Steps between evaluations.
    pub evaluate_every: u64,
    /// After so many evaluations without a better one training stops.
    pub patience: u64,
    /// What the score is called, with its unit.
    pub score: &'static str,
    /// By what the best step is chosen.
    pub choice: Choice,
}

impl Recipe {
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

/// How well a model does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// The mean loss, in nats.
    pub loss: f64,
    /// What the reader understands, such as the share that is right.
    pub score: f64,
}

/// One figure of a card.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What was measured, with its unit and on what.
    pub name: String,
    /// The figure.
    pub value: f64,
    /// Digits behind the point.
    pub decimals: usize,
    /// How far the same file may be from it on another machine, whose instructions add in another order.
    pub tolerance: f64,
}

impl Figure {
    /// The figure as the card prints it.
    pub fn shown(&self) -> String {
        format!("{:.*}", self.decimals, self.value)
    }
}

/// What a card says of a model that is not measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// What the model is and does, in a sentence or two.
    pub about: String,
    /// What it was trained on.
    pub data: String,
    /// The data's licence.
    pub licence: String,
    /// Where the public original of the data comes from.
    pub source: String,
}
