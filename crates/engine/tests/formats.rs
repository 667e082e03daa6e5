//! The readers of weight files: damaged files are refused, trained ones tell the stories that are
//! known of them.
#![cfg(not(target_family = "wasm"))]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "formats/damaged.rs"]
mod damaged;
#[path = "formats/make.rs"]
mod make;
#[path = "formats/random.rs"]
mod random;
#[path = "formats/trained.rs"]
mod trained;
