//! The log of `scale-runs`: it is complete, runs repeat their first losses, and it holds what the lesson on
//! scale says of it.

use engine::ndarray::Array2;
use explain::few_digits::{Kind, STEPS};
use explain::run_log::{rows, setting};
use skip::shared;
use std::path::Path;
use training::digits::bias_runs::{FIRST, TEST};
use training::digits::data::Mnist;
use training::digits::scale_runs::{FILE, LONG, LONG_SIZES, Planned, SEEDS, SIZES};

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
        (number("long steps"), number("test digits")),
        (LONG, TEST as u64)
    );
    let all = Planned::all(1);
    for run in &all {
        let seeds = all.iter().filter(|other| other.scheme == run.scheme);
        let seeds = seeds.count();
        assert_eq!(of(&log, "first", &run.scheme).dim(), (seeds, FIRST));
        assert_eq!(of(&log, "right", &run.scheme).dim(), (seeds, 1));
    }
    assert!(log.len() <= 8_000, "{} bytes", log.len());
}

/// Runs of the log, begun again: their first losses have the same bits on every machine.
#[test]
fn runs_repeat_their_first_losses() {
    let Some(data) = shared("data/mnist") else {
        return;
    };
    let (log, mnist) = (log(), Mnist::read(&data).unwrap());
    for planned in Planned::all(1).into_iter().filter(|run| run.seed == 1) {
        let mut run = planned.begin(&mnist).unwrap();
        for expected in of(&log, "first", &planned.scheme).row(0) {
            let found = run.step().unwrap();
            assert_eq!(found.to_bits(), expected.to_bits(), "{}", planned.scheme);
        }
    }
}

/// What the lesson says: from every number of digits, after few and after many steps, the worst network
/// with convolutions reads more than the best Vision Transformer; the latter gains most from more steps.
#[test]
fn the_curves_do_not_cross() {
    let log = log();
    let right = |name: &str, size: usize, end: &str| {
        let all = of(&log, "right", &format!("{name}-{size}{end}"));
        let low = all.iter().copied().fold(1.0, f32::min);
        (low, all.iter().copied().fold(0.0, f32::max))
    };
    let short = SIZES.map(|size| (size, ""));
    let long = LONG_SIZES.map(|size| (size, "-long"));
    for (size, end) in short.into_iter().chain(long) {
        let [cnn, vit] = Kind::ALL.map(|(name, _)| right(name, size, end));
        assert!(cnn.0 > vit.1, "{size}{end}: {cnn:?} {vit:?}");
    }
    let gain = |name| right(name, 9500, "-long").0 - right(name, 9500, "").0;
    assert!(gain("vit") > gain("cnn"));
}
