//! Gradients by central differences.

use engine::Result;
use engine::grad::{Gradients, Settings, Tape, Var, gradients};
use engine::kernel;
use engine::ndarray::{Array1, Array2};
use engine::parameters::Weight;
use engine::rng::{Rng, normal_matrix};
use engine::trainable::{self, Kind, Trainable, Visit};

/// How far each number is moved to either side. The error of the difference grows with its square,
/// that of rounding as it falls.
pub(crate) const STEP: f32 = 1.0 / 128.0;

/// The same for whole models, which are more curved and have kinks, and whose losses have fewer
/// digits to lose.
pub(crate) const FINE_STEP: f32 = 1.0 / 1024.0;

/// The largest error, relative to 1 + the largest gradient of the parameter: STEP² times a third
/// derivative of some units, and 1e-6 of rounding over the step.
pub(crate) const BOUND: f32 = 2e-3;

/// The largest share of numbers that may stand so near a kink of a ReLU that the two sides differ
/// by more than the bound; of those the gradient must lie between the slopes of both sides.
const KINKS: f32 = 0.25;

/// How many numbers of each parameter are checked.
const SAMPLES: usize = 12;

/// Parameters without a model: what a step of the tape is given.
pub(crate) struct Bag {
    pub(crate) weights: Vec<Weight>,
    pub(crate) vectors: Vec<Array1<f32>>,
}

impl Bag {
    /// Weights of these shapes and vectors of these lengths.
    pub(crate) fn new(weights: &[[usize; 2]], vectors: &[usize]) -> Self {
        let draw =
            |name: String, [rows, cols]: [usize; 2]| normal_matrix(5, &name, rows, cols, 0.8);
        let weight =
            |(n, shape): (usize, &[usize; 2])| Weight::Dense(draw(format!("w{n}"), *shape));
        let vector =
            |(n, &length): (usize, &usize)| draw(format!("v{n}"), [1, length]).row(0).to_owned();
        Self {
            weights: weights.iter().enumerate().map(weight).collect(),
            vectors: vectors.iter().enumerate().map(vector).collect(),
        }
    }

    /// Weight `n` as plain numbers.
    pub(crate) fn table(&self, n: usize) -> &Array2<f32> {
        match &self.weights[n] {
            Weight::Dense(dense) => dense,
            Weight::Packed(_) => unreachable!("made plain"),
        }
    }
}

impl Trainable for Bag {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        for (n, weight) in self.weights.iter_mut().enumerate() {
            trainable::weight(weight, &format!("w{n}"), Kind::Matrix, visit)?;
        }
        for (n, vector) in self.vectors.iter_mut().enumerate() {
            trainable::array(vector, &format!("v{n}"), Kind::Bias, visit)?;
        }
        Ok(())
    }
}

/// A loss that weighs each number of `x` by a draw of its own.
pub(crate) fn weigh(tape: &mut Tape, x: &Var) -> Result<Var> {
    let mut rng = Rng::new(11);
    let count = tape.value(x)?.len();
    let weights: Vec<f32> = (0..count).map(|_| rng.uniform_in(-1.0, 1.0)).collect();
    tape.weighted_sum(x, &weights)
}

/// Compares the tape's gradients with central differences, with each implementation of the kernels
/// that training may use; every parameter must be reached.
pub(crate) fn check<M: Trainable>(
    model: &mut M,
    step: f32,
    mut loss: impl FnMut(&M, &mut Tape) -> Result<Var>,
) {
    for kernels in kernel::implementations() {
        if kernels.name().starts_with("relaxed") {
            continue;
        }
        let settings = Settings {
            kernels,
            ..Settings::default()
        };
        let (_, found) = gradients(model, &settings, &mut loss).unwrap();
        assert_eq!(found.missing(), Vec::<&str>::new());
        compare(model, step, &settings, &found, &mut loss);
    }
}

fn compare<M: Trainable>(
    model: &mut M,
    step: f32,
    settings: &Settings,
    found: &Gradients,
    loss: &mut impl FnMut(&M, &mut Tape) -> Result<Var>,
) {
    let mut rng = Rng::new(3);
    let (mut checked, mut kinks) = (0, 0);
    for (n, (name, gradient)) in found.iter().enumerate() {
        let largest = gradient.iter().fold(0.0f32, |most, g| most.max(g.abs()));
        let bound = BOUND * (1.0 + largest);
        for _ in 0..SAMPLES.min(gradient.len()) {
            let at = rng.below(gradient.len());
            let mut moved = |by: f32| {
                shift(model, n, at, by);
                let value = gradients(model, settings, &mut *loss).unwrap().0;
                shift(model, n, at, -by);
                value
            };
            let [below, here, above] = [-step, 0.0, step].map(&mut moved);
            let (left, right) = ((here - below) / step, (above - here) / step);
            let slope = (left + right) / 2.0;
            checked += 1;
            if (slope - gradient[at]).abs() < bound {
                continue;
            }
            kinks += 1;
            assert!(
                (left.min(right) - bound..left.max(right) + bound).contains(&gradient[at]),
                "{name}[{at}]: {} by the tape, {left} and {right} by differences ({})",
                gradient[at],
                settings.kernels.name()
            );
        }
    }
    assert!(
        (kinks as f32) <= KINKS * checked as f32,
        "{kinks} of {checked}"
    );
}

/// Adds to one number of parameter `n`. A power of two goes and comes back without rounding, unless
/// the number is large.
fn shift<M: Trainable>(model: &mut M, n: usize, at: usize, by: f32) {
    let mut place = 0;
    model
        .parameters(&mut |parameter| {
            if place == n {
                parameter.values[at] += by;
            }
            place += 1;
            Ok(())
        })
        .unwrap();
}
