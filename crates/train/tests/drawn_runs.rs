//! The log of `drawn-runs`: it is complete, and runs repeat what it says, with the bits that they have in a
//! browser.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use engine::kernel;
use engine::ndarray::Array2;
use explain::dino::{self, DinoRun, Without};
use explain::distillation::Teaching;
use explain::few_digits::{self, Digits, FewRun, Kind, SIZES};
use explain::run_log::{rows, setting};
use std::path::Path;
use training::digits::drawn_runs::{FILE, FIRST, SEED, SEEDS, networks};

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
    assert_eq!((number("seeds"), number("first seed")), (SEEDS, SEED));
    let steps = (number("steps"), number("steps without labels"));
    assert_eq!(steps, (few_digits::STEPS, dino::STEPS));
    assert_eq!(number("test digits"), few_digits::TEST as u64);
    assert_eq!(few_digits::TEST, dino::TEST);
    let few = SIZES.into_iter().flat_map(|size| {
        let scheme = move |(name, _)| format!("few-{name}-{size}");
        networks().map(scheme).collect::<Vec<_>>()
    });
    let students = Teaching::ALL.map(|(name, _)| format!("distil-{name}"));
    let without = Without::ALL.map(|(name, _)| format!("dino-{name}"));
    let all: Vec<String> = few.chain(students).chain(without).collect();
    assert_eq!(all.len(), 18);
    for scheme in all {
        let seeds = SEEDS as usize;
        assert_eq!(of(&log, "first", &scheme).dim(), (seeds, FIRST), "{scheme}");
        assert_eq!(of(&log, "right", &scheme).dim(), (seeds, 1), "{scheme}");
    }
    assert!(log.len() <= 12_000, "{} bytes", log.len());
}

/// A run of each kind, begun again, has the same first losses to the last bit.
#[test]
fn runs_repeat_their_first_losses() {
    assert!(kernel::use_same_bits());
    let log = log();
    let same = |scheme: &str, mut step: Box<dyn FnMut() -> f32>| {
        for expected in of(&log, "first", scheme).row(1) {
            assert_eq!(step().to_bits(), expected.to_bits(), "{scheme}");
        }
    };
    let seed = SEED + 1;
    for (name, kind) in networks() {
        let mut run = FewRun::new(kind, Digits::to_learn(300, seed).unwrap(), seed).unwrap();
        same(
            &format!("few-{name}-300"),
            Box::new(move || run.step().unwrap()),
        );
    }
    for (name, without) in Without::ALL {
        let seen = Digits::drawn(dino::TEST..dino::TEST + dino::SEEN).unwrap();
        let mut run = DinoRun::new(seen, without, seed).unwrap();
        same(
            &format!("dino-{name}"),
            Box::new(move || run.step().unwrap()),
        );
    }
}

/// A whole run, made again, reads exactly as many test digits.
#[test]
fn a_run_repeats_its_result() {
    assert!(kernel::use_same_bits());
    let digits = Digits::to_learn(100, SEED).unwrap();
    let mut run = FewRun::new(Kind::Cnn, digits, SEED).unwrap();
    for _ in 0..few_digits::STEPS {
        run.step().unwrap();
    }
    let test = Digits::to_test().unwrap();
    let share = run.right(&test).unwrap() as f32 / test.len() as f32;
    assert_eq!(share, of(&log(), "right", "few-cnn-100")[[0, 0]]);
}
