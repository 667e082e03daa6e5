//! A network of two layers that learns to tell two classes of points apart, with the nonlinearity
//! between its layers or without.
//!
//! ```text
//! h = relu(x · W₁ᵀ + b₁)        x [N, 2], W₁ [H, 2] -> h [N, H]
//! p = softmax(h · W₂ᵀ + b₂)     W₂ [2, H] -> p [N, 2], the probability of each class
//! without the nonlinearity:     x · (W₂ W₁)ᵀ + (W₂ b₁ + b₂), which is one layer
//! ```
//!
//! ```
//! use explain::two_layers::{CLASSES, TwoLayers, points};
//! let mut network = TwoLayers::new(8, 1, true)?;
//! let first = network.step(points().view(), &CLASSES, 0.5)?;
//! for _ in 0..50 {
//!     network.step(points().view(), &CLASSES, 0.5)?;
//! }
//! assert!(network.loss(points().view(), &CLASSES)? < first);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Minsky and Papert 1969, "Perceptrons" (what one layer cannot do); Rumelhart, Hinton and
//! Williams 1986, "Learning representations by back-propagating errors".

use engine::error::Result;
use engine::grad::{Draw, Gradients, Settings, Tape, Var, gradients, initialise};
use engine::nn::compute::Compute;
use engine::nn::feed_forward::Activation;
use engine::nn::plain::Plain;
use engine::nn::projection::Projection;
use engine::nn::softmax::softmax_rows;
use engine::parameters::Weight;
use engine::trainable::{Trainable, Visit};
use ndarray::{Array1, Array2, ArrayView2, arr2};

/// The right class of each of the four [`points`]: 1 where exactly one of its numbers is 1
/// (exclusive or, XOR).
pub const CLASSES: [usize; 4] = [0, 1, 1, 0];

/// The four points, `[4, 2]`.
pub fn points() -> Array2<f32> {
    arr2(&[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
}

/// The network.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoLayers {
    first: Projection,
    second: Projection,
    is_nonlinear: bool,
}

impl TwoLayers {
    /// A network with `hidden` numbers between its layers and random matrices: the same ones for the
    /// same seed, with the nonlinearity or without.
    ///
    /// # Errors
    /// None for the shapes here; those of the engine's initialisation.
    pub fn new(hidden: usize, seed: u64, is_nonlinear: bool) -> Result<Self> {
        let layer = |inputs: usize, outputs: usize| Projection {
            weight: Weight::Dense(Array2::zeros((outputs, inputs))),
            bias: Some(Array1::zeros(outputs)),
        };
        let mut network = Self {
            first: layer(2, hidden),
            second: layer(hidden, 2),
            is_nonlinear,
        };
        initialise(&mut network, seed, Draw::Xavier)?;
        Ok(network)
    }

    /// The logits of each class.
    fn run<C: Compute>(&self, compute: &mut C, x: &C::Matrix) -> Result<C::Matrix> {
        // x [N, 2] -> [N, 2]
        let mut hidden = self.first.run(compute, x)?;
        if self.is_nonlinear {
            hidden = compute.activate(hidden, Activation::Relu);
        }
        self.second.run(compute, &hidden)
    }

    /// The probability of class 1 at each point.
    ///
    /// # Errors
    /// When the points do not have two numbers each.
    pub fn probabilities(&self, points: ArrayView2<'_, f32>) -> Result<Array1<f32>> {
        // points [N, 2] -> [N]
        let mut plain = Plain::silent();
        let x = plain.constant(points);
        let logits = self.run(&mut plain, &x)?;
        Ok(softmax_rows(logits.view()).column(1).to_owned())
    }

    /// Loss and gradients: the mean of −ln p over the right classes of the points.
    fn gradients(
        &mut self,
        points: ArrayView2<'_, f32>,
        classes: &[usize],
    ) -> Result<(f32, Gradients)> {
        let targets: Vec<Option<usize>> = classes.iter().copied().map(Some).collect();
        gradients(self, &Settings::same_bits(), |network, tape: &mut Tape| {
            let x = tape.constant(points);
            let logits: Var = network.run(tape, &x)?;
            tape.cross_entropy(&logits, &targets, 0.0)
        })
    }

    /// The loss as it is now, in nats.
    ///
    /// # Errors
    /// When there is not one class, 0 or 1, for each point.
    pub fn loss(&mut self, points: ArrayView2<'_, f32>, classes: &[usize]) -> Result<f32> {
        Ok(self.gradients(points, classes)?.0)
    }

    /// One step of gradient descent: every parameter moves against its gradient, `rate` times as
    /// far. Returns the loss before it.
    ///
    /// # Errors
    /// As [`Self::loss`].
    pub fn step(
        &mut self,
        points: ArrayView2<'_, f32>,
        classes: &[usize],
        rate: f32,
    ) -> Result<f32> {
        // points [N, 2], classes [N] -> scalar
        let (loss, found) = self.gradients(points, classes)?;
        self.parameters(&mut |parameter| {
            let gradient = found.get(parameter.name).unwrap_or_default();
            for (value, slope) in parameter.values.iter_mut().zip(gradient) {
                *value -= rate * slope;
            }
            Ok(())
        })?;
        Ok(loss)
    }
}

impl Trainable for TwoLayers {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.first.parameters("first", visit)?;
        self.second.parameters("second", visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Axis;

    fn trained(seed: u64, is_nonlinear: bool, steps: usize) -> TwoLayers {
        let mut network = TwoLayers::new(8, seed, is_nonlinear).unwrap();
        for _ in 0..steps {
            network.step(points().view(), &CLASSES, 0.5).unwrap();
        }
        network
    }

    fn dense(layer: &Projection) -> (Array2<f32>, Array1<f32>) {
        let Weight::Dense(weight) = &layer.weight else {
            panic!("the weights are plain numbers");
        };
        (weight.clone(), layer.bias.clone().unwrap())
    }

    /// Two layers without a nonlinearity between them are one, whose matrix is the product.
    #[test]
    fn without_the_nonlinearity_two_layers_are_one() {
        let network = trained(3, false, 40);
        let ((w_1, b_1), (w_2, b_2)) = (dense(&network.first), dense(&network.second));
        let one = Projection {
            weight: Weight::Dense(w_2.dot(&w_1)),
            bias: Some(w_2.dot(&b_1) + b_2),
        };
        let x = engine::rng::normal_matrix(5, "points", 50, 2, 2.0);
        let logits = one.forward(x.view()).unwrap();
        let expected = softmax_rows(logits.view());
        let found = network.probabilities(x.view()).unwrap();
        for (a, b) in found.iter().zip(expected.index_axis(Axis(1), 1)) {
            assert!((a - b).abs() < 1e-5, "{a} {b}");
        }
    }

    /// One layer has no better loss than ln 2 on these points, whatever its parameters: the loss is
    /// convex in its logits, whose sum over the four points, with the signs of the classes, is 0.
    #[test]
    fn without_the_nonlinearity_no_parameters_beat_an_even_answer() {
        for seed in 0..300 {
            let mut network = TwoLayers::new(8, seed, false).unwrap();
            let size = [0.01, 0.3, 1.0, 4.0][seed as usize % 4];
            let mut draw = |parameter: engine::trainable::Parameter<'_>| {
                let mut rng = engine::rng::Rng::named(seed + 1, parameter.name);
                parameter
                    .values
                    .iter_mut()
                    .for_each(|v| *v = size * rng.normal());
                Ok(())
            };
            network.parameters(&mut draw).unwrap();
            let loss = network.loss(points().view(), &CLASSES).unwrap();
            assert!(loss > std::f32::consts::LN_2 - 1e-6, "{seed}: {loss}");
        }
    }

    /// Both kinds start from the same parameters.
    #[test]
    fn the_nonlinearity_is_the_only_difference() {
        let (a, b) = (TwoLayers::new(8, 4, true), TwoLayers::new(8, 4, false));
        let (a, b) = (a.unwrap(), b.unwrap());
        assert_eq!((&a.first, &a.second), (&b.first, &b.second));
    }

    #[test]
    fn the_loss_is_the_mean_of_the_logarithms() {
        let mut network = trained(2, true, 10);
        let p = network.probabilities(points().view()).unwrap();
        let right = p.iter().zip(CLASSES).map(|(&p, class)| {
            let p = f64::from(if class == 1 { p } else { 1.0 - p });
            -p.ln() / 4.0
        });
        let loss = network.loss(points().view(), &CLASSES).unwrap();
        assert!((right.sum::<f64>() - f64::from(loss)).abs() < 1e-5);
    }
}
