//! Runs long computations off the page's thread.
//!
//! The page and the worker exchange small binary messages ([`protocol`]); [`service`] takes them and
//! computes in slices, so that a newer request or a cancellation is heard between two slices. The binary
//! beside this library is what the browser starts; everything that can be tested stands here.

pub mod protocol;
pub mod service;
