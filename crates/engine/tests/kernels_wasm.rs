//! The suite of `kernels.rs` in headless Chromium, with and without relaxed SIMD.
//!
//! From the root of the repository (`webdriver.json` beside `Cargo.toml` holds Chromium's arguments):
//! ```text
//! export CHROMEDRIVER=/usr/bin/chromedriver
//! cargo test -p engine --target wasm32-unknown-unknown --test kernels_wasm
//! RUSTFLAGS="-Ctarget-feature=+simd128,+relaxed-simd" \
//!   cargo test -p engine --target wasm32-unknown-unknown --test kernels_wasm --features relaxed-simd
//! RUSTFLAGS="-Ctarget-feature=-simd128" \
//!   cargo test -p engine --target wasm32-unknown-unknown --test kernels_wasm
//! ```
//! Without `RUSTFLAGS` the flags of `.cargo/config.toml` hold, which switch SIMD128 on.
#![cfg(target_family = "wasm")]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

mod suite;

use engine::kernel;
use engine::rng::Rng;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

/// How many random sizes each check is run on, besides one run for each length.
const CASES: u64 = 60;

/// Every length once, then random sizes: a seeded loop in place of proptest, which wants the system's entropy.
fn run(name: &str, check: suite::Check) {
    let Some(kernels) = kernel::implementations()
        .into_iter()
        .find(|kernels| kernels.name() == name)
    else {
        return;
    };
    for length in 0..=suite::LARGEST {
        check(kernels, length as u64, [length, 9, 5]);
    }
    let mut rng = Rng::new(1);
    for seed in 0..CASES {
        let mut size = || rng.below(suite::LARGEST + 1);
        let sizes = [size(), size(), size()];
        check(kernels, seed, sizes);
    }
}

stamp!(run, wasm_bindgen_test, reference = "reference");
stamp!(run, wasm_bindgen_test, simd128 = "simd128");
stamp!(run, wasm_bindgen_test, relaxed_wide = "relaxed-wide");
stamp!(run, wasm_bindgen_test, relaxed = "relaxed");

#[wasm_bindgen_test]
fn the_implementation_asked_for_at_build_time_is_chosen() {
    let expected = match (
        cfg!(target_feature = "simd128"),
        cfg!(feature = "relaxed-simd"),
    ) {
        (true, true) => "relaxed",
        (true, false) => "simd128",
        (false, _) => "reference",
    };
    assert_eq!(kernel::chosen(), expected);
}

#[wasm_bindgen_test]
fn the_same_bits_as_natively() {
    assert_eq!(suite::bits::fingerprint(), suite::bits::FINGERPRINT);
}

#[wasm_bindgen_test]
fn no_bit_leaks_through_a_causal_mask() {
    suite::attention::no_bit_leaks_through_a_causal_mask();
}

#[wasm_bindgen_test]
fn the_decoder_does_not_leak() {
    suite::attention::the_decoder_does_not_leak();
}

#[wasm_bindgen_test]
fn attention_is_permutation_equivariant() {
    suite::attention::attention_is_permutation_equivariant();
}

#[wasm_bindgen_test]
fn positions_tell_word_orders_apart() {
    suite::attention::positions_tell_word_orders_apart();
}
