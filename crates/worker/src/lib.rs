//! Runs long computations and full-size models off the page's thread.
//!
//! The page and the worker exchange small binary messages ([`protocol`]). [`service`] takes those about cells and computes in
//! slices, so that a newer request or a cancellation is heard between two slices; [`model`] loads a model and runs it token by
//! token, and [`bench`] measures that; [`folder`] is where what came from an address is kept. The binary beside this library is what the browser starts; everything that can be tested
//! stands here. It is built three times, for browsers of different abilities: [`build`].

pub mod bench;
pub mod build;
pub mod folder;
pub mod model;
pub mod protocol;
pub mod service;
