//! The log of `depth-runs`: it is complete, runs repeat their first losses, and it holds what the
//! lesson says of it.

use engine::ndarray::Array2;
use explain::deep_stack::{STEPS, StackRun};
use explain::norm_stack::{DEPTH, NormRun, RATE};
use explain::run_log::{rows, setting};
use std::path::Path;
use training::depth::{FILE, FIRST, NORM_SEEDS, NORMS, POINTS, STACK_SEEDS, STACKS};

fn log() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/models");
    std::fs::read_to_string(folder.join(FILE)).unwrap()
}

/// The losses of the first steps and the means of the parts, as the log has them.
fn losses(log: &str, kind: &str, name: &str) -> [Array2<f32>; 2] {
    ["first", kind].map(|kind| rows(log, kind, name).unwrap())
}

#[test]
fn every_run_is_in_the_log() {
    let log = log();
    let number = |name: &str| setting(&log, name).unwrap().parse::<u64>().unwrap();
    assert_eq!(
        (number("points"), number("stack steps")),
        (POINTS as u64, STEPS)
    );
    assert_eq!(number("norm depth"), DEPTH as u64);
    for (name, ..) in STACKS {
        let [first, all] = losses(&log, "stack", name);
        assert_eq!(first.dim(), (STACK_SEEDS as usize, FIRST));
        assert_eq!(all.dim(), (STACK_SEEDS as usize, POINTS));
    }
    for (name, ..) in NORMS {
        let [first, all] = losses(&log, "norm", name);
        assert_eq!(first.dim(), (NORM_SEEDS as usize, FIRST));
        assert_eq!(all.dim(), (NORM_SEEDS as usize, POINTS));
    }
    assert!(log.len() <= 16_000, "{} bytes", log.len());
}

/// A run of the log, begun again: its first losses have the same bits on every machine.
#[test]
fn runs_repeat_their_first_losses() {
    let log = log();
    for (name, kind, depth) in STACKS {
        let [first, _] = losses(&log, "stack", name);
        let mut run = StackRun::new(kind, depth, 2).unwrap();
        for expected in first.row(1) {
            assert_eq!(run.step().unwrap().to_bits(), expected.to_bits(), "{name}");
        }
    }
    for (name, place, warm_up) in NORMS {
        let [first, _] = losses(&log, "norm", name);
        let mut run = NormRun::new(place, DEPTH, (RATE, warm_up), 2).unwrap();
        for expected in first.row(1) {
            assert_eq!(run.step().unwrap().to_bits(), expected.to_bits(), "{name}");
        }
    }
}

/// A whole run of the log, begun again: it ends as it did.
#[test]
fn a_run_ends_as_it_did() {
    let log = log();
    let (name, kind, depth) = STACKS[2];
    let [_, means] = losses(&log, "stack", name);
    let mut run = StackRun::new(kind, depth, 1).unwrap();
    let all: Vec<f32> = (0..STEPS).map(|_| run.step().unwrap()).collect();
    let last = &all[all.len() - all.len() / POINTS..];
    let mean = last.iter().sum::<f32>() / last.len() as f32;
    assert!((mean - means[[0, POINTS - 1]]).abs() < 1e-4);
    assert_eq!(
        run.right().unwrap() as f32,
        rows(&log, "right", name).unwrap()[[0, 0]]
    );
}

/// Each sentence of the lesson, for every seed.
#[test]
fn the_lesson_says_what_every_seed_shows() {
    let log = log();
    let end = |kind: &str, name: &str, seed: usize| losses(&log, kind, name)[1][[seed, POINTS - 1]];
    for seed in 0..STACK_SEEDS as usize {
        let right = |name: &str| rows(&log, "right", name).unwrap()[[seed, 0]];
        for name in ["plain-6", "residual-6", "residual-20"] {
            assert!(
                end("stack", name, seed) < 0.001 && right(name) == 96.0,
                "{name}"
            );
        }
        assert!(end("stack", "plain-20", seed) > 0.5 && right("plain-20") < 75.0);
    }
    for seed in 0..NORM_SEEDS as usize {
        for name in ["before-0", "before-warm"] {
            assert!(end("norm", name, seed) < 0.05, "{name}");
        }
        assert!(end("norm", "after-0", seed) > 0.9);
        assert!(end("norm", "after-warm", seed) < end("norm", "after-0", seed) - 0.2);
    }
}
