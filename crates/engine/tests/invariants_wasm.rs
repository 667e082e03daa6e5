//! The tests of `invariants.rs` in headless Chromium, with the kernels of each build.
//!
//! ```text
//! export CHROMEDRIVER=/usr/bin/chromedriver
//! cargo test -p engine --target wasm32-unknown-unknown --test invariants_wasm
//! RUSTFLAGS="-Ctarget-feature=+simd128,+relaxed-simd" \
//!   cargo test -p engine --target wasm32-unknown-unknown --test invariants_wasm --features relaxed-simd
//! ```
#![cfg(target_family = "wasm")]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "engine/invariants/attention.rs"]
mod attention;
#[path = "engine/invariants/bits.rs"]
mod bits;

use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
fn the_same_bits_as_natively() {
    assert_eq!(bits::fingerprint(), bits::FINGERPRINT);
}

#[wasm_bindgen_test]
fn no_bit_leaks_through_a_causal_mask() {
    attention::no_bit_leaks_through_a_causal_mask();
}

#[wasm_bindgen_test]
fn the_decoder_does_not_leak() {
    attention::the_decoder_does_not_leak();
}

#[wasm_bindgen_test]
fn attention_is_permutation_equivariant() {
    attention::attention_is_permutation_equivariant();
}

#[wasm_bindgen_test]
fn a_vit_block_is_permutation_equivariant() {
    attention::a_vit_block_is_permutation_equivariant();
}

#[wasm_bindgen_test]
fn positions_tell_word_orders_apart() {
    attention::positions_tell_word_orders_apart();
}
