//! Plain and residual stacks, shallow and deep, that learn to tell two spirals apart side by side,
//! and the same of our logged runs.

use std::sync::Arc;

use explain::deep_stack::{Kind, POINTS, StackRun, WIDTH};
use ndarray::Array2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::depth_runs::{self, DEEP, LOG, SHALLOW, STEPS};
use crate::parts::training::{Steps, Training};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// Points of a map along each side, and the largest coordinate.
const SIDE: usize = 25;
const REACH: f32 = 1.2;

/// The cell `deep-plain-stack`.
pub const SPEC: CellSpec = CellSpec {
    name: "deep-plain-stack",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| vec![LOG],
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("steps", "Steps", (0.0, STEPS as f64, 1.0), 0.0),
        InputSpec::number(
            "deep",
            "Layers of the deep stacks",
            (SHALLOW as f64 + 1.0, 30.0, 1.0),
            DEEP as f64,
        ),
        InputSpec::seed(1),
    ]
}

/// One of the four stacks, and what was noted on the way.
struct Course {
    name: String,
    run: StackRun,
    losses: Vec<f64>,
    calls: Vec<Call>,
    log: Arc<String>,
}

impl Steps for Course {
    fn steps(&self) -> u64 {
        self.losses.len() as u64
    }

    /// The first step is noted for "Show the Rust"; all others repeat its calls.
    fn step(&mut self) -> Result<(), CellError> {
        let run = &mut self.run;
        let loss = if self.losses.is_empty() {
            let mut record = Record::new();
            let loss = shown!(record, explain::deep_stack::StackRun::step, run)?;
            self.calls = record.finish().calls;
            loss
        } else {
            run.step()?
        };
        self.losses.push(f64::from(loss));
        Ok(())
    }
}

/// Begins to compute.
///
/// # Errors
/// An input that does not fit, or a log that is not one.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let log = cache.opened::<String>(LOG)?;
    let (deep, seed) = (inputs.count("deep")?, inputs.seed()?);
    let mut courses = Vec::new();
    for (kind, name) in [(Kind::Plain, "plain"), (Kind::Residual, "residual")] {
        for (depth, size) in [(SHALLOW, "shallow"), (deep, "deep")] {
            courses.push(Course {
                name: format!("{name}.{size}"),
                run: StackRun::new(kind, depth, seed)?,
                losses: Vec::new(),
                calls: Vec::new(),
                log: Arc::clone(&log),
            });
        }
    }
    Ok(Box::new(Training::new(inputs, courses, show)?))
}

/// The coordinate of a column of a map, or of a row from the bottom.
fn coordinate(n: usize) -> f32 {
    REACH * (2.0 * n as f32 / (SIDE - 1) as f32 - 1.0)
}

/// The points of a map, row by row from the top, one a row.
fn plane() -> Array2<f32> {
    Array2::from_shape_fn((SIDE * SIDE, 2), |(n, axis)| match axis {
        0 => coordinate(n % SIDE),
        _ => coordinate(SIDE - 1 - n / SIDE),
    })
}

fn show(courses: &[Course], inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    for course in courses {
        record.calls(&course.calls);
        let of = |what: &str| format!("{}.{what}", course.name);
        record.numbers(&of("loss"), course.losses.clone());
        if let Some(last) = course.losses.last() {
            record.number(&of("loss.now"), *last);
        }
        record.number(&of("right"), course.run.right()? as f64);
        let stack = &course.run.stack;
        let points = plane();
        let points = points.view();
        let map = if course.name == "plain.deep" {
            shown!(
                record,
                explain::deep_stack::DeepStack::probabilities,
                stack,
                points
            )?
        } else {
            stack.probabilities(points)?
        };
        let map = map.into_shape_with_order((SIDE, SIDE));
        record.tensor(
            &of("map"),
            &map.map_err(|e| CellError::Mismatch(e.to_string()))?,
        );
    }
    record.number("steps", inputs.number("steps")?);
    record.number("points", 2.0 * POINTS as f64);
    record.number("width", WIDTH as f64);
    record.number("layers.shallow", SHALLOW as f64);
    record.number("layers.deep", inputs.number("deep")?);
    if let Some(course) = courses.first() {
        depth_runs::degradation(&mut record, &course.log)?;
    }
    let names = |axis: &str, from_top: bool| -> Vec<String> {
        let name = |n: usize| {
            let n = if from_top { SIDE - 1 - n } else { n };
            let tenths = f64::from((coordinate(n) * 10.0).round());
            format!("{axis} = {}", engine::decimal::decimal(tenths / 10.0))
        };
        (0..SIDE).map(name).collect()
    };
    record.words("across", names("first number", false));
    record.words("down", names("second number", true));
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::parts::test_models::{cache, computed};

    fn at(seed: u32, steps: u64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("seed", InputValue::Number(f64::from(seed)))
            .with("steps", InputValue::Number(steps as f64));
        computed(&SPEC, &given).unwrap()
    }

    fn number(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// What the lesson says of the page's seed: the deep plain stack is far behind the shallow one
    /// on the points that both are trained on, and the residual ones get all of them right.
    #[test]
    fn only_the_deep_plain_stack_fails() {
        let c = at(1, STEPS);
        for name in ["plain.shallow", "residual.shallow", "residual.deep"] {
            assert_eq!(number(&c, &format!("{name}.right")), 96.0, "{name}");
            assert!(number(&c, &format!("{name}.loss.now")) < 0.01, "{name}");
        }
        assert!(number(&c, "plain.deep.right") < 75.0);
        assert!(number(&c, "plain.deep.loss.now") > 0.5);
    }

    /// The losses of the cell are those of the log, to the bit.
    #[test]
    fn the_first_losses_are_those_of_the_log() {
        let log = cache().opened::<String>(LOG).unwrap();
        for seed in [1, 3] {
            let c = at(seed, 3);
            for (name, scheme) in [
                ("plain.shallow", "plain-6"),
                ("plain.deep", "plain-20"),
                ("residual.shallow", "residual-6"),
                ("residual.deep", "residual-20"),
            ] {
                let first = explain::run_log::rows(&log, "first", scheme).unwrap();
                for n in 0..3 {
                    let found = c.at(&format!("{name}.loss"), &[n]).unwrap() as f32;
                    assert_eq!(found.to_bits(), first[[seed as usize - 1, n]].to_bits());
                }
            }
        }
    }

    /// More steps of one run are those of a run from the start.
    #[test]
    fn a_run_can_be_continued() {
        let (few, many) = (at(2, 5), at(2, 9));
        for n in 0..5 {
            assert_eq!(
                few.at("plain.deep.loss", &[n]),
                many.at("plain.deep.loss", &[n])
            );
        }
    }
}
