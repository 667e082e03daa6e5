//! Attention of one query that reads its scores one by one and never holds them together.
//!
//! ```text
//! m' = max(m, s)                       s a score, v its value [D]
//! z' = z · e^(m − m') + e^(s − m')     the sum so far, of terms relative to the largest score
//! o' = o · e^(m − m') + e^(s − m') v   the weighted values so far, not yet divided
//! output = o / z                       = softmax(scores) · V, for the scores read so far
//! ```
//! It starts with m = −∞, z = 0 and o = 0. A new largest score makes the earlier terms smaller by the
//! factor e^(m − m'); any other score leaves them as they are.
//!
//! ```
//! use explain::online_softmax::{Online, absorb};
//! use ndarray::array;
//! let first = absorb(&Online::start(1), 2.0, array![5.0].view())?;
//! assert_eq!((first.maximum, first.sum, first.output()[0]), (2.0, 1.0, 5.0));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", algorithm 3;
//! Rabe and Staats 2021, "Self-attention does not need O(n²) memory", section 2 (the output); Dao et
//! al. 2022, "FlashAttention", algorithm 1 (blocks of both).

use engine::error::Result;
use engine::{math, shape};
use ndarray::{Array1, ArrayView1, ArrayView2};

/// All that is kept of the scores read so far: D + 2 numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Online {
    /// m: the largest score.
    pub maximum: f32,
    /// z: the sum of e^(score − m).
    pub sum: f32,
    /// o `[D]`: the values, each times its e^(score − m), added up.
    pub mixed: Array1<f32>,
    /// e^(m − m') of the last step: what earlier terms were multiplied by.
    pub factor: f32,
    /// e^(s − m') of the last step: the new term.
    pub term: f32,
}

impl Online {
    /// Nothing read yet.
    pub fn start(width: usize) -> Self {
        Self {
            maximum: f32::NEG_INFINITY,
            sum: 0.0,
            mixed: Array1::zeros(width),
            factor: 1.0,
            term: 0.0,
        }
    }

    /// `[D]`: the attention output of the scores read so far.
    pub fn output(&self) -> Array1<f32> {
        &self.mixed / self.sum
    }
}

/// Reads one score and its value.
///
/// # Errors
/// When the value has another width.
pub fn absorb(kept: &Online, score: f32, value: ArrayView1<'_, f32>) -> Result<Online> {
    // value [D]
    shape::expect("absorb", "value", &[kept.mixed.len()], &[value.len()])?;
    let maximum = kept.maximum.max(score);
    let factor = math::exp(kept.maximum - maximum);
    let term = math::exp(score - maximum);
    Ok(Online {
        maximum,
        sum: kept.sum * factor + term,
        mixed: &kept.mixed * factor + &value * term,
        factor,
        term,
    })
}

/// What is kept after each score of a row.
///
/// # Errors
/// When there is not one value for each score.
pub fn online_row(scores: ArrayView1<'_, f32>, values: ArrayView2<'_, f32>) -> Result<Vec<Online>> {
    // scores [S], values [S, D] -> [S]
    shape::expect("online_row", "values", &[scores.len()], &[values.nrows()])?;
    let mut kept = Online::start(values.ncols());
    let pairs = scores.iter().zip(values.rows());
    pairs
        .map(|(&score, value)| {
            kept = absorb(&kept, score, value)?;
            Ok(kept.clone())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::nn::softmax::softmax;
    use engine::rng::normal_matrix;
    use ndarray::{Axis, Slice, array};

    /// The output after each score is the softmax of those read so far, times their values.
    #[test]
    fn every_step_is_the_dense_row_so_far() {
        for seed in 0..20 {
            let count = 1 + seed as usize;
            let scores = normal_matrix(seed, "scores", 1, count, 3.0);
            let values = normal_matrix(seed, "values", count, 4, 1.0);
            let steps = online_row(scores.row(0), values.view()).unwrap();
            for (n, kept) in steps.iter().enumerate() {
                let read = Slice::from(..=n);
                let weights = softmax(scores.row(0).slice_axis(Axis(0), read));
                let dense = weights.dot(&values.slice_axis(Axis(0), read));
                let differences = &dense - &kept.output();
                assert!(differences.iter().all(|d| d.abs() < 1e-6), "{differences}");
            }
        }
    }

    /// Scores of thousands overflow nothing, in either order.
    #[test]
    fn large_scores_do_no_harm() {
        let values = array![[1.0], [3.0]];
        for scores in [array![5_000.0, -5_000.0], array![-5_000.0, 5_000.0]] {
            let steps = online_row(scores.view(), values.view()).unwrap();
            let largest = if scores[0] > 0.0 { 1.0 } else { 3.0 };
            assert_eq!(steps[1].output(), array![largest]);
        }
    }

    #[test]
    fn a_value_of_another_width_is_refused() {
        let start = Online::start(2);
        assert!(absorb(&start, 1.0, array![1.0].view()).is_err());
        let values = Array1::<f32>::zeros(2).insert_axis(Axis(1));
        assert!(online_row(array![1.0].view(), values.view()).is_err());
    }
}
