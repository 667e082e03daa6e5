//! The browser's abilities, one a file.
//!
//! This folder makes every call of the browser that looks something up in it, can fail as a whole,
//! or keeps something alive: window and document, listeners, observers, workers, storage, files,
//! history, parsing. Other files use only values that Leptos or this folder passes to them:
//! elements, events, files, and the drawing context of a canvas. `tests/house.rs` checks that.

pub(crate) mod abilities;
pub(crate) mod address;
pub(crate) mod camera;
pub(crate) mod canvas;
pub(crate) mod clipboard;
pub(crate) mod clock;
pub(crate) mod dom;
pub(crate) mod download;
pub(crate) mod fetch;
pub(crate) mod full_screen;
pub(crate) mod given_files;
pub(crate) mod near;
pub(crate) mod offline_copy;
pub(crate) mod page;
pub(crate) mod picture;
mod picture_header;
pub(crate) mod port;
pub(crate) mod preference;
pub(crate) mod raster;
pub(crate) mod reader;
pub(crate) mod resize;
pub(crate) mod result;
pub(crate) mod storage;
pub(crate) mod theme;
pub(crate) mod turns;
pub(crate) mod width;
