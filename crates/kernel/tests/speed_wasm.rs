//! Each fast kernel against the plain loops in headless Chromium: prints the times, asserts
//! nothing, runs only when asked for.
//!
//! ```text
//! export CHROMEDRIVER=/usr/bin/chromedriver
//! cargo test --release -p kernel --target wasm32-unknown-unknown --test speed_wasm -- --include-ignored --nocapture
//! RUSTFLAGS="-Ctarget-feature=+simd128,+relaxed-simd" cargo test --release -p kernel --target wasm32-unknown-unknown \
//!   --test speed_wasm --features relaxed-simd -- --include-ignored --nocapture
//! ```
#![cfg(target_family = "wasm")]

#[path = "speed/bare.rs"]
mod bare;
#[path = "../benches/cases.rs"]
mod cases;
#[path = "speed/ceilings.rs"]
mod ceilings;
#[path = "suite/random.rs"]
#[allow(dead_code, reason = "a measurement needs less of it than the tests")]
mod random;

use kernel::Kernels;
use wasm_bindgen_test::{Instant, console_log, wasm_bindgen_test, wasm_bindgen_test_configure};

// Not in the page, which the runner gives up when it does not answer for 30 seconds.
wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// The time for which each kernel is measured; the fastest round counts, the others were
/// interrupted.
const MEASURE_MS: f64 = 300.0;

/// The length of one round. The browser's clock has steps of 0.1 ms.
const ROUND_MS: f64 = 3.0;

/// The time for which each kernel runs before it is measured: the browser starts with quickly made
/// machine code and replaces it by better code later, from another thread.
const WARM_UP_MS: f64 = 200.0;

/// The microseconds of one call.
fn time_us(kernels: &Kernels, run: &mut dyn FnMut(&Kernels)) -> f64 {
    let mut time_ms = |calls: usize| {
        let start = Instant::now();
        for _ in 0..calls {
            run(kernels);
        }
        start.elapsed().as_secs_f64() * 1e3
    };
    let (mut warm_ms, mut calls) = (0.0, 1);
    // The plain loops on a large matrix take seconds: one call is enough.
    let first = time_ms(1);
    if first > MEASURE_MS {
        return first * 1e3;
    }
    while warm_ms < WARM_UP_MS {
        let ms = time_ms(calls);
        warm_ms += ms;
        if ms < ROUND_MS {
            calls *= 2;
        }
    }
    while calls > 1 && time_ms(calls / 2) > ROUND_MS {
        calls /= 2;
    }
    let (mut spent_ms, mut fastest) = (0.0, f64::INFINITY);
    while spent_ms < MEASURE_MS {
        let ms = time_ms(calls);
        spent_ms += ms;
        fastest = fastest.min(ms);
    }
    fastest * 1e3 / calls as f64
}

/// `SPEED_ONLY=part` at build time leaves only the cases whose name has that part.
const ONLY: Option<&str> = option_env!("SPEED_ONLY");

/// `SPEED_SKIP_REFERENCE` at build time leaves the plain loops out.
const SKIP_REFERENCE: bool = option_env!("SPEED_SKIP_REFERENCE").is_some();

/// Prints a line for each case and implementation.
fn print(cases: impl IntoIterator<Item = cases::Case>) {
    for mut case in cases {
        let mut plain = f64::NAN;
        for kernels in kernel::implementations() {
            if SKIP_REFERENCE && kernels.name() == "reference" {
                continue;
            }
            let time = time_us(kernels, &mut *case.run);
            if kernels.name() == "reference" {
                plain = time;
            }
            console_log!(
                "{:<22} {:<14} {time:>12.2} us {:>6.2} x {:>8.2} Gop/s {:>7.2} GB/s",
                case.name,
                kernels.name(),
                plain / time,
                case.operations / time * 1e-3,
                case.bytes / time * 1e-3,
            );
        }
    }
}

#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn speed_of_each_kernel() {
    print(
        cases::cases()
            .into_iter()
            .filter(|case| ONLY.is_none_or(|part| case.name.contains(part))),
    );
}

/// Measures the packed products with this start of a name, in a test of their own: the browser
/// gives a test 30 seconds.
fn packed(start: &str) {
    if ONLY.is_none_or(|part| part.starts_with(start) || start.contains(part)) {
        print(cases::packed_cases(Some(ONLY.unwrap_or(start))));
    }
}

#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn speed_of_q8() {
    packed("q8");
}

#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn speed_of_q4() {
    packed("q4");
}

#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn speed_of_q5() {
    packed("q5");
}

#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn speed_of_q6() {
    packed("q6");
}

#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn speed_of_f32() {
    packed("f32");
}

/// BF16 too, whose name has this part.
#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn speed_of_f16() {
    packed("f16");
}

/// The products beside the bare loops of their instructions.
#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn ceilings_of_arithmetic() {
    ceilings::of_arithmetic();
}

/// The products with one token beside reading memory.
#[wasm_bindgen_test]
#[ignore = "a measurement, not a test"]
fn ceilings_of_memory() {
    ceilings::of_memory();
}
