//! The multi-layer perceptron of a block: widen, bend, narrow.
//!
//! ```text
//! mlp(x) = act(x · W_1 + b_1) · W_2 + b_2      x [T, C], W_1 [C, F], b_1 [F], W_2 [F, C], b_2 [C] -> [T, C]
//! relu(x) = max(x, 0)        gelu(x) = x Φ(x),  Φ(x) = (1 + erf(x/√2)) / 2
//! ```
//!
//! ```
//! use engine::nn::mlp::{gelu, Mlp};
//! use engine::rng::normal_matrix;
//! let mlp = Mlp::random(7, "", 4, 16);
//! assert_eq!(mlp.forward(normal_matrix(7, "x", 3, 4, 1.0).view())?.output.dim(), (3, 4));
//! assert!((gelu(ndarray::array![[1.0]].view())[[0, 0]] - 0.841_345).abs() < 1e-6);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.3, equation 2; Hendrycks and Gimpel 2016, "Gaussian error linear units", section 2.

use super::attention::scale;
use super::linear::project;
use super::shape::{expect, map_rows};
use crate::error::Result;
use crate::kernel;
use crate::rng::normal_matrix;
use ndarray::{Array1, Array2, ArrayView2};

/// Weights of a two-layer perceptron with GELU between, in the paper's convention (x · W).
#[derive(Debug, Clone, PartialEq)]
pub struct Mlp {
    /// `[C, F]`.
    pub w_1: Array2<f32>,
    /// `[F]`.
    pub b_1: Array1<f32>,
    /// `[F, C]`.
    pub w_2: Array2<f32>,
    /// `[C]`.
    pub b_2: Array1<f32>,
}

/// What the perceptron computes on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct MlpOutput {
    /// `[T, F]`: after the first map, before GELU.
    pub before: Array2<f32>,
    /// `[T, F]`: after GELU.
    pub inner: Array2<f32>,
    /// `[T, C]`.
    pub output: Array2<f32>,
}

impl Mlp {
    /// Untrained weights, normal with standard deviation 1/√(inputs); biases 0. `name` is put before `w_1` and `w_2` in the
    /// names of the random streams.
    pub fn random(seed: u64, name: &str, width: usize, inner: usize) -> Self {
        Self {
            w_1: normal_matrix(seed, &format!("{name}w_1"), width, inner, scale(width)),
            b_1: Array1::zeros(inner),
            w_2: normal_matrix(seed, &format!("{name}w_2"), inner, width, scale(inner)),
            b_2: Array1::zeros(width),
        }
    }

    /// The perceptron on each token.
    ///
    /// # Errors
    /// When the shapes of input, weights and biases do not fit.
    pub fn forward(&self, x: ArrayView2<'_, f32>) -> Result<MlpOutput> {
        // x [T, C] -> output [T, C]
        expect("mlp", "b_1", &[self.w_1.ncols()], self.b_1.shape())?;
        expect("mlp", "b_2", &[self.w_2.ncols()], self.b_2.shape())?;
        let before = project(x, self.w_1.view())? + &self.b_1;
        let inner = gelu(before.view());
        let output = project(inner.view(), self.w_2.view())? + &self.b_2;
        Ok(MlpOutput {
            before,
            inner,
            output,
        })
    }
}

/// x · Φ(x) of each element.
pub fn gelu(x: ArrayView2<'_, f32>) -> Array2<f32> {
    // x [T, F] -> [T, F]
    map_rows(x, kernel::gelu)
}

/// max(x, 0) of each element.
pub fn relu(x: ArrayView2<'_, f32>) -> Array2<f32> {
    // x [T, F] -> [T, F]
    map_rows(x, kernel::relu)
}
