//! What a model makes of a picture: its classes, and what its patches attend to.

use engine::EngineError;
use engine::ndarray::{Array3, ArrayViewD, Ix3};
use engine::open::{Labels, Preparation, top};
use engine::picture::from_rgb8;
use engine::trace::Observer;

use super::any_model::AnyModel;
use super::error::ModelError;
use super::protocol::{AttentionPosition, Candidate, Picture, Seen};

/// How many of the likeliest classes are told.
const CLASSES: usize = 10;

/// The last picture, and once it was asked for, what attends to what in it.
pub(super) struct ClassifiedImage {
    /// `[3, S, S]`, prepared for the model.
    image: Array3<f32>,
    /// The weights of each layer, `[H, T, T]`; none before they are asked for.
    layers: Vec<Array3<f32>>,
}

impl ClassifiedImage {
    /// Has a model look at a picture. The time is for the caller to fill in, who has the clock.
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

    /// What a token takes from each token. The first time the picture is run through the model once more, under an observer; all
    /// weights of it are kept, so that every other token, layer and head is there at once.
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
        Ok(row.ok_or_else(|| {
            EngineError::value(
                "attend",
                "place",
                "a token, layer and head",
                format!("{place:?}"),
            )
        })?)
    }
}

/// Keeps the attention of all layers.
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
