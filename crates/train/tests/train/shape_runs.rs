//! The log of `shape-runs`: it is complete, and runs repeat their first losses, and one of them its end.

use engine::ndarray::Array2;
use explain::run_log::{rows, setting};
use explain::vit_shapes::{Factor, STEPS, all};
use skip::shared;
use std::path::Path;
use training::digits::bias_runs::FIRST;
use training::digits::data::Mnist;
use training::digits::shape_runs::{FILE, SEEDS, SIZE, begin, tested};

fn log() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/models");
    std::fs::read_to_string(folder.join(FILE)).unwrap()
}

fn of(log: &str, kind: &str, scheme: &str) -> Array2<f32> {
    rows(log, kind, scheme).unwrap()
}

#[test]
fn every_run_is_in_the_log() {
    let log = log();
    let number = |name: &str| setting(&log, name).unwrap().parse::<u64>().unwrap();
    assert_eq!((number("seeds"), number("steps")), (SEEDS, STEPS));
    assert_eq!(
        (number("digits"), number("test digits")),
        (SIZE as u64, 10_000)
    );
    let seeds = SEEDS as usize;
    for shape in all() {
        assert_eq!(of(&log, "first", &shape.name()).dim(), (seeds, FIRST));
        assert_eq!(of(&log, "right", &shape.name()).dim(), (seeds, 1));
    }
    assert!(log.len() <= 4_000, "{} bytes", log.len());
}

/// Runs of the log, begun again: their first losses have the same bits on every machine.
#[test]
fn runs_repeat_their_first_losses() {
    let Some(data) = shared("data/mnist") else {
        return;
    };
    let (log, mnist) = (log(), Mnist::read(&data).unwrap());
    for shape in all() {
        let mut run = begin(&mnist, shape, 2).unwrap();
        for expected in of(&log, "first", &shape.name()).row(1) {
            let found = run.step().unwrap();
            assert_eq!(found.to_bits(), expected.to_bits(), "{}", shape.name());
        }
    }
}

/// A whole run of the log, the one with the fewest tokens, begun again: it ends as it did.
#[test]
fn a_run_ends_as_it_did() {
    let Some(data) = shared("data/mnist") else {
        return;
    };
    let (log, mnist) = (log(), Mnist::read(&data).unwrap());
    let shape = Factor::Patch.shapes()[0];
    let mut run = begin(&mnist, shape, 1).unwrap();
    for _ in 0..STEPS {
        run.step().unwrap();
    }
    let right = run.right(&tested(&mnist).unwrap()).unwrap() as f32 / 1e4;
    assert!((right - of(&log, "right", &shape.name())[[0, 0]]).abs() < 1e-6);
}
