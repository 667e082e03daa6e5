//! The commands, each in a file of its own, and what they share.

pub(crate) mod arguments;
pub(crate) mod classify;
pub(crate) mod embed;
mod files;
pub(crate) mod fill_mask;
pub(crate) mod generate;
pub(crate) mod inspect;
pub(crate) mod learn;
pub(crate) mod quantize;
pub(crate) mod reference;
pub(crate) mod translate;
