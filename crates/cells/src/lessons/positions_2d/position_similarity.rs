//! The similarity of learned position vectors, a map for each patch: those of digit-vit along its training,
//! and those of a model that the reader has opened.

use std::sync::Arc;

use engine::trace::Recorder;
use ndarray::{Array2, Array3, Axis, Ix2, Slice};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::{ModelCache, PositionTables};
use crate::parts::opened_picture;
use crate::picture_model::OpenedPicture;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// Patches along a side of a digit.
const ACROSS: usize = 7;

/// The steps of the training run whose tables the file holds.
const STEPS: &[&str] = &["0", "100", "300", "1000", "3000", "7000"];

/// The file of the tables.
const FILE: &str = "position-tables.safetensors";

/// The cell `position-similarity`.
pub const SPEC: CellSpec = CellSpec {
    name: "position-similarity",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| vec![FILE],
    start,
    partial_from: None,
};

/// Most patches of a picture that an opened model reads, and most whose maps are shown all at once.
const MOST_PATCHES: usize = 4096;
const MOST_MAPS: usize = 1024;

/// What a reader is told whose model has no table of positions.
const NO_TABLE: &str =
    "This cell compares the vectors of a learned table of positions. The open model has none.";

/// The cell on a model that the reader has opened.
pub const OPENED: CellSpec = CellSpec {
    name: SPEC.name,
    inputs: || vec![opened_picture::input(), chosen_input(MOST_PATCHES, 0.0)],
    run: SPEC.run,
};

/// Starts the cell on a model and the picture that it read last, whose number of patches says to which
/// size the table is stretched.
///
/// # Errors
/// A model without a table of positions.
pub fn start_opened(
    inputs: &Inputs,
    opened: Arc<OpenedPicture>,
) -> Result<Box<dyn Job>, CellError> {
    if opened.model.tokens().positions.is_none() {
        return Err(CellError::Mismatch(NO_TABLE.to_owned()));
    }
    let inputs = inputs.clone();
    Ok(once(move || compute_opened(&inputs, &opened)))
}

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::choice("after", "Training steps", STEPS),
        chosen_input(ACROSS * ACROSS, 24.0),
    ]
}

fn chosen_input(patches: usize, first: f64) -> InputSpec {
    let last = (patches - 1) as f64;
    InputSpec::number(
        "chosen",
        "Chosen patch, counted from 0",
        (0.0, last, 1.0),
        first,
    )
}

/// Begins to compute.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let (inputs, tables) = (inputs.clone(), cache.opened::<PositionTables>(FILE)?);
    Ok(once(move || compute(&inputs, &tables)))
}

fn compute(inputs: &Inputs, tables: &Arc<PositionTables>) -> Result<Computation, CellError> {
    let after = inputs.choice("after")?;
    let mut record = Record::new();
    let mut along = Array2::zeros((KINDS.len(), STEPS.len()));
    let mut shown = None;
    for (n, step) in STEPS.iter().enumerate() {
        let table = table_after(tables, step)?.view();
        let alike = match *step == after {
            true => shown!(record, explain::similarity::cosine_rows, table, table)?,
            false => explain::similarity::cosine_rows(table, table)?,
        };
        for (kind, (_, pairs)) in KINDS.into_iter().enumerate() {
            along[[kind, n]] = mean_of(&alike, pairs) as f32;
        }
        if *step == after {
            shown = Some(alike);
        }
    }
    let alike = shown.ok_or_else(|| CellError::Missing(format!("the table of {after}")))?;
    record.tensor("along", &along);
    let words = |all: &[&str]| -> Vec<String> { all.iter().map(|&word| word.to_owned()).collect() };
    record.words("steps", words(STEPS));
    record.words("command", vec![tables.command.clone()]);
    record.words("kinds", words(&KINDS.map(|(name, _)| name)));
    record.tensor("alike", &alike);
    maps(&mut record, &alike, (ACROSS, ACROSS), inputs)?;
    Ok(record.finish())
}

fn compute_opened(inputs: &Inputs, opened: &OpenedPicture) -> Result<Computation, CellError> {
    let (tokens, mut seen) = (opened.model.tokens(), Recorder::default());
    tokens.forward(opened.image.view(), &mut Some(&mut seen))?;
    let found = seen
        .get("positions")
        .map(|found| found.view().into_dimensionality::<Ix2>());
    let Some(Ok(found)) = found else {
        return Err(CellError::Mismatch(NO_TABLE.to_owned()));
    };
    // The class token has a position too, but no place in the picture.
    let first = usize::from(tokens.class.is_some());
    let table = found.slice_axis(Axis(0), Slice::from(first..));
    let alike = explain::similarity::cosine_rows(table, table)?;
    let mut record = Record::new();
    maps(&mut record, &alike, opened.grid(), inputs)?;
    Ok(record.finish())
}

/// Records the map of the chosen patch, and all maps as one picture: at row r and column c of the patches,
/// the map of that patch.
fn maps(
    record: &mut Record,
    alike: &Array2<f32>,
    (rows, columns): (usize, usize),
    inputs: &Inputs,
) -> Result<(), CellError> {
    let last = (rows * columns).saturating_sub(1);
    let chosen = inputs.count("chosen")?.min(last);
    record.number("chosen", chosen as f64);
    let of = |at: usize, row: usize, column: usize| {
        let other = row * columns + column;
        alike.get([at, other]).copied().unwrap_or_default()
    };
    let map = Array2::from_shape_fn((rows, columns), |(row, column)| of(chosen, row, column));
    record.tensor("map", &map);
    // A map is a square, as a patch is, with a margin where the picture is none.
    let side = rows.max(columns);
    record.number("side", side as f64);
    if rows * columns > MOST_MAPS {
        return Ok(());
    }
    let size = (1, rows * side, columns * side);
    let picture = Array3::from_shape_fn(size, |(_, y, x)| {
        let (row, column) = (y % side, x % side);
        if row < rows && column < columns {
            of(y / side * columns + x / side, row, column)
        } else {
            0.0
        }
    });
    record.tensor("maps", &picture);
    Ok(())
}

/// The table after so many steps, which must be one of these patches.
fn table_after<'a>(tables: &'a PositionTables, step: &str) -> Result<&'a Array2<f32>, CellError> {
    let mut all = tables.tables.iter();
    let found = all.find(|(known, _)| known.to_string() == step);
    let (_, table) = found.ok_or_else(|| CellError::Missing(format!("the table of {step}")))?;
    let patches = ACROSS * ACROSS;
    if table.nrows() != patches {
        let message = format!("a table of {} patches, not {patches}", table.nrows());
        return Err(CellError::Mismatch(message));
    }
    Ok(table)
}

/// How two patches lie to each other, from their rows and columns.
type Pairs = fn([usize; 2], [usize; 2]) -> bool;

/// The pairs whose mean similarity is shown.
const KINDS: [(&str, Pairs); 4] = [
    ("side by side", |a, b| {
        a[0] == b[0] && a[1].abs_diff(b[1]) == 1
    }),
    ("one above the other", |a, b| {
        a[1] == b[1] && a[0].abs_diff(b[0]) == 1
    }),
    ("two apart in a row", |a, b| {
        a[0] == b[0] && a[1].abs_diff(b[1]) == 2
    }),
    ("in no common row or column", |a, b| {
        a[0] != b[0] && a[1] != b[1]
    }),
];

/// The mean similarity of all pairs of a kind.
fn mean_of(alike: &Array2<f32>, kind: Pairs) -> f64 {
    let place = |patch: usize| [patch / ACROSS, patch % ACROSS];
    let (mut sum, mut count) = (0.0, 0.0);
    for ((a, b), value) in alike.indexed_iter() {
        if kind(place(a), place(b)) {
            sum += f64::from(*value);
            count += 1.0;
        }
    }
    sum / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, number};

    fn at(after: &str, chosen: usize) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("after", choice(after))
            .with("chosen", number(chosen as f64));
        computed(&SPEC, &given).unwrap()
    }

    /// The mean similarity of a kind of pairs after the steps of this number.
    fn along(c: &Computation, kind: usize, step: usize) -> f64 {
        c.at("along", &[kind, step]).unwrap()
    }

    /// Each patch's map lies where the patch does, and holds a 1 at its own place.
    #[test]
    fn every_map_is_at_its_patch() {
        let c = at("7000", 10);
        for patch in 0..49 {
            let (row, column) = (patch / 7, patch % 7);
            let own = c.at("maps", &[0, 8 * row, 8 * column]).unwrap();
            assert!((own - 1.0).abs() < 1e-6, "{patch}");
            let other = (patch * 5 + 3) % 49;
            let place = [0, 7 * row + other / 7, 7 * column + other % 7];
            assert_eq!(c.at("maps", &place), c.at("alike", &[patch, other]));
        }
        for other in 0..49 {
            let in_map = c.at("map", &[other / 7, other % 7]);
            assert_eq!(in_map, c.at("alike", &[10, other]));
        }
    }

    /// What the lesson says: neighbours become alike, those in a row more than twice as much as those in
    /// a column, and patches that share neither become a little unlike.
    #[test]
    fn rows_appear_in_training() {
        let c = at("0", 24);
        for kind in 0..4 {
            assert!(along(&c, kind, 0).abs() < 0.03, "{kind}");
        }
        for step in 2..6 {
            assert!(along(&c, 0, step) > along(&c, 0, step - 1), "{step}");
            assert!(along(&c, 0, step) > along(&c, 1, step), "{step}");
        }
        assert!(along(&c, 0, 5) > 2.0 * along(&c, 1, 5));
        assert!(along(&c, 1, 5) > 0.1 && along(&c, 3, 5) < 0.0);
        assert_eq!(c.words("steps"), STEPS);
    }

    /// For 34 of 49 patches the most similar other vector is that of a direct neighbour; before training,
    /// for 5.
    #[test]
    fn the_most_similar_patch_is_a_neighbour() {
        let neighbours = |after: &str| {
            let c = at(after, 24);
            let nearest = |patch: usize| {
                let others = (0..49).filter(|&other| other != patch);
                let alike = |other: usize| c.at("alike", &[patch, other]).unwrap();
                others
                    .max_by(|&a, &b| alike(a).total_cmp(&alike(b)))
                    .unwrap()
            };
            let apart = |a: usize, b: usize| (a / 7).abs_diff(b / 7) + (a % 7).abs_diff(b % 7);
            (0..49)
                .filter(|&patch| apart(patch, nearest(patch)) == 1)
                .count()
        };
        assert_eq!((neighbours("0"), neighbours("7000")), (5, 34));
    }
}
