//! The frame of every cell: inputs and results as signals, recomputing, tools, and dialogs.

pub(crate) mod context;
mod controls;
mod export;
pub(crate) mod layout;
pub(crate) mod reserve;
pub(crate) mod run;
pub(crate) mod rust_panel;
pub(crate) mod selection;
mod share;
pub(crate) mod sheet;
mod verify;
