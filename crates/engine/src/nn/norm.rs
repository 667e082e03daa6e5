//! Layer norm and RMS norm: each token is normalised over its own C numbers.
//!
//! ```text
//! layer_norm(x) = (x − mean x) / √(var x + eps) · gamma + beta     x [T, C], gamma [C], beta [C] -> [T, C]
//! rms_norm(x)   =  x           / √(mean x² + eps) · gamma          x [T, C], gamma [C]           -> [T, C]
//! ```
//! The variance is over C, not C − 1.
//!
//! ```
//! use engine::nn::norm::{layer_norm, rms_norm};
//! use ndarray::array;
//! let x = array![[1.0, 3.0]];
//! let (one, zero) = (array![1.0, 1.0], array![0.0, 0.0]);
//! assert_eq!(layer_norm(x.view(), one.view(), zero.view(), 0.0)?, array![[-1.0, 1.0]]);
//! assert_eq!(rms_norm(array![[3.0, 3.0]].view(), one.view(), 0.0)?, array![[1.0, 1.0]]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Ba, Kiros and Hinton 2016, "Layer normalization", equation 3; Zhang and Sennrich 2019,
//! "Root mean square layer normalization", equation 4.

use super::compute::Compute;
use crate::error::Result;
use crate::kernel::{self, threads};
use crate::parameters::{Parameters, vector};
use crate::shape::{contiguous, expect, matrix};
use crate::trainable::{self, Kind, Visit};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

/// Mean 0 and variance 1 in each row, then scaled and shifted.
///
/// # Errors
/// When `gamma` or `beta` is not as long as a row.
pub fn layer_norm(
    x: ArrayView2<'_, f32>,
    gamma: ArrayView1<'_, f32>,
    beta: ArrayView1<'_, f32>,
    eps: f32,
) -> Result<Array2<f32>> {
    // x [T, C], gamma [C], beta [C] -> [T, C]
    let width = x.ncols();
    expect("layer_norm", "gamma", &[width], gamma.shape())?;
    expect("layer_norm", "beta", &[width], beta.shape())?;
    let (gamma, beta) = (contiguous(&gamma), contiguous(&beta));
    by_row("layer_norm", x, |row, out| {
        kernel::layer_norm(row, &gamma, &beta, eps, out);
    })
}

/// Root mean square 1 in each row, then scaled; the mean stays.
///
/// # Errors
/// When `gamma` is not as long as a row.
pub fn rms_norm(
    x: ArrayView2<'_, f32>,
    gamma: ArrayView1<'_, f32>,
    eps: f32,
) -> Result<Array2<f32>> {
    // x [T, C], gamma [C] -> [T, C]
    expect("rms_norm", "gamma", &[x.ncols()], gamma.shape())?;
    let gamma = contiguous(&gamma);
    by_row("rms_norm", x, |row, out| {
        kernel::rms_norm(row, &gamma, eps, out);
    })
}

/// A norm with its parameters, as the blocks of a model have them.
pub trait Norm: Sized {
    /// The norm of tokens of width `width`, whose parameters' names begin with `name`; `eps` is its
    /// epsilon.
    ///
    /// # Errors
    /// When the source has no such parameters in these shapes.
    fn load(source: &mut dyn Parameters, name: &str, width: usize, eps: f32) -> Result<Self>;

    /// The norm of each row, generic over the executor.
    ///
    /// # Errors
    /// When `x` has another width.
    fn run<C: Compute>(&self, compute: &mut C, x: &C::Matrix) -> Result<C::Matrix>;

    /// Visits the parameters, whose names begin with `name`.
    ///
    /// # Errors
    /// When `visit` fails.
    fn parameters(&mut self, name: &str, visit: &mut Visit<'_>) -> Result<()>;
}

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
    /// Scale 1, shift 0, epsilon 1e-5, the values before training.
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
}

impl Norm for LayerNorm {
    /// Loads `NAME.weight` and `NAME.bias`.
    fn load(source: &mut dyn Parameters, name: &str, width: usize, eps: f32) -> Result<Self> {
        Ok(Self {
            gamma: vector(source, &format!("{name}.weight"), width)?,
            beta: vector(source, &format!("{name}.bias"), width)?,
            eps,
        })
    }

    fn run<C: Compute>(&self, compute: &mut C, x: &C::Matrix) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        compute.layer_norm(x, &self.gamma, &self.beta, self.eps)
    }

    /// Visits `NAME.weight` and `NAME.bias`.
    fn parameters(&mut self, name: &str, visit: &mut Visit<'_>) -> Result<()> {
        let weight = format!("{name}.weight");
        trainable::array(&mut self.gamma, &weight, Kind::Gain, visit)?;
        trainable::array(&mut self.beta, &format!("{name}.bias"), Kind::Bias, visit)
    }
}

/// Scale and epsilon of one RMS norm.
#[derive(Debug, Clone, PartialEq)]
pub struct RmsNorm {
    /// `[C]`.
    pub gamma: Array1<f32>,
    /// Added to the mean of the squares.
    pub eps: f32,
}

impl RmsNorm {
    /// The norm of each row.
    ///
    /// # Errors
    /// When `x` has another width.
    pub fn forward(&self, x: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        // x [T, C] -> [T, C]
        rms_norm(x, self.gamma.view(), self.eps)
    }
}

impl Norm for RmsNorm {
    /// Loads `NAME.weight`.
    fn load(source: &mut dyn Parameters, name: &str, width: usize, eps: f32) -> Result<Self> {
        let gamma = vector(source, &format!("{name}.weight"), width)?;
        Ok(Self { gamma, eps })
    }

    fn run<C: Compute>(&self, compute: &mut C, x: &C::Matrix) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        compute.rms_norm(x, &self.gamma, self.eps)
    }

    /// Visits `NAME.weight`.
    fn parameters(&mut self, name: &str, visit: &mut Visit<'_>) -> Result<()> {
        let name = format!("{name}.weight");
        trainable::array(&mut self.gamma, &name, Kind::Gain, visit)
    }
}

fn by_row(
    operation: &'static str,
    x: ArrayView2<'_, f32>,
    norm: impl Fn(&[f32], &mut [f32]) + Sync,
) -> Result<Array2<f32>> {
    let (rows, width) = x.dim();
    let data = contiguous(&x);
    let mut out = vec![0.0; rows * width];
    let least = threads::LEAST_ELEMENTS / width.max(1) + 1;
    threads::chunks(&mut out, width, least, |row, out| {
        norm(&data[row * width..(row + 1) * width], out);
    });
    matrix(operation, rows, width, out)
}
