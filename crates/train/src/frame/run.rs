//! Steps, evaluations and checkpoints, until the last step or until nothing gets better.

use super::checkpoint::{self, Best, Checkpoint, Position};
use super::log::{Line, Log};
use super::progress::Progress;
use super::subject::{Evaluation, Recipe, Subject};
use super::{curve, files, kept};
use crate::{Result, TrainError};
use engine::formula::Formula;
use engine::grad::{AdamW, Gradients, Settings, gradients_of_parts, initialise};
use engine::parameters::Memory;
use engine::rng::{Rng, mix};
use engine::trainable::saved;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The settings of the command line.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of checkpoint, log and picture.
    pub work: PathBuf,
    /// Seed of all random draws.
    pub seed: u64,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
    /// Continue from the last checkpoint.
    pub resume: bool,
    /// The most steps, where it is not the recipe's number: the rate falls over as many.
    pub steps: Option<u64>,
    /// The step to stop after, though the rate has not fallen to its end; the training can go on
    /// from there.
    pub stop_after: Option<u64>,
}

/// A training that is done.
pub struct Trained {
    /// The parameters of the best evaluation.
    pub best: Memory,
    /// The step after which they were so.
    pub step: u64,
    /// Time taken over all runs, in seconds.
    pub elapsed_s: f64,
}

/// A training under way.
struct Run<'a, S: Subject> {
    subject: &'a S,
    recipe: Recipe,
    options: &'a Options,
    model: S::Model,
    optimiser: AdamW,
    position: Position,
    best: Option<Memory>,
    log: Log,
    progress: Progress,
    /// The steps whose parameters are kept.
    kept_steps: Vec<u64>,
    began: Instant,
    /// Time taken by the runs before this one, in seconds.
    before_s: f64,
}

/// Trains a model, from the start or from the last checkpoint; gives the best parameters. A
/// training that was interrupted and resumed gives the same bits as one that was not.
///
/// # Errors
/// When files cannot be read or written, the work folder holds another training or, without
/// `resume`, any, a checkpoint is not this model's, the engine refuses, the loss is no number any
/// more, or a parameter got no gradient. What was in the work folder is then as it was.
pub fn train<S: Subject>(subject: &S, options: &Options) -> Result<Trained> {
    let mut run = Run::begin(subject, options)?;
    while !run.is_over() {
        let epoch = run.position.epoch;
        let order = &mut Rng::named(options.seed, &format!("order.{epoch}"));
        let batches = subject.batches(order);
        for batch in batches.iter().skip(run.position.place) {
            run.step(batch)?;
            run.position.place += 1;
            if run.position.step == run.last()
                || run.position.step.is_multiple_of(run.recipe.evaluate_every)
            {
                run.evaluate()?;
            }
            if run.is_over() || run.position.step.is_multiple_of(options.checkpoint_every) {
                run.save()?;
            }
            if run.is_over() {
                break;
            }
        }
        if !run.is_over() {
            if batches.is_empty() {
                let error = engine::EngineError::value("train", "batches", "at least 1", 0);
                return Err(error.into());
            }
            run.position.epoch += 1;
            run.position.place = 0;
        }
    }
    run.end()
}

/// The parts of a batch: each is computed by one thread, so that two are as good as busy. The number
/// is fixed, because the bits of a training run depend on it.
const PARTS: usize = 2;

/// The mean loss of a batch and its gradients. What is random about them depends on seed and step
/// alone; `dropout` is the share of numbers that become 0.
///
/// # Errors
/// When the subject or the engine refuses.
pub fn gradients_of<S: Subject>(
    subject: &S,
    model: &mut S::Model,
    batch: &[usize],
    (seed, step, dropout): (u64, u64, f32),
) -> Result<(f32, Gradients)> {
    let parts: Vec<&[usize]> = batch.chunks(batch.len().div_ceil(PARTS).max(1)).collect();
    let settings = |part: usize| Settings {
        dropout,
        seed: mix(seed ^ mix(step) ^ part as u64),
        ..Settings::default()
    };
    let settings: Vec<Settings> = (0..parts.len()).map(settings).collect();
    // The engine's errors are of its own kind: ours wait outside.
    let refused = Mutex::new(BTreeMap::new());
    let found = gradients_of_parts(model, &settings, |part, model, tape| {
        let mut rng = Rng::named(seed, &format!("step.{step}.{part}"));
        let loss = subject.loss(model, tape, parts[part], &mut rng);
        loss.map_err(|error| {
            let shown = engine::EngineError::shape("train", "a loss", error.to_string());
            lock(&refused).insert(part, error);
            shown
        })
    });
    // The first in the order of the parts, whichever thread was faster.
    match lock(&refused).pop_first() {
        Some((_, error)) => Err(error),
        None => Ok(found?),
    }
}

/// A model whose parameters have just been drawn, and the optimiser of its training.
///
/// # Errors
/// When the subject or the engine refuses.
pub fn drawn<S: Subject>(subject: &S, recipe: &Recipe, seed: u64) -> Result<(S::Model, AdamW)> {
    let mut model = subject.load(&mut Formula::new(0, subject.shapes()))?;
    initialise(&mut model, seed, recipe.draw)?;
    subject.begin(&mut model)?;
    let optimiser = AdamW {
        beta_2: recipe.beta_2,
        decay: recipe.decay,
        ..AdamW::default()
    };
    Ok((model, optimiser))
}

/// One step with a batch: the loss before it, and the learning rate. `step` is counted from 1.
///
/// # Errors
/// When the subject or the engine refuses, the loss is no number any more, or a parameter got no
/// gradient.
pub fn step_of<S: Subject>(
    subject: &S,
    recipe: &Recipe,
    (model, optimiser): (&mut S::Model, &mut AdamW),
    batch: &[usize],
    (seed, step): (u64, u64),
) -> Result<(f32, f32)> {
    let (loss, mut found) = gradients_of(subject, model, batch, (seed, step, recipe.dropout))?;
    if !loss.is_finite() {
        return Err(TrainError::Diverged { step, loss });
    }
    found.check_complete(|_| true)?;
    found.clip(recipe.clip);
    let rate = recipe.schedule.rate(step);
    optimiser.step(model, &found, rate)?;
    Ok((loss, rate))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a, S: Subject> Run<'a, S> {
    fn begin(subject: &'a S, options: &'a Options) -> Result<Self> {
        let mut recipe = subject.recipe();
        if let Some(steps) = options.steps {
            recipe = recipe.of_steps(steps);
        }
        let (mut model, mut optimiser) = drawn(subject, &recipe, options.seed)?;
        let fingerprint = format!("{} {recipe:?}", subject.config());
        let mut position = Position {
            name: subject.name().to_owned(),
            recipe: fingerprint.clone(),
            seed: options.seed,
            step: 0,
            epoch: 0,
            place: 0,
            best: None,
            since: 0,
            elapsed_s: 0.0,
        };
        let path = options.work.join(CHECKPOINT);
        let found = path.exists().then(|| Checkpoint::read(&path)).transpose()?;
        let work = options.work.clone();
        let best = match (found, options.resume) {
            (None, false) => None,
            (None, true) => return Err(TrainError::NotBegun { path: work }),
            (Some(found), false) => {
                let step = found.position.step;
                return Err(TrainError::Begun { path: work, step });
            }
            (Some(found), true) => {
                found.expect(&path, subject.name(), &fingerprint, options.seed)?;
                position = found.position.clone();
                found.restore(&path, &mut model, &mut optimiser)?
            }
        };
        Ok(Self {
            log: Log::open(&options.work.join(LOG), position.step)?,
            progress: Progress::new(&recipe, position.step),
            kept_steps: recipe.kept_steps(),
            began: Instant::now(),
            before_s: position.elapsed_s,
            subject,
            recipe,
            options,
            model,
            optimiser,
            position,
            best,
        })
    }

    /// Returns whether all steps are done, or the score has not improved for long.
    fn is_over(&self) -> bool {
        self.position.step >= self.last() || self.position.since >= self.recipe.patience
    }

    /// The last step.
    fn last(&self) -> u64 {
        let most = self.options.stop_after.unwrap_or(u64::MAX);
        most.min(self.recipe.steps)
    }

    fn step(&mut self, batch: &[usize]) -> Result<()> {
        let step = self.position.step + 1;
        let (loss, rate) = step_of(
            self.subject,
            &self.recipe,
            (&mut self.model, &mut self.optimiser),
            batch,
            (self.options.seed, step),
        )?;
        self.position.step = step;
        if self.kept_steps.contains(&step) {
            kept::keep(&self.options.work, step, &saved(&mut self.model)?)?;
        }
        self.record(Line::Step { step, loss, rate })
    }

    fn evaluate(&mut self) -> Result<()> {
        let found: Evaluation = self.subject.evaluate(&self.model)?;
        let (step, choice) = (self.position.step, self.recipe.choice);
        let value = choice.value(found);
        self.record(Line::evaluation(step, found))?;
        let best = self.position.best;
        if best.is_none_or(|best| choice.is_better(value, best.value)) {
            self.best = Some(saved(&mut self.model)?);
            self.position.best = Some(Best { step, value });
            self.position.since = 0;
        } else {
            self.position.since += 1;
        }
        Ok(())
    }

    fn record(&mut self, line: Line) -> Result<()> {
        self.progress.show(&line);
        self.log.push(line)
    }

    /// Log, picture, checkpoint: in this order, so that the log holds all steps of the checkpoint.
    fn save(&mut self) -> Result<()> {
        self.position.elapsed_s = self.before_s + self.began.elapsed().as_secs_f64();
        self.log.flush()?;
        let picture = curve::draw(self.subject.name(), &self.recipe, &self.log.lines)?;
        files::replace(&self.options.work.join(CURVE), picture.as_bytes())?;
        let path = self.options.work.join(CHECKPOINT);
        let (model, best) = (&mut self.model, self.best.as_ref());
        checkpoint::save(&path, model, &self.optimiser, best, &self.position)
    }

    fn end(self) -> Result<Trained> {
        let best = self.best.zip(self.position.best);
        let (best, at) = best.ok_or_else(|| {
            engine::EngineError::value("train", "steps", "at least 1", self.position.step)
        })?;
        Ok(Trained {
            best,
            step: at.step,
            elapsed_s: self.position.elapsed_s,
        })
    }
}

/// The files in the work folder.
const CHECKPOINT: &str = "checkpoint.safetensors";
pub(super) const LOG: &str = "log.jsonl";
const CURVE: &str = "loss.svg";
