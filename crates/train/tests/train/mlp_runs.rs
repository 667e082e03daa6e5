//! The log of `mlp-runs`: it is complete, runs repeat their first losses, and it holds what the
//! lesson says of it.

use engine::ndarray::Array2;
use explain::expert_words::{EXPERTS, ExpertRun, TEXT, Words};
use explain::fact_memory::{Activity, FACTS, FactRun, RATES, STEPS};
use explain::run_log::{rows, setting};
use std::path::Path;
use training::mlp::{FILE, FIRST, MEANS, MIXTURES, SEEDS};

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
    assert_eq!((number("seeds"), number("fact steps")), (SEEDS, STEPS));
    assert_eq!(number("facts"), FACTS as u64);
    let seeds = SEEDS as usize;
    for rate in RATES {
        for (name, _) in Activity::ALL {
            let scheme = format!("{name}-{rate}");
            assert_eq!(of(&log, "first", &scheme).dim(), (seeds, FIRST));
            assert_eq!(of(&log, "loss", &scheme).dim(), (seeds, MEANS));
            assert_eq!(of(&log, "right", &scheme).dim(), (seeds, 1));
        }
    }
    for (name, _) in MIXTURES {
        assert_eq!(of(&log, "first", name).dim(), (seeds, FIRST));
        assert_eq!(of(&log, "load", name).dim(), (seeds, EXPERTS));
        assert_eq!(of(&log, "words", name).dim(), (seeds, 1));
    }
    assert!(log.len() <= 16_000, "{} bytes", log.len());
}

/// Runs of the log, begun again: their first losses have the same bits on every machine.
#[test]
fn runs_repeat_their_first_losses() {
    let log = log();
    for rate in [RATES[0], RATES[3]] {
        for (name, activity) in Activity::ALL {
            let first = of(&log, "first", &format!("{name}-{rate}"));
            let mut run = FactRun::new(activity, rate.parse().unwrap(), 2).unwrap();
            for expected in first.row(1) {
                assert_eq!(run.step().unwrap().to_bits(), expected.to_bits(), "{name}");
            }
        }
    }
    let text = Words::of(TEXT);
    for (name, is_balanced) in MIXTURES {
        let first = of(&log, "first", name);
        let mut run = ExpertRun::new(&text, is_balanced, 3).unwrap();
        for expected in first.row(2) {
            assert_eq!(run.step().unwrap().to_bits(), expected.to_bits(), "{name}");
        }
    }
}

/// A whole run of the log, begun again: it ends as it did.
#[test]
fn a_run_ends_as_it_did() {
    let log = log();
    let mut run = ExpertRun::new(&Words::of(TEXT), false, 1).unwrap();
    let losses = (0..explain::expert_words::STEPS).map(|_| run.step().unwrap());
    let last = losses.last().unwrap();
    assert!((last - of(&log, "words", "free")[[0, 0]]).abs() < 1e-4);
    let load = explain::expert_words::load(run.gates().unwrap().view());
    for (found, expected) in load.iter().zip(of(&log, "load", "free").row(0)) {
        assert!((found - expected).abs() < 1e-4);
    }
}
