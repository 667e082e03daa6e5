//! Full-size models in headless Chromium: prints times, asserts nothing, runs only when asked for.
//!
//! ```text
//! export CHROMEDRIVER=/usr/bin/chromedriver WASM_BINDGEN_TEST_TIMEOUT=600
//! RUSTFLAGS="-Ctarget-feature=+simd128,+relaxed-simd" cargo test --release -p engine --target wasm32-unknown-unknown \
//!   --test speed_models_wasm --features relaxed-simd -- --include-ignored --nocapture
//! ```
#![cfg(target_family = "wasm")]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use engine::formula::{Formula, image};
use engine::kernel;
use engine::model::decoder::Session;
use engine::model::gpt2::{self, Gpt2};
use engine::model::vit::{self, Vit};
use engine::parameters::Compressed;
use engine::quant::Type;
use wasm_bindgen_test::{Instant, console_log, wasm_bindgen_test, wasm_bindgen_test_configure};

// Not in the page, which the runner gives up when it does not answer for 30 seconds.
wasm_bindgen_test_configure!(run_in_dedicated_worker);

const RUNS: usize = 5;
const PROMPT: usize = 128;
const NEW: usize = 64;

/// The smallest of some times in seconds, and all of them.
fn report(what: &str, count: usize, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let rate = count as f64 / times[times.len() / 2];
    console_log!(
        "{what}: median {:.1} ms, fastest {:.1} ms, {rate:.1} a second, kernels {}",
        times[times.len() / 2] * 1e3,
        times[0] * 1e3,
        kernel::chosen()
    );
}

fn gpt2(kind: Type) {
    let config = gpt2::Config::gpt2_124m();
    let source = Formula::new(0, config.shapes());
    let model = Gpt2::load(config, &mut Compressed::new(source, kind)).unwrap();
    let prompt: Vec<usize> = (0..PROMPT).map(|n| n * 389 % 50_257).collect();
    let (mut reading, mut writing) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let mut session = Session::new(&model);
        let start = Instant::now();
        let mut logits = session.feed(&prompt).unwrap();
        reading.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        for _ in 0..NEW {
            let best = engine::sample::greedy(logits.view()).unwrap();
            logits = session.feed(&[best]).unwrap();
        }
        writing.push(start.elapsed().as_secs_f64());
    }
    report(
        &format!("GPT-2 {} prompt of {PROMPT}", kind.name()),
        PROMPT,
        reading,
    );
    report(&format!("GPT-2 {} {NEW} new", kind.name()), NEW, writing);
}

fn vit(kind: Type) {
    let config = vit::Config::vit_b16();
    let source = Formula::new(0, config.shapes());
    let model = Vit::load(config, &mut Compressed::new(source, kind)).unwrap();
    let picture = image(224, 0);
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        model.forward(picture.view(), None).unwrap();
        start.elapsed().as_secs_f64()
    });
    report(&format!("ViT-B/16 {}", kind.name()), 1, times.collect());
}

#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn gpt2_q8_0() {
    gpt2(Type::Q8_0);
}

#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn gpt2_q4_0() {
    gpt2(Type::Q4_0);
}

#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn vit_q8_0() {
    vit(Type::Q8_0);
}

#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn vit_f32() {
    vit(Type::F32);
}
