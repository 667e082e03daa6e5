//! `position-tables`: what `digit-vit` knows of positions along its training. A run with its recipe is made
//! again, and the site ships its table of positions after a few steps, and no other parameter. (The shipped
//! `digit-vit` was trained when a batch was one part and not two, so its numbers are others.)
//!
//! ```text
//! step.0, step.100, …   [49, 64], F16    the vectors of the patches, row by row; that of the class token is left out
//! ```
//! The metadata have `config` (the steps, and the side of the grid of patches), `command`, and `first`,
//! the losses of the first steps to their last bit.

use super::classifier::Classifier;
use super::data::Mnist;
use crate::frame::{Recipe, Subject, drawn, replace, step_of};
use crate::{Result, TrainError};
use engine::EngineError;
use engine::grad::AdamW;
use engine::model::vit::Vit;
use engine::ndarray::{Array2, Axis};
use engine::parameters::Memory;
use engine::quant::Type;
use engine::rng::Rng;
use serde_json::json;
use std::collections::VecDeque;
use std::path::Path;
use tools::safetensors::write_parameters;

/// The file that the site ships.
pub const FILE: &str = "position-tables.safetensors";

/// The steps after which the table is kept; the last is the best step of the shipped `digit-vit`.
pub const STEPS: [u64; 6] = [0, 100, 300, 1000, 3000, 7000];

/// Steps whose losses are in the file to the last bit.
pub const FIRST: usize = 3;

/// A training run of `digit-vit`, step by step, as [`crate::frame::train`] makes it.
pub struct Run {
    subject: Classifier<Vit>,
    recipe: Recipe,
    model: Vit,
    optimiser: AdamW,
    seed: u64,
    step: u64,
    epoch: u64,
    /// The batches of this epoch that are still to come.
    batches: VecDeque<Vec<usize>>,
}

impl Run {
    /// Before the first step.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn new(digits: Mnist, seed: u64) -> Result<Self> {
        let subject = Classifier::<Vit>::new(digits);
        let recipe = subject.recipe();
        let (model, optimiser) = drawn(&subject, &recipe, seed)?;
        Ok(Self {
            subject,
            recipe,
            model,
            optimiser,
            seed,
            step: 0,
            epoch: 0,
            batches: VecDeque::new(),
        })
    }

    /// One step: the loss that it began with.
    ///
    /// # Errors
    /// When there are no digits, the engine refuses, or the training diverges.
    pub fn step(&mut self) -> Result<f32> {
        if self.batches.is_empty() {
            let order = &mut Rng::named(self.seed, &format!("order.{}", self.epoch));
            self.batches = self.subject.batches(order).into();
            self.epoch += 1;
        }
        let batch = self.batches.pop_front();
        let none = || EngineError::value("position-tables", "batches", "at least 1", 0);
        let batch = batch.ok_or_else(none)?;
        self.step += 1;
        let (loss, _) = step_of(
            &self.subject,
            &self.recipe,
            (&mut self.model, &mut self.optimiser),
            &batch,
            (self.seed, self.step),
        )?;
        Ok(loss)
    }

    /// The vectors of the patches, `[49, 64]`.
    ///
    /// # Errors
    /// When the model has no table.
    pub fn table(&self) -> Result<Array2<f32>> {
        let table = &self.model.tokens().positions;
        let none = || EngineError::value("position-tables", "positions", "a table", "none");
        let table = table.as_ref().ok_or_else(none)?;
        // The vector of the class token comes first.
        Ok(table.view().split_at(Axis(0), 1).1.to_owned())
    }
}

/// The name of the table after a step.
pub fn name(step: u64) -> String {
    format!("step.{step}")
}

/// Trains, and writes the tables to `out`.
///
/// # Errors
/// When the data cannot be read, the engine refuses, or the file cannot be written.
pub fn make(data: &Path, seed: u64, out: &Path) -> Result<()> {
    let mut run = Run::new(Mnist::read(data)?, seed)?;
    let (mut tables, mut first) = (Memory::default(), Vec::new());
    tables.insert(name(0), run.table()?.into_dyn());
    for step in 1..=STEPS[STEPS.len() - 1] {
        let loss = run.step()?;
        if first.len() < FIRST {
            first.push(loss.to_string());
        }
        if STEPS.contains(&step) {
            eprintln!("step {step}: loss {loss:.4}");
            tables.insert(name(step), run.table()?.into_dyn());
        }
    }
    let side = run.table()?.nrows().isqrt();
    let config = json!({ "model_type": "position-tables", "steps": STEPS, "side": side });
    let command = format!(
        "cargo xtask train position-tables --data {} --seed {seed}",
        data.display()
    );
    let metadata = [
        ("config".to_owned(), config.to_string()),
        ("command".to_owned(), command),
        ("first".to_owned(), first.join(" ")),
    ];
    let path = out.join(FILE);
    let bytes = write_parameters(&metadata, &tables, Type::F16);
    replace(&path, &bytes.map_err(TrainError::format(&path))?)?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
