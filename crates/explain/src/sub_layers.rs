//! The residual stream of a decoder at the last position of a text: its length after each sub-layer,
//! and the length of what each sub-layer adds, with some sub-layers switched off.
//!
//! ```text
//! x_0 = E[id] + position      x_{n+1} = x_n + f_n(norm(x_n))      n = 0 … 2L − 1: attention and MLP by turns
//! switched off:               x_{n+1} = x_n
//! ```
//!
//! ```
//! use engine::model::gpt2::Config;
//! use explain::{small_decoder::small_decoder, sub_layers::stream};
//! let config = Config { vocabulary: 50, width: 16, heads: 2, layers: 2, inner: 64, context: 32, norm_eps: 1e-5 };
//! let model = small_decoder(&config, 7)?;
//! let found = stream(&model, &[3, 1, 4], &[0, 1, 2, 3])?; // All four: the stream stays as it began.
//! assert_eq!(found.lengths[0], found.lengths[4]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Elhage et al. 2021, "A mathematical framework for Transformer circuits", "Residual
//! stream"; Veit, Wilber and Belongie 2016, "Residual networks behave like ensembles of relatively
//! shallow networks", section 4.1.

use engine::error::{EngineError, Result};
use engine::math;
use engine::model::decoder::{Decoder, DecoderExt};
use engine::trace::{Observer, Recorder};
use ndarray::{Array1, ArrayViewD, ArrayViewMutD, Axis, Ix2};

/// What [`stream`] finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// `[2L + 1]`: the length of x_0, and of the stream after each sub-layer.
    pub lengths: Array1<f32>,
    /// `[2L]`: the length of what each sub-layer adds.
    pub added: Array1<f32>,
    /// The largest difference between a number of the last stream and the sum of x_0 and all that
    /// was added.
    pub difference: f32,
    /// `[V]`: the logits of the next token.
    pub logits: Array1<f32>,
}

/// An observer that keeps what it is told, and sets the outputs of some sub-layers to zero.
pub(crate) struct Switched {
    off: Vec<String>,
    recorder: Recorder,
}

impl Switched {
    /// With the sub-layers `off` (from 0) set to zero.
    pub(crate) fn new(off: &[usize]) -> Self {
        Self {
            off: off.iter().map(|&n| output_of(n)).collect(),
            recorder: Recorder::default(),
        }
    }
}

impl Observer for Switched {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        self.recorder.observe(name, tensor);
    }

    fn change(&mut self, name: &str, mut tensor: ArrayViewMutD<'_, f32>) {
        if self.off.iter().any(|off| off == name) {
            tensor.fill(0.0);
        }
    }
}

/// The name under which an observer hears the output of sub-layer `n`.
fn output_of(n: usize) -> String {
    let part = if n.is_multiple_of(2) {
        "attention"
    } else {
        "mlp"
    };
    format!("blocks.{}.{part}.output", n / 2)
}

/// The name of the stream after sub-layer `n`.
fn sum_of(n: usize) -> String {
    let part = if n.is_multiple_of(2) {
        "residual_1"
    } else {
        "output"
    };
    format!("blocks.{}.{part}", n / 2)
}

/// The stream at the last of the tokens `ids`, with the sub-layers `off` (from 0) switched off.
///
/// # Errors
/// When there is no token, the text is longer than the context, or an id is outside the vocabulary.
pub fn stream(model: &dyn Decoder, ids: &[usize], off: &[usize]) -> Result<Stream> {
    // ids [T] -> lengths [2L + 1], added [2L], logits [V]
    let mut switched = Switched::new(off);
    let logits = model.forward(ids, Some(&mut switched))?;
    let last = |name: &str| -> Result<Array1<f32>> {
        let found = switched.recorder.get(name);
        let rows = found.and_then(|t| t.view().into_dimensionality::<Ix2>().ok());
        let row = rows.and_then(|rows| rows.axis_iter(Axis(0)).next_back().map(|r| r.to_owned()));
        row.ok_or_else(|| EngineError::shape("stream", format!("the intermediate {name}"), "none"))
    };
    let length = |x: &Array1<f32>| math::sqrt(x.dot(x));
    // A model without a position table has no other input than the embedding.
    let first = last("input").or_else(|_| last("embedding"))?;
    let (mut lengths, mut added) = (vec![length(&first)], Vec::new());
    let mut sum = first.clone();
    let mut x = first;
    for n in 0..2 * model.layers() {
        let branch = last(&output_of(n))?;
        x = last(&sum_of(n))?;
        sum += &branch;
        added.push(length(&branch));
        lengths.push(length(&x));
    }
    let differences = (&sum - &x).mapv(f32::abs);
    let logits = logits.axis_iter(Axis(0)).next_back().map(|r| r.to_owned());
    Ok(Stream {
        lengths: lengths.into(),
        added: added.into(),
        difference: differences.fold(0.0, |most: f32, &d| most.max(d)),
        logits: logits.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small_decoder::small_decoder;
    use engine::model::gpt2::{Config, Gpt2};

    fn model() -> Gpt2 {
        let config = Config {
            vocabulary: 40,
            width: 16,
            heads: 2,
            layers: 3,
            inner: 32,
            context: 16,
            norm_eps: 1e-5,
        };
        small_decoder(&config, 5).unwrap()
    }

    /// The last stream is the first one plus everything that was added.
    #[test]
    fn the_stream_is_a_sum() {
        let found = stream(&model(), &[1, 2, 3], &[]).unwrap();
        assert_eq!((found.lengths.len(), found.added.len()), (7, 6));
        assert!(found.difference < 1e-4 && found.added.iter().all(|&a| a > 0.0));
        let all = model().forward(&[1, 2, 3], None).unwrap();
        assert_eq!(found.logits, all.row(2));
    }

    /// A sub-layer that is switched off adds nothing, and those before it are as they were.
    #[test]
    fn a_sub_layer_that_is_off_adds_nothing() {
        let (whole, cut) = (
            stream(&model(), &[1, 2, 3], &[]).unwrap(),
            stream(&model(), &[1, 2, 3], &[3]).unwrap(),
        );
        assert_eq!((cut.added[3], cut.lengths[4]), (0.0, cut.lengths[3]));
        for n in 0..3 {
            assert_eq!(whole.added[n], cut.added[n]);
        }
        assert_ne!(whole.logits, cut.logits);
        assert!(stream(&model(), &[], &[]).is_err());
    }
}
