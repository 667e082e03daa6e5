//! The sums of the cell `whole-model` with the kernels that give a browser's bits: where the engine
//! adds the terms one after the other, the written-out sum is the number to the last bit.
//!
//! A file of its own, because a process chooses its kernels once.

#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

use cells::lessons::decoder_only::whole_model::SPEC;
use cells::model_cache::ModelCache;
use cells::{InputValue, Inputs, jobs};

#[test]
fn sums_in_the_engines_order_end_at_the_last_bit() {
    assert!(engine::kernel::use_same_bits());
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models");
    let models = ModelCache::of_folder(models);
    let largest = |part: &str| {
        let mut largest = 0.0_f64;
        for (layer, row, column) in [(1, 1, 1), (1, 6, 8), (2, 3, 2), (4, 5, 5), (4, 6, 3)] {
            let mut given = Inputs::defaults(&(SPEC.inputs)());
            given = given.with("part", InputValue::Choice(part.to_owned()));
            for (name, value) in [("layer", layer), ("row", row), ("column", column)] {
                given = given.with(name, InputValue::Number(f64::from(value)));
            }
            let found = jobs::compute(&SPEC, &given, &models).unwrap();
            largest = largest.max(found.at("difference", &[]).unwrap());
        }
        largest
    };
    // Tables, sums of two numbers, products with packed parameters, and values mixed by weights.
    for part in [
        "token",
        "position",
        "input",
        "q",
        "k",
        "v",
        "heads",
        "attention-out",
        "residual-1",
        "mlp-in",
        "mlp-out",
        "residual-2",
        "logits",
    ] {
        assert_eq!(largest(part), 0.0, "{part}");
    }
    // The product of queries and keys adds several partial sums, and so do the norms; exp and tanh
    // of a whole row are polynomials.
    for part in [
        "scores",
        "weights",
        "activation",
        "norm-1",
        "norm-2",
        "norm",
        "probabilities",
    ] {
        let largest = largest(part);
        println!("{part}: {largest:e}");
        assert!(largest < 1e-6, "{part}: {largest:e}");
    }
}
