//! What a model said of sentences and pictures.

use std::sync::Arc;

use cells::input::Pixels;
use leptos::prelude::*;
use worker::model::protocol::{AttentionPosition, Candidate, Compared, Filled, ModelEvent};

/// A picture as the model read it, and its classes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SeenPicture {
    /// Scaled and cropped for the model.
    pub(super) pixels: Arc<Pixels>,
    /// Side of a patch in its pixels.
    pub(super) patch: usize,
    /// Tokens before those of the patches.
    pub(super) before: usize,
    /// Numbers, names and probabilities of the likeliest classes.
    pub(super) classes: Vec<(usize, Candidate)>,
    pub(super) elapsed_ms: f64,
}

/// The newest answers.
#[derive(Clone, Copy)]
pub(super) struct Answers {
    /// Whether one is awaited.
    pub(super) busy: RwSignal<bool>,
    pub(super) error: RwSignal<Option<String>>,
    pub(super) compared: RwSignal<Option<Compared>>,
    pub(super) filled: RwSignal<Option<Filled>>,
    pub(super) seen: RwSignal<Option<SeenPicture>>,
    pub(super) attention: RwSignal<Option<(AttentionPosition, Vec<f32>)>>,
}

impl Answers {
    pub(super) fn new() -> Self {
        Self {
            busy: RwSignal::new(false),
            error: RwSignal::new(None),
            compared: RwSignal::new(None),
            filled: RwSignal::new(None),
            seen: RwSignal::new(None),
            attention: RwSignal::new(None),
        }
    }

    /// Forgets them.
    pub(super) fn clear(&self) {
        self.busy.set(false);
        self.error.set(None);
        self.compared.set(None);
        self.filled.set(None);
        self.seen.set(None);
        self.attention.set(None);
    }

    pub(super) fn hear(&self, news: ModelEvent) {
        match news {
            ModelEvent::Compared(compared) => self.compared.set(Some(compared)),
            ModelEvent::Filled(filled) => self.filled.set(Some(filled)),
            ModelEvent::Seen(seen) => {
                let picture = seen.picture;
                self.attention.set(None);
                self.seen.set(Some(SeenPicture {
                    pixels: Arc::new(Pixels {
                        width: picture.width,
                        height: picture.height,
                        rgb: picture.rgb,
                    }),
                    patch: seen.patch,
                    before: seen.before,
                    classes: seen.classes,
                    elapsed_ms: seen.elapsed_ms,
                }));
            }
            ModelEvent::Attended { place, weights } => {
                self.attention.set(Some((place, weights)));
                return;
            }
            ModelEvent::Failed(why) => self.error.set(Some(why)),
            _ => return,
        }
        self.busy.set(false);
    }
}
