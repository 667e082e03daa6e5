//! Rebuilds the full-size models of reference files from the formula that fills them, runs them on
//! the files' inputs and compares the results with PyTorch's.

mod compare;
mod decoders;
mod encoders;
mod file;
mod files;
mod models;

pub use compare::Line;
pub use file::Failure;
pub use files::{DIFFERS, PASSED, UNUSABLE, run};
pub use models::check;
