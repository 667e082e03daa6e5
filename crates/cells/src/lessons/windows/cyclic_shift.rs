//! The cyclic shift step by step: the picture rolled, cut into windows, masked and rolled back, with the
//! mask of one window.

use ndarray::{Array2, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::lessons::patches::patch_cutter::scaled;
use crate::picture;
use crate::spec::{CellSpec, Run, WorkerKind, once};

/// Side of the picture in pixels.
const SIZE: usize = 64;

/// Side of a patch in pixels.
pub const PATCH: usize = 8;

/// Patches along a side.
pub const ACROSS: usize = SIZE / PATCH;

/// The steps, in their order.
pub const STEPS: &[&str] = &[
    "the picture",
    "rolled",
    "cut into windows",
    "masked",
    "rolled back",
];

/// The cell `cyclic-shift`.
pub const SPEC: CellSpec = CellSpec {
    name: "cyclic-shift",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: no_files,
    start: |inputs, _| {
        let inputs = inputs.clone();
        Ok(once(move || compute(&inputs)))
    },
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let last = (ACROSS * ACROSS - 1) as f64;
    vec![
        picture::input("picture", "Picture"),
        InputSpec::choice("step", "Step", STEPS),
        InputSpec::choice("window", "Window $M$", &["4", "2", "8"]),
        InputSpec::number("shift", "Shift $s$", (0.0, (ACROSS - 1) as f64, 1.0), 2.0),
        InputSpec::number(
            "chosen",
            "Chosen patch, counted from 0",
            (0.0, last, 1.0),
            63.0,
        ),
        InputSpec::entry("pair", "Selected pair of the mask", 2, None),
    ]
}

/// M and s; the shift is smaller than the window.
fn sizes(inputs: &Inputs) -> Result<(usize, usize), CellError> {
    let window = match inputs.choice("window")? {
        "2" => 2,
        "8" => 8,
        _ => 4,
    };
    let shift = inputs.count("shift")?;
    if shift < window {
        return Ok((window, shift));
    }
    let message = format!(
        "the shift must be smaller than the window: for a window of {window}, choose at most {}",
        window - 1
    );
    Err(CellError::input("shift", "Shift s", message))
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (window, shift) = sizes(inputs)?;
    let (chosen, size) = (inputs.count("chosen")?, (ACROSS, ACROSS));
    let name = inputs.choice("step")?;
    let step = STEPS.iter().position(|&step| step == name);
    let step = step.unwrap_or_default();
    let mut record = Record::new();
    let image = scaled(&mut record, inputs, SIZE)?;
    // Each patch is known by its number in the picture.
    let numbers = Array2::from_shape_fn((ACROSS * ACROSS, 1), |(n, _)| n as f32);
    let map = numbers.view();
    let cut = shown!(
        record,
        engine::nn::window::partition,
        map,
        size,
        window,
        shift
    )?;
    // Put together without rolling back, the windows are the rolled map.
    let rolled = shown!(
        record,
        engine::nn::window::uncut,
        cut.view(),
        size,
        window,
        0
    )?;
    let masks = shown!(record, engine::nn::window::shift_mask, size, window, shift)?;

    let area = window * window;
    let at = cut
        .iter()
        .position(|&n| n as usize == chosen)
        .unwrap_or_default();
    let (number, query) = (at / area, at % area);
    let mask = masks.index_axis(Axis(0), number);
    let tokens: Vec<usize> = cut
        .iter()
        .skip(number * area)
        .take(area)
        .map(|&n| n as usize)
        .collect();
    let visible = |key: usize| mask[[query, key]] == 0.0;

    let is_rolled = (1..=3).contains(&step);
    let order: Vec<usize> = match is_rolled {
        true => rolled.iter().map(|&n| n as usize).collect(),
        false => (0..ACROSS * ACROSS).collect(),
    };
    let picture = shown!(
        record,
        explain::jigsaw::rearranged,
        image.view(),
        PATCH,
        &order[..]
    )?;
    let lit = |patch: usize| match (step, tokens.iter().position(|&token| token == patch)) {
        (2, Some(_)) => true,
        (3 | 4, Some(key)) => visible(key),
        _ => false,
    };
    let seen = Array2::from_shape_fn(size, |(row, column)| {
        f32::from(u8::from(lit(order[row * ACROSS + column])))
    });

    record.tensor("picture", &picture);
    record.tensor("seen", &seen);
    record.tensor("mask", &mask);
    record.numbers("order", order.iter().map(|&n| n as f64).collect());
    record.numbers("tokens", tokens.iter().map(|&n| n as f64).collect());
    record.words("tokens", tokens.iter().map(usize::to_string).collect());
    record.number(
        "shown",
        order.iter().position(|&n| n == chosen).unwrap_or_default() as f64,
    );
    record.number("chosen", chosen as f64);
    record.number("window", window as f64);
    record.number("shift", shift as f64);
    record.number("area", area as f64);
    record.number("windows", masks.dim().0 as f64);
    record.number("number", number as f64);
    record.number("query", query as f64);
    record.number("groups", groups(mask.rows().into_iter()) as f64);
    record.number(
        "visible",
        (0..area).filter(|&key| visible(key)).count() as f64,
    );
    // Lines between windows: none before they are cut; rolled back, they lie where the shift puts them.
    let lines = [0, 0, window, window, window][step];
    record.number("lines", lines as f64);
    record.number("offset", if step == 4 { shift as f64 } else { 0.0 });
    Ok(record.finish())
}

/// The number of groups of a window whose patches see each other: of different rows of its mask.
fn groups<'a>(rows: impl Iterator<Item = ndarray::ArrayView1<'a, f32>>) -> usize {
    let mut seen = Vec::new();
    for row in rows {
        if !seen.contains(&row) {
            seen.push(row);
        }
    }
    seen.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, number};

    fn at(window: &str, shift: usize, chosen: usize, step: &str) -> Result<Computation, CellError> {
        let given = Inputs::defaults(&inputs())
            .with("window", choice(window))
            .with("shift", number(shift as f64))
            .with("chosen", number(chosen as f64))
            .with("step", choice(step));
        computed(&SPEC, &picture::with_drawn_samples(given))
    }

    fn all(c: &Computation, name: &str) -> Vec<f64> {
        c.tensor(name).unwrap().values.iter().copied().collect()
    }

    fn value(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// What the lesson says: the corner's window holds the four corners of the picture, and the mask
    /// lets it see the three patches beside it and itself.
    #[test]
    fn the_last_window_holds_the_four_corners() {
        let c = at("4", 2, 63, "masked").unwrap();
        assert_eq!(value(&c, "number"), 3.0);
        assert_eq!((value(&c, "groups"), value(&c, "visible")), (4.0, 4.0));
        let tokens = all(&c, "tokens");
        for corner in [0.0, 7.0, 56.0, 63.0] {
            assert!(tokens.contains(&corner), "{corner}");
        }
        let mask = c.tensor("mask").unwrap();
        assert_eq!(mask.shape(), [16, 16]);
        assert!(mask.values.iter().all(|&m| m == 0.0 || m == -200.0));
        assert_eq!(mask.values.iter().filter(|&&m| m == 0.0).count(), 64);
    }

    /// How many groups each of the four windows holds, and what a patch sees: the product of two sides.
    #[test]
    fn each_window_has_its_groups() {
        let groups =
            [18, 22, 50, 54].map(|chosen| value(&at("4", 2, chosen, "masked").unwrap(), "groups"));
        assert_eq!(groups, [1.0, 2.0, 2.0, 4.0]);
        // The exercise: a shift of 1 or 3 leaves groups of nine.
        let nine = |shift: usize| {
            let found =
                (0..64).filter(|&n| value(&at("4", shift, n, "masked").unwrap(), "visible") == 9.0);
            found.collect::<Vec<_>>()
        };
        assert_eq!(nine(1), [45, 46, 47, 53, 54, 55, 61, 62, 63]);
        assert_eq!(nine(3), [0, 1, 2, 8, 9, 10, 16, 17, 18]);
        assert!(nine(2).is_empty() && nine(0).is_empty());
    }

    /// Rolled, the patch in the first row and column is the one `shift` further; rolled back, everything
    /// is in its place, and a patch sees only patches near it.
    #[test]
    fn the_steps_roll_and_roll_back() {
        let whole: Vec<f64> = (0..64).map(f64::from).collect();
        for step in ["the picture", "rolled back"] {
            assert_eq!(all(&at("4", 2, 63, step).unwrap(), "order"), whole);
        }
        let c = at("4", 2, 63, "rolled").unwrap();
        assert_eq!(all(&c, "order")[..3], [18.0, 19.0, 20.0]);
        assert_eq!(all(&c, "order")[63], 9.0);
        assert_eq!(value(&c, "shown"), 45.0);
        for chosen in 0..64 {
            let c = at("4", 2, chosen, "rolled back").unwrap();
            let seen = c.tensor("seen").unwrap();
            for ((row, column), lit) in seen
                .values
                .view()
                .into_dimensionality::<ndarray::Ix2>()
                .unwrap()
                .indexed_iter()
            {
                let near = row.abs_diff(chosen / 8) < 4 && column.abs_diff(chosen % 8) < 4;
                assert!(near || *lit == 0.0, "{chosen}: {row}, {column}");
            }
            assert_eq!(seen.values.sum(), value(&c, "visible"));
        }
    }

    #[test]
    fn without_a_shift_nothing_is_hidden() {
        for (window, area) in [("2", 4.0), ("4", 16.0), ("8", 64.0)] {
            let c = at(window, 0, 63, "masked").unwrap();
            assert_eq!((value(&c, "groups"), value(&c, "visible")), (1.0, area));
            assert_eq!(value(&c, "windows"), 64.0 / area);
        }
        let cut = at("4", 0, 63, "cut into windows").unwrap();
        assert_eq!(cut.tensor("seen").unwrap().values.sum(), 16.0);
    }

    #[test]
    fn a_shift_as_large_as_the_window_gets_a_message() {
        assert!(matches!(
            at("2", 2, 0, "rolled"),
            Err(CellError::Input { .. })
        ));
        assert!(at("8", 7, 0, "rolled").is_ok());
    }
}
