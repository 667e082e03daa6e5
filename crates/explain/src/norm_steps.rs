//! Layer norm and RMS norm of one vector, step by step, and batch norm, which shares its mean and
//! variance between all tokens of a batch.
//!
//! ```text
//! layer_norm_steps(x):  c = x − mean x,  σ = √(mean c² + ε),  y = c / σ                    x [C] -> y [C]
//! rms_norm_steps(x):    σ = √(mean x² + ε),                   y = x / σ                    x [C] -> y [C]
//! batch_norm(x, counts):  y[t, c] = (x[t, c] − mean of column c) / √(variance of column c + ε)   x [N, C] -> [N, C]
//! ```
//! Scale γ = 1 and shift β = 0, the values before training. `counts` says which rows count in the mean
//! and the variance of a column; all rows are normalised with them.
//!
//! ```
//! use explain::norm_steps::layer_norm_steps;
//! use ndarray::array;
//! let steps = layer_norm_steps(array![1.0, 3.0, 5.0].view(), 0.0);
//! assert_eq!((steps.mean, steps.centred), (3.0, array![-2.0, 0.0, 2.0]));
//! ```
//!
//! Source: Ba, Kiros and Hinton 2016, "Layer normalization", equation 3; Zhang and Sennrich 2019,
//! "Root mean square layer normalization", equation 4; Ioffe and Szegedy 2015, "Batch
//! normalization", algorithm 1.

use engine::error::{EngineError, Result};
use engine::{math, shape};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

/// The steps of a norm.
#[derive(Debug, Clone, PartialEq)]
pub struct NormSteps {
    /// What is subtracted: the mean, or 0 in RMS norm.
    pub mean: f32,
    /// `[C]`: the vector less the mean.
    pub centred: Array1<f32>,
    /// The mean of the squares of `centred`; in layer norm the variance.
    pub variance: f32,
    /// √(variance + ε), which everything is divided by.
    pub deviation: f32,
    /// `[C]`: the result.
    pub output: Array1<f32>,
}

/// Layer norm of one vector.
pub fn layer_norm_steps(x: ArrayView1<'_, f32>, eps: f32) -> NormSteps {
    // x [C] -> [C]
    let count = x.len() as f32;
    let mean = x.sum() / count;
    let centred = &x - mean;
    let variance = centred.dot(&centred) / count;
    let deviation = math::sqrt(variance + eps);
    let output = &centred / deviation;
    NormSteps {
        mean,
        centred,
        variance,
        deviation,
        output,
    }
}

/// RMS norm of one vector: the same without the subtraction.
pub fn rms_norm_steps(x: ArrayView1<'_, f32>, eps: f32) -> NormSteps {
    // x [C] -> [C]
    let centred = x.to_owned();
    let variance = x.dot(&x) / x.len() as f32;
    let deviation = math::sqrt(variance + eps);
    let output = &centred / deviation;
    NormSteps {
        mean: 0.0,
        centred,
        variance,
        deviation,
        output,
    }
}

/// Batch norm in training: the mean and the variance of each column over the rows that count.
///
/// # Errors
/// When there is not one flag for each row, or no row counts.
pub fn batch_norm(
    x: ArrayView2<'_, f32>,
    counts: ArrayView1<'_, bool>,
    eps: f32,
) -> Result<Array2<f32>> {
    // x [N, C], counts [N] -> [N, C]
    shape::expect("batch_norm", "counts", &[x.nrows()], &[counts.len()])?;
    let rows: Vec<usize> = (0..x.nrows()).filter(|&row| counts[row]).collect();
    if rows.is_empty() {
        let expected = "at least 1 row that counts";
        return Err(EngineError::value("batch_norm", "counts", expected, 0));
    }
    let seen = x.select(Axis(0), &rows);
    let mut out = x.to_owned();
    for (column, mut to) in seen.columns().into_iter().zip(out.columns_mut()) {
        let steps = layer_norm_steps(column, eps);
        to.mapv_inplace(|value| (value - steps.mean) / steps.deviation);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::nn::norm::{layer_norm, rms_norm};
    use engine::rng::normal_matrix;
    use ndarray::array;

    /// The steps end at the engine's result.
    #[test]
    fn the_steps_are_those_of_the_engine() {
        for seed in 0..50 {
            let width = 2 + seed as usize % 7;
            let x = normal_matrix(seed, "x", 1, width, 2.0);
            let (one, zero) = (Array1::ones(width), Array1::zeros(width));
            let layer = layer_norm(x.view(), one.view(), zero.view(), 1e-5).unwrap();
            let rms = rms_norm(x.view(), one.view(), 1e-5).unwrap();
            for (expected, found) in [
                (layer, layer_norm_steps(x.row(0), 1e-5)),
                (rms, rms_norm_steps(x.row(0), 1e-5)),
            ] {
                let differences = &expected.row(0) - &found.output;
                assert!(differences.iter().all(|d| d.abs() < 2e-6), "{differences}");
            }
        }
    }

    /// Values of `torch.nn.functional.batch_norm(x, None, None, training=True, eps=0)`.
    #[test]
    fn each_column_has_mean_0_and_variance_1() {
        let x = array![[1.0, 0.0], [3.0, 4.0], [5.0, 2.0]];
        let y = batch_norm(x.view(), array![true, true, true].view(), 0.0).unwrap();
        let expected = array![
            [-1.224_744_9, -1.224_744_9],
            [0.0, 1.224_744_9],
            [1.224_744_9, 0.0]
        ];
        assert!((y - expected).iter().all(|d| d.abs() < 1e-6));
    }

    /// A row that does not count is normalised with the numbers of the others.
    #[test]
    fn only_the_rows_that_count_are_measured() {
        let x = array![[1.0], [3.0], [9.0]];
        let y = batch_norm(x.view(), array![true, true, false].view(), 0.0).unwrap();
        assert_eq!(y, array![[-1.0], [1.0], [7.0]]);
        assert!(batch_norm(x.view(), array![false, false, false].view(), 0.0).is_err());
        assert!(batch_norm(x.view(), array![true, true].view(), 0.0).is_err());
    }
}
