//! One weight of a small Transformer: the loss along it, its gradient by differentiation, and by
//! moving it.

use engine::grad::{Difference, Learner, Pairs, Settings, Task, TrainingConfig};
use ndarray::{Array2, Axis, Slice};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::parts::training::schedule;
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// Width of the model, and side of the part of a matrix that is shown.
const WIDTH: usize = 8;

/// Symbols of a sequence.
const LENGTH: usize = 8;

/// Pairs in the loss.
const PAIRS: usize = 4;

/// The powers of two that h takes, from the largest down.
const POWERS: std::ops::RangeInclusive<i32> = -22..=-1;

/// Farthest distance from the weight at which the loss is computed, and points to each side.
const ALONG: (f32, i32) = (4.0, 20);

/// Columns of the second matrix of the decoder's MLP, which leads back from its inner width.
const INNER: usize = 4 * WIDTH;

/// The matrices on offer: the name that the reader chooses, the name that the model is loaded by, and
/// the number of columns. Between the first and the loss nothing has a corner; behind all others
/// there is a ReLU.
const MATRICES: [(&str, &str, usize); 6] = [
    (
        "second-matrix-of-the-MLP",
        "transformer.decoder.layers.0.linear2.weight",
        INNER,
    ),
    (
        "query-of-the-encoder",
        "transformer.encoder.layers.0.self_attn.q_proj.weight",
        WIDTH,
    ),
    (
        "key-over-the-source",
        "transformer.decoder.layers.0.multihead_attn.k_proj.weight",
        WIDTH,
    ),
    (
        "value-of-the-decoder",
        "transformer.decoder.layers.0.self_attn.v_proj.weight",
        WIDTH,
    ),
    (
        "first-matrix-of-the-MLP",
        "transformer.decoder.layers.0.linear1.weight",
        WIDTH,
    ),
    ("embedding-of-symbols", "embedding.weight", WIDTH),
];

const CHOICES: &[&str] = &[
    MATRICES[0].0,
    MATRICES[1].0,
    MATRICES[2].0,
    MATRICES[3].0,
    MATRICES[4].0,
    MATRICES[5].0,
];

/// The cell `gradient-check`.
pub const SPEC: CellSpec = CellSpec {
    name: "gradient-check",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: no_files,
    start: |inputs, _| start(inputs),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let side = WIDTH as f64;
    vec![
        InputSpec::choice("matrix", "Matrix", CHOICES),
        InputSpec::number("row", "Row of the parameter", (1.0, side, 1.0), 7.0),
        InputSpec::number("column", "Column of the parameter", (1.0, side, 1.0), 1.0),
        InputSpec::number("power", "Exponent of h (base 2)", (-22.0, -1.0, 1.0), -7.0),
        InputSpec::seed(1),
    ]
}

/// A model with its pairs, the weight that was picked, and the differences so far.
struct Check {
    record: Record,
    learner: Learner,
    pairs: Pairs,
    name: &'static str,
    at: usize,
    gradient: f32,
    power: i32,
    found: Vec<(f32, Difference)>,
    /// The losses along the weight so far.
    along: Vec<f32>,
}

/// Begins to compute.
///
/// # Errors
/// An input that does not fit.
fn start(inputs: &Inputs) -> Result<Box<dyn Job>, CellError> {
    let task = Task::Reverse {
        symbols: WIDTH - 1,
        length: LENGTH,
    };
    let plan = TrainingConfig {
        layers: 1,
        width: WIDTH,
        seed: inputs.seed()?,
        // Nothing is learned here: the rate is never asked for.
        ..TrainingConfig::of(task, schedule(0.0, 0, 1))
    };
    let mut record = Record::new();
    let settings = Settings::same_bits();
    let mut learner = Learner::new(plan, settings)?;
    let pairs = shown!(record, engine::grad::Learner::held_out, &learner, PAIRS)?;
    let chosen = inputs.choice("matrix")?;
    let matrix = MATRICES.iter().find(|(known, ..)| *known == chosen);
    let &(_, name, columns) = matrix.ok_or_else(|| CellError::Missing(chosen.to_owned()))?;
    let (loss, gradients) = learner.gradients(&pairs)?;
    let values = gradients.get(name).unwrap_or_default();
    let shape = (values.len() / columns, columns);
    let all = Array2::from_shape_vec(shape, values.to_vec())
        .map_err(|e| CellError::Mismatch(e.to_string()))?;
    let (row, column) = (inputs.count("row")? - 1, inputs.count("column")? - 1);
    let shown = all.slice_axis(Axis(0), Slice::from(..WIDTH));
    let shown = shown.slice_axis(Axis(1), Slice::from(..WIDTH));
    record.number("loss", f64::from(loss));
    record.tensor("gradient", &shown);
    Ok(Box::new(Check {
        record,
        learner,
        pairs,
        name,
        at: row * columns + column,
        gradient: all[[row, column]],
        power: inputs.number("power")? as i32,
        found: Vec::new(),
        along: Vec::new(),
    }))
}

impl Job for Check {
    /// One h, or one side of the curve.
    fn advance(&mut self) -> Result<Progress, CellError> {
        let (far, points) = ALONG;
        let count = POWERS.count() + 2;
        let progress = |done: usize| Ok(Progress::Working(done as f32 / count as f32));
        let Some(power) = POWERS.rev().nth(self.found.len()) else {
            if self.along.len() > 2 * points as usize {
                self.finish();
                let record = std::mem::take(&mut self.record);
                return Ok(Progress::Done(Box::new(record.finish())));
            }
            let (learner, record) = (&mut self.learner, &mut self.record);
            let (pairs, name, at) = (&self.pairs, self.name, self.at);
            let weight = engine::grad::value_of(learner, name, at)?;
            let steps = if self.along.is_empty() {
                -points..=0
            } else {
                1..=points
            };
            let values: Vec<f32> = steps
                .map(|n| weight + far * n as f32 / points as f32)
                .collect();
            let values = &values[..];
            let losses = shown!(
                record,
                engine::grad::losses_along,
                learner,
                pairs,
                name,
                at,
                values
            )?;
            self.along.extend(losses);
            return progress(self.found.len() + 1);
        };
        let h = engine::math::pow(2.0, power as f32);
        let (learner, pairs, name, at) = (&mut self.learner, &self.pairs, self.name, self.at);
        let found = if power == self.power {
            let record = &mut self.record;
            shown!(
                record,
                engine::grad::difference,
                learner,
                pairs,
                name,
                at,
                h
            )?
        } else {
            engine::grad::difference(learner, pairs, name, at, h)?
        };
        self.found.push((h, found));
        progress(self.found.len())
    }
}

impl Check {
    fn finish(&mut self) {
        let exact = f64::from(self.gradient);
        let all = |of: &dyn Fn(&Difference) -> f64| self.found.iter().map(|(_, d)| of(d)).collect();
        let error = |slope: f64| (slope - exact).abs();
        let curves: [(&str, Vec<f64>); 5] = [
            ("central", all(&Difference::central)),
            ("one-sided", all(&Difference::one_sided)),
            ("error.central", all(&|d| error(d.central()))),
            ("error.one-sided", all(&|d| error(d.one_sided()))),
            ("grain", all(&Difference::grain)),
        ];
        let chosen = POWERS.rev().position(|power| power == self.power);
        if let Some((h, difference)) = chosen.and_then(|n| self.found.get(n).copied()) {
            let [below, above] = difference.losses.map(f64::from);
            self.record.number("weight", f64::from(difference.weight));
            self.record.number("h.now", f64::from(h));
            self.record.number("below", below);
            self.record.number("above", above);
            self.record
                .numbers("sides", difference.sides.map(f64::from).to_vec());
            self.record.numbers("sides.loss", vec![below, above]);
            self.record_along(difference.weight);
            self.record.number("central.now", difference.central());
            let grains = difference.central() / difference.grain();
            self.record.number("grains", grains.abs().round());
            self.record.number("error.now", error(difference.central()));
        }
        let h = self.found.iter().map(|(h, _)| f64::from(*h)).collect();
        self.record.numbers("h", h);
        for (name, curve) in curves {
            self.record.numbers(name, curve);
        }
        self.record.number("slope", exact);
    }

    /// The curve of the loss along the weight, and the tangent at the weight.
    fn record_along(&mut self, weight: f32) {
        let (far, points) = ALONG;
        let steps = (-points..=points).map(|n| f64::from(far * n as f32 / points as f32));
        let steps: Vec<f64> = steps.collect();
        let losses: Vec<f64> = self.along.iter().copied().map(f64::from).collect();
        let here = losses.get(points as usize).copied().unwrap_or(f64::NAN);
        let slope = f64::from(self.gradient);
        let values = steps.iter().map(|step| f64::from(weight) + step).collect();
        let tangent = steps.iter().map(|step| here + slope * step).collect();
        self.record.numbers("along", values);
        self.record.numbers("along.loss", losses);
        self.record.numbers("tangent", tangent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::computation::Computation;
    use crate::input::InputValue;
    use crate::jobs;
    use crate::model_cache::ModelCache;

    fn at(matrix: &str, row: f64, column: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("matrix", InputValue::Choice(matrix.to_owned()))
            .with("row", InputValue::Number(row))
            .with("column", InputValue::Number(column));
        jobs::compute(&SPEC, &given, &ModelCache::default()).unwrap()
    }

    /// For every matrix some h agrees with the gradient to three digits, and the smallest does not
    /// agree better than the best.
    #[test]
    fn some_h_agrees_and_the_smallest_is_worse() {
        for (matrix, ..) in MATRICES {
            let found = at(matrix, 3.0, 5.0);
            let errors: Vec<f64> = found
                .tensor("error.central")
                .unwrap()
                .values
                .iter()
                .copied()
                .collect();
            let slope = found.at("slope", &[]).unwrap();
            assert_ne!(slope, 0.0);
            let best = errors.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(
                best < 1e-3 * (0.01 + slope.abs()),
                "{matrix}: {best} of {slope}"
            );
            assert!(
                errors.last().unwrap() > &(3.0 * best),
                "{matrix}: {errors:?}"
            );
        }
    }

    /// Where h is large, halving it divides the error of the central difference by four and that of
    /// the one-sided one by two, as Taylor's formula says of a curve without corners.
    #[test]
    fn errors_of_a_smooth_loss_fall_as_taylors_formula_says() {
        let found = at(MATRICES[0].0, 7.0, 1.0);
        for (name, ratio) in [("error.central", 4.0), ("error.one-sided", 2.0)] {
            for n in 0..3 {
                let error = |n: usize| found.at(name, &[n]).unwrap();
                let fall = error(n) / error(n + 1);
                assert!((fall / ratio - 1.0).abs() < 0.1, "{name} {n}: {fall}");
            }
        }
    }

    /// A ReLU between weight and loss makes corners, where the rule does not hold.
    #[test]
    fn errors_behind_a_relu_fall_otherwise() {
        let found = at("query-of-the-encoder", 1.0, 6.0);
        let error = |n: usize| found.at("error.central", &[n]).unwrap();
        assert!((1..6).all(|n| error(n) / error(n + 1) < 2.0));
    }

    /// The curve passes through the loss at the weight, where the tangent touches it: nearby the two
    /// part with the square of the distance, and far away the loss bends.
    #[test]
    fn the_tangent_touches_the_loss_along_the_weight() {
        for (matrix, ..) in MATRICES {
            let found = at(matrix, 7.0, 1.0);
            let numbers = |name: &str| -> Vec<f64> {
                found.tensor(name).unwrap().values.iter().copied().collect()
            };
            let (along, losses) = (numbers("along"), numbers("along.loss"));
            let tangent = numbers("tangent");
            assert_eq!((along.len(), losses.len(), tangent.len()), (41, 41, 41));
            assert!((along[20] - found.at("weight", &[]).unwrap()).abs() < 1e-6);
            let loss = found.at("loss", &[]).unwrap();
            assert!((losses[20] - loss).abs() < 1e-5, "{} {loss}", losses[20]);
            let gap = |n: usize| (losses[n] - tangent[n]).abs();
            let near = gap(19) + gap(21);
            let far = gap(0) + gap(40);
            assert!(near < 0.1 * far, "{matrix}: {near} {far}");
        }
    }

    /// A slope is a whole number of grains: that is all that the loss in 32 bits can say.
    #[test]
    fn slopes_come_in_grains() {
        let found = at(MATRICES[0].0, 1.0, 1.0);
        for n in 12..22 {
            let (slope, grain) = (
                found.at("central", &[n]).unwrap(),
                found.at("grain", &[n]).unwrap(),
            );
            let grains = slope / grain;
            assert!(
                (grains - grains.round()).abs() < 1e-3 * (1.0 + grains.abs()),
                "{grains}"
            );
        }
    }
}
