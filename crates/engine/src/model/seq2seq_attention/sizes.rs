//! The sizes of the model.

use crate::error::Result;
use crate::model::config::{self, Lookup};
use crate::model::names::Shapes;
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
    /// R, the width of the layer before the logits; without one they are computed from all three
    /// vectors directly.
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
        let (e, c, v) = (self.embedding, self.width, self.target_vocabulary);
        let mut all = Shapes::default();
        all.add("encoder.embedding.weight", &[self.source_vocabulary, e]);
        all.layer("bridge", &[c, c]);
        all.add("decoder.embedding.weight", &[v, e]);
        all.layer("decoder.output", &[v, self.seen()]);
        if let Some(r) = self.readout {
            all.layer("decoder.readout", &[r, 3 * c + e]);
        }
        for (side, suffix, inputs) in [
            ("encoder", "l0", e),
            ("encoder", "l0_reverse", e),
            ("decoder", "l0", e + 2 * c),
        ] {
            all.0
                .extend(GruCell::shapes(&format!("{side}.gru"), suffix, inputs, c));
        }
        let attention = "decoder.attention";
        (all.0).extend(AdditiveAttention::shapes(attention, c, 2 * c, self.inner));
        all.0
    }

    /// The width of the vector that the logits are computed from.
    pub(super) fn seen(&self) -> usize {
        self.readout.unwrap_or(3 * self.width + self.embedding)
    }
}
