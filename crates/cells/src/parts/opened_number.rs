//! A tensor of a model that the reader has opened, and one number of it as the sum that it is. The
//! results have the names that `src/cells/parts/model_parts.rs` shows.

use std::ops::Range;

use explain::one_number::{OneNumber, Part};
use ndarray::{Array2, Axis};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::Inputs;

/// Row and column, from 0, that the inputs choose; a number beyond means the last.
pub(crate) fn chosen(inputs: &Inputs, tensor: &Array2<f32>) -> Result<(usize, usize), CellError> {
    Ok((
        inputs.count("row")?.clamp(1, tensor.nrows()) - 1,
        inputs.count("column")?.clamp(1, tensor.ncols()) - 1,
    ))
}

/// The columns that are shown with a column, of so many.
fn part_of(count: usize, column: usize, at_once: usize) -> Range<usize> {
    let first = column / at_once * at_once;
    first..count.min(first + at_once)
}

/// Keeps the part of this name: its tensor, of a wide one the `at_once` columns around the selected
/// number, with the names of its columns where they have any.
pub(crate) fn keep_tensor(
    record: &mut Record,
    name: &str,
    (tensor, columns): (&Array2<f32>, Vec<String>),
    place: (usize, usize),
    at_once: usize,
) {
    let shown = part_of(tensor.ncols(), place.1, at_once);
    record.number("first", shown.start as f64);
    record.number("width", tensor.ncols() as f64);
    record.tensor("opened", &tensor.slice_axis(Axis(1), shown.into()));
    record.words("columns", columns);
    record.words("part", vec![name.to_owned()]);
    record.number("row", (place.0 + 1) as f64);
    record.number("column", (place.1 + 1) as f64);
}

/// Keeps the selected number with its terms, whose rows have these names where they have any.
pub(crate) fn keep_number(record: &mut Record, number: &OneNumber, rows: Vec<String>) {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    record.tensor("terms", &number.terms);
    record.words("terms.columns", owned(number.columns));
    record.words("terms.rows", rows);
    let steps = number.steps.iter();
    record.numbers(
        "steps",
        steps.clone().map(|step| f64::from(step.1)).collect(),
    );
    record.words("steps.names", steps.map(|step| step.0.to_owned()).collect());
    record.number("value", f64::from(number.value));
    let difference = f64::from(number.value) - f64::from(number.end());
    record.number("difference", difference.abs());
}

/// The names of the terms of a number of this part.
pub(crate) fn term_names(part: Part, tokens: &[String]) -> Vec<String> {
    let owned = |words: [&str; 2]| words.map(str::to_owned).to_vec();
    match part {
        Part::Weights | Part::Heads => tokens.to_vec(),
        Part::Input => owned(["token", "position"]),
        Part::Residual1 => owned(["stream before", "attention"]),
        Part::Residual2 => owned(["stream before", "MLP"]),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::part_of;

    #[test]
    fn of_a_wide_tensor_the_columns_around_one_are_shown() {
        for (count, column, expected) in [
            (64, 63, 0..64),
            (512, 0, 0..128),
            (512, 127, 0..128),
            (512, 128, 128..256),
            (300, 299, 256..300),
        ] {
            assert_eq!(part_of(count, column, 128), expected, "{column}");
        }
    }
}
