//! The log of `bias-runs`: it is complete, runs repeat their first losses, the shipped models still read
//! what it says, and it holds what the lesson on inductive bias says of it.

use engine::ndarray::Array2;
use explain::few_digits::{FewRun, Kind, SIZES, STEPS};
use explain::run_log::{rows, setting};
use skip::shared;
use std::path::{Path, PathBuf};
use training::digits::bias_runs::{
    CHANGED, COVERED, EVERY, FARTHEST, FILE, FIRST, MODELS, Reader, SEEDS, TEST, covered, learned,
    moved_by, shuffled,
};
use training::digits::data::Mnist;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/models")
}

fn log() -> String {
    std::fs::read_to_string(folder().join(FILE)).unwrap()
}

fn of(log: &str, kind: &str, scheme: &str) -> Array2<f32> {
    rows(log, kind, scheme).unwrap()
}

fn schemes() -> impl Iterator<Item = (String, usize, Kind)> {
    let sizes = SIZES.into_iter();
    sizes.flat_map(|size| Kind::ALL.map(|(name, kind)| (format!("{name}-{size}"), size, kind)))
}

#[test]
fn every_run_is_in_the_log() {
    let log = log();
    let number = |name: &str| setting(&log, name).unwrap().parse::<u64>().unwrap();
    assert_eq!((number("seeds"), number("steps")), (SEEDS, STEPS));
    assert_eq!(number("test digits"), TEST as u64);
    assert_eq!(number("changed test digits"), CHANGED as u64);
    for (scheme, ..) in schemes() {
        let seeds = SEEDS as usize;
        assert_eq!(of(&log, "first", &scheme).dim(), (seeds, FIRST));
        assert_eq!(of(&log, "right", &scheme).dim(), (seeds, 1));
    }
    for model in MODELS {
        assert_eq!(of(&log, "moved", model).dim(), (1, FARTHEST + 1));
        assert_eq!(of(&log, "shuffled", model).dim(), (1, 1));
        assert_eq!(of(&log, "covered", model).dim(), (1, COVERED / EVERY + 1));
    }
    assert!(log.len() <= 12_000, "{} bytes", log.len());
}

/// Runs of the log, begun again: their first losses have the same bits on every machine.
#[test]
fn runs_repeat_their_first_losses() {
    let Some(data) = shared("data/mnist") else {
        return;
    };
    let (log, mnist) = (log(), Mnist::read(&data).unwrap());
    for (scheme, size, kind) in schemes() {
        let first = of(&log, "first", &scheme);
        let digits = learned(&mnist, size, 3).unwrap();
        let mut run = FewRun::new(kind, digits, 3).unwrap();
        for expected in first.row(2) {
            assert_eq!(
                run.step().unwrap().to_bits(),
                expected.to_bits(),
                "{scheme}"
            );
        }
    }
}

/// The shipped models read the changed digits as the log says, but for a digit or two near two classes.
#[test]
fn the_models_still_read_what_the_log_says() {
    let Some(data) = shared("data/mnist") else {
        return;
    };
    let (log, digits) = (log(), Mnist::read(&data).unwrap().test);
    for name in MODELS {
        let model = Reader::open(&folder(), name).unwrap();
        let near = |found: f64, logged: f32| {
            let apart = (found - f64::from(logged)).abs() * CHANGED as f64;
            assert!(apart < 2.5, "{name}: {found} {logged}");
        };
        near(
            moved_by(&model, &digits, 6).unwrap(),
            of(&log, "moved", name)[[0, 6]],
        );
        near(
            shuffled(&model, &digits).unwrap(),
            of(&log, "shuffled", name)[[0, 0]],
        );
        near(
            covered(&model, &digits, 16).unwrap(),
            of(&log, "covered", name)[[0, 2]],
        );
    }
}

/// What the lesson says of moved digits: at three pixels digit-cnn loses half as much as digit-vit, at six
/// both read fewer than half; without positions hardly a digit is lost.
#[test]
fn moved_digits() {
    let log = log();
    let at = |model: usize, by: usize| of(&log, "moved", MODELS[model])[[0, by]];
    let lost = |model: usize| at(model, 0) - at(model, 3);
    assert!(lost(0) < 0.6 * lost(1), "{} {}", lost(0), lost(1));
    for by in 1..6 {
        assert!(at(0, by) > at(1, by), "{by}");
    }
    assert!((at(0, 6) - at(1, 6)).abs() < 0.02);
    assert!(at(0, 6) < 0.5 && at(1, 6) < 0.5);
    assert!(at(2, 6) > 0.8 && at(2, 0) < 0.9 && at(2, 0) - at(2, 6) < 0.04);
}

/// What the lesson says of covered and shuffled patches: digit-vit reads more covered digits than digit-cnn,
/// both fail on shuffled ones, and without positions these are as easy as whole ones.
#[test]
fn covered_and_shuffled_digits() {
    let log = log();
    let [cnn, vit, bag] = MODELS.map(|model| of(&log, "covered", model));
    for n in 1..=COVERED / EVERY {
        assert!(vit[[0, n]] > cnn[[0, n]], "{n}");
    }
    // Without positions, attention alone does not help.
    assert!(bag[[0, 0]] - bag[[0, 16 / EVERY]] > 0.3);
    let [cnn, vit, bag] = MODELS.map(|model| of(&log, "shuffled", model)[[0, 0]]);
    assert!(cnn < 0.3 && vit < 0.3);
    assert!((bag - of(&log, "moved", MODELS[2])[[0, 0]]).abs() < 0.005);
}

/// What the lesson says of few digits: from every number of digits, and with every seed, the network with
/// convolutions reads more, and its lead grows with the digits.
#[test]
fn convolutions_lead_by_more_with_more_digits() {
    let log = log();
    let mut lead = 0.0;
    for size in SIZES {
        let [cnn, vit] = ["cnn", "vit"].map(|name| of(&log, "right", &format!("{name}-{size}")));
        for (cnn, vit) in cnn.iter().zip(&vit) {
            assert!(cnn > vit, "{size}: {cnn} {vit}");
        }
        let ahead = (cnn.sum() - vit.sum()) / cnn.len() as f32;
        assert!(ahead > lead, "{size}: {ahead} after {lead}");
        lead = ahead;
    }
}
