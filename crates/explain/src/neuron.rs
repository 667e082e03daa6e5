//! One neuron of a GPT-2's MLP as a key and a value: what fires it, what it promotes, and what the
//! model predicts when it fires more or less.
//!
//! ```text
//! a_j = gelu(x · k_j + b_j)       k_j: column j of W_1      the activation of neuron j at a token
//! mlp(x) = Σ_j a_j v_j + b_2      v_j: row j of W_2         what it adds to the residual stream
//! E · v_j                         a number for each token of the vocabulary: those that v_j promotes
//! ```
//!
//! ```
//! use engine::model::gpt2::Config;
//! use explain::{neuron::{activations, value}, small_decoder::small_decoder};
//! let config = Config { vocabulary: 50, width: 16, heads: 2, layers: 2, inner: 64, context: 32, norm_eps: 1e-5 };
//! let model = small_decoder(&config, 7)?;
//! assert_eq!(activations(&model, &[3, 1, 4], 1)?.dim(), (3, 64));
//! assert_eq!(value(&model, 1, 5)?.len(), 16);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Geva et al. 2021, "Transformer feed-forward layers are key-value memories", sections 2 to
//! 4; Geva et al. 2022, "Transformer feed-forward layers build predictions by promoting concepts in
//! the vocabulary space", section 3.

use engine::error::{EngineError, Result};
use engine::model::decoder::{Decoder, DecoderExt};
use engine::model::gpt2::Gpt2;
use engine::trace::{Observer, Recorder};
use ndarray::{Array1, Array2, ArrayViewD, ArrayViewMutD, Axis, Ix2};

/// The name under which an observer hears the activations of a layer.
fn inner_of(layer: usize) -> String {
    format!("blocks.{layer}.mlp.inner")
}

/// The activations of all neurons of a layer (from 0) at every token.
///
/// # Errors
/// When there is no token, the text is longer than the context, an id is outside the vocabulary, or
/// there is no such layer.
pub fn activations(model: &Gpt2, ids: &[usize], layer: usize) -> Result<Array2<f32>> {
    // ids [T] -> [T, F]
    let mut seen = Recorder::default();
    model.forward(ids, Some(&mut seen))?;
    let found = seen.get(&inner_of(layer));
    let found = found.and_then(|all| all.clone().into_dimensionality::<Ix2>().ok());
    found.ok_or_else(|| EngineError::shape("activations", format!("layer {layer}"), "none"))
}

/// The row of W_2 that belongs to a neuron: what it adds to the residual stream where it has the
/// activation 1.
///
/// # Errors
/// When there is no such layer or neuron.
pub fn value(model: &Gpt2, layer: usize, neuron: usize) -> Result<Array1<f32>> {
    // -> [C]
    let none = || EngineError::shape("value", format!("neuron {neuron} of layer {layer}"), "none");
    let mlp = model.mlp(layer).ok_or_else(none)?;
    let inner = model.config().inner;
    // A 1 for this neuron and a 0 for all others, times W_2.
    let mut one = Array2::zeros((1, inner));
    *one.get_mut((0, neuron)).ok_or_else(none)? = 1.0;
    let row = mlp.down.weight.linear(one.view(), None)?;
    Ok(row.index_axis_move(Axis(0), 0))
}

/// How much a value promotes each token of the vocabulary: its dot product with the token's vector.
///
/// # Errors
/// When the value is not as long as the vectors.
pub fn promoted(model: &Gpt2, value: &Array1<f32>) -> Result<Array1<f32>> {
    // value [C] -> [V]
    let rows = model.logits(value.view().insert_axis(Axis(0)))?;
    Ok(rows.index_axis_move(Axis(0), 0))
}

/// An observer that adds to the activation of one neuron at the last token.
struct Added {
    name: String,
    neuron: usize,
    amount: f32,
}

impl Observer for Added {
    fn observe(&mut self, _: &str, _: ArrayViewD<'_, f32>) {}

    fn change(&mut self, name: &str, tensor: ArrayViewMutD<'_, f32>) {
        if name != self.name {
            return;
        }
        let Ok(mut rows) = tensor.into_dimensionality::<Ix2>() else {
            return;
        };
        let last = rows.nrows().saturating_sub(1);
        if let Some(slot) = rows.get_mut((last, self.neuron)) {
            *slot += self.amount;
        }
    }
}

/// The logits of the next token, with `amount` added to the activation of a neuron at the last token.
///
/// # Errors
/// As [`activations`].
pub fn with_added(
    model: &Gpt2,
    ids: &[usize],
    (layer, neuron): (usize, usize),
    amount: f32,
) -> Result<Array1<f32>> {
    // ids [T] -> [V]
    let mut added = Added {
        name: inner_of(layer),
        neuron,
        amount,
    };
    let logits = model.forward(ids, Some(&mut added))?;
    let last = logits.axis_iter(Axis(0)).next_back();
    let none = || EngineError::value("with_added", "tokens", "at least 1", 0);
    Ok(last.ok_or_else(none)?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small_decoder::small_decoder;
    use engine::model::gpt2::Config;

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

    /// The output of the MLP is the sum of its values, each times its activation, and the bias.
    #[test]
    fn an_mlp_is_a_sum_over_its_neurons() {
        let (model, ids) = (model(), [1, 2, 3]);
        let mut seen = Recorder::default();
        model.forward(&ids, Some(&mut seen)).unwrap();
        let output = seen.get("blocks.1.mlp.output").unwrap();
        let own = activations(&model, &ids, 1).unwrap();
        let mut sum = model.mlp(1).unwrap().down.bias.clone().unwrap();
        for neuron in 0..32 {
            sum.scaled_add(own[[2, neuron]], &value(&model, 1, neuron).unwrap());
        }
        for (n, expected) in sum.iter().enumerate() {
            assert!((output[[2, n]] - expected).abs() < 1e-5);
        }
        assert!(value(&model, 3, 0).is_err() && value(&model, 0, 32).is_err());
        assert!(activations(&model, &ids, 3).is_err());
    }

    /// Nothing added changes nothing; in the last layer, what is added moves the stream before the
    /// last norm along the neuron's value.
    #[test]
    fn adding_nothing_changes_nothing() {
        let (model, ids) = (model(), [1, 2, 3]);
        let plain = model.forward(&ids, None).unwrap();
        let same = with_added(&model, &ids, (2, 4), 0.0).unwrap();
        assert_eq!(plain.row(2), same);
        let value = value(&model, 2, 4).unwrap();
        let promoted = promoted(&model, &value).unwrap();
        let most = (0..40).max_by(|&a, &b| promoted[a].total_cmp(&promoted[b]));
        // Enough of it, and the token that it promotes most is the most likely one.
        let far = with_added(&model, &ids, (2, 4), 1e4).unwrap();
        let first = (0..40).max_by(|&a, &b| far[a].total_cmp(&far[b]));
        let near = |n: Option<usize>| n.map(|n| promoted[n]);
        assert!(near(first).unwrap() > 0.7 * near(most).unwrap());
    }
}
