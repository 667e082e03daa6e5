//! SwiGLU: an MLP whose inner activations pass a gate.
//!
//! ```text
//! swiglu(x) = (silu(x · W_gateᵀ) ∘ x · W_upᵀ) · W_downᵀ      x [T, C], W_gate and W_up [F, C], W_down [C, F] -> [T, C]
//! silu(x) = x / (1 + exp(−x))
//! ```
//!
//! ```
//! use engine::nn::{pre_norm::Mlp, projection::Projection, swiglu::SwiGlu};
//! use engine::parameters::Weight;
//! use ndarray::array;
//! let layer = |w| Projection { weight: Weight::Dense(array![[w]]), bias: None };
//! let swiglu = SwiGlu { gate: layer(1.0), up: layer(2.0), down: layer(3.0) };
//! let y = swiglu.forward(array![[1.0]].view(), &mut None)?;
//! assert!((y[[0, 0]] - 6.0 / (1.0 + (-1.0f32).exp())).abs() < 1e-5);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Shazeer 2020, "GLU variants improve Transformer", equation 6.

use super::compute::Compute;
use super::feed_forward::Activation;
use super::pre_norm::Mlp;
use super::projection::Projection;
use crate::error::Result;

/// The three maps of a gated MLP.
#[derive(Debug, Clone, PartialEq)]
pub struct SwiGlu {
    /// C to F: the gate.
    pub gate: Projection,
    /// C to F: the values that pass the gate.
    pub up: Projection,
    /// F to C.
    pub down: Projection,
}

impl Mlp for SwiGlu {
    /// The observer gets `mlp.gate` (before silu), `mlp.up`, `mlp.inner` and `mlp.output`.
    fn run<C: Compute>(&self, compute: &mut C, x: &C::Matrix) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        let mut gate = self.gate.run(compute, x)?;
        compute.trace("mlp.gate", &mut gate);
        let mut inner = self.up.run(compute, x)?;
        compute.trace("mlp.up", &mut inner);
        let gate = compute.activate(gate, Activation::Silu);
        let mut inner = compute.multiply(inner, &gate)?;
        compute.trace("mlp.inner", &mut inner);
        let mut output = self.down.run(compute, &inner)?;
        compute.trace("mlp.output", &mut output);
        Ok(output)
    }
}
