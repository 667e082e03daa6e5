//! Cuts the wasm of the site, and that of the worker for cells, into chunks: one for the views of
//! each lesson's cells, and one for each cell of the worker, so that no reader waits for all of them.
//!
//! Both mark the functions to cut at (`src/chunk.rs`, `crates/worker/src/browser/code.rs`) and,
//! in release builds, are linked with their relocations (`build.rs` of each).
//! `wasm_split_cli_support` cuts the linked file into one part for each set of chunks that share
//! something ([`cut`]); [`plan`] decides which parts come in one file, and [`merge`] makes these
//! files.

mod cut;
mod error;
mod indices;
mod merge;
mod module;
mod plan;

pub(crate) use cut::{Chunks, cut_site, cut_worker};
