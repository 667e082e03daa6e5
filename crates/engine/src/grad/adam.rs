//! Adam and AdamW.
//!
//! ```text
//! m = β₁ m + (1 − β₁) g        v = β₂ v + (1 − β₂) g²
//! w = w − lr · λ · w           matrices that are multiplied with only; not tables, biases and gains
//! w = w − lr · m̂ / (√v̂ + ε)    m̂ = m/(1 − β₁ⁿ), v̂ = v/(1 − β₂ⁿ), n = 1, 2, …
//! ```
//! λ = 0 is Adam. Which parameters decay is as in minGPT: the rest set scales and offsets, or are
//! rows that many steps do not touch.
//!
//! Source: Kingma and Ba 2015, "Adam", algorithm 1; Loshchilov and Hutter 2019, "Decoupled weight
//! decay regularization", algorithm 2, as `torch.optim.AdamW` has it.

use super::gradients::Gradients;
use crate::error::{EngineError, Result};
use crate::kernel::threads;
use crate::math::double;
use crate::trainable::{Kind, Trainable};

/// Numbers of a parameter that one thread changes at a time.
const TOGETHER: usize = threads::LEAST_ELEMENTS;

/// The optimiser and its state.
#[derive(Debug, Clone, PartialEq)]
pub struct AdamW {
    /// Decay of the mean of gradients.
    pub beta_1: f32,
    /// Decay of the mean of their squares.
    pub beta_2: f32,
    /// Added to the root of the squares.
    pub eps: f32,
    /// λ; 0 for Adam.
    pub decay: f32,
    /// n: the number of steps so far.
    pub steps: u64,
    /// m and v of each parameter, in the order in which the model visits them; empty before the
    /// first step.
    pub moments: Vec<[Vec<f32>; 2]>,
}

impl Default for AdamW {
    /// Kingma and Ba's numbers, without decay.
    fn default() -> Self {
        Self {
            beta_1: 0.9,
            beta_2: 0.999,
            eps: 1e-8,
            decay: 0.0,
            steps: 0,
            moments: Vec::new(),
        }
    }
}

impl AdamW {
    /// Changes the model's parameters by one step of the learning rate `rate`.
    ///
    /// # Errors
    /// When gradients or moments are another model's; nothing is changed then.
    pub fn step<M: Trainable>(
        &mut self,
        model: &mut M,
        gradients: &Gradients,
        rate: f32,
    ) -> Result<()> {
        let all = gradients.values();
        if self.moments.is_empty() {
            let zeros = |values: &Vec<f32>| [vec![0.0; values.len()], vec![0.0; values.len()]];
            self.moments = all.iter().map(zeros).collect();
        }
        self.check(model, all)?;
        self.steps += 1;
        let n = self.steps as f64;
        let unbias = |beta: f32| 1.0 - double::pow(f64::from(beta), n);
        let step = Update {
            // m̂ and v̂ through the rate and ε: fewer divisions for each number.
            rate: (f64::from(rate) / unbias(self.beta_1)) as f32,
            root: (1.0 / unbias(self.beta_2).sqrt()) as f32,
            shrink: 1.0 - rate * self.decay,
        };
        let mut n = 0;
        let Self {
            beta_1,
            beta_2,
            eps,
            ..
        } = *self;
        let moments = &mut self.moments;
        model.parameters(&mut |parameter| {
            let [m, v] = &mut moments[n];
            if parameter.kind == Kind::Matrix && step.shrink != 1.0 {
                let values = parameter.values.iter_mut();
                values.for_each(|value| *value *= step.shrink);
            }
            let parts = parameter
                .values
                .chunks_mut(TOGETHER)
                .zip(all[n].chunks(TOGETHER));
            let moments = m.chunks_mut(TOGETHER).zip(v.chunks_mut(TOGETHER));
            let mut parts: Vec<_> = parts.zip(moments).collect();
            threads::chunks(&mut parts, 1, 1, |_, parts| {
                for ((w, g), (m, v)) in parts {
                    let all = w.iter_mut().zip(*g);
                    for (((w, g), m), v) in all.zip(m.iter_mut()).zip(v.iter_mut()) {
                        *m = beta_1 * *m + (1.0 - beta_1) * g;
                        *v = beta_2 * *v + (1.0 - beta_2) * g * g;
                        // Roots are rounded correctly on every machine.
                        *w -= step.rate * *m / (v.sqrt() * step.root + eps);
                    }
                }
            });
            n += 1;
            Ok(())
        })
    }

    /// Refuses gradients and moments that are not this model's.
    fn check<M: Trainable>(&self, model: &mut M, gradients: &[Vec<f32>]) -> Result<()> {
        let mut lengths = Vec::new();
        model.parameters(&mut |parameter| {
            lengths.push(parameter.values.len());
            Ok(())
        })?;
        let found: Vec<usize> = gradients.iter().map(Vec::len).collect();
        let fits = |[m, v]: &[Vec<f32>; 2], length: &usize| [m.len(), v.len()] == [*length; 2];
        let known = self.moments.len() == lengths.len()
            && self.moments.iter().zip(&lengths).all(|(m, l)| fits(m, l));
        if found == lengths && known {
            return Ok(());
        }
        let expected = format!("gradients and moments of {} parameters", lengths.len());
        let found = format!(
            "{} and {}, of other lengths",
            found.len(),
            self.moments.len()
        );
        Err(EngineError::shape("optimiser", expected, found))
    }
}

/// The numbers that all parameters share in one step.
struct Update {
    rate: f32,
    root: f32,
    shrink: f32,
}
