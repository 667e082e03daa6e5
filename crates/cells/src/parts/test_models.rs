//! Helpers for tests of cells with trained models: the files of the site, and short names for inputs.

use crate::computation::Computation;
use crate::desk;
use crate::error::CellError;
use crate::input::{InputValue, Inputs};
use crate::shelf::Shelf;
use crate::spec::CellSpec;

/// The files that the site ships.
pub(crate) fn shelf() -> Shelf {
    Shelf::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models"))
}

/// The cell on these inputs.
pub(crate) fn computed(spec: &CellSpec, inputs: &Inputs) -> Result<Computation, CellError> {
    desk::compute(spec, inputs, &shelf())
}

/// A choice.
pub(crate) fn choice(name: &str) -> InputValue {
    InputValue::Choice(name.to_owned())
}

/// A number.
pub(crate) fn number(value: f64) -> InputValue {
    InputValue::Number(value)
}

/// A text.
pub(crate) fn text(value: &str) -> InputValue {
    InputValue::Text(value.to_owned())
}
