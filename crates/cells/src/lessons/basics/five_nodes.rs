//! A computation as a graph of five nodes, and the gradients that go back through it.

use explain::descent::{NODES, OneParameter};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::spec::{CellSpec, Run, WorkerKind, once_from};

/// The cell `five-nodes`.
pub const SPEC: CellSpec = CellSpec {
    name: "five-nodes",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: no_files,
    start: |inputs, _| Ok(once_from(inputs, compute)),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let limits = (-6.0, 6.0, 0.1);
    vec![
        InputSpec::number("w", "Parameter $w$", limits, 0.5),
        InputSpec::number("x", "Input $x$", limits, 2.0),
        InputSpec::number("y", "Right answer $y$", limits, 6.0),
        InputSpec::entry("node", "Selected node", 1, Some(&[3])),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let number = |name| Ok::<_, CellError>(inputs.number(name)? as f32);
    let mut model = OneParameter::new(number("w")?, number("x")?, number("y")?);
    let mut record = Record::new();
    let graph = &mut model;
    let nodes = shown!(record, explain::descent::OneParameter::nodes, graph)?;
    record.tensor("values", &nodes.values);
    record.tensor("gradients", &nodes.gradients);
    record.tensor("local", &nodes.local);
    record.tensor("passed", &nodes.passed);
    record.words("nodes", NODES.map(str::to_owned).to_vec());
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs;
    use crate::model_cache::ModelCache;

    fn of(w: f64, x: f64, y: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("w", InputValue::Number(w))
            .with("x", InputValue::Number(x))
            .with("y", InputValue::Number(y));
        jobs::compute(&SPEC, &given, &ModelCache::default()).unwrap()
    }

    /// The numbers of the lesson: L = (w x − y)² at w = 0.5, x = 2, y = 6.
    #[test]
    fn the_gradients_are_those_of_the_lesson() {
        let c = of(0.5, 2.0, 6.0);
        let all = |name: &str| [0, 1, 2, 3, 4].map(|n| c.at(name, &[n]).unwrap());
        assert_eq!(all("values"), [0.5, 2.0, 6.0, 1.0, 25.0]);
        assert_eq!(all("gradients"), [-20.0, -5.0, 10.0, -10.0, 1.0]);
        // p passes its gradient on: times x to w, times w to x.
        assert_eq!(c.at("local", &[3, 0]), Some(2.0));
        assert_eq!(c.at("passed", &[3, 0]), Some(-20.0));
        assert_eq!(c.at("passed", &[3, 1]), Some(-5.0));
    }

    /// A gradient says how fast L changes: so do two values of L.
    #[test]
    fn gradients_are_slopes_of_the_loss() {
        let h = 1.0 / 64.0;
        let (w, x, y) = (1.5, -2.0, 1.0);
        let c = of(w, x, y);
        let loss = |w, x, y| of(w, x, y).at("values", &[4]).unwrap();
        for (n, slope) in [
            (loss(w + h, x, y) - loss(w - h, x, y)) / (2.0 * h),
            (loss(w, x + h, y) - loss(w, x - h, y)) / (2.0 * h),
            (loss(w, x, y + h) - loss(w, x, y - h)) / (2.0 * h),
        ]
        .into_iter()
        .enumerate()
        {
            let found = c.at("gradients", &[n]).unwrap();
            assert!(
                (found - slope).abs() < 1e-3,
                "{}: {found} {slope}",
                NODES[n]
            );
        }
    }
}
