//! Two attention maps with one output: another set of weights, found by gradients.

use ndarray::arr2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::spec::{CellSpec, Run, WorkerKind, once_from};

/// The words.
pub const WORDS: [&str; 6] = ["The", "cat", "sat", "on", "the", "mat"];

/// Steps of the search.
const STEPS: usize = 40;

/// The cell `two-maps`.
pub const SPEC: CellSpec = CellSpec {
    name: "two-maps",
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
    let count = WORDS.len();
    let values = arr2(&[
        [-0.8, 0.7],
        [0.9, 0.6],
        [0.2, -0.9],
        [-0.6, -0.5],
        [-0.1, 0.3],
        [0.5, 0.1],
    ]);
    let scores = arr2(&[[0.2, 1.5, 0.4, -0.5, 0.0, 0.8]]);
    vec![
        InputSpec::number(
            "updates",
            "Steps of the search",
            (0.0, STEPS as f64, 1.0),
            0.0,
        ),
        InputSpec::matrix("v", "Values $V$", (count, count), (2, 2), values),
        InputSpec::matrix("scores", "Scores", (1, 1), (count, count), scores),
        InputSpec::seed(2),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let (values, scores) = (inputs.matrix("v")?, inputs.matrix("scores")?);
    let (scores, seed) = (scores.row(0), inputs.seed()?);
    let found = shown!(
        record,
        explain::two_maps::search,
        scores,
        values.view(),
        seed,
        STEPS
    )?;
    let at = inputs.count("updates")?.min(STEPS);
    let wide = |all: &[f32]| -> Vec<f64> { all.iter().map(|&x| f64::from(x)).collect() };
    let here = |all: &[f32]| f64::from(all.get(at).copied().unwrap_or(0.0));
    record.tensor("given", &found.given);
    record.tensor("output", &found.output);
    record.tensor("maps", &found.maps);
    record.tensor("now", &found.maps.row(at));
    record.tensor("now.output", &found.outputs.row(at));
    record.numbers("distance", wide(&found.distances));
    record.numbers("difference", wide(&found.differences));
    record.number("distance.now", here(&found.distances));
    record.number("difference.now", here(&found.differences));
    let most = found.differences.iter().copied().fold(0.0_f32, f32::max);
    record.number("difference.most", f64::from(most));
    record.number("updates", at as f64);
    record.number("steps", STEPS as f64);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs;
    use crate::model_cache::ModelCache;

    fn of(change: impl Fn(Inputs) -> Inputs) -> Computation {
        let given = change(Inputs::defaults(&inputs()));
        jobs::compute(&SPEC, &given, &ModelCache::default()).unwrap()
    }

    /// What the lesson says: *cat* has most weight in the given map and little in the other one, whose
    /// output is the same.
    #[test]
    fn another_map_has_the_same_output() {
        let c = of(|given| given);
        let largest = |tensor: &str, row: Option<usize>| {
            let at = |j: usize| {
                let index: Vec<usize> = row.into_iter().chain([j]).collect();
                c.at(tensor, &index).unwrap()
            };
            (0..WORDS.len())
                .max_by(|&a, &b| at(a).total_cmp(&at(b)))
                .unwrap()
        };
        assert_eq!(WORDS[largest("given", None)], "cat");
        assert_eq!(WORDS[largest("maps", Some(STEPS))], "mat");
        assert!(c.at("given", &[1]).unwrap() > 0.4);
        assert!(c.at("maps", &[STEPS, 1]).unwrap() < 0.1);
        assert!(c.at("distance", &[STEPS]).unwrap() > 0.5);
        assert!(c.at("difference.most", &[]).unwrap() < 1e-5);
        assert_eq!(c.at("distance.now", &[]), Some(0.0));
    }

    /// Other seeds find other maps, all with the same output.
    #[test]
    fn other_seeds_find_other_maps() {
        let mut ends = Vec::new();
        for seed in 1..=12 {
            let c = of(|given| given.with("seed", InputValue::Number(f64::from(seed))));
            assert!(c.at("difference.most", &[]).unwrap() < 1e-5, "{seed}");
            assert!(c.at("distance", &[STEPS]).unwrap() > 0.2, "{seed}");
            ends.push((c.at("maps", &[STEPS, 1]).unwrap() * 20.0).round() as i64);
        }
        ends.sort_unstable();
        ends.dedup();
        assert!(ends.len() > 1, "{ends:?}");
    }

    /// Where one word at a corner has nearly all the weight, there is no other map.
    #[test]
    fn a_sharp_map_at_a_corner_is_alone() {
        let scores = arr2(&[[-4.0, 8.0, -4.0, -4.0, -4.0, -4.0]]);
        let c = of(|given| given.with("scores", InputValue::Matrix(scores.clone())));
        assert!(c.at("distance", &[STEPS]).unwrap() < 0.05);
    }
}
