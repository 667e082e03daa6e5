//! The numeric core: every number on a page of the notebook is computed here.
//!
//! The crate knows nothing of the page, and takes from a browser only letters and digits (feature
//! `browser`). It runs natively and in wasm, on `f32`, with
//! [`ndarray`] arrays at every public border. The fast loops live in [`kernel`] and work on
//! contiguous slices; the layers in [`nn`] check shapes and return an [`EngineError`] that names
//! the operation and both shapes.
//!
//! # One alphabet for shapes
//!
//! | letter | meaning |
//! |---|---|
//! | B | batch |
//! | T | tokens (of the sequence with the queries) |
//! | S | source tokens (of the sequence with the keys and values) |
//! | C | width of the model; in pictures, channels |
//! | H | heads; in pictures, height (then W is the picture's width) |
//! | D | width of one head, C / H |
//! | F | inner width of the MLP |
//! | V | vocabulary |
//! | P | side of a square patch |
//!
//! `[T, C]` is an array with T rows and C columns, rows contiguous. Vectors are rows: a projection
//! is written `x · W`.
//!
//! # The same bits everywhere
//!
//! Elementary functions ([`math`]) and random numbers ([`rng`]) give the same bits natively and in
//! wasm. The fast kernels add in another order than the plain loops, so their sums differ by
//! rounding errors.

pub mod beam;
pub mod decimal;
pub mod drawing;
pub mod error;
pub mod format;
pub mod formula;
pub mod generate;
pub mod grad;
pub mod model;
pub mod nn;
pub mod open;
pub mod parameters;
pub mod picture;
pub mod quant;
pub mod rng;
pub mod sample;
pub mod shape;
pub mod token;
pub mod trace;
pub mod trainable;
pub mod translate;

pub use error::{EngineError, Result};
pub use kernel;
pub use kernel::math;
pub use ndarray;
