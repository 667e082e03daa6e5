//! The MLP of a block: two linear layers with an activation between.
//!
//! ```text
//! feed_forward(x) = act(x · W_1ᵀ + b_1) · W_2ᵀ + b_2      x [T, C], W_1 [F, C], W_2 [C, F] -> [T, C]
//! ```
//!
//! ```
//! use engine::nn::feed_forward::Activation;
//! let mut x = ndarray::array![[-1.0, 0.0, 1.0]];
//! Activation::GeluTanh.apply(&mut x);
//! assert!((x[[0, 2]] - 0.841_192).abs() < 1e-6 && x[[0, 1]] == 0.0);
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.3, equation 2; Hendrycks and Gimpel 2016, "Gaussian error
//! linear units", section 2, with the tanh approximation that GPT-2 uses; Elfwing, Uchibe and Doya
//! 2018, "Sigmoid-weighted linear units", equation 1 (SiLU).

use super::compute::Compute;
use super::pre_norm::Mlp;
use super::projection::Projection;
use crate::error::Result;
use crate::{kernel, math};
use ndarray::Array2;

/// The function between two layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// max(x, 0).
    Relu,
    /// x Φ(x), with the error function.
    Gelu,
    /// x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2.
    GeluTanh,
    /// x / (1 + exp(−1.702 x)), GELU by a sigmoid.
    QuickGelu,
    /// x / (1 + exp(−x)).
    Silu,
}

impl Activation {
    /// Replaces each element.
    pub fn apply(self, x: &mut Array2<f32>) {
        // x [T, F]
        match self {
            Self::Relu => by_row(x, kernel::relu),
            Self::Gelu => by_row(x, kernel::gelu),
            Self::GeluTanh => by_row(x, kernel::gelu_tanh),
            Self::QuickGelu => x.mapv_inplace(quick_gelu),
            Self::Silu => by_row(x, kernel::silu),
        }
    }
}

fn by_row(x: &mut Array2<f32>, change: impl Fn(&mut [f32])) {
    match x.as_slice_memory_order_mut() {
        Some(all) => change(all),
        None => x.mapv_inplace(|value| {
            let mut one = [value];
            change(&mut one);
            one[0]
        }),
    }
}

/// x · sigmoid(1.702 x): Hendrycks and Gimpel 2016, section 2.
pub fn quick_gelu(x: f32) -> f32 {
    x / (1.0 + math::exp(-1.702 * x))
}

/// Two linear layers with an activation between.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedForward {
    /// C to F.
    pub up: Projection,
    /// The activation between the two.
    pub activation: Activation,
    /// F to C.
    pub down: Projection,
}

impl Mlp for FeedForward {
    /// The observer gets `mlp.before`, `mlp.inner` and `mlp.output`.
    fn run<C: Compute>(&self, compute: &mut C, x: &C::Matrix) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        let mut inner = self.up.run(compute, x)?;
        compute.trace("mlp.before", &mut inner);
        let mut inner = compute.activate(inner, self.activation);
        compute.trace("mlp.inner", &mut inner);
        let mut output = self.down.run(compute, &inner)?;
        compute.trace("mlp.output", &mut output);
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Values of `torch.nn.functional` in float64.
    #[test]
    fn activations_are_those_of_pytorch() {
        let x = array![[-3.0f32, -0.5, 0.25, 2.0]];
        for (activation, expected) in [
            (Activation::Relu, [0.0, 0.0, 0.25, 2.0]),
            (
                Activation::Gelu,
                [-0.004_049_694, -0.154_268_77, 0.149_676_56, 1.954_499_7],
            ),
            (
                Activation::GeluTanh,
                [-0.003_637_392, -0.154_286, 0.149_675_35, 1.954_597_7],
            ),
            (
                Activation::QuickGelu,
                [-0.018_071_31, -0.149_611_56, 0.151_199_65, 1.935_658_6],
            ),
            (
                Activation::Silu,
                [-0.142_277_62, -0.188_770_33, 0.140_544_12, 1.761_594_2],
            ),
        ] {
            for mut form in [x.clone(), x.t().to_owned()] {
                activation.apply(&mut form);
                for (found, expected) in form.iter().zip(expected) {
                    assert!(
                        (found - expected).abs() < 3e-7,
                        "{activation:?}: {found}, {expected}"
                    );
                }
            }
        }
        // Where exp(−x) overflows, the limit is kept.
        for activation in [Activation::Silu, Activation::GeluTanh] {
            let mut far = array![[-200.0f32, 200.0]];
            activation.apply(&mut far);
            assert_eq!(far, array![[0.0, 200.0]]);
        }
    }
}
