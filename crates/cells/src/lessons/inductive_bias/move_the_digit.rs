//! The reader's digit, moved by whole pixels, as three models read it; and how many test digits they read
//! at each distance.

use ndarray::Array3;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::bias_runs::{self, LOG};
use crate::parts::digit_models::Three;
use crate::parts::drawn;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The farthest that the digit is moved, in pixels.
pub const FARTHEST: usize = 6;

/// The cell `move-the-digit`.
pub const SPEC: CellSpec = CellSpec {
    name: "move-the-digit",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| {
        let mut files = Three::files();
        files.push(LOG);
        files
    },
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let far = FARTHEST as f64;
    let by = |name, label| InputSpec::number(name, label, (-far, far, 1.0), 0.0);
    vec![
        drawn::input(),
        by("right", "Pixels to the right"),
        by("down", "Pixels down"),
    ]
}

fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let (models, log) = (Three::open(cache)?, cache.opened::<String>(LOG)?);
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &models, &log)))
}

fn compute(inputs: &Inputs, models: &Three, log: &str) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let image = drawn::image(&mut record, drawn::drawing(inputs)?)?;
    let [down, right] = [inputs.number("down")?, inputs.number("right")?];
    let by = [down as isize, right as isize];
    let picture = image.view();
    let moved = shown!(record, explain::shift::moved, picture, by);
    record.tensor("moved", &moved);
    let total = image.sum();
    let lost = |moved: &Array3<f32>| match total {
        0.0 => 0.0,
        total => f64::from(1.0 - moved.sum() / total).max(0.0),
    };
    record.number("lost", lost(&moved));
    record.number("distance", down.abs().max(right.abs()));
    let before = models.probabilities(&mut record, &image)?;
    let after = models.probabilities(&mut record, &moved)?;
    for ((name, before), after) in Three::NAMES.iter().zip(&before).zip(&after) {
        let of = |what: &str| format!("{name}.{what}");
        record.tensor(&of("probabilities"), after);
        let (own, now) = (drawn::best(before), drawn::best(after));
        record.number(&of("before"), own as f64);
        record.number(&of("after"), now as f64);
        record.number(&of("sure"), f64::from(after[now]));
        record.number(&of("kept"), f64::from(after[own]));
    }
    bias_runs::changed(&mut record, log, "moved")?;
    let distances = (0..=FARTHEST).map(|by| by as f64);
    record.numbers("distances", distances.collect());
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::ready;
    use crate::input::InputValue;
    use crate::parts::test_models::{computed, number};

    fn at(label: usize, down: f64, right: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with(drawn::NAME, InputValue::Drawing(ready(label)))
            .with("down", number(down))
            .with("right", number(right));
        computed(&SPEC, &given).unwrap()
    }

    /// In place, all three read all ten ready digits but for the bag, which errs on some.
    #[test]
    fn in_place_the_digits_are_read() {
        for label in 0..10 {
            let c = at(label, 0.0, 0.0);
            for name in ["cnn", "vit"] {
                assert_eq!(c.at(&format!("{name}.after"), &[]), Some(label as f64));
            }
            assert_eq!(c.at("lost", &[]), Some(0.0));
        }
    }

    /// What the lesson says of the 4: six pixels to the right it is a 3 to digit-cnn and a 7 to digit-vit, and
    /// without positions still a 4; four pixels down digit-cnn errs and digit-vit does not.
    #[test]
    fn the_four_is_moved() {
        let answers =
            |c: &Computation| Three::NAMES.map(|name| c.at(&format!("{name}.after"), &[]).unwrap());
        assert_eq!(answers(&at(4, 0.0, 6.0)), [3.0, 7.0, 4.0]);
        for right in [-5.0, 5.0] {
            assert_eq!(answers(&at(4, 0.0, right))[..2], [4.0, 4.0]);
        }
        let down = at(4, 4.0, 0.0);
        assert_eq!(answers(&down)[1], 4.0);
        assert!(down.at("cnn.kept", &[]).unwrap() < 0.3);
    }
}
