//! What holds of attention whatever kernels are in use, and results whose bits are the same
//! natively and in the browser.
//!
//! The same tests run in the browser: `invariants_wasm.rs`.

mod attention;
mod bits;

#[test]
fn the_same_bits_as_in_wasm() {
    assert_eq!(
        bits::fingerprint(),
        bits::FINGERPRINT,
        "{:#x}",
        bits::fingerprint()
    );
}

#[test]
fn no_bit_leaks_through_a_causal_mask() {
    attention::no_bit_leaks_through_a_causal_mask();
}

#[test]
fn the_decoder_does_not_leak() {
    attention::the_decoder_does_not_leak();
}

#[test]
fn attention_is_permutation_equivariant() {
    attention::attention_is_permutation_equivariant();
}

#[test]
fn a_vit_block_is_permutation_equivariant() {
    attention::a_vit_block_is_permutation_equivariant();
}

#[test]
fn positions_tell_word_orders_apart() {
    attention::positions_tell_word_orders_apart();
}
