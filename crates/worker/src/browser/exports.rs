//! Functions that `public/worker_start.js` calls.
#![allow(unreachable_pub, reason = "functions for JavaScript have to be public")]

use engine::kernel::threads::{self, count};
use wasm_bindgen::prelude::wasm_bindgen;

/// Listens to the page from now on, as the file of this name, which ends in a hash. A debug build
/// is served under every name.
#[wasm_bindgen]
pub fn start(file: &str) {
    let name = file.rsplit_once('-').map_or(file, |(name, _)| name);
    #[cfg(feature = "cells")]
    if name == worker::build::CELLS {
        super::cells::start();
        return;
    }
    #[cfg(feature = "models")]
    super::models::start();
    #[cfg(not(feature = "models"))]
    let _ = name;
}

/// Takes part in the work of the thread that called [`start`]; never returns.
#[wasm_bindgen]
pub fn serve() {
    threads::serve();
}

/// The number of threads that share the work.
#[wasm_bindgen]
pub fn threads() -> usize {
    count()
}
