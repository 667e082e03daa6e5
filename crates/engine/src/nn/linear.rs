//! Linear maps, in the paper's and in PyTorch's convention.
//!
//! ```text
//! project:  y = x · W            x [T, C_in]   W      [C_in, C_out]   ->  y [T, C_out]
//! linear:   y = x · weightᵀ + b  x [T, C_in]   weight [C_out, C_in]   ->  y [T, C_out]
//! ```
//!
//! ```
//! use engine::nn::linear::{linear, project};
//! use ndarray::array;
//! let x = array![[1.0, 2.0]];
//! let w = array![[1.0, 0.0, 2.0], [0.0, 1.0, 3.0]];
//! assert_eq!(project(x.view(), w.view())?, array![[1.0, 2.0, 8.0]]);
//! assert_eq!(linear(x.view(), w.t(), Some(array![1.0, 1.0, 1.0].view()))?, array![[2.0, 3.0, 9.0]]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: the projections of Vaswani et al. 2017, "Attention is all you need", section 3.2.2;
//! `torch.nn.functional.linear`.

use crate::error::Result;
use crate::shape::{expect, product, product_nt};
use ndarray::{Array2, ArrayView1, ArrayView2};

/// x · W, as papers write a projection.
///
/// # Errors
/// When the columns of `x` are not the rows of `w`.
pub fn project(x: ArrayView2<'_, f32>, w: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
    // x [T, C_in], w [C_in, C_out] -> [T, C_out]
    product("project", x, w)
}

/// x · weightᵀ + bias, as PyTorch stores a linear layer.
///
/// # Errors
/// When the columns of `x` and `weight` differ, or the bias is not one number for each row of
/// `weight`.
pub fn linear(
    x: ArrayView2<'_, f32>,
    weight: ArrayView2<'_, f32>,
    bias: Option<ArrayView1<'_, f32>>,
) -> Result<Array2<f32>> {
    // x [T, C_in], weight [C_out, C_in], bias [C_out] -> [T, C_out]
    let mut out = product_nt("linear", x, weight)?;
    if let Some(bias) = bias {
        expect("linear", "bias", &[weight.nrows()], bias.shape())?;
        out += &bias;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array;

    #[test]
    fn shapes_that_do_not_fit_are_named() {
        let x: Array2<f32> = Array::zeros((2, 3));
        let w: Array2<f32> = Array::zeros((4, 5));
        let error = project(x.view(), w.view()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "project: expected [T, K] · [K, N], found [2, 3] and [4, 5]"
        );
        assert!(linear(x.view(), w.view(), None).is_err());
        let bias = Array::zeros(3);
        let w: Array2<f32> = Array::zeros((4, 3));
        let error = linear(x.view(), w.view(), Some(bias.view())).unwrap_err();
        assert_eq!(error.to_string(), "linear: expected bias [4], found [3]");
    }
}
