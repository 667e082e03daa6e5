//! The initial parameters of training.
//!
//! ```text
//! gains 1, biases 0
//! Xavier:  matrices [outputs, inputs] uniform in ±√(6/(inputs + outputs)), tables normal with deviation 1/√C
//! normal:  matrices and tables normal with the given deviation
//! ```
//! Each parameter has a stream of its own, named as it is, so its numbers do not depend on the
//! others.
//!
//! Source: Glorot and Bengio 2010, "Understanding the difficulty of training deep feedforward
//! neural networks", equation 16; Radford et al. 2018 (GPT), section 4.1, and Devlin et al. 2019
//! (BERT): 0.02; Vaswani et al. 2017, section 3.4: tables that are multiplied by √C and compute the
//! logits too.

use crate::error::Result;
use crate::math;
use crate::rng::Rng;
use crate::trainable::{Kind, Trainable};

/// A distribution of matrices and tables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Draw {
    /// Xavier: uniform matrices and normal tables, scaled by their sizes.
    Xavier,
    /// Normal with this standard deviation.
    Normal(f32),
}

/// Draws all parameters of a model.
///
/// # Errors
/// When the model cannot visit them.
pub fn initialise<M: Trainable>(model: &mut M, seed: u64, draw: Draw) -> Result<()> {
    model.parameters(&mut |parameter| {
        let mut rng = Rng::named(seed, parameter.name);
        let inputs: usize = parameter.shape.iter().skip(1).product();
        let outputs = parameter.shape.first().copied().unwrap_or(1);
        let last = parameter.shape.last().copied().unwrap_or(1);
        let values = parameter.values.iter_mut();
        match (parameter.kind, draw) {
            (Kind::Gain, _) => values.for_each(|value| *value = 1.0),
            (Kind::Bias, _) => values.for_each(|value| *value = 0.0),
            (Kind::Matrix, Draw::Xavier) => {
                let limit = math::sqrt(6.0 / (inputs + outputs) as f32);
                values.for_each(|value| *value = rng.uniform_in(-limit, limit));
            }
            (Kind::Table, Draw::Xavier) => {
                let deviation = 1.0 / math::sqrt(last as f32);
                values.for_each(|value| *value = deviation * rng.normal());
            }
            (Kind::Matrix | Kind::Table, Draw::Normal(deviation)) => {
                values.for_each(|value| *value = deviation * rng.normal());
            }
        }
        Ok(())
    })
}
