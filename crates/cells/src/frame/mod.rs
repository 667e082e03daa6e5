//! The frame of every cell: its description, typed inputs, computed tensors, recorded calls, and
//! the ways in which these are printed, stored, graded, exported and compared with reference
//! values.

#[macro_use]
pub(crate) mod shown;

pub mod computation;
pub mod decimal;
mod described_engine;
mod described_explain;
pub mod drawing;
pub mod error;
pub mod exercise;
pub mod export;
pub mod format;
pub mod golden;
pub mod input;
mod inputs;
pub mod jobs;
pub mod model_cache;
pub mod picture;
pub mod picture_model;
pub mod selection;
pub mod spec;
pub mod state;
pub mod symbols;
pub mod text_model;
