//! Answers of a model to sentences and pictures, and its attention weights.

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
    /// Numbers, names and probabilities of the most likely classes.
    pub(super) classes: Vec<(usize, Candidate)>,
    pub(super) elapsed_ms: f64,
}

/// The newest answers.
#[derive(Clone, Copy)]
pub(super) struct Answers {
    /// An answer is awaited.
    pub(super) busy: RwSignal<bool>,
    pub(super) error: RwSignal<Option<String>>,
    pub(super) compared: RwSignal<Option<Compared>>,
    pub(super) filled: RwSignal<Option<Filled>>,
    pub(super) seen: RwSignal<Option<SeenPicture>>,
    /// Number of pictures that a model has read here.
    pub(super) pictures: RwSignal<u32>,
    /// Attention weights, with their token, layer and head.
    pub(super) attention: RwSignal<Option<(AttentionPosition, Vec<f32>)>>,
    /// The reason why the attention weights that were asked for are not there.
    pub(super) attention_error: RwSignal<Option<String>>,
}

impl Answers {
    pub(super) fn new() -> Self {
        Self {
            busy: RwSignal::new(false),
            error: RwSignal::new(None),
            compared: RwSignal::new(None),
            filled: RwSignal::new(None),
            seen: RwSignal::new(None),
            pictures: RwSignal::new(0),
            attention: RwSignal::new(None),
            attention_error: RwSignal::new(None),
        }
    }

    /// The picture as the model read it.
    pub(super) fn pixels(&self) -> Signal<Option<Arc<Pixels>>> {
        let seen = self.seen;
        Signal::derive(move || seen.with(|seen| Some(Arc::clone(&seen.as_ref()?.pixels))))
    }

    /// Forgets them.
    pub(super) fn clear(&self) {
        self.busy.set(false);
        self.error.set(None);
        self.compared.set(None);
        self.filled.set(None);
        self.seen.set(None);
        self.clear_attention();
    }

    /// Forgets the attention weights.
    pub(super) fn clear_attention(&self) {
        self.attention.set(None);
        self.attention_error.set(None);
    }

    /// Takes the answer to a request for attention weights.
    pub(super) fn receive_attention(&self, event: ModelEvent) {
        match event {
            ModelEvent::Attended { place, weights } => {
                self.attention_error.set(None);
                self.attention.set(Some((place, weights)));
            }
            ModelEvent::Failed(why) => {
                self.attention.set(None);
                self.attention_error.set(Some(why));
            }
            _ => {}
        }
    }

    /// Takes the answer to any other request but a text.
    pub(super) fn receive(&self, event: ModelEvent) {
        match event {
            ModelEvent::Compared(compared) => self.compared.set(Some(compared)),
            ModelEvent::Filled(filled) => self.filled.set(Some(filled)),
            ModelEvent::Seen(seen) => {
                let picture = seen.picture;
                self.clear_attention();
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
                self.pictures.update(|count| *count += 1);
            }
            ModelEvent::Failed(why) => self.error.set(Some(why)),
            _ => return,
        }
        self.busy.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leptos::reactive::owner::Owner;

    #[test]
    fn failed_attention_is_told_by_itself() {
        let owner = Owner::new();
        owner.with(|| {
            let answers = Answers::new();
            answers.busy.set(true);
            answers.receive_attention(ModelEvent::Failed("no such layer".to_owned()));
            // The answer that the page waits for is another one.
            assert!(answers.busy.get_untracked() && answers.error.get_untracked().is_none());
            let why = answers.attention_error.get_untracked();
            assert_eq!(why.as_deref(), Some("no such layer"));
            answers.receive(ModelEvent::Failed("no picture".to_owned()));
            assert!(!answers.busy.get_untracked() && answers.error.get_untracked().is_some());
        });
    }
}
