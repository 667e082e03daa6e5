//! Slopes without differentiation: the loss on both sides of a parameter.
//!
//! ```text
//! one-sided:  (L(w + h) − L(w)) / h               = L' + h L''/2 + …
//! central:    (L(w + h) − L(w − h)) / (2 h)       = L' + h² L'''/6 + …
//! rounding:   L is a multiple of its ulp u, about 1.2e-7 L, so a central slope is a multiple of u / (2 h)
//! ```
//! The first error falls with h, the last one grows: the best h lies between.
//!
//! ```
//! use engine::grad::{Learner, TrainingConfig, Schedule, Settings, Task, difference};
//! let task = Task::Copy { symbols: 4, length: 8 };
//! let config = TrainingConfig { width: 8, layers: 1, ..TrainingConfig::of(task, Schedule::InverseRoot { peak: 0.01, warmup: 1 }) };
//! let mut learner = Learner::new(config, Settings::same_bits())?;
//! let pairs = learner.held_out(4)?;
//! let (_, found) = learner.gradients(&pairs)?;
//! let by_tape = found.get("embedding.weight").map_or(0.0, |values| values[5]);
//! let by_hand = difference(&mut learner, &pairs, "embedding.weight", 5, 1.0 / 128.0)?;
//! assert!((by_hand.central() - f64::from(by_tape)).abs() < 1e-2 * (0.1 + f64::from(by_tape).abs()));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Press et al. 2007, "Numerical Recipes", section 5.7.

use super::learner::Learner;
use super::task::Pairs;
use crate::error::Result;
use crate::trainable::replace;

/// The loss at a parameter and on both sides of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// w, the value of the parameter.
    pub weight: f32,
    /// L(w).
    pub here: f32,
    /// w − h and w + h as `f32` has them: h may be lost in rounding.
    pub sides: [f32; 2],
    /// The losses there.
    pub losses: [f32; 2],
}

impl Difference {
    /// The slope from the left side to the right one; infinite or NaN where h was lost in rounding.
    pub fn central(&self) -> f64 {
        let [below, above] = self.losses.map(f64::from);
        let [left, right] = self.sides.map(f64::from);
        (above - below) / (right - left)
    }

    /// The slope from the parameter to the right side.
    pub fn one_sided(&self) -> f64 {
        let rise = f64::from(self.losses[1]) - f64::from(self.here);
        rise / (f64::from(self.sides[1]) - f64::from(self.weight))
    }

    /// The smallest central slope other than 0: one ulp of the loss over the distance of the sides.
    pub fn grain(&self) -> f64 {
        let ulp = f64::from(self.here.next_up()) - f64::from(self.here);
        ulp / (f64::from(self.sides[1]) - f64::from(self.sides[0]))
    }
}

/// Moves number `at` of the parameter `name` by `h` to both sides, and puts it back.
///
/// # Errors
/// When there is no such number, or the pairs are another task's.
pub fn difference(
    learner: &mut Learner,
    pairs: &Pairs,
    name: &str,
    at: usize,
    h: f32,
) -> Result<Difference> {
    let here = learner.evaluate(pairs)?.loss;
    let weight = value_of(learner, name, at)?;
    let sides = [weight - h, weight + h];
    let mut losses = [0.0; 2];
    let found = losses_along(learner, pairs, name, at, &sides)?;
    losses
        .iter_mut()
        .zip(found)
        .for_each(|(loss, found)| *loss = found);
    Ok(Difference {
        weight,
        here,
        sides,
        losses,
    })
}

/// Number `at` of the parameter `name`.
///
/// # Errors
/// When there is no such number.
pub fn value_of(learner: &mut Learner, name: &str, at: usize) -> Result<f32> {
    let value = replace(&mut learner.model, name, at, 0.0)?;
    replace(&mut learner.model, name, at, value)?;
    Ok(value)
}

/// The losses of a model in which number `at` of the parameter `name` has each of these values, and
/// all others stay: L(w) along one parameter. Then the number is put back.
///
/// # Errors
/// When there is no such number, or the pairs are another task's.
pub fn losses_along(
    learner: &mut Learner,
    pairs: &Pairs,
    name: &str,
    at: usize,
    values: &[f32],
) -> Result<Vec<f32>> {
    // values [N] -> [N]
    let before = value_of(learner, name, at)?;
    let losses = values.iter().map(|&value| {
        replace(&mut learner.model, name, at, value)?;
        Ok(learner.evaluate(pairs)?.loss)
    });
    let losses = losses.collect();
    replace(&mut learner.model, name, at, before)?;
    losses
}
