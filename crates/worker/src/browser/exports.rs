//! Functions that `public/worker_start.js` calls.
#![allow(unreachable_pub, reason = "functions for JavaScript have to be public")]

use engine::kernel::threads::{self, count};
use wasm_bindgen::prelude::wasm_bindgen;

/// Listens to the page from now on.
#[wasm_bindgen]
pub fn start() {
    #[cfg(feature = "models")]
    super::models::start();
    #[cfg(not(feature = "models"))]
    super::cells::start();
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
