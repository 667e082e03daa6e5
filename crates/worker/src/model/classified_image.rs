//! A picture as a model reads it: its classes, and the attention weights of its patches.

use std::sync::Arc;

use cells::opened::Model;
use cells::opened::window_reach::OpenedWindows;
use cells::picture_model::OpenedPicture;
use engine::open::{Labels, Preparation, top};
use engine::picture::from_rgb8;

use super::any_model::AnyModel;
use super::error::ModelError;
use super::protocol::{AttentionPosition, Candidate, Picture, Seen};

/// Number of the most likely classes that the page gets.
const CLASSES: usize = 10;

/// A prepared picture, with its attention weights once they were asked for.
pub(super) struct ClassifiedImage {
    /// The model and the picture as cells take them.
    opened: Model,
}

impl ClassifiedImage {
    /// Prepares and classifies a picture. The caller, who has the clock, fills in the time.
    ///
    /// # Errors
    /// When the picture has no pixel, or the model reads text.
    pub(super) fn of(
        model: &AnyModel,
        (preparation, labels): (&Preparation, Option<&Arc<Labels>>),
        picture: &Picture,
    ) -> Result<(Self, Seen), ModelError> {
        let not_text = || ModelError::OtherKind {
            kind: "text".to_owned(),
        };
        let (patch, before) = model.patches().ok_or_else(not_text)?;
        let image = from_rgb8(&picture.rgb, picture.width, picture.height)?;
        let image = preparation.apply(image.view())?;
        let logits = model.see(image.view(), None)?;
        let best = logits.map_or_else(Vec::new, |logits| top(&logits, CLASSES));
        let named = best.into_iter().map(|(class, probability)| {
            let text = match labels {
                Some(labels) => labels.name(class),
                None => format!("class {class}"),
            };
            let candidate = Candidate {
                text,
                probability,
                taken: false,
            };
            (class, candidate)
        });
        let (_, height, width) = image.dim();
        let seen = Seen {
            picture: Picture {
                width,
                height,
                rgb: preparation.colours(image.view()),
            },
            patch,
            before,
            classes: named.collect(),
            elapsed_ms: 0.0,
        };
        let labels = labels.map(Arc::clone);
        let opened = match model {
            AnyModel::Picture(model) => {
                Arc::new(OpenedPicture::new(Arc::clone(model) as _, image, labels)).into()
            }
            AnyModel::Features(model) => {
                Arc::new(OpenedPicture::new(Arc::clone(model) as _, image, labels)).into()
            }
            AnyModel::Windows(model) => {
                Arc::new(OpenedWindows::new(Arc::clone(model), image, labels)).into()
            }
            AnyModel::Text(_) | AnyModel::Sentence(_) => return Err(not_text()),
        };
        Ok((Self { opened }, seen))
    }

    /// The model and the picture as cells take them.
    pub(super) fn opened(&self) -> Model {
        self.opened.clone()
    }

    /// The attention weights of a token over all tokens. The first call runs the picture through
    /// the model once more, with an observer, and keeps the weights of all tokens, layers and
    /// heads.
    ///
    /// # Errors
    /// When there is no such token, layer or head, or the weights are too many to be kept.
    pub(super) fn attend(&self, place: AttentionPosition) -> Result<Vec<f32>, ModelError> {
        let unknown = || ModelError::UnknownPosition { place };
        let Model::Picture(opened) = &self.opened else {
            return Err(unknown());
        };
        let found = opened.attention().map_err(ModelError::Cell)?;
        let layer = found.weights.outer_iter().nth(place.layer);
        let head = layer
            .as_ref()
            .and_then(|layer| layer.outer_iter().nth(place.head));
        let row = head
            .as_ref()
            .and_then(|head| head.outer_iter().nth(place.token));
        row.map(|row| row.to_vec()).ok_or_else(unknown)
    }
}
