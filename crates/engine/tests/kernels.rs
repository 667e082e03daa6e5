//! Property tests of the kernels, natively: every implementation that this machine has against the plain loops.
//!
//! `cargo test -p engine --test kernels`
//!
//! The same suite runs in the browser: `kernels_wasm.rs`.
#![cfg(not(target_family = "wasm"))]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

mod suite;

use engine::kernel::{self, Kernels};
use proptest::test_runner::{Config, TestRunner};

/// Draws seeds and sizes, and shrinks them where a check panics.
fn run(name: &str, check: suite::Check) {
    let Some(kernels) = find(name) else {
        println!("{name}: this machine does not have it");
        return;
    };
    let mut runner = TestRunner::new(Config {
        cases: 300,
        failure_persistence: None,
        ..Config::default()
    });
    let size = || 0..=suite::LARGEST;
    let drawn = runner.run(
        &(proptest::num::u64::ANY, size(), size(), size()),
        |(seed, a, b, c)| {
            check(kernels, seed, [a, b, c]);
            Ok(())
        },
    );
    drawn.unwrap();
}

fn find(name: &str) -> Option<&'static Kernels> {
    kernel::implementations()
        .into_iter()
        .find(|kernels| kernels.name() == name)
}

stamp!(run, test, reference = "reference");
stamp!(run, test, avx2 = "avx2");
stamp!(run, test, avx_vnni = "avx-vnni");

#[test]
fn the_fastest_implementation_is_chosen() {
    #[cfg(target_arch = "x86_64")]
    let expected = if !is_x86_feature_detected!("avx2")
        || !is_x86_feature_detected!("fma")
        || !is_x86_feature_detected!("f16c")
    {
        "reference"
    } else if is_x86_feature_detected!("avxvnni") {
        "avx-vnni"
    } else {
        "avx2"
    };
    #[cfg(not(target_arch = "x86_64"))]
    let expected = "reference";
    assert_eq!(kernel::chosen(), expected);
}

#[test]
fn wrong_lengths_panic_before_anything_is_read() {
    for kernels in kernel::implementations() {
        let wrong: [fn(&Kernels); 8] = [
            |k| assert!(k.dot(&[1.0], &[]).is_nan()),
            |k| k.axpy(1.0, &[1.0], &mut []),
            |k| k.matvec(&[1.0; 5], &[1.0; 2], &mut [0.0; 3]),
            |k| k.matmul(&[1.0; 6], &[1.0; 6], &mut [0.0; 3], 2, 3, 2),
            |k| k.matmul_nt(&[1.0; 6], &[1.0; 5], &mut [0.0; 4], 2, 3, 2),
            |k| k.mix(&[1.0; 6], &[1.0; 6], &mut [0.0; 4], usize::MAX, 3, 2),
            |k| k.layer_norm(&[1.0; 2], &[1.0; 2], &[1.0], 0.0, &mut [0.0; 2]),
            |k| k.rms_norm(&[1.0; 2], &[1.0; 2], 0.0, &mut [0.0; 3]),
        ];
        for call in wrong {
            assert!(
                std::panic::catch_unwind(|| call(kernels)).is_err(),
                "{}",
                kernels.name()
            );
        }
    }
}

#[test]
fn the_same_bits_as_in_wasm() {
    assert_eq!(
        suite::bits::fingerprint(),
        suite::bits::FINGERPRINT,
        "{:#x}",
        suite::bits::fingerprint()
    );
}

#[test]
fn no_bit_leaks_through_a_causal_mask() {
    suite::attention::no_bit_leaks_through_a_causal_mask();
}

#[test]
fn the_decoder_does_not_leak() {
    suite::attention::the_decoder_does_not_leak();
}

#[test]
fn attention_is_permutation_equivariant() {
    suite::attention::attention_is_permutation_equivariant();
}

#[test]
fn positions_tell_word_orders_apart() {
    suite::attention::positions_tell_word_orders_apart();
}
