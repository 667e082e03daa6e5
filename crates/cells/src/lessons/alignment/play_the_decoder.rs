//! The reader plays the decoder: four scores, and the loss of one word.

use engine::grad::{OneWord, Seen};
use ndarray::Array1;

use super::alignment_gradient::example;
use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::spec::{CellSpec, Run, WorkerKind, once_from};

/// The names of the inputs: a score for each source word.
const SCORES: [(&str, &str); 4] = [
    ("she", "Score of \u{201c}She\u{201d}"),
    ("has", "Score of \u{201c}has\u{201d}"),
    ("blue", "Score of \u{201c}blue\u{201d}"),
    ("eyes", "Score of \u{201c}eyes\u{201d}"),
];

/// Largest score in either direction.
const LARGEST: f64 = 6.0;

/// The learning rate of the buttons.
const RATE: f32 = 1.0;

/// The updates that the two buttons make.
const UPDATES: [(&str, usize); 2] = [("next.one", 1), ("next.ten", 10)];

/// The cell `play-the-decoder`.
pub const SPEC: CellSpec = CellSpec {
    name: "play-the-decoder",
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
    let limits = (-LARGEST, LARGEST, 0.01);
    let score = |(name, label)| InputSpec::number(name, label, limits, 0.0);
    SCORES.into_iter().map(score).collect()
}

/// The row of *occhi*, the correct word.
const RIGHT: usize = 0;

fn word(scores: Array1<f32>) -> Result<OneWord, CellError> {
    let (annotations, words) = example();
    Ok(OneWord::new(scores, annotations, words, RIGHT)?)
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let scores = SCORES
        .iter()
        .map(|(name, _)| Ok(inputs.number(name)? as f32))
        .collect::<Result<Array1<f32>, CellError>>()?;
    let mut record = Record::new();
    let mut present = word(scores.clone())?;
    let here = &mut present;
    let seen: Seen = shown!(record, engine::grad::OneWord::evaluate, here)?;
    record.tensor("scores", &seen.scores);
    record.tensor("weights", &seen.weights);
    record.tensor("context", &seen.context);
    record.tensor("probabilities", &seen.probabilities);
    record.tensor("gradient", &seen.by_scores);
    record.number("loss", f64::from(seen.loss));
    for (name, updates) in UPDATES {
        let mut next = word(scores.clone())?;
        for _ in 0..updates {
            let seen = next.evaluate()?;
            next.descend(&seen, RATE)?;
        }
        record.tensor(name, &next.evaluate()?.scores);
    }
    record.number("even.loss", even_loss()?);
    record.number("best.loss", best_loss()?);
    Ok(record.finish())
}

/// The loss of an even mixture.
fn even_loss() -> Result<f64, CellError> {
    Ok(f64::from(
        word(Array1::zeros(SCORES.len()))?.evaluate()?.loss,
    ))
}

/// The lowest loss of any mixture. The loss is convex in the context; a test checks that it rises in
/// every direction from the best annotation.
fn best_loss() -> Result<f64, CellError> {
    let (annotations, words) = example();
    let mut best = f64::INFINITY;
    for row in annotations.outer_iter() {
        let alone = row.to_owned().insert_axis(ndarray::Axis(0));
        let mut word = OneWord::new(Array1::zeros(1), alone, words.clone(), RIGHT)?;
        best = best.min(f64::from(word.evaluate()?.loss));
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs;
    use crate::model_cache::ModelCache;

    fn with(scores: [f64; 4]) -> Computation {
        let mut given = Inputs::defaults(&inputs());
        for ((name, _), score) in SCORES.into_iter().zip(scores) {
            given = given.with(name, InputValue::Number(score));
        }
        jobs::compute(&SPEC, &given, &ModelCache::default()).unwrap()
    }

    fn row(c: &Computation, name: &str) -> [f64; 4] {
        [0, 1, 2, 3].map(|j| c.at(name, &[j]).unwrap())
    }

    #[test]
    fn zeros_are_the_even_mixture() {
        let c = with([0.0; 4]);
        assert_eq!(row(&c, "weights"), [0.25; 4]);
        assert_eq!(c.at("loss", &[]), c.at("even.loss", &[]));
    }

    /// The buttons move the scores as training does, and the loss falls with each press.
    #[test]
    fn ten_updates_are_ten_times_one() {
        let mut c = with([0.0; 4]);
        let ten = row(&c, "next.ten");
        let mut loss = c.at("loss", &[]).unwrap();
        for _ in 0..10 {
            c = with(row(&c, "next.one"));
            let now = c.at("loss", &[]).unwrap();
            assert!(now < loss, "{now} {loss}");
            loss = now;
        }
        for (one, ten) in row(&c, "scores").iter().zip(ten) {
            assert!((one - ten).abs() < 1e-5, "{one} {ten}");
        }
        assert!(
            ten[3] > 0.5 && ten[..3].iter().all(|&score| score < 0.0),
            "{ten:?}"
        );
    }

    /// The loss is convex in the context, so it is lowest at an annotation from which it rises
    /// towards all others.
    #[test]
    fn no_mixture_is_better_than_eyes_alone() {
        let (annotations, words) = example();
        let eyes = annotations.row(3).insert_axis(ndarray::Axis(0)).to_owned();
        let mut word = OneWord::new(Array1::zeros(1), eyes, words, RIGHT).unwrap();
        let seen = word.evaluate().unwrap();
        let best = with([0.0; 4]).at("best.loss", &[]).unwrap();
        assert!((f64::from(seen.loss) - best).abs() < 1e-9);
        for other in annotations.outer_iter().take(3) {
            let slope = (&other - &annotations.row(3)).dot(&seen.by_context);
            assert!(slope > 0.0, "{slope}");
        }
    }

    /// What the lesson says: *eyes* alone at the top of its slider comes close to the lowest loss,
    /// and its gradient is then a small part of what it was.
    #[test]
    fn a_high_score_has_little_gradient_left() {
        let (even, high) = (with([0.0; 4]), with([0.0, 0.0, 0.0, 6.0]));
        let slope = |c: &Computation| c.at("gradient", &[3]).unwrap();
        assert!(slope(&even) < -0.15, "{}", slope(&even));
        assert!(
            slope(&high) < 0.0 && slope(&high) > -0.02,
            "{}",
            slope(&high)
        );
        let left = high.at("loss", &[]).unwrap() - high.at("best.loss", &[]).unwrap();
        assert!(left > 0.0 && left < 0.02, "{left}");
        let wrong = with([0.0, 0.0, 6.0, 0.0]);
        assert!(wrong.at("loss", &[]) > even.at("loss", &[]));
    }
}
