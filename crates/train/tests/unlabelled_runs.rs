//! The log of `unlabelled-runs`: it is complete, runs repeat their first losses, and what it says of raw
//! pixels and of the networks before their first step is found again.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use engine::kernel;
use engine::ndarray::Array2;
use explain::dino::{DinoRun, STEPS, Without, moved_digits, right_by_pixels};
use explain::run_log::{rows, setting};
use skip::shared;
use std::path::{Path, PathBuf};
use training::digits::data::Mnist;
use training::digits::unlabelled_runs::{FILE, FIRST, KNOWN, PROBED, SEEDS, SEEN, TEST, first};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/models")
}

fn log() -> String {
    std::fs::read_to_string(folder().join(FILE)).unwrap()
}

fn of(log: &str, kind: &str, scheme: &str) -> Array2<f32> {
    rows(log, kind, scheme).unwrap()
}

#[test]
fn every_run_is_in_the_log() {
    let log = log();
    let number = |name: &str| setting(&log, name).unwrap().parse::<u64>().unwrap();
    assert_eq!((number("seeds"), number("steps")), (SEEDS, STEPS));
    let counts = ["digits", "known digits", "test digits", "probed digits"].map(number);
    assert_eq!(
        counts,
        [SEEN, KNOWN, TEST, PROBED].map(|count| count as u64)
    );
    let seeds = SEEDS as usize;
    for (kind, _) in Without::ALL {
        assert_eq!(of(&log, "first", kind).dim(), (seeds, FIRST));
        assert_eq!(of(&log, "right", kind).dim(), (seeds, 2));
        assert_eq!(of(&log, "entropy", kind).dim(), (seeds, 2));
    }
    assert_eq!(of(&log, "right", "random").dim(), (seeds, 2));
    assert_eq!(of(&log, "right", "pixels").dim(), (1, 2));
    for (scheme, depths) in [("digit-gpt", 5), ("random", 5), ("pixels", 1)] {
        assert_eq!(of(&log, "probe", scheme).dim(), (1, depths));
    }
    assert!(log.len() <= 4_000, "{} bytes", log.len());
}

/// The second seed begun again: its first losses and the votes before them have the same bits on every
/// machine.
#[test]
fn runs_repeat_their_first_losses() {
    assert!(kernel::use_same_bits());
    let Some(data) = shared("data/mnist") else {
        return;
    };
    let (log, mnist) = (log(), Mnist::read(&data).unwrap());
    let (seen, known) = (
        first(&mnist.train, SEEN).unwrap(),
        first(&mnist.train, KNOWN).unwrap(),
    );
    let test = first(&mnist.test, TEST).unwrap();
    for (kind, without) in Without::ALL {
        let mut run = DinoRun::new(seen.clone(), without, 2).unwrap();
        if without == Without::Nothing {
            let share = run.right(&known, &test).unwrap() as f32 / TEST as f32;
            assert_eq!(share, of(&log, "right", "random")[[1, 0]]);
        }
        for expected in of(&log, "first", kind).row(1) {
            let loss = run.step().unwrap();
            assert_eq!(loss.to_bits(), expected.to_bits(), "{kind}");
        }
    }
    let pixels = of(&log, "right", "pixels");
    for (n, test) in [test.clone(), moved_digits(&test)].iter().enumerate() {
        let share = right_by_pixels(&known, test).unwrap() as f32 / TEST as f32;
        assert_eq!(share, pixels[[0, n]]);
    }
}
