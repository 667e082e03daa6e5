//! The checkpoints that a recipe keeps ([`Recipe::kept_steps`]): the parameters after these steps, in
//! a file each in the work folder. A run that is resumed writes those after its last checkpoint
//! again, with the same bytes.

use super::files;
use super::subject::Recipe;
use crate::{Result, TrainError};
use engine::format::safetensors::SafeTensors;
use engine::parameters::{Memory, Parameters};
use engine::quant::Type;
use std::path::{Path, PathBuf};
use tools::safetensors::write_parameters;

/// The file of the parameters after a step.
fn path(work: &Path, step: u64) -> PathBuf {
    work.join(format!("kept-{step}.safetensors"))
}

/// Keeps the parameters after a step.
pub(super) fn keep(work: &Path, step: u64, parameters: &Memory) -> Result<()> {
    let path = path(work, step);
    let bytes = write_parameters(&[], parameters, Type::F32).map_err(TrainError::format(&path))?;
    files::replace(&path, &bytes)
}

/// The kept checkpoints of a training run that is done, oldest first, each with its step.
///
/// # Errors
/// When a file cannot be read or is damaged.
pub fn kept(work: &Path, recipe: &Recipe) -> Result<Vec<(u64, Memory)>> {
    let read = |step| {
        let path = path(work, step);
        let file = SafeTensors::parse(files::read(&path)?.into());
        let mut tensors = file.map_err(TrainError::format(&path))?.tensors;
        let mut parameters = Memory::default();
        for name in tensors.names() {
            let read = tensors.read(&name).map_err(TrainError::weights(&path))?;
            parameters.insert(name, read);
        }
        Ok((step, parameters))
    };
    recipe.kept_steps().into_iter().map(read).collect()
}
