//! How each cell looks: one view a cell, a frame around all of them, and the registry that maps names to views.

mod attention_map;
pub(crate) mod context;
mod controls;
mod export;
pub(crate) mod frame;
pub mod registry;
pub(crate) mod run;
pub(crate) mod rust_panel;
mod share;
pub(crate) mod sheet;
