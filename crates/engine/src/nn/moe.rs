//! A mixture of experts: each token goes through the few perceptrons that a router picks for it.
//!
//! ```text
//! r = x · W_rᵀ                                             x [T, C], W_r [E, C] -> [T, E]
//! K = the top_k largest of a row of r (of equal ones the first)
//! g = softmax(r over K), 0 elsewhere                                          -> [T, E]
//! y = Σ_{e in K} g_e · expert_e(x)                                            -> [T, C]
//! ```
//! Tokens of one expert go through it together; an expert that nobody chose is not computed.
//!
//! ```
//! use engine::nn::{moe::MixtureOfExperts, projection::Projection, swiglu::SwiGlu};
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
//! Source: Shazeer et al. 2017, "Outrageously large neural networks", equations 1 and 3 to 5, without the noise; Jiang et al. 2024,
//! "Mixtral of experts", section 2.1.

use super::projection::Projection;
use super::shape::{expect, rows};
use super::softmax::softmax;
use super::swiglu::SwiGlu;
use crate::error::{EngineError, Result};
use crate::trace::{Observer, observe};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

/// The router and its experts.
#[derive(Debug, Clone, PartialEq)]
pub struct MixtureOfExperts {
    /// C to E.
    pub router: Projection,
    /// E perceptrons.
    pub experts: Vec<SwiGlu>,
    /// How many of them each token goes through.
    pub top_k: usize,
}

impl MixtureOfExperts {
    /// The mixture on each token. The observer gets `mlp.router.logits` and `mlp.router.weights` `[T, E]` (a weight that is changed
    /// from or to 0 takes its expert out or in) and `mlp.output`.
    ///
    /// # Errors
    /// When `top_k` is not from 1 to E, or the shapes of input and weights do not fit.
    pub fn forward(
        &self,
        x: ArrayView2<'_, f32>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // x [T, C] -> [T, C]
        let count = self.experts.len();
        if self.top_k == 0 || self.top_k > count {
            let expected = format!("from 1 to the {count} experts");
            return Err(EngineError::value("moe", "top_k", expected, self.top_k));
        }
        let mut logits = self.router.forward(x)?;
        expect("moe", "router", &[x.nrows(), count], logits.shape())?;
        observe(trace, "mlp.router.logits", &mut logits);
        let mut weights = Array2::zeros(logits.raw_dim());
        for (row, mut target) in logits.rows().into_iter().zip(weights.rows_mut()) {
            let chosen = largest(row, self.top_k);
            let shares = softmax(
                chosen
                    .iter()
                    .map(|&n| row[n])
                    .collect::<Array1<f32>>()
                    .view(),
            );
            for (&expert, &share) in chosen.iter().zip(&shares) {
                target[expert] = share;
            }
        }
        observe(trace, "mlp.router.weights", &mut weights);
        let mut output = self.mix(x, &weights)?;
        observe(trace, "mlp.output", &mut output);
        Ok(output)
    }

    fn mix(&self, x: ArrayView2<'_, f32>, weights: &Array2<f32>) -> Result<Array2<f32>> {
        // x [T, C], weights [T, E] -> [T, C]
        let mut output = Array2::zeros(x.raw_dim());
        for (expert, shares) in self.experts.iter().zip(weights.columns()) {
            let tokens: Vec<usize> = (0..x.nrows()).filter(|&t| shares[t] != 0.0).collect();
            if tokens.is_empty() {
                continue;
            }
            let answers = expert.forward(rows("experts", x, &tokens)?.view(), &mut None)?;
            for (&t, answer) in tokens.iter().zip(answers.rows()) {
                output.row_mut(t).scaled_add(shares[t], &answer);
            }
        }
        Ok(output)
    }
}

/// The places of the `count` largest numbers, the largest first; of equal ones the first.
fn largest(x: ArrayView1<'_, f32>, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| x[b].total_cmp(&x[a]));
    order.truncate(count);
    order
}
