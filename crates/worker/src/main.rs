//! The worker as the browser starts it.
//!
//! `main` does nothing, because every thread that shares the memory runs it.
//! `public/worker_start.js` calls `start` on the first thread and `serve` on the others.

#[cfg(target_family = "wasm")]
mod browser;

fn main() {}
