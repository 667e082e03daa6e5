//! Smoke tests: the built site in `dist/` (or the folder named by `E2E_DIST`) in other browsers
//! than Chromium, in which `tests/e2e.rs` drives it. A browser that is not on this machine is
//! recorded as skipped. `cargo xtask test` builds the site first; alone they run with
//!
//! ```text
//! cargo xtask build && cargo test --test smoke
//! ```
//!
//! They compare what each browser gives the site with the table in the README.
//! `UPDATE_README=1 cargo test --test smoke` writes the table again.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "every function here is part of a test"
)]

mod smoke {
    mod abilities;
    mod browser;
    #[path = "../e2e/file_host.rs"]
    #[allow(dead_code, reason = "the end-to-end tests use the rest of it")]
    mod file_host;
    mod formulas;
    mod lab;
    mod lessons;
    mod readme;
    #[path = "../e2e/site.rs"]
    #[allow(dead_code, reason = "the end-to-end tests use the rest of it")]
    mod site;
}
