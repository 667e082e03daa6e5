//! What a page holds while it is open: its inputs and their history, its cells, exercises and inline values.

pub(crate) mod adopt;
pub(crate) mod exercise;
pub(crate) mod inline;
