//! Two matrices with a function between them, as in the MLP of a block, and without: then they are
//! one matrix.
//!
//! ```text
//! y = act(x · W_1) · W_2        x [N, C], W_1 [C, F], W_2 [F, C] -> [N, C]
//! without act:                  (x · W_1) · W_2 = x · (W_1 · W_2)
//! ```
//!
//! ```
//! use engine::nn::feed_forward::Activation;
//! use explain::two_matrices::mlp;
//! use ndarray::array;
//! // |x| out of two ReLUs, which no single matrix can compute.
//! let (w_1, w_2) = (array![[1.0, -1.0]], array![[1.0], [1.0]]);
//! let x = array![[2.0], [-2.0]];
//! let y = mlp(x.view(), w_1.view(), w_2.view(), Some(Activation::Relu))?;
//! assert_eq!(y, array![[2.0], [2.0]]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.3, equation 2, without the biases.

use engine::error::Result;
use engine::nn::feed_forward::Activation;
use engine::nn::linear::project;
use ndarray::{Array2, ArrayView2};

/// The two matrices one after the other, with the function between them where there is one.
///
/// # Errors
/// When shapes do not fit.
pub fn mlp(
    x: ArrayView2<'_, f32>,
    w_1: ArrayView2<'_, f32>,
    w_2: ArrayView2<'_, f32>,
    activation: Option<Activation>,
) -> Result<Array2<f32>> {
    // x [N, C], w_1 [C, F], w_2 [F, C] -> [N, C]
    let mut hidden = project(x, w_1)?;
    if let Some(activation) = activation {
        activation.apply(&mut hidden);
    }
    project(hidden.view(), w_2)
}

/// Both matrices multiplied out: one.
///
/// # Errors
/// When shapes do not fit.
pub fn multiplied(w_1: ArrayView2<'_, f32>, w_2: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
    // w_1 [C, F], w_2 [F, C] -> [C, C]
    project(w_1, w_2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::rng::normal_matrix;

    /// Without a function the product does the same, with one it does not.
    #[test]
    fn only_without_a_function_the_product_does_the_same() {
        for seed in 0..20 {
            let x = normal_matrix(seed, "x", 9, 4, 1.0);
            let (w_1, w_2) = (
                normal_matrix(seed, "1", 4, 16, 0.5),
                normal_matrix(seed, "2", 16, 4, 0.25),
            );
            let one = multiplied(w_1.view(), w_2.view()).unwrap();
            let expected = project(x.view(), one.view()).unwrap();
            let far = |activation| {
                let found = mlp(x.view(), w_1.view(), w_2.view(), activation).unwrap();
                (&found - &expected).fold(0.0_f32, |most, d| most.max(d.abs()))
            };
            assert!(far(None) < 1e-5);
            for activation in [Activation::Relu, Activation::Gelu, Activation::Silu] {
                assert!(far(Some(activation)) > 0.1);
            }
        }
    }
}
