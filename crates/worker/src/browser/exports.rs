//! Functions that `public/worker_start.js` calls.
#![allow(unreachable_pub, reason = "functions for JavaScript have to be public")]

use engine::kernel::threads::{self, count};
use wasm_bindgen::prelude::wasm_bindgen;

/// Listens to the page from now on, as the file of this name, which ends in a hash. A debug build
/// is served under every name. A file for cells fetches the code of `cell` and the file `weights`
/// below `models/` before the page asks for them, unless they are empty.
#[wasm_bindgen]
#[cfg_attr(
    not(feature = "cells"),
    expect(unused_variables, reason = "only a worker for cells has use for them")
)]
pub fn start(file: &str, cell: &str, weights: &str) {
    let is_for_cells = file
        .rsplit_once('-')
        .is_some_and(|(name, _)| name == worker::build::CELLS);
    #[cfg(feature = "cells")]
    if is_for_cells {
        super::cells::start(cell, weights);
    }
    #[cfg(feature = "models")]
    if !is_for_cells {
        super::models::start();
    }
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
