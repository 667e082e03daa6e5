//! A picture as a model reads it: its classes, and the attention weights of its patches.

use engine::ndarray::{Array3, ArrayViewD, Ix3};
use engine::open::{Labels, Preparation, top};
use engine::picture::from_rgb8;
use engine::trace::Observer;

use super::any_model::AnyModel;
use super::error::ModelError;
use super::protocol::{AttentionPosition, Candidate, Picture, Seen};

/// Number of the most likely classes that the page gets.
const CLASSES: usize = 10;

/// A prepared picture, with its attention weights once they were asked for.
pub(super) struct ClassifiedImage {
    /// `[3, S, S]`, prepared for the model.
    image: Array3<f32>,
    /// The weights of each layer, `[H × T × T]`; none before they are asked for.
    layers: Vec<Array3<f32>>,
}

impl ClassifiedImage {
    /// Prepares and classifies a picture. The caller, who has the clock, fills in the time.
    ///
    /// # Errors
    /// When the picture has no pixel, or the model reads text.
    pub(super) fn of(
        model: &AnyModel,
        (preparation, labels): (&Preparation, Option<&Labels>),
        picture: &Picture,
    ) -> Result<(Self, Seen), ModelError> {
        let (patch, before) = model.patches().ok_or_else(|| ModelError::OtherKind {
            kind: "text".to_owned(),
        })?;
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
        let layers = Vec::new();
        Ok((Self { image, layers }, seen))
    }

    /// The attention weights of a token over all tokens. The first call runs the picture through
    /// the model once more, with an observer, and keeps the weights of all tokens, layers and
    /// heads.
    ///
    /// # Errors
    /// When there is no such token, layer or head.
    pub(super) fn attend(
        &mut self,
        model: &AnyModel,
        place: AttentionPosition,
    ) -> Result<Vec<f32>, ModelError> {
        if self.layers.is_empty() {
            let mut all = Layers::default();
            model.see(self.image.view(), Some(&mut all))?;
            self.layers = all.0;
        }
        let row = self.layers.get(place.layer).and_then(|layer| {
            let head = layer.outer_iter().nth(place.head)?;
            let row = head.outer_iter().nth(place.token)?;
            Some(row.to_vec())
        });
        row.ok_or(ModelError::UnknownPosition { place })
    }
}

/// An observer that keeps the attention weights of all layers.
#[derive(Default)]
struct Layers(Vec<Array3<f32>>);

impl Observer for Layers {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        // tensor [H, T, T]
        if name.starts_with("blocks.")
            && name.ends_with(".attention.weights")
            && let Ok(weights) = tensor.into_dimensionality::<Ix3>()
        {
            self.0.push(weights.to_owned());
        }
    }
}
