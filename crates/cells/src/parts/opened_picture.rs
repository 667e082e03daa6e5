//! The picture that an opened model has read, as an input of the cells that look at it.

use crate::input::InputSpec;

/// Name of the input that says which of the reader's pictures a cell is about.
pub(crate) const NAME: &str = "picture";

/// The number of the picture, counted from the first that the model read. The picture itself is in the
/// worker, which has read it already: another number asks for another computation.
pub(crate) fn input() -> InputSpec {
    InputSpec::number(NAME, "Number of the picture", (0.0, 1e9, 1.0), 0.0)
}
