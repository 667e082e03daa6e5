//! The views of the cells: one file a cell, beside the file of the same name in `crates/cells`, and
//! what surrounds and joins them.

pub(crate) mod frame;
pub(crate) mod lessons;
pub(crate) mod parts;
pub(crate) mod registry;
