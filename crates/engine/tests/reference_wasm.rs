//! GPT-2 and ViT at full size against PyTorch in headless Chromium, through the same code as
//! `notebook reference`.
//!
//! `cargo xtask test --only reference-wasm`, or from the root of the repository with the absolute
//! path of the shared folder:
//! ```text
//! export CHROMEDRIVER=/usr/bin/chromedriver NOTEBOOK_SHARED=/path/to/shared WASM_BINDGEN_TEST_TIMEOUT=600
//! cargo test --release -p engine --target wasm32-unknown-unknown --test reference_wasm --features reference-wasm -- --nocapture
//! ```
#![cfg(target_family = "wasm")]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use engine::kernel;
use wasm_bindgen_test::{Instant, console_log, wasm_bindgen_test, wasm_bindgen_test_configure};

// Not in the page, which the runner gives up when it does not answer for 30 seconds.
wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// A browser reads no files: the compiler puts the text into the program.
macro_rules! shared {
    ($name:literal) => {
        include_str!(concat!(env!("NOTEBOOK_SHARED"), "/reference/", $name))
    };
}

fn check(name: &str, text: &str, fields: usize) {
    let start = Instant::now();
    let lines = tools::reference::check(name, text).unwrap();
    for line in &lines {
        console_log!("{}", line.json());
    }
    let seconds = start.elapsed().as_secs_f64();
    console_log!(
        "{name}: {seconds:.1} s with the kernels {}",
        kernel::chosen()
    );
    assert_eq!(lines.len(), fields);
    assert!(lines.iter().all(|line| line.pass));
}

#[wasm_bindgen_test]
fn gpt2_as_pytorch() {
    check("gpt2.json", shared!("gpt2.json"), 9);
}

#[wasm_bindgen_test]
fn vit_as_pytorch() {
    check("vit.json", shared!("vit.json"), 5);
}

#[wasm_bindgen_test]
fn vit_at_384_pixels_as_pytorch() {
    check("vit384.json", shared!("vit384.json"), 4);
}
