//! Runs long computations and full-size models off the page's thread.
//!
//! The page and a worker exchange small binary messages ([`protocol`]), each with the id of its
//! request. [`service`] answers requests for cells ([`cell_protocol`]); it computes in slices, and
//! between two slices takes newer requests and cancellations. [`model`] loads a model and runs it
//! token by token, and [`mod@bench`] measures that; [`folder`] holds files that came from an
//! address. The binary beside this library is what the browser starts; everything that can be
//! tested natively is in the library. [`build`] names the files that are made of this crate, for
//! browsers of different abilities.

pub mod bench;
pub mod build;
pub mod cell_protocol;
pub mod folder;
#[cfg(target_family = "wasm")]
pub mod json;
pub mod model;
pub mod protocol;
pub mod service;
