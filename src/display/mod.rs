//! Grids of numbers, colour maps, and printed numbers, which widgets and charts share.

pub mod grid;
pub(crate) mod label;
pub mod num;
pub mod palette;
pub mod theme;

pub use ::plot::Concept;
pub use grid::Grid;
pub use num::Num;
pub use palette::{Domain, Palette};

/// Up to this many cells a matrix shows its numbers unless the reader or the cell says otherwise.
pub(crate) const NUMBER_CELLS: usize = 36;

/// Position of a cell in a grid: row and column, counted from 0.
pub type Place = (usize, usize);
