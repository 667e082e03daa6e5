//! Cuts the site's wasm into chunks: one for the cells of each lesson, so that no reader waits for all of them.
//!
//! The site marks the functions to cut at (`src/chunk.rs`) and, in release builds, is linked with its relocations
//! (`build.rs`). `wasm_split_cli_support` cuts the linked file into one part for each set of chunks that share something ([`cut`]);
//! [`plan`] decides which parts come in one file, and [`merge`] makes these files.

mod cut;
mod error;
mod merge;
mod module;
mod plan;

pub(crate) use cut::{Chunks, cut};
