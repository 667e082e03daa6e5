//! Nobody labels alignments: the gradient of one word's loss by each score, and where it leads.

use engine::grad::{OneWord, Seen};
use ndarray::{Array2, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::parts::measure::largest;
use crate::spec::{CellSpec, Run, WorkerKind, once_from};

/// The words that may come next, in the order of the rows of U.
const TARGET: &[&str] = &["occhi", "blu", "ha"];

/// Most updates of the scores.
const MOST: usize = 60;

/// The cell `alignment-gradient`.
pub const SPEC: CellSpec = CellSpec {
    name: "alignment-gradient",
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

/// The annotations [4 × 3] of *She has blue eyes* and an output layer [3 × 3] whose rows are those of
/// [`TARGET`].
pub(super) fn example() -> (Array2<f32>, Array2<f32>) {
    let annotations = arr2(&[
        [1.0, 0.0, 0.1],
        [0.6, 0.1, 0.0],
        [0.0, 0.2, 1.0],
        [0.1, 1.0, 0.1],
    ]);
    let words = arr2(&[[-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0], [2.0, -1.0, -1.0]]);
    (annotations, words)
}

fn inputs() -> Vec<InputSpec> {
    let (annotations, words) = example();
    vec![
        InputSpec::choice("right", "Correct next word", TARGET),
        InputSpec::matrix("e", "Scores $e$", (1, 1), (4, 4), Array2::zeros((1, 4))),
        InputSpec::matrix("h", "Annotations $h$", (4, 4), (3, 3), annotations),
        InputSpec::matrix("u", "Output layer", (3, 3), (3, 3), words),
        InputSpec::number("updates", "Updates", (0.0, MOST as f64, 1.0), 0.0),
        InputSpec::number("rate", "Learning rate", (0.1, 4.0, 0.1), 1.0),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let chosen = inputs.choice("right")?;
    let right = TARGET.iter().position(|word| *word == chosen);
    let right = right.ok_or_else(|| CellError::Missing(chosen.to_owned()))?;
    let h = inputs.matrix("h")?;
    let (updates, rate) = (inputs.count("updates")?, inputs.number("rate")? as f32);
    let mut word = OneWord::new(
        inputs.matrix("e")?.row(0).to_owned(),
        h.clone(),
        inputs.matrix("u")?.clone(),
        right,
    )?;
    let mut record = Record::new();
    let mut path = Vec::new();
    for update in 0..=MOST {
        let seen = if update == updates {
            let word = &mut word;
            shown!(record, engine::grad::OneWord::evaluate, word)?
        } else {
            word.evaluate()?
        };
        word.descend(&seen, rate)?;
        path.push(seen);
    }
    let seen = path
        .get(updates)
        .ok_or_else(|| CellError::Missing("updates".to_owned()))?;
    here(&mut record, h, seen)?;
    let weights = Array2::from_shape_fn((h.nrows(), path.len()), |(s, n)| path[n].weights[s]);
    record.tensor("curve.weights", &weights);
    let losses = path.iter().map(|seen| f64::from(seen.loss)).collect();
    record.numbers("curve.loss", losses);
    record.number("right", right as f64);
    Ok(record.finish())
}

/// Forwards and backwards at the present scores, and the gradient by hand beside the tape's.
fn here(record: &mut Record, h: &Array2<f32>, seen: &Seen) -> Result<(), CellError> {
    let (pulls, by_hand) = shown!(
        record,
        engine::grad::score_gradients,
        seen.weights.view(),
        h.view(),
        seen.by_context.view()
    )?;
    let pairs = seen.by_scores.iter().zip(&by_hand);
    let off: Vec<f64> = pairs.map(|(a, b)| f64::from((a - b).abs())).collect();
    record.tensor("scores", &seen.scores);
    record.tensor("weights", &seen.weights);
    record.tensor("context", &seen.context);
    record.tensor("probabilities", &seen.probabilities);
    record.number("loss", f64::from(seen.loss));
    record.tensor("by_context", &seen.by_context);
    record.tensor("gradient", &seen.by_scores);
    record.tensor("pulls", &pulls);
    record.tensor("by_hand", &by_hand);
    record.number("difference", largest(&off));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs;
    use crate::model_cache::ModelCache;

    fn with(right: &str, updates: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("right", InputValue::Choice(right.to_owned()))
            .with("updates", InputValue::Number(updates));
        jobs::compute(&SPEC, &given, &ModelCache::default()).unwrap()
    }

    /// d loss / d e_j = α_j (∂loss/∂c · (h_j − c)), as the tape has it.
    #[test]
    fn tape_and_formula_agree() {
        for right in TARGET {
            for updates in [0.0, 7.0, 60.0] {
                let c = with(right, updates);
                assert!(c.at("difference", &[]).unwrap() < 1e-6);
                let sum: f64 = (0..4).map(|j| c.at("gradient", &[j]).unwrap()).sum();
                assert!(sum.abs() < 1e-6, "what one score gains the others lose");
            }
        }
    }

    /// For each word that follows, the scores find the source word that it is a translation of,
    /// from scores that are all zero.
    #[test]
    fn the_loss_alone_finds_the_alignment() {
        for (right, source) in [("occhi", 3), ("blu", 2)] {
            let (first, last) = (with(right, 0.0), with(right, 60.0));
            for j in 0..4 {
                assert_eq!(first.at("weights", &[j]), Some(0.25));
                let slope = first.at("gradient", &[j]).unwrap();
                assert_eq!(slope < 0.0, j == source, "{right}: {j}");
            }
            let weight = last.at("weights", &[source]).unwrap();
            assert!(weight > 0.8, "{right}: {weight}");
            assert!(last.at("loss", &[]) < first.at("loss", &[]));
        }
    }

    #[test]
    fn the_curves_pass_through_the_present() {
        let c = with("occhi", 12.0);
        assert_eq!(c.at("curve.loss", &[12]), c.at("loss", &[]));
        assert_eq!(c.at("curve.weights", &[3, 12]), c.at("weights", &[3]));
        assert_eq!(c.at("curve.weights", &[3, 0]), Some(0.25));
    }
}
