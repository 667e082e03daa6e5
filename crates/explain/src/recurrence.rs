//! A plain recurrent network: one state, which each token changes.
//!
//! ```text
//! h_t = tanh(W_x x_t + W_h h_{t−1}),   h_0 = 0          x [T, C], W_x and W_h [C, C] -> [T, C]
//! ```
//! The products with the inputs are one matrix product for all tokens. Those with the states come one
//! after the other, each needs the one before.
//!
//! ```
//! use explain::recurrence::read;
//! use ndarray::array;
//! let states = read(array![[1.0], [0.0]].view(), array![[1.0]].view(), array![[0.0]].view())?;
//! assert_eq!(states[[1, 0]], 0.0);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Elman 1990, "Finding structure in time"; `torch.nn.RNN` without biases.

use engine::error::Result;
use engine::nn::linear::linear;
use engine::{math, shape};
use ndarray::{Array2, ArrayView2};

/// The state after each token.
///
/// # Errors
/// When the matrices are not as wide as the tokens.
pub fn read(
    x: ArrayView2<'_, f32>,
    w_x: ArrayView2<'_, f32>,
    w_h: ArrayView2<'_, f32>,
) -> Result<Array2<f32>> {
    // x [T, C], w_x and w_h [C, C] -> [T, C]
    let width = x.ncols();
    for matrix in [w_x, w_h] {
        shape::expect("recurrence", "matrix", &[width, width], matrix.shape())?;
    }
    let mut states = linear(x, w_x, None)?;
    let mut state = Array2::zeros((1, width));
    for mut row in states.rows_mut() {
        let carried = linear(state.view(), w_h, None)?;
        row += &carried.row(0);
        row.mapv_inplace(math::tanh);
        state.row_mut(0).assign(&row);
    }
    Ok(states)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::rng::normal_matrix;
    use ndarray::array;

    /// By hand: tanh(0.5), then tanh(−0.5 + 2 · tanh(0.5)).
    #[test]
    fn two_steps_by_hand() {
        let x = array![[0.5], [-0.5]];
        let states = read(x.view(), array![[1.0]].view(), array![[2.0]].view()).unwrap();
        let first = 0.5_f32.tanh();
        let second = (2.0 * first - 0.5).tanh();
        assert!((states[[0, 0]] - first).abs() < 1e-6);
        assert!((states[[1, 0]] - second).abs() < 1e-6);
    }

    /// Each state is the step from the one before, written as plain loops.
    #[test]
    fn it_is_the_formula() {
        let (tokens, width) = (6, 5);
        let draw = |name, rows| normal_matrix(3, name, rows, width, 0.5);
        let (x, w_x, w_h) = (draw("x", tokens), draw("wx", width), draw("wh", width));
        let states = read(x.view(), w_x.view(), w_h.view()).unwrap();
        for t in 0..tokens {
            for i in 0..width {
                let mut sum = 0.0_f32;
                for j in 0..width {
                    sum += w_x[[i, j]] * x[[t, j]];
                    if t > 0 {
                        sum += w_h[[i, j]] * states[[t - 1, j]];
                    }
                }
                assert!((states[[t, i]] - sum.tanh()).abs() < 1e-5);
            }
        }
        assert!(read(x.view(), w_x.view(), x.view()).is_err());
    }
}
