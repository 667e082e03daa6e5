//! A pre-norm decoder block: two sub-layers, each behind its own layer norm, each added to the residual stream.
//!
//! ```text
//! a = x + multi_head(layer_norm(x), mask)      x [T, C], mask [T, T] -> [T, C]
//! y = a + mlp(layer_norm(a))                                         -> [T, C]
//! ```
//!
//! ```
//! use engine::nn::{attention::Mask, block::PreNormDecoderBlock, mask::causal};
//! use engine::{rng::normal_matrix, trace::Recorder};
//! let block = PreNormDecoderBlock::random(7, "", 8, 2);
//! let x = normal_matrix(7, "x", 3, 8, 1.0);
//! let mut recorder = Recorder::default();
//! let y = block.forward(x.view(), &Mask::Boolean(causal(3)), Some(&mut recorder))?;
//! assert_eq!(y.dim(), (3, 8));
//! assert_eq!(recorder.get("attention.weights").map(|w| w.shape().to_vec()), Some(vec![2, 3, 3]));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Radford et al. 2019 (GPT-2), section 2.3; Xiong et al. 2020, "On layer normalization in the Transformer
//! architecture", table 1 (Pre-LN); `torch.nn.TransformerEncoderLayer(norm_first=True)`.

use super::attention::Mask;
use super::compute::Compute;
use super::mlp::Mlp;
use super::multi_head::MultiHead;
use super::norm::layer_norm;
use crate::error::Result;
use crate::trace::Observer;
use crate::trainable::{self, Kind, Visit};
use ndarray::{Array1, Array2, ArrayView, ArrayView2, Dimension};

/// Scale, shift and epsilon of one layer norm.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerNorm {
    /// `[C]`.
    pub gamma: Array1<f32>,
    /// `[C]`.
    pub beta: Array1<f32>,
    /// Added to the variance.
    pub eps: f32,
}

impl LayerNorm {
    /// Scale 1, shift 0, epsilon 1e-5: where training starts.
    pub fn new(width: usize) -> Self {
        Self {
            gamma: Array1::ones(width),
            beta: Array1::zeros(width),
            eps: 1e-5,
        }
    }

    /// The norm of each row.
    ///
    /// # Errors
    /// When `x` has another width.
    pub fn forward(&self, x: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        // x [T, C] -> [T, C]
        layer_norm(x, self.gamma.view(), self.beta.view(), self.eps)
    }

    /// As [`Self::forward`], by whoever computes.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn run<C: Compute>(&self, compute: &mut C, x: &C::Matrix) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        compute.layer_norm(x, &self.gamma, &self.beta, self.eps)
    }

    /// Visits `NAME.weight` and `NAME.bias`.
    ///
    /// # Errors
    /// When `visit` fails.
    pub fn parameters(&mut self, name: &str, visit: &mut Visit<'_>) -> Result<()> {
        let weight = format!("{name}.weight");
        trainable::vector(&mut self.gamma, &weight, Kind::Gain, visit)?;
        trainable::vector(&mut self.beta, &format!("{name}.bias"), Kind::Bias, visit)
    }
}

/// The weights of one block.
#[derive(Debug, Clone, PartialEq)]
pub struct PreNormDecoderBlock {
    /// Before attention.
    pub norm_1: LayerNorm,
    /// Attention over the sequence.
    pub attention: MultiHead,
    /// Before the perceptron.
    pub norm_2: LayerNorm,
    /// Each token on its own.
    pub mlp: Mlp,
}

impl PreNormDecoderBlock {
    /// Untrained weights; the perceptron is 4 times as wide as the block. `name` is put before the names of the random streams.
    pub fn random(seed: u64, name: &str, width: usize, heads: usize) -> Self {
        Self {
            norm_1: LayerNorm::new(width),
            attention: MultiHead::random(seed, &format!("{name}attention."), width, heads),
            norm_2: LayerNorm::new(width),
            mlp: Mlp::random(seed, &format!("{name}mlp."), width, 4 * width),
        }
    }

    /// The whole block. The observer gets `norm_1`, `attention.{q, k, v, scores, weights, heads, output}`, `residual_1`, `norm_2`,
    /// `mlp.{before, inner, output}` and `output`.
    ///
    /// # Errors
    /// When `x`, the mask or a weight has another shape than the others ask for.
    pub fn forward(
        &self,
        x: ArrayView2<'_, f32>,
        mask: &Mask,
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // x [T, C], mask [T, T] -> [T, C]
        let normed = self.norm_1.forward(x)?;
        let attention = self.attention.forward(normed.view(), mask)?;
        let middle = &x + &attention.output;
        let normed_2 = self.norm_2.forward(middle.view())?;
        let mlp = self.mlp.forward(normed_2.view())?;
        let output = &middle + &mlp.output;

        observe(&mut trace, "norm_1", normed.view());
        observe(&mut trace, "attention.q", attention.q.view());
        observe(&mut trace, "attention.k", attention.k.view());
        observe(&mut trace, "attention.v", attention.v.view());
        observe(&mut trace, "attention.scores", attention.scores.view());
        observe(&mut trace, "attention.weights", attention.weights.view());
        observe(&mut trace, "attention.heads", attention.heads.view());
        observe(&mut trace, "attention.output", attention.output.view());
        observe(&mut trace, "residual_1", middle.view());
        observe(&mut trace, "norm_2", normed_2.view());
        observe(&mut trace, "mlp.before", mlp.before.view());
        observe(&mut trace, "mlp.inner", mlp.inner.view());
        observe(&mut trace, "mlp.output", mlp.output.view());
        observe(&mut trace, "output", output.view());
        Ok(output)
    }
}

fn observe<D: Dimension>(
    trace: &mut Option<&mut dyn Observer>,
    name: &str,
    tensor: ArrayView<'_, f32, D>,
) {
    if let Some(observer) = trace {
        observer.observe(name, tensor.into_dyn());
    }
}
