//! Widgets and charts in a real browser.
//!
//! Run with Chromium and its driver installed (`webdriver.json` holds the browser's arguments):
//!
//! ```sh
//! cargo test --target wasm32-unknown-unknown -p transformer-notebook --test web
//! ```
#![cfg(target_arch = "wasm32")]
#![allow(
    clippy::unwrap_used,
    reason = "a test may stop where something is missing"
)]

mod web {
    mod charts;
    mod guess;
    mod heat;
    mod json;
    mod matrix;
    mod numbers;
    mod page;
    mod selected;
    mod tokens;
    mod unicode;
}

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
