//! Relative positions as a bias on the scores: one number for each distance, clipped.
//!
//! ```text
//! bias[t, s] = by_offset[clip(s − t, −R, R) + R]      by_offset [2R + 1] -> [T, S], added to the scores
//! ```
//!
//! ```
//! use engine::nn::position::relative::bias_matrix;
//! use ndarray::array;
//! assert_eq!(bias_matrix(&[-1.0, 0.0, 1.0], 2, 3)?, array![[0.0, 1.0, 1.0], [-1.0, 0.0, 1.0]]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Shaw, Uszkoreit and Vaswani 2018, "Self-attention with relative position
//! representations", section 3.2 (the clipping); Raffel et al. 2020 (T5), section 2.1 (one scalar
//! for each offset, added to the logit).

use crate::error::{EngineError, Result};
use ndarray::Array2;

/// The bias of each pair, from one number for each offset −R … R of the key from the query.
///
/// # Errors
/// When the number of offsets is not odd.
pub fn bias_matrix(bias_by_offset: &[f32], tokens: usize, sources: usize) -> Result<Array2<f32>> {
    // bias_by_offset [2R + 1] -> [T, S]
    let count = bias_by_offset.len();
    if count.is_multiple_of(2) {
        let (expected, found) = ("bias_by_offset [2R + 1]", format!("[{count}]"));
        return Err(EngineError::shape("bias_matrix", expected, found));
    }
    let reach = count / 2;
    Ok(Array2::from_shape_fn((tokens, sources), |(t, s)| {
        let distance = t.abs_diff(s).min(reach);
        let offset = if s >= t {
            reach + distance
        } else {
            reach - distance
        };
        bias_by_offset[offset]
    }))
}
