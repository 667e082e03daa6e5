//! What the cells on models of digits share: their work on digit-vit, a model that is watched while it
//! reads, and digit-cnn beside digit-vit with and without positions.

use std::sync::Arc;

use engine::model::cnn::Cnn;
use engine::model::vit::Vit;
use engine::trace::Recorder;
use ndarray::{Array1, Array2, Array3, Axis};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::jobs::{Entry, Start};
use crate::model_cache::ModelCache;
use crate::parts::trained::{self, CNN, VIT, VIT_BAG};

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

/// The matrix of the patch embedding, `[d, C·P·P]`: a filter in each row. Records it as `e`, and its
/// rows as patches, `[d, P, P]`, as `filters`.
pub(crate) fn filters(record: &mut Record, vit: &Vit) -> Result<Array2<f32>, CellError> {
    let weight = &vit.tokens().patches.weight;
    let all: Vec<usize> = (0..weight.dim().0).collect();
    let e = shown!(record, engine::parameters::Weight::rows, weight, &all[..])?;
    record.tensor("filters", &as_patches(&e, vit.config().patch)?);
    record.tensor("e", &e);
    Ok(e)
}

/// Rows of the numbers of a patch as patches, `[N, P, P]`.
pub(crate) fn as_patches(rows: &Array2<f32>, side: usize) -> Result<Array3<f32>, CellError> {
    rows.to_shape((rows.nrows(), side, side))
        .map(|patches| patches.into_owned())
        .map_err(|error| CellError::Mismatch(error.to_string()))
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

/// The scores that digit-cnn gives a picture, `[10]`, with an observer, which may change its maps.
pub(crate) fn watched_cnn(
    record: &mut Record,
    cnn: &Cnn,
    image: &Array3<f32>,
    observer: &mut Recorder,
) -> Result<Array1<f32>, CellError> {
    let pictures = image.view().insert_axis(Axis(0));
    let scores = shown!(
        record,
        engine::model::cnn::Cnn::watched,
        cnn,
        pictures,
        observer
    )?;
    Ok(scores.index_axis_move(Axis(0), 0))
}

/// The three models of digits that are compared: with convolutions, with patches, and with patches
/// without positions.
pub(crate) struct Three {
    pub(crate) cnn: Arc<Cnn>,
    pub(crate) vit: Arc<Vit>,
    pub(crate) bag: Arc<Vit>,
}

impl Three {
    /// Their names, before those of their results.
    pub(crate) const NAMES: [&str; 3] = ["cnn", "vit", "bag"];

    /// Their names, as their cards have them.
    pub(crate) const MODELS: [&str; 3] = [CNN, VIT, VIT_BAG];

    /// Their files.
    pub(crate) fn files() -> Vec<&'static str> {
        Self::MODELS.into_iter().filter_map(trained::file).collect()
    }

    /// The models.
    pub(crate) fn open(cache: &ModelCache) -> Result<Self, CellError> {
        let [cnn, vit, bag] = Self::MODELS.map(|name| trained::file(name).unwrap_or_default());
        Ok(Self {
            cnn: cache.opened(cnn)?,
            vit: cache.opened(vit)?,
            bag: cache.opened(bag)?,
        })
    }

    /// The probabilities of the ten digits that each model gives a picture, in the order of
    /// [`Self::NAMES`].
    pub(crate) fn probabilities(
        &self,
        record: &mut Record,
        image: &Array3<f32>,
    ) -> Result<[Array1<f32>; 3], CellError> {
        let cnn = watched_cnn(record, &self.cnn, image, &mut Recorder::default())?;
        let (vit, _) = watched(record, &self.vit, image)?;
        let (bag, _) = watched(record, &self.bag, image)?;
        Ok([cnn, vit, bag].map(|scores| engine::nn::softmax::softmax(scores.view())))
    }
}
