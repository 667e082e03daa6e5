//! What the cells on models of digits share: their work on digit-vit, and a model that is watched while
//! it reads.

use std::sync::Arc;

use engine::model::vit::Vit;
use engine::trace::Recorder;
use ndarray::{Array1, Array3};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::jobs::{Entry, Start};
use crate::model_cache::ModelCache;
use crate::parts::trained::{self, VIT};

/// The work of the worker for a cell on digit-vit.
pub(crate) const fn entry(name: &'static str, start: Start) -> Entry {
    Entry {
        name,
        files: |_| trained::file(VIT).into_iter().collect(),
        start,
        partial_from: None,
    }
}

/// digit-vit.
pub(crate) fn vit(cache: &ModelCache) -> Result<Arc<Vit>, CellError> {
    cache.opened::<Vit>(trained::file(VIT).unwrap_or_default())
}

/// The scores that a model gives a picture, `[10]`, and every intermediate result.
pub(crate) fn watched(
    record: &mut Record,
    vit: &Vit,
    image: &Array3<f32>,
) -> Result<(Array1<f32>, Recorder), CellError> {
    let (mut seen, picture) = (Recorder::default(), image.view());
    let scores = shown!(
        record,
        engine::model::vit::Vit::forward,
        vit,
        picture,
        Some(&mut seen)
    )?;
    Ok((scores, seen))
}
