//! The models that a cell about pictures computes with: one that the site ships, or one that the reader
//! has opened. The cell's functions are the same for both.

use std::sync::{Arc, OnceLock};

use engine::error::EngineError;
use engine::model::dinov2::Dinov2;
use engine::model::vit::Vit;
use engine::nn::picture_tokens::PictureTokens;
use engine::open::Labels;
use engine::trace::Observer;
use explain::attention_distance::Patches;
use explain::class_lens::Streams;
use ndarray::{Array1, Array2, Array3, Array4, ArrayViewD, Ix3};

use crate::error::CellError;
use crate::frame::shown::{Describe, Described, Record};

/// Most attention weights that are kept: 320 MB.
const MOST_WEIGHTS: usize = 80_000_000;

/// What a reader is told whose model has no classes.
const NO_CLASSES: &str = "This cell reads classes off a model. The open model has none: it gives a vector for each patch.";

/// A Vision Transformer whose heads look at all of the picture.
pub trait PictureModel: Send + Sync {
    /// Layers, and heads of each.
    fn layers_and_heads(&self) -> (usize, usize);

    /// Side of a patch in pixels, and the number of tokens before the patches.
    fn patch_and_before(&self) -> (usize, usize);

    /// The embedding of pictures as tokens.
    fn tokens(&self) -> &PictureTokens;

    /// Runs it on a prepared picture `[C_0, H, W]`; the observer gets the attention weights of all
    /// heads. The logits of the classes, where it has any.
    ///
    /// # Errors
    /// When the picture has not the model's channels, or is smaller than a patch.
    fn watched(
        &self,
        record: &mut Record,
        image: &Array3<f32>,
        seen: &mut HeadWeights,
    ) -> Result<Option<Array1<f32>>, EngineError>;

    /// The model, where it has classes.
    ///
    /// # Errors
    /// [`CellError::Mismatch`] where it has none.
    fn classifier(&self) -> Result<&Vit, CellError> {
        Err(CellError::Mismatch(NO_CLASSES.to_owned()))
    }
}

impl PictureModel for Vit {
    fn layers_and_heads(&self) -> (usize, usize) {
        (self.config().layers, self.config().heads)
    }

    fn patch_and_before(&self) -> (usize, usize) {
        (self.config().patch, usize::from(self.has_class_token()))
    }

    fn tokens(&self) -> &PictureTokens {
        self.tokens()
    }

    fn watched(
        &self,
        record: &mut Record,
        image: &Array3<f32>,
        seen: &mut HeadWeights,
    ) -> Result<Option<Array1<f32>>, EngineError> {
        let (vit, picture) = (self, image.view());
        let logits = shown!(
            record,
            engine::model::vit::Vit::forward,
            vit,
            picture,
            Some(&mut *seen)
        );
        logits.map(Some)
    }

    fn classifier(&self) -> Result<&Vit, CellError> {
        Ok(self)
    }
}

impl PictureModel for Dinov2 {
    fn layers_and_heads(&self) -> (usize, usize) {
        (self.config().layers, self.config().heads)
    }

    fn patch_and_before(&self) -> (usize, usize) {
        (self.config().patch, 1)
    }

    fn tokens(&self) -> &PictureTokens {
        self.tokens()
    }

    fn watched(
        &self,
        _: &mut Record,
        image: &Array3<f32>,
        seen: &mut HeadWeights,
    ) -> Result<Option<Array1<f32>>, EngineError> {
        self.forward(image.view(), Some(seen)).map(|_| None)
    }
}

/// An observer that keeps the attention weights of all heads, and nothing else.
#[derive(Debug, Default)]
pub struct HeadWeights {
    /// Those of one layer after the other.
    all: Vec<f32>,
    /// Layers so far.
    layers: usize,
    /// `[H, T, T]` of a layer.
    of_layer: (usize, usize, usize),
}

impl Observer for HeadWeights {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        // tensor [H, T, T]
        if name.starts_with("blocks.")
            && name.ends_with(".attention.weights")
            && let Ok(weights) = tensor.into_dimensionality::<Ix3>()
        {
            self.of_layer = weights.dim();
            self.layers += 1;
            self.all.extend(weights.iter().copied());
        }
    }
}

impl Describe for HeadWeights {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        format!("keeps the attention weights of {} layers", self.layers).describe(name, out);
    }
}

/// What the heads of a model attend to in a picture.
#[derive(Debug)]
pub struct Attention {
    /// `[L, H, T, T]`.
    pub weights: Array4<f32>,
    /// `[T, T]`: rollout over all layers.
    pub rolled: Array2<f32>,
    /// `[L, H]`: the mean distance in pixels at which a head attends.
    pub distances: Array2<f32>,
    /// Where the patches are among the tokens.
    pub patches: Patches,
    /// The logits of the classes, where the model has any.
    pub logits: Option<Array1<f32>>,
}

impl Attention {
    /// Runs a model on a prepared picture, `[C_0, H, W]`.
    ///
    /// # Errors
    /// When the picture has not the model's channels or is smaller than a patch, or the weights of
    /// all heads are too many to be kept.
    pub fn of(
        record: &mut Record,
        model: &dyn PictureModel,
        image: &Array3<f32>,
    ) -> Result<Self, CellError> {
        let (layers, heads) = model.layers_and_heads();
        let (side, before) = model.patch_and_before();
        let (_, height, width) = image.dim();
        let patches = Patches {
            before,
            rows: height / side.max(1),
            columns: width / side.max(1),
            side,
        };
        let tokens = before + patches.rows * patches.columns;
        let count = tokens.saturating_mul(tokens).saturating_mul(layers * heads);
        if count > MOST_WEIGHTS {
            let message = format!(
                "{layers} layers with {heads} heads have {count} attention weights over {tokens} tokens: more than this cell keeps ({MOST_WEIGHTS})."
            );
            return Err(CellError::Mismatch(message));
        }
        let mut seen = HeadWeights::default();
        let logits = model.watched(record, image, &mut seen)?;
        let (of_each, queries, keys) = seen.of_layer;
        let weights = Array4::from_shape_vec((seen.layers, of_each, queries, keys), seen.all);
        let weights = weights.map_err(|error| CellError::Mismatch(error.to_string()))?;
        let rolled = shown!(record, explain::rollout::rollout, weights.view())?;
        Ok(Self {
            distances: explain::attention_distance::mean_distance(weights.view(), &patches)?,
            weights,
            rolled,
            patches,
            logits,
        })
    }
}

/// A model of pictures that the reader has opened, with the picture that it read last.
pub struct OpenedPicture {
    /// The model.
    pub model: Arc<dyn PictureModel>,
    /// The picture as the model reads it, `[C_0, H, W]`.
    pub image: Array3<f32>,
    /// Names of the classes.
    pub labels: Option<Arc<Labels>>,
    attention: OnceLock<Attention>,
    streams: OnceLock<Streams>,
}

impl OpenedPicture {
    /// A model and a prepared picture, `[C_0, H, W]`.
    pub fn new(
        model: Arc<dyn PictureModel>,
        image: Array3<f32>,
        labels: Option<Arc<Labels>>,
    ) -> Self {
        Self {
            model,
            image,
            labels,
            attention: OnceLock::new(),
            streams: OnceLock::new(),
        }
    }

    /// What its heads attend to. The first call runs the model; the weights are kept.
    ///
    /// # Errors
    /// As [`Attention::of`].
    pub fn attention(&self) -> Result<&Attention, CellError> {
        if let Some(found) = self.attention.get() {
            return Ok(found);
        }
        let found = Attention::of(&mut Record::new(), &*self.model, &self.image)?;
        Ok(self.attention.get_or_init(|| found))
    }

    /// Its residual stream at every depth. The first call runs the model; the streams are kept.
    ///
    /// # Errors
    /// A model without classes, or what its pass meets.
    pub(crate) fn streams(&self) -> Result<&Streams, CellError> {
        if let Some(found) = self.streams.get() {
            return Ok(found);
        }
        let found = Streams::of(self.model.classifier()?, self.image.view())?;
        Ok(self.streams.get_or_init(|| found))
    }

    /// Rows and columns of its patches.
    pub(crate) fn grid(&self) -> (usize, usize) {
        let side = self.model.patch_and_before().0.max(1);
        let (_, height, width) = self.image.dim();
        (height / side, width / side)
    }

    /// The name of a class.
    pub(crate) fn class_name(&self, class: usize) -> String {
        match &self.labels {
            Some(labels) => labels.name(class),
            None => format!("class {class}"),
        }
    }
}
