//! Grids of numbers, colour maps, and printed numbers, which widgets and charts share.

pub mod grid;
pub mod num;
pub mod palette;

pub use ::plot::Concept;
pub use grid::Grid;
pub use num::Num;
pub use palette::{Domain, Palette};

/// Position of a cell in a grid: row and column, counted from 0.
pub type Place = (usize, usize);
