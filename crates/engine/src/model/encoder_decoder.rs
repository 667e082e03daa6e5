//! Encoder–decoder models: an encoder reads a source, and a decoder predicts the tokens of its
//! target.

use crate::error::Result;
use crate::nn::compute::Compute;
use crate::nn::packed::Packed;
use crate::nn::plain::Plain;
use crate::parameters::Weight;
use crate::trainable::{self, Kind, Trainable, Visit};
use ndarray::{Array3, ArrayView2};

/// A model that reads sources and predicts the next token at each position of their targets.
pub trait EncoderDecoder: Trainable {
    /// The logits at every position of the targets, `[N, V]` in their order, all target tokens
    /// given (teacher forcing); generic over the executor.
    ///
    /// # Errors
    /// When an id is outside the vocabulary, a source of a model with additive attention is empty,
    /// or there are more of one side than of the other.
    fn run<C: Compute>(
        &self,
        compute: &mut C,
        source: &Packed,
        target: &Packed,
    ) -> Result<C::Matrix>;

    /// False for a parameter that the model does not compute with as it is set up, such as a norm
    /// that is switched off.
    fn uses(&self, parameter: &str) -> bool {
        let _ = parameter;
        true
    }

    /// As [`Self::run`] for pairs that are padded to one length; the masks are true where there is
    /// a token. Logits of padding are 0.
    ///
    /// # Errors
    /// As [`Self::run`], and when a mask has another shape than its ids.
    fn forward_batch(
        &self,
        source: ArrayView2<'_, usize>,
        source_mask: ArrayView2<'_, bool>,
        target: ArrayView2<'_, usize>,
        target_mask: ArrayView2<'_, bool>,
    ) -> Result<Array3<f32>> {
        // source [B, S], target [B, T] -> [B, T, V]
        let source = Packed::new(source, source_mask)?;
        let target = Packed::new(target, target_mask)?;
        let logits = self.run(&mut Plain::silent(), &source, &target)?;
        target.unpack(logits.view())
    }
}

/// Visits the token table of one side, `SIDE.embedding.weight`.
pub(super) fn embedding_parameters(
    table: &mut Weight,
    side: &str,
    visit: &mut Visit<'_>,
) -> Result<()> {
    trainable::weight(
        table,
        &format!("{side}.embedding.weight"),
        Kind::Table,
        visit,
    )
}
