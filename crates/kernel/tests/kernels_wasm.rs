//! The suite of `kernels.rs` in headless Chromium: with relaxed SIMD, with SIMD128, and with
//! neither.
//!
//! From the root of the repository (`webdriver.json` beside `Cargo.toml` holds Chromium's
//! arguments):
//! ```text
//! export CHROMEDRIVER=/usr/bin/chromedriver
//! cargo test -p kernel --target wasm32-unknown-unknown --test kernels_wasm
//! RUSTFLAGS="-Ctarget-feature=+simd128,+relaxed-simd" \
//!   cargo test -p kernel --target wasm32-unknown-unknown --test kernels_wasm --features relaxed-simd
//! RUSTFLAGS="-Ctarget-feature=-simd128" \
//!   cargo test -p kernel --target wasm32-unknown-unknown --test kernels_wasm
//! ```
//! Without `RUSTFLAGS` the flags of `.cargo/config.toml` hold, which switch SIMD128 on. Tests of an
//! implementation that is not in the build are ignored and say so.
#![cfg(target_family = "wasm")]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

mod suite;

use kernel::{BlockType, InnerStep};
use suite::random::Rng;
use wasm_bindgen_test::{console_log, wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

/// The number of random sizes of each check, besides one run for each length.
const CASES: u64 = 60;

/// Runs a check on every length once, then on random sizes: a seeded loop instead of proptest,
/// which needs the system's entropy.
fn run(name: &str, check: suite::Check) {
    let found = kernel::implementations()
        .into_iter()
        .find(|kernels| kernels.name() == name);
    if found.is_none() && name == "relaxed-pairs" {
        // Arm reads a byte as signed where x86 reads it as unsigned.
        console_log!("this machine does not have {name}");
        return;
    }
    let kernels = found.unwrap();
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

stamp!(run, reference = "reference", #[wasm_bindgen_test]);
stamp!(
    run,
    simd128 = "simd128",
    #[cfg_attr(not(target_feature = "simd128"), ignore = "the build has no SIMD128")]
    #[wasm_bindgen_test]
);
stamp!(
    run,
    relaxed_wide = "relaxed-wide",
    #[cfg_attr(not(feature = "relaxed-simd"), ignore = "the build has no relaxed SIMD")]
    #[wasm_bindgen_test]
);
stamp!(
    run,
    relaxed_pairs = "relaxed-pairs",
    #[cfg_attr(not(feature = "relaxed-simd"), ignore = "the build has no relaxed SIMD")]
    #[wasm_bindgen_test]
);
stamp!(
    run,
    relaxed = "relaxed",
    #[cfg_attr(not(feature = "relaxed-simd"), ignore = "the build has no relaxed SIMD")]
    #[wasm_bindgen_test]
);

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

/// What is chosen on this machine for each type, and that the choices fit each other.
#[wasm_bindgen_test]
fn inner_steps_are_those_of_the_tests_at_the_start() {
    use InnerStep::{Plain, RelaxedNibbles, RelaxedPairs, RelaxedSigned, RelaxedTwice};
    use InnerStep::{RelaxedUnsigned, RelaxedUnsignedWeights, RelaxedWeights, Wide};
    for (kind, [one, many]) in BlockType::ALL.into_iter().zip(kernel::inner_steps()) {
        let (kind, one, many) = (kind.name(), one.words(), many.words());
        console_log!("{kind}: one token by {one}; many by {many}");
    }
    let has_pairs = kernel::implementations()
        .iter()
        .any(|kernels| kernels.name() == "relaxed-pairs");
    let [q8_0, q4_0, q4_1, q5_1, q6] = kernel::inner_steps();
    let [eight, four, more] = match (kernel::chosen(), q8_0[1]) {
        ("relaxed", many @ RelaxedSigned) => {
            let few = [RelaxedWeights, many];
            [[many; 2], few, few]
        }
        ("relaxed", many @ RelaxedUnsigned) => [
            [RelaxedUnsignedWeights, many],
            [RelaxedNibbles, many],
            [RelaxedWeights, many],
        ],
        ("relaxed", _) => {
            let few = [RelaxedPairs, if has_pairs { RelaxedPairs } else { Wide }];
            [[RelaxedTwice, Wide], few, few]
        }
        ("simd128", _) => [[Wide; 2]; 3],
        _ => [[Plain; 2]; 3],
    };
    assert_eq!(
        [q8_0, q4_0, q4_1, q5_1, q6],
        [eight, four, four, more, more]
    );
}

#[wasm_bindgen_test]
fn the_known_bits() {
    suite::fingerprint::check();
}
