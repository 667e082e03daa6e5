//! A mixture of experts: each token goes through the few MLPs that a router chooses for it.
//!
//! ```text
//! r = x · W_rᵀ                                             x [T, C], W_r [E, C] -> [T, E]
//! K = the top_k largest of a row of r (of equal ones the first)
//! g = softmax(r over K), 0 elsewhere                                          -> [T, E]
//! y = Σ_{e in K} g_e · expert_e(x)                                            -> [T, C]
//! ```
//! Tokens of one expert go through it together; an expert that no token chose is not computed.
//!
//! ```
//! use engine::nn::{moe::MixtureOfExperts, pre_norm::Mlp, projection::Projection, swiglu::SwiGlu};
//! use engine::{parameters::Weight, rng::normal_matrix, trace::Recorder};
//! let layer = |name: String, outputs, inputs| {
//!     let weight = Weight::Dense(normal_matrix(7, &name, outputs, inputs, 0.5));
//!     Projection { weight, bias: None }
//! };
//! let expert = |n| SwiGlu {
//!     gate: layer(format!("{n}.gate"), 8, 4), up: layer(format!("{n}.up"), 8, 4), down: layer(format!("{n}.down"), 4, 8),
//! };
//! let moe = MixtureOfExperts { router: layer("router".into(), 3, 4), experts: (0..3).map(expert).collect(), top_k: 2 };
//! let mut seen = Recorder::default();
//! let x = normal_matrix(7, "x", 5, 4, 1.0);
//! assert_eq!(moe.forward(x.view(), &mut Some(&mut seen))?.dim(), (5, 4));
//! let weights = seen.get("mlp.router.weights").unwrap();
//! assert_eq!(weights.iter().filter(|&&w| w > 0.0).count(), 5 * 2);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Shazeer et al. 2017, "Outrageously large neural networks", equations 1 and 3 to 5,
//! without the noise; Jiang et al. 2024, "Mixtral of experts", section 2.1.

use super::compute::Compute;
use super::pre_norm::Mlp;
use super::projection::Projection;
use super::swiglu::SwiGlu;
use crate::error::Result;
use crate::shape::expect;

/// The router and its experts.
#[derive(Debug, Clone, PartialEq)]
pub struct MixtureOfExperts {
    /// C to E.
    pub router: Projection,
    /// E MLPs.
    pub experts: Vec<SwiGlu>,
    /// Experts that each token goes through.
    pub top_k: usize,
}

impl Mlp for MixtureOfExperts {
    /// The observer gets `mlp.router.logits` and `mlp.router.weights` `[T, E]` (a weight that is
    /// changed from or to 0 takes its expert out or in), of each expert n in use
    /// `mlp.experts.n.mlp.…` (see [`SwiGlu`]), and `mlp.output`. The choice of experts has no
    /// gradient, the weights of the chosen experts have.
    ///
    /// # Errors
    /// When `top_k` is not from 1 to E, or the shapes of input and parameters do not fit.
    fn run<C: Compute>(&self, compute: &mut C, x: &C::Matrix) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        let (count, (tokens, width)) = (self.experts.len(), compute.dim(x));
        let mut logits = self.router.run(compute, x)?;
        let (rows, found) = compute.dim(&logits);
        expect("moe", "router", &[tokens, count], &[rows, found])?;
        compute.trace("mlp.router.logits", &mut logits);
        let mut weights = compute.top_k_softmax(&logits, self.top_k)?;
        compute.trace("mlp.router.weights", &mut weights);
        let mut output = None;
        for (n, expert) in self.experts.iter().enumerate() {
            let chosen = compute.nonzero_rows(&weights, n)?;
            if chosen.is_empty() {
                continue;
            }
            let own = compute.gather(x, &chosen)?;
            let prefix = || format!("mlp.experts.{n}.");
            let answers = compute.scope(prefix, |compute| expert.run(compute, &own))?;
            let shares = compute.columns(&weights, n..n + 1)?;
            let shares = compute.gather(&shares, &chosen)?;
            let answers = compute.scale_rows(answers, &shares)?;
            let part = compute.scatter(tokens, width, &[(answers, chosen)])?;
            output = Some(match output {
                Some(sum) => compute.add(sum, &part)?,
                None => part,
            });
        }
        let mut output = match output {
            Some(output) => output,
            None => compute.scatter(tokens, width, &[])?,
        };
        compute.trace("mlp.output", &mut output);
        Ok(output)
    }
}
