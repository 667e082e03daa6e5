//! One vector for a whole sequence.
//!
//! ```text
//! mean(x) = Σ_t x_t / T                     x [T, C] -> [C]
//! unit(x) = x / max(‖x‖, 1e-12)             x [C]    -> [C]
//! ```
//! Tokens that are padding are not in `x`.
//!
//! ```
//! use engine::nn::pooling::{mean, unit};
//! use ndarray::array;
//! let pooled = mean(array![[2.0, 4.0], [4.0, 4.0]].view())?;
//! assert_eq!(pooled, array![3.0, 4.0]);
//! assert_eq!(unit(pooled), array![0.6, 0.8]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Reimers and Gurevych 2019, "Sentence-BERT", section 3 (mean pooling);
//! `torch.nn.functional.normalize`.

use crate::error::{EngineError, Result};
use crate::math;
use ndarray::{Array1, ArrayView2};

/// The mean of all tokens.
///
/// # Errors
/// When there is no token.
pub fn mean(x: ArrayView2<'_, f32>) -> Result<Array1<f32>> {
    // x [T, C] -> [C]
    if x.nrows() == 0 {
        return Err(EngineError::value("mean", "tokens", "at least 1", 0));
    }
    let (mut mean, count) = (Array1::zeros(x.ncols()), x.nrows() as f32);
    // Loops of our own: ndarray's sum for every shape and stride is 3 kB of wasm.
    for row in x.outer_iter() {
        for (sum, value) in mean.iter_mut().zip(row) {
            *sum += value;
        }
    }
    mean.iter_mut().for_each(|sum| *sum /= count);
    Ok(mean)
}

/// The vector at length 1; a vector of zeros stays.
pub fn unit(mut x: Array1<f32>) -> Array1<f32> {
    // x [C] -> [C]
    let length = math::sqrt(x.iter().map(|v| v * v).sum::<f32>()).max(1e-12);
    x /= length;
    x
}
