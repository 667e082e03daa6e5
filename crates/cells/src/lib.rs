//! The computations of the notebook's cells.
//!
//! A cell is a name, a list of typed inputs and a function from those inputs to named tensors
//! ([`Computation`]). Nothing here knows of a browser: the same code runs in the reader's tab, in
//! the page builder, in "Verify this page" and in the native tests, which is how the numbers on a
//! page can be checked at all. How a cell looks is the site's business (`src/cells/`).
//!
//! `lessons/` holds the cells, one file a cell, named as the cell with underscores; [`registry`]
//! lists them once. The function that fills a cell calls the engine through [`shown!`], which both
//! calls a function and records that it ran, with what went in and out. `parts/` holds computations
//! that several cells share, `frame/` what every cell has. [`opened`] lists the cells that also take
//! a model that the reader has opened.

#[macro_use]
mod frame;

pub mod lessons;
pub mod opened;
mod parts;
pub mod registry;

pub use frame::computation::{self, Computation, Tensor};
pub use frame::drawing::{self, Drawing};
pub use frame::error::{self, CellError};
pub use frame::input::{self, InputKind, InputSpec, InputValue, Inputs, Picture};
pub use frame::selection::{self, Selectable, Selection};
pub use frame::shown::{Call, Describe, Described, Record, described};
pub use frame::spec::{self, CellSpec, Job, Progress, Run, WorkerKind};
pub use frame::{
    decimal, exercise, export, format, golden, jobs, model_cache, picture, picture_model, state,
    symbols, text_model,
};
pub use parts::block_parts;
