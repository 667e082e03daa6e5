//! Absolute positions enter once, before the first layer: the vector of its position is added to
//! each token's vector.
//!
//! ```text
//! add(x, positions)[t] = x[t] + positions[t]      x [T, C], positions [T_max, C], T ≤ T_max -> [T, C]
//! ```
//!
//! ```
//! use engine::nn::position::{absolute::add, sinusoidal::table};
//! use ndarray::array;
//! let x = array![[1.0, 1.0], [1.0, 1.0]];
//! let moved = add(x.view(), table(8, 2).view())?;
//! assert_eq!(moved.row(0).to_vec(), [1.0, 2.0]); // sin 0 = 0, cos 0 = 1
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.5.

use crate::error::Result;
use crate::shape::mismatch;
use ndarray::{Array2, ArrayView2, s};

/// `x` plus the vector of each row's position; `positions` may be longer than `x`.
///
/// # Errors
/// When the widths differ or there are fewer positions than rows of `x`.
pub fn add(x: ArrayView2<'_, f32>, positions: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
    // x [T, C], positions [T_max, C] -> [T, C]
    let tokens = x.nrows();
    if positions.nrows() < tokens || positions.ncols() != x.ncols() {
        let expected = "x [T, C] and positions [at least T, C]";
        let (operation, table) = ("position::absolute::add", positions.shape());
        return Err(mismatch(operation, expected, x.shape(), table));
    }
    Ok(&x + &positions.slice(s![..tokens, ..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_positions_or_another_width_are_refused() {
        let x = Array2::zeros((3, 2));
        assert!(add(x.view(), Array2::zeros((2, 2)).view()).is_err());
        assert!(add(x.view(), Array2::zeros((3, 4)).view()).is_err());
        assert_eq!(
            add(x.view(), Array2::ones((5, 2)).view()),
            Ok(Array2::ones((3, 2)))
        );
    }
}
