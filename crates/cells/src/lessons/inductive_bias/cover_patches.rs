//! The reader's digit with some patches covered, and shuffled, read by a convolutional network and by
//! Vision Transformers; and how many test digits they read so.

use engine::rng::Rng;

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

/// Patches of a digit, and the side of one in pixels.
const PATCHES: usize = 49;
const SIDE: usize = 4;

/// The cell `cover-patches`.
pub const SPEC: CellSpec = CellSpec {
    name: "cover-patches",
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
    vec![
        drawn::input(),
        InputSpec::number("covered", "Covered patches", (0.0, 48.0, 1.0), 8.0),
        InputSpec::toggle("shuffled", "Shuffle the patches", false),
        InputSpec::seed(7),
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
    let (seed, count) = (inputs.seed()?, inputs.count("covered")?);
    let order = |name: &str| Rng::named(seed, name).permutation(PATCHES);
    let hidden = order("cover");
    let hidden = &hidden[..count.min(PATCHES)];
    let picture = image.view();
    let mut changed = shown!(record, explain::jigsaw::covered, picture, SIDE, hidden)?;
    if inputs.toggle("shuffled")? {
        let (picture, order) = (changed.view(), order("shuffle"));
        changed = shown!(
            record,
            explain::jigsaw::rearranged,
            picture,
            SIDE,
            &order[..]
        )?;
    }
    record.tensor("changed", &changed);
    record.number("hidden", hidden.len() as f64);
    record.number("patches", PATCHES as f64);
    let found = models.probabilities(&mut record, &changed)?;
    for (name, found) in Three::NAMES.iter().zip(&found) {
        let best = drawn::best(found);
        record.tensor(&format!("{name}.probabilities"), found);
        record.number(&format!("{name}.answer"), best as f64);
        record.number(&format!("{name}.sure"), f64::from(found[best]));
    }
    bias_runs::changed(&mut record, log, "covered")?;
    bias_runs::changed(&mut record, log, "shuffled")?;
    // The log has every eighth number of covered patches.
    let counts = (0..=5).map(|n| f64::from(8 * n));
    record.numbers("counts", counts.collect());
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::parts::test_models::{computed, number};

    fn at(covered: f64, shuffled: bool) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("covered", number(covered))
            .with("shuffled", InputValue::Toggle(shuffled));
        computed(&SPEC, &given).unwrap()
    }

    /// Covering takes ink and shuffling none; without a change all three read the 4, and shuffled only the
    /// model without positions does.
    #[test]
    fn patches_are_covered_and_shuffled() {
        let ink = |c: &Computation| c.tensor("changed").unwrap().values.sum();
        let answers = |c: &Computation| {
            Three::NAMES.map(|name| c.at(&format!("{name}.answer"), &[]).unwrap())
        };
        let (whole, shuffled, few) = (at(0.0, false), at(0.0, true), at(24.0, false));
        assert_eq!(answers(&whole), [4.0; 3]);
        assert_eq!(answers(&shuffled)[2], 4.0);
        assert!(answers(&shuffled)[0] != 4.0 && answers(&shuffled)[1] != 4.0);
        assert!((ink(&whole) - ink(&shuffled)).abs() < 1e-3 && ink(&few) < ink(&whole));
        assert_eq!(few.at("hidden", &[]), Some(24.0));
    }
}
