//! Controls and drawings that cells are built from.
//!
//! A widget takes signals and callbacks: it never fetches, routes or stores. Every number that a widget
//! prints goes through [`Num`], which also writes where the number came from (`data-from`); digits that
//! are labels, not results (axes, row numbers), stand in elements with `data-label`.

mod choice;
mod concept;
mod cursor;
mod entry;
mod events;
mod grid;
mod heat_canvas;
mod heat_legend;
mod heat_map;
mod heat_table;
mod ids;
mod linked_matrices;
mod matrix_block;
mod matrix_edit;
mod num;
mod palette;
mod patch_canvas;
mod patch_grid;
mod picture_box;
mod seed_box;
mod slider;
mod text_box;
mod toggle;
mod token_strip;
mod vector_pad;

pub use choice::Choice;
pub use concept::Concept;
pub use entry::{ClearDrafts, Limits, NumberEntry, Problem, ProblemNote, Wrong, parse_number};
pub use grid::Grid;
pub use heat_map::HeatMap;
pub use linked_matrices::LinkedProduct;
pub use matrix_edit::MatrixEdit;
pub use num::Num;
pub use palette::{Domain, Palette, ink_on};
pub use patch_grid::PatchGrid;
pub use picture_box::PictureBox;
pub use seed_box::SeedBox;
pub use slider::Slider;
pub use text_box::TextBox;
pub use toggle::Toggle;
pub use token_strip::TokenStrip;
pub use vector_pad::VectorPad;

/// Place of a cell in a grid: row and column, counted from 0.
pub type Place = (usize, usize);
