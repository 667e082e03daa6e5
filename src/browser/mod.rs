//! The browser's abilities, one a file.
//!
//! Here is every call of the browser that looks something up in it, can fail as a whole, or keeps
//! something alive: window and document, listeners, observers, workers, storage, files, history,
//! parsing. Elsewhere only values that Leptos or this folder hands over appear: elements, events,
//! files, and the drawing context of a canvas. `tests/house.rs` holds the other files to that.

pub(crate) mod abilities;
pub(crate) mod address;
pub(crate) mod canvas;
pub(crate) mod clipboard;
pub(crate) mod clock;
pub(crate) mod dom;
pub(crate) mod download;
pub(crate) mod fetch;
pub(crate) mod full_screen;
pub(crate) mod page;
pub(crate) mod picture;
pub(crate) mod port;
pub(crate) mod raster;
pub(crate) mod result;
pub(crate) mod storage;
pub(crate) mod theme;
