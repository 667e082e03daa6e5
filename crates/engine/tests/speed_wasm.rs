//! Each fast kernel against the plain loops in headless Chromium: prints the times, asserts nothing, runs only when asked for.
//!
//! ```text
//! export CHROMEDRIVER=/usr/bin/chromedriver
//! cargo test --release -p engine --target wasm32-unknown-unknown --test speed_wasm -- --include-ignored --nocapture
//! RUSTFLAGS="-Ctarget-feature=+simd128,+relaxed-simd" cargo test --release -p engine --target wasm32-unknown-unknown \
//!   --test speed_wasm --features relaxed-simd -- --include-ignored --nocapture
//! ```
#![cfg(target_family = "wasm")]

#[path = "../benches/cases.rs"]
mod cases;

use engine::kernel::{self, Kernels};
use wasm_bindgen_test::{Instant, console_log, wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

/// Rounds of which the fastest counts: the others were interrupted.
const ROUNDS: usize = 30;

/// How long one round should last. The browser's clock has steps of 0.1 ms.
const ROUND_MS: f64 = 8.0;

/// How long each kernel runs before it is measured: the browser starts with quickly made machine code and swaps in better code
/// later, from another thread.
const WARM_UP_MS: f64 = 300.0;

/// Microseconds of one call.
fn time_us(kernels: &Kernels, run: &mut dyn FnMut(&Kernels)) -> f64 {
    let mut time_ms = |calls: usize| {
        let start = Instant::now();
        for _ in 0..calls {
            run(kernels);
        }
        start.elapsed().as_secs_f64() * 1e3
    };
    let mut warm_ms = 0.0;
    while warm_ms < WARM_UP_MS {
        warm_ms += time_ms(100);
    }
    let mut calls = 1;
    while time_ms(calls) < ROUND_MS {
        calls *= 2;
    }
    (0..ROUNDS)
        .map(|_| time_ms(calls))
        .fold(f64::INFINITY, f64::min)
        * 1e3
        / calls as f64
}

#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn speed_of_each_kernel() {
    for mut case in cases::cases() {
        let mut plain = 0.0;
        for kernels in kernel::implementations() {
            let time = time_us(kernels, &mut *case.run);
            if kernels.name() == "reference" {
                plain = time;
            }
            console_log!(
                "{:<22} {:<10} {time:>10.2} us {:>6.2} x",
                case.name,
                kernels.name(),
                plain / time
            );
        }
    }
}
