//! End-to-end tests: the built site in `dist/` (or the folder named by `E2E_DIST`), served from
//! this machine and driven through WebDriver in headless Chromium. `cargo xtask test` builds the
//! site first and sets `CHROME` and `CHROMEDRIVER`; alone they run with
//!
//! ```text
//! cargo xtask build && cargo test --test e2e
//! ```
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "every function here is part of a test"
)]

mod e2e {
    mod alignment;
    mod arriving;
    mod axe;
    mod bad_input;
    mod basics;
    mod bench;
    mod bottleneck;
    mod browser;
    mod charts;
    mod code;
    mod cost;
    mod decoder;
    mod encoder_decoder;
    mod encoder_only;
    mod failing;
    mod file_host;
    mod guess;
    mod heads;
    mod heights;
    mod inductive_bias;
    mod instant;
    mod lab;
    mod lab_cells;
    mod lab_faults;
    mod lab_kept;
    mod lab_kinds;
    mod lab_pictures;
    mod lab_wide;
    mod leaving;
    mod make;
    mod masks;
    mod menu;
    mod mlp;
    mod models;
    mod multi_head;
    mod navigation;
    mod near;
    mod noscript;
    mod odd_pictures;
    mod offline;
    mod pad;
    mod pages;
    mod patches;
    mod perturb;
    mod policy;
    mod positions_2d;
    mod progress;
    mod provenance;
    mod reader;
    mod residual;
    mod room;
    mod scale;
    mod search;
    mod selection;
    mod site;
    mod state;
    mod tokens;
    mod tour;
    mod training;
    mod visit;
    mod vit;
    mod whole_model;
    mod windows;
    mod without_labels;
    mod workers;
}
