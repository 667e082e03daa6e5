//! A stack of layers that learns to tell two spirals apart, with residual connections or without.
//!
//! ```text
//! plain:     x ← f(x)          f(x) = relu(norm(x) · Wᵀ + b)        x [N, C] -> [N, C]
//! residual:  x ← x + f(x)
//! input [N, 2] -> [N, C], `depth` such layers, norm, then C to 2 logits; full batches, Adam
//! ```
//! The layer norm inside f keeps the numbers of both kinds in range at every depth, so a plain stack
//! that learns badly does not do so because its signal has vanished.
//!
//! ```
//! use explain::deep_stack::{Kind, StackRun};
//! let mut run = StackRun::new(Kind::Residual, 4, 1)?;
//! let first = run.step()?;
//! for _ in 0..30 {
//!     run.step()?;
//! }
//! assert!(run.step()? < first);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: He et al. 2016, "Deep residual learning for image recognition", sections 1 and 3.2; the
//! two spirals: Lang and Witbrock 1988, "Learning to tell two spirals apart".

use engine::error::Result;
use engine::grad::{AdamW, Draw, Settings, Tape, Var, gradients, initialise};
use engine::math;
use engine::nn::compute::Compute;
use engine::nn::feed_forward::Activation;
use engine::nn::norm::{LayerNorm, Norm};
use engine::nn::plain::Plain;
use engine::nn::projection::Projection;
use engine::nn::softmax::softmax_rows;
use engine::parameters::Weight;
use engine::trainable::{Trainable, Visit};
use ndarray::{Array1, Array2, ArrayView2};

/// Width of the stack.
pub const WIDTH: usize = 16;

/// Points of one spiral.
pub const POINTS: usize = 48;

/// Rounds that a spiral makes.
const ROUNDS: f32 = 1.25;

/// Layers of the shallow and the deep stack of the logged runs, and their steps.
pub const SHALLOW: usize = 6;
/// See [`SHALLOW`].
pub const DEEP: usize = 20;
/// See [`SHALLOW`].
pub const STEPS: u64 = 600;

/// Learning rate of Adam.
pub const RATE: f32 = 0.003;

/// Whether a layer's input is added to its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// x ← f(x).
    Plain,
    /// x ← x + f(x).
    Residual,
}

/// The points of both spirals, `[2 · POINTS, 2]`, those of class 0 first.
pub fn spirals() -> Array2<f32> {
    let at = |n: usize| {
        let share = (n as f32 + 1.0) / POINTS as f32;
        let angle = ROUNDS * std::f32::consts::TAU * share;
        [share * math::cos(angle), share * math::sin(angle)]
    };
    Array2::from_shape_fn((2 * POINTS, 2), |(n, axis)| {
        // The second spiral is the first one after half a turn.
        let sign = if n < POINTS { 1.0 } else { -1.0 };
        sign * at(n % POINTS)[axis]
    })
}

/// The class of each point of [`spirals`].
pub fn classes() -> Vec<usize> {
    (0..2 * POINTS).map(|n| n / POINTS).collect()
}

/// The stack.
#[derive(Debug, Clone, PartialEq)]
pub struct DeepStack {
    kind: Kind,
    input: Projection,
    layers: Vec<(LayerNorm, Projection)>,
    last: LayerNorm,
    output: Projection,
}

impl DeepStack {
    /// A stack of `depth` layers with random matrices: the same ones for the same seed and depth,
    /// plain or residual.
    ///
    /// # Errors
    /// None for the shapes here; those of the engine's initialisation.
    pub fn new(kind: Kind, depth: usize, seed: u64) -> Result<Self> {
        let layer = |inputs: usize, outputs: usize| Projection {
            weight: Weight::Dense(Array2::zeros((outputs, inputs))),
            bias: Some(Array1::zeros(outputs)),
        };
        let inner = |_| (LayerNorm::new(WIDTH), layer(WIDTH, WIDTH));
        let mut stack = Self {
            kind,
            input: layer(2, WIDTH),
            layers: (0..depth).map(inner).collect(),
            last: LayerNorm::new(WIDTH),
            output: layer(WIDTH, 2),
        };
        initialise(&mut stack, seed, Draw::Xavier)?;
        Ok(stack)
    }

    /// Plain or residual.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The number of its layers.
    pub fn depth(&self) -> usize {
        self.layers.len()
    }

    /// The logits of each class.
    fn run<C: Compute>(&self, compute: &mut C, points: &C::Matrix) -> Result<C::Matrix> {
        // points [N, 2] -> [N, 2]
        let mut x = self.input.run(compute, points)?;
        for (norm, linear) in &self.layers {
            let normed = norm.run(compute, &x)?;
            let inner = linear.run(compute, &normed)?;
            let branch = compute.activate(inner, Activation::Relu);
            x = match self.kind {
                Kind::Plain => branch,
                Kind::Residual => compute.add(branch, &x)?,
            };
        }
        let x = self.last.run(compute, &x)?;
        self.output.run(compute, &x)
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
}

impl Trainable for DeepStack {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.input.parameters("input", visit)?;
        for (n, (norm, linear)) in self.layers.iter_mut().enumerate() {
            norm.parameters(&format!("layers.{n}.norm"), visit)?;
            linear.parameters(&format!("layers.{n}.linear"), visit)?;
        }
        self.last.parameters("norm", visit)?;
        self.output.parameters("output", visit)
    }
}

/// A training run on the two spirals.
#[derive(Debug, Clone)]
pub struct StackRun {
    /// The stack as it is now.
    pub stack: DeepStack,
    adam: AdamW,
    points: Array2<f32>,
    targets: Vec<Option<usize>>,
}

impl StackRun {
    /// Before the first step.
    ///
    /// # Errors
    /// As [`DeepStack::new`].
    pub fn new(kind: Kind, depth: usize, seed: u64) -> Result<Self> {
        Ok(Self {
            stack: DeepStack::new(kind, depth, seed)?,
            adam: AdamW::default(),
            points: spirals(),
            targets: classes().into_iter().map(Some).collect(),
        })
    }

    /// One step of Adam on all points; returns the loss before it, in nats.
    ///
    /// # Errors
    /// None here; those of the engine.
    pub fn step(&mut self) -> Result<f32> {
        // -> scalar
        let (points, targets) = (self.points.view(), &self.targets);
        let settings = Settings::same_bits();
        let (loss, found) = gradients(&mut self.stack, &settings, |stack, tape: &mut Tape| {
            let x = tape.constant(points);
            let logits: Var = stack.run(tape, &x)?;
            tape.cross_entropy(&logits, targets, 0.0)
        })?;
        self.adam.step(&mut self.stack, &found, RATE)?;
        Ok(loss)
    }

    /// How many points the stack gives the right class.
    ///
    /// # Errors
    /// None here; those of the engine.
    pub fn right(&self) -> Result<usize> {
        let found = self.stack.probabilities(self.points.view())?;
        let pairs = found.iter().zip(&self.targets);
        let right = pairs.filter(|&(&p, &class)| (p > 0.5) == (class == Some(1)));
        Ok(right.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum is the only difference between the two kinds.
    #[test]
    fn both_kinds_start_from_the_same_parameters() {
        let [plain, residual] =
            [Kind::Plain, Kind::Residual].map(|kind| DeepStack::new(kind, 5, 3).unwrap());
        assert_eq!(plain.layers, residual.layers);
        assert_eq!(
            (&plain.input, &plain.output),
            (&residual.input, &residual.output)
        );
        // Without a layer they are the same function.
        let [plain, residual] =
            [Kind::Plain, Kind::Residual].map(|kind| DeepStack::new(kind, 0, 3).unwrap());
        let points = spirals();
        let answers = |stack: &DeepStack| stack.probabilities(points.view()).unwrap();
        assert_eq!(answers(&plain), answers(&residual));
    }

    /// No straight line tells the spirals apart, and no two points are the same.
    #[test]
    fn the_spirals_are_half_a_turn_apart() {
        let points = spirals();
        for n in 0..POINTS {
            for axis in 0..2 {
                assert_eq!(points[[n, axis]], -points[[POINTS + n, axis]]);
            }
        }
        let far = |n: usize| points.row(n).dot(&points.row(n)).sqrt();
        assert!((far(POINTS - 1) - 1.0).abs() < 1e-6 && far(0) < 0.03);
        assert_eq!(classes().iter().sum::<usize>(), POINTS);
    }

    /// A run is a function of its seed.
    #[test]
    fn a_run_repeats_itself() {
        let losses = |seed| {
            let mut run = StackRun::new(Kind::Plain, 3, seed).unwrap();
            [(); 4].map(|()| run.step().unwrap())
        };
        assert_eq!(losses(2), losses(2));
        assert_ne!(losses(2), losses(3));
    }
}
