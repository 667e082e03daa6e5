//! Training in headless Chromium: the same bits as natively, and how long a task takes to learn.
//!
//! ```text
//! export CHROMEDRIVER=/usr/bin/chromedriver
//! cargo test -p engine --target wasm32-unknown-unknown --test grad_wasm
//! WASM_BINDGEN_TEST_TIMEOUT=300 cargo test --release -p engine --target wasm32-unknown-unknown --test grad_wasm -- \
//!   --include-ignored --nocapture
//! ```
#![cfg(target_family = "wasm")]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "engine/gradients/bits.rs"]
mod bits;

use engine::grad::{Learner, Schedule, Settings, Task, TrainingConfig};
use engine::kernel;
use wasm_bindgen_test::{Instant, console_log, wasm_bindgen_test, wasm_bindgen_test_configure};

// Not in the page, which the runner gives up when it does not answer for 30 seconds.
wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn plain_kernels_give_the_known_bits() {
    bits::plain_kernels_give_the_known_bits();
}

#[wasm_bindgen_test]
fn four_lanes_give_the_known_bits() {
    if cfg!(target_feature = "simd128") {
        bits::four_lanes_give_the_known_bits();
    }
}

#[wasm_bindgen_test]
fn quick_kernels_repeat_and_stay_near() {
    bits::quick_kernels_repeat_and_stay_near();
}

#[wasm_bindgen_test]
fn training_never_uses_relaxed_simd() {
    let expected = match cfg!(target_feature = "simd128") {
        true => "simd128",
        false => "reference",
    };
    assert_eq!(kernel::steady().name(), expected);
}

/// Seconds until 98 % of 500 held-out sequences of 16 symbols are reversed wholly right; 100 of
/// them are looked at every 50 steps.
#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn time_to_learn_to_reverse() {
    let (symbols, length, steps) = (10, 16, 800);
    let schedule = Schedule::Cosine {
        peak: 0.002,
        last: 0.0001,
        warmup: 100,
        steps,
    };
    let task = Task::Reverse { symbols, length };
    let mut learner =
        Learner::new(TrainingConfig::of(task, schedule), Settings::default()).unwrap();
    let start = Instant::now();
    for n in 1..=steps {
        let loss = learner.step().unwrap();
        if n % 50 == 0 {
            let score = |count| 100.0 * learner.score(count).unwrap();
            let few = score(100);
            let elapsed_s = start.elapsed().as_secs_f64();
            console_log!("step {n:4} {elapsed_s:6.1} s loss {loss:.4} {few:5.1} %");
            if few >= 98.0 && score(500) >= 98.0 {
                let elapsed_s = start.elapsed().as_secs_f64();
                return console_log!("{:.1} % of 500 after {elapsed_s:.1} s", score(500));
            }
        }
    }
    panic!("not learned in {steps} steps");
}
