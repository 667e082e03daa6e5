//! A model with one parameter: its loss on one example, the graph of its computation, and gradient
//! descent.
//!
//! ```text
//! p = w · x      L = (p − y)²           w, x, y, p, L scalars
//! ∂L/∂p = 2 (p − y)      ∂L/∂w = x · ∂L/∂p      ∂L/∂x = w · ∂L/∂p      ∂L/∂y = −∂L/∂p
//! one step:  w ← w − rate · ∂L/∂w
//! ```
//!
//! ```
//! use explain::descent::descend;
//! let path = descend(0.5, 2.0, 6.0, 0.05, 2)?;
//! assert_eq!(path.losses[0], 25.0); // (0.5 · 2 − 6)²
//! assert_eq!(path.gradients[0], -20.0); // 2 · (0.5 · 2 − 6) · 2
//! assert_eq!(path.w[1], 1.5); // 0.5 + 0.05 · 20
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Cauchy 1847 (gradient descent); Linnainmaa 1970 (the gradients of all nodes of a graph in
//! one pass).

use engine::error::Result;
use engine::grad::{Gradients, Settings, Tape, Var, gradients};
use engine::nn::compute::Compute;
use engine::nn::plain::Plain;
use engine::trainable::{self, Kind, Trainable, Visit};
use ndarray::{Array1, Array2};

/// The nodes of the graph, each after those that it is computed from.
pub const NODES: [&str; 5] = ["w", "x", "y", "p", "L"];

/// The index of p, and that of L.
const P: usize = 3;
const L: usize = 4;

/// The model, its input x and the right answer y. Each is a matrix of one element, which the tape
/// recognises as a parameter: so each of them has a gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct OneParameter {
    w: Array2<f32>,
    x: Array2<f32>,
    y: Array2<f32>,
    /// 0: added to p, to have a gradient with respect to it.
    moved: Array2<f32>,
}

/// Values and gradients of all nodes, in the order of [`NODES`].
#[derive(Debug, Clone, PartialEq)]
pub struct Nodes {
    /// `[5]`.
    pub values: Array1<f32>,
    /// `[5]`: the derivative of L by each node; that by L itself is 1.
    pub gradients: Array1<f32>,
    /// `[5, 5]`: the derivative of the node of the row by the node of the column, where the row's
    /// is computed from it directly; 0 elsewhere.
    pub local: Array2<f32>,
    /// `[5, 5]`: `local` times the gradient of the row's node, which is what the node of the column
    /// gets from it in the backward pass.
    pub passed: Array2<f32>,
}

/// The way of w, from the start on; losses and gradients are those at each w.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Path {
    /// `[steps + 1]`.
    pub w: Vec<f32>,
    /// `[steps + 1]`.
    pub losses: Vec<f32>,
    /// `[steps + 1]`.
    pub gradients: Vec<f32>,
}

impl OneParameter {
    /// The model with parameter w, which reads x where y is right.
    pub fn new(w: f32, x: f32, y: f32) -> Self {
        let one = |value| Array2::from_elem((1, 1), value);
        Self {
            w: one(w),
            x: one(x),
            y: one(y),
            moved: one(0.0),
        }
    }

    /// The nodes w, x, y, p and L, each `[1, 1]`.
    fn run<C: Compute>(&self, compute: &mut C) -> Result<[C::Matrix; 5]> {
        let w = compute.lookup(&self.w, &[0])?;
        let x = compute.lookup(&self.x, &[0])?;
        let y = compute.lookup(&self.y, &[0])?;
        let moved = compute.lookup(&self.moved, &[0])?;
        let p = compute.multiply(w.clone(), &x)?;
        let p = compute.add(p, &moved)?;
        let minus_y = compute.scale(y.clone(), -1.0);
        let off = compute.add(p.clone(), &minus_y)?;
        let loss = compute.multiply(off.clone(), &off)?;
        Ok([w, x, y, p, loss])
    }

    /// L and ∂L/∂w, by one pass forwards and one backwards.
    ///
    /// # Errors
    /// None for the shapes here; those of the tape.
    pub fn evaluate(&mut self) -> Result<(f32, f32)> {
        let (loss, found) = gradients(self, &Settings::same_bits(), |model, tape| {
            let [.., loss] = model.run(tape)?;
            Ok(loss)
        })?;
        Ok((loss, of(&found, "w")))
    }

    /// Values and gradients of all nodes.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub fn nodes(&mut self) -> Result<Nodes> {
        let mut values = Array1::zeros(NODES.len());
        let of_loss = self.backward(L, &mut values)?;
        let of_p = self.backward(P, &mut values)?;
        let [w, x, y, p] = ["w", "x", "y", "moved"].map(|name| of(&of_loss, name));
        let mut local = Array2::zeros((NODES.len(), NODES.len()));
        (local[[P, 0]], local[[P, 1]]) = (of(&of_p, "w"), of(&of_p, "x"));
        (local[[L, 2]], local[[L, P]]) = (y, p);
        let gradients = Array1::from_vec(vec![w, x, y, p, 1.0]);
        let mut passed = local.clone();
        for (mut row, gradient) in passed.rows_mut().into_iter().zip(&gradients) {
            row *= *gradient;
        }
        Ok(Nodes {
            values,
            gradients,
            local,
            passed,
        })
    }

    /// The gradients of one node; notes the values of all.
    fn backward(&mut self, node: usize, values: &mut Array1<f32>) -> Result<Gradients> {
        let (_, found) = gradients(self, &Settings::same_bits(), |model, tape: &mut Tape| {
            let nodes: [Var; 5] = model.run(tape)?;
            for (value, var) in values.iter_mut().zip(&nodes) {
                *value = tape.value(var)?[[0, 0]];
            }
            Ok(nodes[node])
        })?;
        Ok(found)
    }
}

impl Trainable for OneParameter {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        trainable::array(&mut self.w, "w", Kind::Bias, visit)?;
        trainable::array(&mut self.x, "x", Kind::Bias, visit)?;
        trainable::array(&mut self.y, "y", Kind::Bias, visit)?;
        trainable::array(&mut self.moved, "moved", Kind::Bias, visit)
    }
}

/// The gradient of a parameter of one element.
fn of(found: &Gradients, name: &str) -> f32 {
    let values = found.get(name).unwrap_or_default();
    values.first().copied().unwrap_or_default()
}

/// Gradient descent: in each step, w moves against its gradient, `rate` times as far.
///
/// # Errors
/// As [`OneParameter::evaluate`].
pub fn descend(start: f32, x: f32, y: f32, rate: f32, steps: usize) -> Result<Path> {
    // scalars -> [steps + 1] each
    let mut model = OneParameter::new(start, x, y);
    let mut path = Path::default();
    for _ in 0..=steps {
        let (loss, gradient) = model.evaluate()?;
        path.w.push(model.w[[0, 0]]);
        path.losses.push(loss);
        path.gradients.push(gradient);
        model.w[[0, 0]] -= rate * gradient;
    }
    Ok(path)
}

/// The loss at each w.
///
/// # Errors
/// As [`OneParameter::evaluate`].
pub fn losses(w: &[f32], x: f32, y: f32) -> Result<Array1<f32>> {
    // w [N] -> [N]
    let loss = |&w: &f32| -> Result<f32> {
        let [.., loss] = OneParameter::new(w, x, y).run(&mut Plain::silent())?;
        Ok(loss[[0, 0]])
    };
    w.iter().map(loss).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Axis;

    /// The formulas at the top of the file, at some points.
    #[test]
    fn the_tape_finds_the_gradients_of_all_nodes() {
        for (w, x, y) in [(0.5, 2.0, 6.0), (-1.5, 3.0, 0.5), (2.0, -0.5, -1.0)] {
            let nodes = OneParameter::new(w, x, y).nodes().unwrap();
            let (p, slope) = (w * x, 2.0 * (w * x - y));
            let values = [w, x, y, p, (p - y) * (p - y)];
            let gradients = [x * slope, w * slope, -slope, slope, 1.0];
            for n in 0..NODES.len() {
                assert!((nodes.values[n] - values[n]).abs() < 1e-5, "{}", NODES[n]);
                assert!(
                    (nodes.gradients[n] - gradients[n]).abs() < 1e-5,
                    "{}",
                    NODES[n]
                );
            }
            assert_eq!((nodes.local[[P, 0]], nodes.local[[P, 1]]), (x, w));
            // The gradient of a node is the sum of what the nodes computed from it pass on.
            let got = nodes.passed.sum_axis(Axis(0));
            for n in 0..L {
                assert!((got[n] - nodes.gradients[n]).abs() < 1e-5, "{}", NODES[n]);
            }
            assert_eq!(got[L], 0.0);
        }
    }

    /// The loss is x² (w − y/x)²: each step multiplies the distance to y/x by 1 − 2 x² rate.
    #[test]
    fn each_step_multiplies_the_distance_by_the_same_factor() {
        for rate in [0.02, 0.05, 0.125, 0.2, 0.25, 0.3] {
            let path = descend(0.5, 2.0, 6.0, rate, 8).unwrap();
            for pair in path.w.windows(2) {
                let (before, after) = (pair[0] - 3.0, pair[1] - 3.0);
                let expected = (1.0 - 8.0 * rate) * before;
                assert!(
                    (after - expected).abs() < 1e-3,
                    "{rate}: {after} {expected}"
                );
            }
        }
    }

    #[test]
    fn losses_are_those_of_the_path() {
        let path = descend(-1.0, 1.5, 2.0, 0.1, 5).unwrap();
        let again = losses(&path.w, 1.5, 2.0).unwrap();
        for (a, b) in path.losses.iter().zip(&again) {
            assert!((a - b).abs() < 1e-6);
        }
    }
}
