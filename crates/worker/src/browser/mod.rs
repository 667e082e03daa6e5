//! The parts that need a browser: messages, files from a host or from disk, threads. A released
//! file of the worker is for cells or for models; a debug build has one file for all.

#[cfg(feature = "cells")]
mod cells;
mod channel;
#[cfg(feature = "cells")]
mod code;
#[cfg(feature = "models")]
mod disk;
mod exports;
#[cfg(feature = "models")]
mod fetch;
#[cfg(feature = "models")]
mod memory;
#[cfg(feature = "models")]
mod models;
#[cfg(feature = "lab")]
mod resume;
#[cfg(feature = "lab")]
mod store;
mod stream;
#[cfg(feature = "models")]
mod transfer;
