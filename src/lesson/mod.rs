//! Cells, exercises and inline values of an open page.

pub(crate) mod adopt;
pub(crate) mod declared;
pub(crate) mod exercise;
pub(crate) mod inline;
mod served;
