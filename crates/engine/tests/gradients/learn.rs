//! A Transformer that learns a task from nothing.

use engine::Result;
use engine::formula::Formula;
use engine::grad::{AdamW, Draw, Pairs, Schedule, Settings, Task, gradients, initialise};
use engine::model::transformer::{Config, Transformer};
use engine::rng::Rng;

/// One that is being trained.
pub(crate) struct Learner {
    pub(crate) model: Transformer,
    pub(crate) optimiser: AdamW,
    pub(crate) schedule: Schedule,
    pub(crate) settings: Settings,
    pub(crate) task: Task,
    pub(crate) batch: usize,
    rng: Rng,
}

impl Learner {
    /// A Transformer of two encoder and two decoder blocks, 64 wide.
    pub(crate) fn new(
        task: Task,
        settings: Settings,
        batch: usize,
        schedule: Schedule,
    ) -> Result<Self> {
        Self::of_width(64, task, settings, batch, schedule)
    }

    /// The same, `width` wide.
    pub(crate) fn of_width(
        width: usize,
        task: Task,
        settings: Settings,
        batch: usize,
        schedule: Schedule,
    ) -> Result<Self> {
        let config = Config {
            vocabulary: task.vocabulary(),
            width,
            heads: 4,
            inner: 4 * width,
            encoder_layers: 2,
            decoder_layers: 2,
            norm_eps: 1e-5,
        };
        let mut model = Transformer::load(config.clone(), &mut Formula::new(0, config.shapes()))?;
        initialise(&mut model, 1, Draw::Xavier)?;
        Ok(Self {
            model,
            optimiser: AdamW {
                beta_2: 0.98,
                ..AdamW::default()
            },
            schedule,
            settings,
            task,
            batch,
            rng: Rng::named(1, "training"),
        })
    }

    /// One step; gives the loss.
    pub(crate) fn step(&mut self) -> Result<f32> {
        let pairs = Pairs::draw(self.task, &mut self.rng, self.batch, false)?;
        let (loss, mut found) = gradients(&mut self.model, &self.settings, |model, tape| {
            pairs.loss(model, tape, 0.0)
        })?;
        found.clip(1.0);
        let rate = self.schedule.rate(self.optimiser.steps + 1);
        self.optimiser.step(&mut self.model, &found, rate)?;
        Ok(loss)
    }

    /// The share of held-out sequences that it answers wholly right.
    pub(crate) fn score(&self, count: usize) -> Result<f32> {
        let pairs = Pairs::draw(self.task, &mut Rng::named(1, "held out"), count, true)?;
        Ok(pairs.right(&self.model)? as f32 / count as f32)
    }
}
