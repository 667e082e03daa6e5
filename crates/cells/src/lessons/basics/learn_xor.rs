//! Two networks of two layers that learn XOR side by side from the same parameters: one with the
//! nonlinearity between its layers, one without.

use explain::two_layers::{CLASSES, TwoLayers, points};
use ndarray::Array2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::parts::training::{Steps, Training};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// Most steps that are taken.
const MOST: f64 = 2000.0;

/// Points of the map along each side, which are this far apart: the four points are among them.
const SIDE: usize = 25;
const GAP: f32 = 1.0 / 12.0;

/// The smallest coordinate of the map.
const LOWEST: f32 = -0.5;

/// The cell `learn-xor`.
pub const SPEC: CellSpec = CellSpec {
    name: "learn-xor",
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
    vec![
        InputSpec::number("steps", "Steps", (0.0, MOST, 1.0), 0.0),
        InputSpec::number("hidden", "Hidden numbers", (1.0, 16.0, 1.0), 8.0),
        InputSpec::number("rate", "Learning rate", (0.01, 2.0, 0.01), 0.1),
        InputSpec::seed(1),
    ]
}

/// One of the two networks, and what was noted on the way.
struct Course {
    network: TwoLayers,
    rate: f32,
    /// The loss that step n + 1 began with.
    losses: Vec<f64>,
    calls: Vec<Call>,
}

impl Steps for Course {
    fn steps(&self) -> u64 {
        self.losses.len() as u64
    }

    /// The first step is noted for "Show the Rust"; all others repeat its calls.
    fn step(&mut self) -> Result<(), CellError> {
        let (network, rate) = (&mut self.network, self.rate);
        let points = points();
        let (points, classes) = (points.view(), &CLASSES[..]);
        let loss = if self.losses.is_empty() {
            let mut record = Record::new();
            let loss = shown!(
                record,
                explain::two_layers::TwoLayers::step,
                network,
                points,
                classes,
                rate
            )?;
            self.calls = record.finish().calls;
            loss
        } else {
            network.step(points, classes, rate)?
        };
        self.losses.push(f64::from(loss));
        Ok(())
    }
}

/// Begins to compute.
///
/// # Errors
/// An input that does not fit.
fn start(inputs: &Inputs) -> Result<Box<dyn Job>, CellError> {
    let (hidden, seed) = (inputs.count("hidden")?, inputs.seed()?);
    let rate = inputs.number("rate")? as f32;
    let course = |is_nonlinear| -> Result<Course, CellError> {
        Ok(Course {
            network: TwoLayers::new(hidden, seed, is_nonlinear)?,
            rate,
            losses: Vec::new(),
            calls: Vec::new(),
        })
    };
    let courses = [true, false].map(course);
    let courses = courses.into_iter().collect::<Result<Vec<_>, CellError>>()?;
    Ok(Box::new(Training::new(inputs, courses, show)?))
}

/// The coordinate of a column of the map, or of a row from the bottom.
fn coordinate(n: usize) -> f32 {
    LOWEST + GAP * n as f32
}

/// The points of the map, row by row from the top, one a row.
fn plane() -> Array2<f32> {
    Array2::from_shape_fn((SIDE * SIDE, 2), |(n, axis)| match axis {
        0 => coordinate(n % SIDE),
        _ => coordinate(SIDE - 1 - n / SIDE),
    })
}

fn show(courses: &[Course], inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    for (course, prefix) in courses.iter().zip(["with.", "without."]) {
        note(&mut record, course, prefix)?;
    }
    record.number("steps", inputs.number("steps")?);
    record.tensor("points", &points());
    let classes = CLASSES.iter().map(|&class| class as f64).collect();
    record.numbers("classes", classes);
    let names = |axis: &str, from_top: bool| -> Vec<String> {
        let name = |n: usize| {
            let n = if from_top { SIDE - 1 - n } else { n };
            // Two digits, as a reader would read them off an axis.
            let hundredths = f64::from((coordinate(n) * 100.0).round());
            format!("{axis} = {}", engine::decimal::decimal(hundredths / 100.0))
        };
        (0..SIDE).map(name).collect()
    };
    record.words("across", names("first number", false));
    record.words("down", names("second number", true));
    Ok(record.finish())
}

/// What a network says now, under names that begin with `prefix`.
fn note(record: &mut Record, course: &Course, prefix: &str) -> Result<(), CellError> {
    record.calls(&course.calls);
    let points = points();
    let network = &course.network;
    let answers = if prefix == "with." {
        shown!(
            record,
            explain::two_layers::TwoLayers::probabilities,
            network,
            points.view()
        )?
    } else {
        network.probabilities(points.view())?
    };
    let map = network.probabilities(plane().view())?;
    let map = map.into_shape_with_order((SIDE, SIDE));
    let map = map.map_err(|e| CellError::Mismatch(e.to_string()))?;
    let is_right = |(&answer, class): (&f32, usize)| (answer > 0.5) == (class == 1);
    let right = answers.iter().zip(CLASSES).filter(|&pair| is_right(pair));
    let loss = network.clone().loss(points.view(), &CLASSES)?;
    let name = |what: &str| format!("{prefix}{what}");
    record.number(&name("right"), right.count() as f64);
    record.tensor(&name("answers"), &answers);
    record.tensor(&name("map"), &map);
    record.numbers(&name("loss"), course.losses.clone());
    record.number(&name("loss.now"), f64::from(loss));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs;
    use crate::model_cache::ModelCache;

    fn at(seed: u32, steps: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("seed", InputValue::Number(f64::from(seed)))
            .with("steps", InputValue::Number(steps));
        jobs::compute(&SPEC, &given, &ModelCache::default()).unwrap()
    }

    fn number(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// What the lesson says of the page's seed.
    #[test]
    fn with_the_nonlinearity_all_four_points_are_learned() {
        let c = at(1, 400.0);
        assert_eq!(number(&c, "with.right"), 4.0);
        assert!(number(&c, "with.loss.now") < 0.1);
    }

    /// Not every start succeeds, as the lesson says: with this seed the loss stays high.
    #[test]
    fn an_unlucky_start_gets_stuck() {
        let c = at(13, 2000.0);
        let loss = number(&c, "with.loss.now");
        assert!(loss > 0.3 && loss < 0.4, "{loss}");
        let before = c.at("with.loss", &[1000]).unwrap();
        assert!(before - loss < 0.02, "{before} {loss}");
    }

    /// Without the nonlinearity the loss never falls below ln 2, that of an answer of one half
    /// everywhere, and a straight line has at most three of the four points on their right sides.
    #[test]
    fn without_the_nonlinearity_it_cannot() {
        let even = std::f64::consts::LN_2;
        for seed in 0..12 {
            for steps in [0.0, 1.0, 10.0, 100.0, 400.0] {
                let c = at(seed, steps);
                assert!(number(&c, "without.right") < 4.0, "seed {seed}");
                let loss = number(&c, "without.loss.now");
                assert!(loss > even - 1e-5, "seed {seed}: {loss}");
            }
            let last = at(seed, 2000.0);
            assert!(number(&last, "without.loss.now") < even + 1e-3);
            for n in 0..4 {
                let answer = last.at("without.answers", &[n]).unwrap();
                assert!((answer - 0.5).abs() < 0.02, "seed {seed}: {answer}");
            }
        }
    }

    /// The map has the four points where the view marks them, and the same answers there.
    #[test]
    fn the_map_holds_the_four_points() {
        let c = at(1, 30.0);
        for (n, place) in [[18, 6], [6, 6], [18, 18], [6, 18]].iter().enumerate() {
            for prefix in ["with.", "without."] {
                let answer = c.at(&format!("{prefix}answers"), &[n]).unwrap();
                let found = c.at(&format!("{prefix}map"), place).unwrap();
                assert!((answer - found).abs() < 1e-4, "{n}: {answer} {found}");
            }
        }
        assert_eq!(c.words("across")[18], "first number = 1");
        assert_eq!(c.words("down")[18], "second number = 0");
    }

    /// More steps of one run are those of a run from the start.
    #[test]
    fn a_run_can_be_continued() {
        let (few, many) = (at(2, 7.0), at(2, 20.0));
        for n in 0..7 {
            assert_eq!(few.at("with.loss", &[n]), many.at("with.loss", &[n]));
        }
        assert_eq!(
            many.at("with.loss", &[7]),
            Some(number(&few, "with.loss.now"))
        );
    }
}
