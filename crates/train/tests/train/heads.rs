//! The log of `head-race`: it is complete, a run repeats its first losses, and it holds what the
//! lesson says of it. And what the same lesson says of a bug in digit-vit.

use engine::format::json;
use engine::model::vit::{Config, Vit};
use engine::ndarray::Axis;
use engine::open::shipped::Shipped;
use explain::multi_head::WithoutTranspose;
use explain::run_log::{rows, setting};
use explain::two_questions::{HEADS, Questions, Run, STEPS};
use skip::shared;
use std::path::{Path, PathBuf};
use training::digits::data::Mnist;
use training::heads::{FILE, FIRST, TASKS};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/models")
}

fn log() -> String {
    std::fs::read_to_string(folder().join(FILE)).unwrap()
}

#[test]
fn every_run_is_in_the_log() {
    let log = log();
    let number = |name: &str| setting(&log, name).unwrap().parse::<u64>().unwrap();
    assert_eq!((number("steps"), number("seeds")), (STEPS, TASKS[0].2));
    for (task, _, seeds) in TASKS {
        for heads in HEADS {
            let name = format!("{task}-{heads}");
            for (kind, width) in [("first", FIRST), ("training", 10), ("right", 3)] {
                let found = rows(&log, kind, &name).unwrap().dim();
                assert_eq!(found, (seeds as usize, width), "{kind} {name}");
            }
        }
    }
    assert!(log.len() <= 20_000, "{} bytes", log.len());
}

/// Runs of the log, begun again: their first losses have the same bits.
#[test]
fn a_run_repeats_its_first_losses() {
    let log = log();
    for (task, questions, heads) in [
        ("both", Questions::Both, 1),
        ("both", Questions::Both, 64),
        ("before", Questions::Before, 8),
    ] {
        let expected = rows(&log, "first", &format!("{task}-{heads}")).unwrap();
        for seed in 1..=3 {
            let mut run = Run::new(heads, seed, questions).unwrap();
            for n in 0..FIRST {
                let loss = run.step().unwrap();
                let logged = expected[[seed as usize - 1, n]];
                assert_eq!(
                    loss.to_bits(),
                    logged.to_bits(),
                    "{task}-{heads}, seed {seed}"
                );
            }
        }
    }
}

/// One whole run of the log: its answers are right as often as the log says.
#[test]
fn a_whole_run_ends_as_in_the_log() {
    let log = log();
    let mut run = Run::new(2, 1, Questions::Both).unwrap();
    for _ in 0..STEPS {
        run.step().unwrap();
    }
    let expected = rows(&log, "right", "both-2").unwrap();
    for (found, logged) in run.evaluate().unwrap().iter().zip(expected.row(0)) {
        assert!((found - f64::from(*logged)).abs() < 1e-4);
    }
}

/// Shares of right answers to both questions at once, or to the one question, of each seed.
fn right(log: &str, task: &str, heads: usize) -> Vec<f32> {
    let found = rows(log, "right", &format!("{task}-{heads}")).unwrap();
    let column = if task == "both" { 2 } else { 0 };
    found.column(column).to_vec()
}

/// Each sentence of the lesson on the race, for every seed.
#[test]
fn the_lesson_says_what_every_seed_shows() {
    let log = log();
    let one = rows(&log, "right", "both-1").unwrap();
    for seed in 0..5 {
        // Four runs with one head answer one question and guess the other, one of 16 symbols; the fifth
        // answers most of both.
        if seed < 4 {
            assert!(one[[seed, 1]] > 0.999 && one[[seed, 0]] < 0.08);
        } else {
            assert!(one[[seed, 2]] > 0.9);
        }
        let both = |heads| right(&log, "both", heads)[seed];
        assert!(both(2) > 0.97);
        for heads in [4, 8, 16] {
            assert!(both(heads) == 1.0, "{heads}: {}", both(heads));
        }
        // Narrow heads fail: 64 heads of one number each, and they fail at the symbol before.
        assert!(both(64) < 0.77 && both(64) < both(32));
        assert!(rows(&log, "right", "both-64").unwrap()[[seed, 1]] > 0.999);
    }
    // With one question, one head is as good as any, and 64 are worse.
    for seed in 0..3 {
        let before = |heads| right(&log, "before", heads)[seed];
        assert!(before(1) == 1.0 && before(64) < 0.96, "{}", before(64));
    }
}

/// Right answers of digit-vit to MNIST's test digits: as it is, with heads cut without the transpose, and
/// with heads cut and joined without it. The lesson says how many.
#[test]
fn the_bug_costs_most_test_digits() {
    let Some(data) = shared("data/mnist") else {
        return;
    };
    let test = Mnist::read(&data).unwrap().test;
    let name = "digit-vit.safetensors";
    let bytes = std::fs::read(folder().join(name)).unwrap();
    let file = Shipped::parse(name, bytes.into(), json::read).unwrap();
    let vit = file
        .model(|number, source| Vit::load(Config::from_keys(number)?, source))
        .unwrap();
    let right = |mut bug: WithoutTranspose| {
        let read = |n: &usize| {
            let image = test.picture(*n).insert_axis(Axis(0));
            let logits = vit.forward(image, Some(&mut bug)).unwrap();
            let mut classes = logits.iter().enumerate();
            let first = classes.next().unwrap();
            let best = classes.fold(first, |best, one| if one.1 > best.1 { one } else { best });
            best.0 == test.labels[*n]
        };
        (0..test.len()).filter(read).count()
    };
    let variants = [(false, false), (true, false), (true, true)];
    let found = std::thread::scope(|scope| {
        let right = &right;
        let runs = variants
            .map(|(split, join)| scope.spawn(move || right(WithoutTranspose { split, join })));
        runs.map(|run| run.join().unwrap())
    });
    assert_eq!(found, [9883, 2351, 2303]);
}
