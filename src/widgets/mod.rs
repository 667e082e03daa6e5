//! Controls and drawings that cells are built from.
//!
//! A widget takes signals and callbacks: it never fetches, routes or stores. Every number that a
//! widget prints goes through [`Num`], which also writes where the number came from (`data-from`);
//! digits that are labels, not results (axes, row numbers), are in elements with `data-label`.

pub mod arcs;
pub mod camera_dialog;
pub mod choice;
mod cursor;
pub mod drawing_pad;
pub mod entry;
mod events;
mod heat_canvas;
mod heat_cells;
mod heat_density;
mod heat_legend;
pub mod heat_map;
mod heat_served;
mod heat_table;
mod ids;
pub mod joined;
pub mod linked_matrices;
mod markup;
mod matrix_block;
pub mod matrix_edit;
pub mod more;
mod patch_canvas;
pub mod patch_grid;
pub mod picture_box;
pub mod plane;
mod plane_geometry;
pub mod seed_box;
mod selected;
pub mod slider;
pub mod text_box;
pub mod toggle;
pub mod token_strip;

pub(crate) use crate::display::label::set;
pub use crate::display::{Concept, Domain, Grid, Num, Palette, Place};
pub use arcs::Arcs;
pub(crate) use arcs::weighted_lines;
pub use choice::Choice;
pub(crate) use cursor::{moved, moved_along};
pub use drawing_pad::DrawingPad;
pub(crate) use drawing_pad::sketch;
pub(crate) use entry::on_reset;
pub use entry::{ClearDrafts, Limits, NumberEntry, Problem, ProblemNote, Wrong, parse_number};
pub(crate) use events::{focus_place, place_of, place_text};
pub(crate) use heat_legend::{legend, mask_legend};
pub use heat_map::{Hatched, HatchedMap, HeatMap};
pub use joined::{Course, Joint};
pub use linked_matrices::LinkedProduct;
pub use matrix_edit::MatrixEdit;
pub use more::More;
pub use patch_grid::PatchGrid;
pub use picture_box::PictureBox;
pub use plane::{Mark, Net, Plane, Tip};
pub use seed_box::SeedBox;
pub use selected::Selected;
pub use slider::Slider;
pub use text_box::TextBox;
pub use toggle::Toggle;
pub use token_strip::TokenStrip;
