//! Checkpoints: everything that a training run needs to continue to the same bits, in one
//! safetensors file.
//!
//! | tensors | what they are |
//! |---|---|
//! | `now/NAME` | the parameters |
//! | `first/NAME`, `second/NAME` | AdamW's m and v |
//! | `best/NAME` | the parameters of the best evaluation so far |
//!
//! The metadata's `position` says, as JSON, where the training is ([`Position`]). Random numbers
//! need no state of their own: each step and each pass over the data has a stream named by its
//! number.

use super::files;
use crate::{Result, TrainError};
use engine::EngineError;
use engine::format::safetensors::SafeTensors;
use engine::format::tensors::Tensors;
use engine::grad::AdamW;
use engine::ndarray::{ArrayD, IxDyn};
use engine::parameters::{Memory, Parameters, tensor};
use engine::quant::Type;
use engine::trainable::{Parameter, Trainable, restore, saved};
use serde::{Deserialize, Serialize};
use std::path::Path;
use tools::safetensors::write_parameters;

/// The state of a training run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Position {
    /// The model's name.
    pub(super) name: String,
    /// Sizes and recipe, which must be the same to go on.
    pub(super) recipe: String,
    /// Seed of all random draws.
    pub(super) seed: u64,
    /// Steps done.
    pub(super) step: u64,
    /// Passes over the data done.
    pub(super) epoch: u64,
    /// Batches done of the pass that is under way.
    pub(super) place: usize,
    /// The best evaluation so far.
    pub(super) best: Option<Best>,
    /// Evaluations since then.
    pub(super) since: u64,
    /// Time taken, in seconds.
    pub(super) elapsed_s: f64,
}

/// An evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Best {
    /// The step after which it was made.
    pub(super) step: u64,
    /// The value by which it was chosen, to the bit.
    #[serde(with = "exact")]
    pub(super) value: f64,
}

/// Numbers as texts, since JSON readers may round.
mod exact {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&value.to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

const NOW: &str = "now/";
const FIRST: &str = "first/";
const SECOND: &str = "second/";
const BEST: &str = "best/";
const POSITION: &str = "position";

/// Writes a checkpoint over the last one.
pub(super) fn save<M: Trainable>(
    path: &Path,
    model: &mut M,
    optimiser: &AdamW,
    best: Option<&Memory>,
    position: &Position,
) -> Result<()> {
    let mut all = Memory::default();
    for (name, tensor) in saved(model)?.iter() {
        all.insert(format!("{NOW}{name}"), tensor.clone());
    }
    let mut moments = optimiser.moments.iter();
    model.parameters(&mut |parameter| {
        let pair = moments.next().into_iter().flatten();
        for (part, values) in [FIRST, SECOND].iter().zip(pair) {
            let array = ArrayD::from_shape_vec(IxDyn(parameter.shape), values.clone());
            let array = array.map_err(|error| {
                EngineError::shape(
                    "checkpoint",
                    "moments of the parameters' shapes",
                    error.to_string(),
                )
            })?;
            all.insert(format!("{part}{}", parameter.name), array);
        }
        Ok(())
    })?;
    for (name, tensor) in best.into_iter().flat_map(Memory::iter) {
        all.insert(format!("{BEST}{name}"), tensor.clone());
    }
    let position = serde_json::to_string(position)
        .map_err(|error| TrainError::content(path, "a position to write", error))?;
    let metadata = [(POSITION.to_owned(), position)];
    let bytes = write_parameters(&metadata, &all, Type::F32).map_err(TrainError::format(path))?;
    files::replace(path, &bytes)
}

/// A checkpoint that was read.
pub(super) struct Checkpoint {
    tensors: Tensors,
    pub(super) position: Position,
}

impl Checkpoint {
    /// Reads a checkpoint.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let file =
            SafeTensors::parse(files::read(path)?.into()).map_err(TrainError::format(path))?;
        let position = file.metadata().iter().find(|(key, _)| key == POSITION);
        let (_, text) =
            position.ok_or_else(|| TrainError::content(path, "a checkpoint", "no position"))?;
        let position = serde_json::from_str(text)
            .map_err(|error| TrainError::content(path, "the position of a training", error))?;
        Ok(Self {
            tensors: file.tensors,
            position,
        })
    }

    /// Refuses to go on with a training of something else.
    pub(super) fn expect(&self, path: &Path, name: &str, recipe: &str, seed: u64) -> Result<()> {
        let found = &self.position;
        let pairs = [
            ("a training of", name.to_owned(), found.name.clone()),
            ("the recipe", recipe.to_owned(), found.recipe.clone()),
            ("seed", seed.to_string(), found.seed.to_string()),
        ];
        match pairs
            .into_iter()
            .find(|(_, expected, found)| expected != found)
        {
            Some((what, expected, found)) => Err(TrainError::content(
                path,
                format!("{what} {expected}"),
                found,
            )),
            None => Ok(()),
        }
    }

    /// The tensors of one part, under their own names.
    fn part(&mut self, path: &Path, part: &str) -> Result<Memory> {
        let mut memory = Memory::default();
        for name in self.tensors.names() {
            if let Some(own) = name.strip_prefix(part) {
                let read = self
                    .tensors
                    .read(&name)
                    .map_err(TrainError::weights(path))?;
                memory.insert(own, read);
            }
        }
        Ok(memory)
    }

    /// Puts the parameters into a model and the moments into an optimiser, and gives the best
    /// parameters so far. When something is missing or has another shape, neither is changed.
    pub(super) fn restore<M: Trainable>(
        mut self,
        path: &Path,
        model: &mut M,
        optimiser: &mut AdamW,
    ) -> Result<Option<Memory>> {
        let mut now = self.part(path, NOW)?;
        let mut first = self.part(path, FIRST)?;
        let mut second = self.part(path, SECOND)?;
        let mut best = self.part(path, BEST)?;
        let (stepped, found_best) = (self.position.step > 0, self.position.best.is_some());
        let mut moments = Vec::new();
        let read = |source: &mut Memory, parameter: &Parameter<'_>| {
            let read = tensor(source, parameter.name, parameter.shape)?;
            Ok::<_, EngineError>(read.iter().copied().collect::<Vec<f32>>())
        };
        model
            .parameters(&mut |parameter| {
                if stepped {
                    moments.push([
                        read(&mut first, &parameter)?,
                        read(&mut second, &parameter)?,
                    ]);
                }
                if found_best {
                    read(&mut best, &parameter)?;
                }
                Ok(())
            })
            .map_err(TrainError::weights(path))?;
        restore(model, &mut now).map_err(TrainError::weights(path))?;
        optimiser.steps = self.position.step;
        optimiser.moments = moments;
        Ok(found_best.then_some(best))
    }
}
