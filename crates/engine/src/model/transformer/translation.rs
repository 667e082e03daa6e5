//! A target that is written token by token.

use super::{Memories, Transformer};
use crate::error::{EngineError, Result};
use crate::nn::kv_cache::KvCaches;
use crate::nn::packed::Packed;
use crate::nn::plain::Plain;
use crate::trace::Observer;
use ndarray::Array1;

/// A source that was read and the target written so far. A clone continues independently, as beams
/// do.
#[derive(Debug, Clone)]
pub struct Translation<'a> {
    pub(super) model: &'a Transformer,
    pub(super) memories: Memories,
    pub(super) caches: KvCaches,
}

impl Translation<'_> {
    /// Reads new target tokens; returns the logits after the last.
    ///
    /// # Errors
    /// When there is no token, or one is outside the vocabulary.
    pub fn feed(&mut self, ids: &[usize]) -> Result<Array1<f32>> {
        // ids [T] -> [V]
        self.feed_traced(ids, None)
    }

    /// As [`Self::feed`], with an observer, which gets the intermediates of
    /// [`Transformer::forward`] from `decoder.embedding` on.
    ///
    /// # Errors
    /// As [`Self::feed`].
    pub fn feed_traced(
        &mut self,
        ids: &[usize],
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Array1<f32>> {
        // ids [T] -> [V]
        let Some(last) = ids.len().checked_sub(1) else {
            return Err(EngineError::value("feed", "tokens", "at least 1", 0));
        };
        let mut target = Packed::one(ids);
        let before = self.caches.position(0);
        target.positions.iter_mut().for_each(|p| *p += before);
        let (compute, caches) = (&mut Plain::new(&mut trace), &mut self.caches);
        let logits = (self.model).decode(compute, &target, caches, &self.memories)?;
        Ok(logits.row(last).to_owned())
    }

    /// The number of target tokens read so far.
    pub fn position(&self) -> usize {
        self.caches.position(0)
    }
}
