//! The worker's model: loads it, runs it step by step, so that a request to stop is heard between two tokens.

use super::drawn::Drawn;
use super::error::ModelError;
use super::file::Opened;
use super::packing::Packing;
use super::protocol::{Loaded, News};
use super::shape::Shape;
use super::sizes::Model;
use super::weighed::Weighed;
use crate::bench::{Run, Step};

/// The loaded model and what is done with it.
#[derive(Default)]
pub struct Desk {
    model: Option<Model>,
    run: Option<Run>,
}

/// A named shape, ready to be loaded with matrices in a form.
///
/// # Errors
/// When there is none of that name.
pub fn open_shape(name: &str, seed: u64, packing: Packing) -> Result<Opened, ModelError> {
    let shape = Shape::from_name(name)?;
    let source = Drawn::new(seed, shape.parameters(), packing.kind());
    Ok(Opened {
        sizes: shape.sizes(),
        source: Box::new(source),
    })
}

/// Bytes of memory that this program has taken from its host; natively not known, 0.
pub fn memory_bytes() -> u64 {
    #[cfg(target_arch = "wasm32")]
    return core::arch::wasm32::memory_size::<0>() as u64 * 65_536;
    #[cfg(not(target_arch = "wasm32"))]
    return 0;
}

impl Desk {
    /// Drops the model and what is under way.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Loads a model; `progress` hears the share that is done. The time is for the caller to fill in, who knows when it began.
    ///
    /// # Errors
    /// When a parameter is missing or has another shape.
    pub fn load(
        &mut self,
        mut opened: Opened,
        packing: Packing,
        progress: &mut dyn FnMut(f32),
    ) -> Result<Loaded, ModelError> {
        self.clear();
        let mut source = Weighed::new(opened.source.as_mut(), packing.kind(), progress);
        let model = opened.sizes.load(&mut source)?;
        let loaded = Loaded {
            writes: matches!(model, Model::Text(_)),
            reads: !matches!(model, Model::Picture(_)),
            weight_bytes: source.bytes() as u64,
            memory_bytes: memory_bytes(),
            activation_bits: source.activation_bits(),
            load_ms: 0.0,
        };
        self.model = Some(model);
        Ok(loaded)
    }

    /// Begins a run; the work is done in [`Self::turn`].
    ///
    /// # Errors
    /// When no model is loaded, or it does not read so many tokens.
    pub fn measure(&mut self, prompt: usize, new: usize) -> Result<(), ModelError> {
        let model = self.model.as_ref().ok_or(ModelError::None)?;
        self.run = Some(Run::new(model, prompt, new)?);
        Ok(())
    }

    /// Ends what is under way; the model stays.
    pub fn stop(&mut self) {
        self.run = None;
    }

    /// Whether there is nothing to do.
    pub fn is_idle(&self) -> bool {
        self.run.is_none()
    }

    /// Goes on by one step, by the clock `now_ms`; `None` when idle.
    pub fn turn(&mut self, now_ms: impl Fn() -> f64) -> Option<News> {
        let step = self.run.as_mut()?.advance(now_ms);
        if !matches!(step, Ok(Step::Working(_))) {
            self.run = None;
        }
        Some(match step {
            Ok(Step::Working(share)) => News::Measuring(share),
            Ok(Step::Done(figures)) => News::Measured(figures),
            Err(error) => News::Failed(error.to_string()),
        })
    }
}
