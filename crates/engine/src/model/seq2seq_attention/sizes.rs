//! The sizes of the model.

use crate::error::Result;
use crate::model::config::{self, Lookup};
use crate::nn::bahdanau::AdditiveAttention;
use crate::nn::gru::GruCell;

/// The sizes of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// V_s.
    pub source_vocabulary: usize,
    /// V_t.
    pub target_vocabulary: usize,
    /// E, the width of both token tables.
    pub embedding: usize,
    /// C, the width of all states.
    pub width: usize,
    /// A, the inner width of the network that scores.
    pub inner: usize,
    /// R, the width of the layer before the logits; without one they are computed from all three vectors directly.
    pub readout: Option<usize>,
}

impl Config {
    /// The sizes from named numbers, named as the fields are.
    ///
    /// # Errors
    /// When a size is missing or not a whole number in range.
    pub fn from_keys(lookup: Lookup<'_>) -> Result<Self> {
        let size = |name: &'static str| config::size("seq2seq-attention", lookup, &[name]);
        Ok(Self {
            source_vocabulary: size("source_vocabulary")?,
            target_vocabulary: size("target_vocabulary")?,
            embedding: size("embedding")?,
            width: size("width")?,
            inner: size("inner")?,
            readout: config::optional("seq2seq-attention", lookup, &["readout"])?,
        })
    }

    /// The names of all parameters with their shapes.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let Self {
            embedding: e,
            width: c,
            target_vocabulary: v,
            ..
        } = *self;
        let mut all = vec![
            (
                "encoder.embedding.weight".to_owned(),
                vec![self.source_vocabulary, e],
            ),
            ("bridge.weight".to_owned(), vec![c, c]),
            ("bridge.bias".to_owned(), vec![c]),
            ("decoder.embedding.weight".to_owned(), vec![v, e]),
            ("decoder.output.weight".to_owned(), vec![v, self.seen()]),
            ("decoder.output.bias".to_owned(), vec![v]),
        ];
        if let Some(r) = self.readout {
            all.push(("decoder.readout.weight".to_owned(), vec![r, 3 * c + e]));
            all.push(("decoder.readout.bias".to_owned(), vec![r]));
        }
        all.extend(GruCell::shapes("encoder.gru", "l0", e, c));
        all.extend(GruCell::shapes("encoder.gru", "l0_reverse", e, c));
        all.extend(AdditiveAttention::shapes(
            "decoder.attention",
            c,
            2 * c,
            self.inner,
        ));
        all.extend(GruCell::shapes("decoder.gru", "l0", e + 2 * c, c));
        all
    }

    /// The width of the vector that the logits are computed from.
    pub(super) fn seen(&self) -> usize {
        self.readout.unwrap_or(3 * self.width + self.embedding)
    }
}
