//! The log of `position-race`: it is complete, a run repeats its first losses, and it holds what the
//! lesson says of it.

use engine::kernel;
use explain::run_log::{means_within, rows, setting, spread};
use skip::shared;
use std::path::Path;
use training::frame::{Options, losses, train};
use training::text::position_race::{FILE, FIRST};
use training::text::positions::{EVALUATED, INTERPOLATED, Run, SCHEMES, STEPS, TRAINED, Texts};
use training::text::stories;

fn log() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/models");
    std::fs::read_to_string(folder.join(FILE)).unwrap()
}

/// The names in the log.
fn names() -> impl Iterator<Item = &'static str> {
    SCHEMES.iter().map(|(name, _)| *name).chain([INTERPOLATED])
}

#[test]
fn every_run_is_in_the_log() {
    let log = log();
    let number = |name: &str| setting(&log, name).unwrap().parse::<usize>().unwrap();
    assert_eq!(number("steps") as u64, STEPS);
    assert_eq!(
        (number("trained"), number("evaluated")),
        (TRAINED, EVALUATED)
    );
    let bucket = number("bucket");
    for name in names() {
        let length = if name == "learned" {
            TRAINED
        } else {
            EVALUATED
        };
        assert_eq!(
            rows(&log, "position", name).unwrap().dim(),
            (3, length / bucket)
        );
        if name != INTERPOLATED {
            assert_eq!(rows(&log, "training", name).unwrap().dim(), (3, 30));
            assert_eq!(rows(&log, "first", name).unwrap().dim(), (3, FIRST));
            let parameters = format!("parameters of {name}");
            assert!(number(&parameters) > 100_000);
        }
    }
    assert!(log.len() <= 40_000, "{} bytes", log.len());
}

/// A run of the log, begun again: its first losses have the same bits, on any number of threads.
#[test]
fn a_run_repeats_its_first_losses() {
    for file in [stories::UNMARKED, stories::MARKED] {
        if shared(&format!("data/{file}")).is_none() {
            return;
        }
    }
    let texts = Texts::read(&shared("data").unwrap()).unwrap();
    let log = log();
    let is_same = setting(&log, "kernels").unwrap() == kernel::steady().name();
    for scheme in [SCHEMES[3], SCHEMES[5]] {
        let work = std::env::temp_dir().join(format!("race-{}-{}", scheme.0, std::process::id()));
        let _ = std::fs::remove_dir_all(&work);
        let options = Options {
            work: work.clone(),
            seed: 1,
            checkpoint_every: 200,
            resume: false,
            steps: None,
            stop_after: Some(FIRST as u64),
        };
        train(&Run::new(&texts, scheme), &options).unwrap();
        let found = losses(&work).unwrap();
        std::fs::remove_dir_all(&work).unwrap();
        let expected = rows(&log, "first", scheme.0).unwrap();
        for (found, expected) in found.iter().zip(expected.row(0)) {
            // Other kernels add in another order.
            let bound = if is_same { 0.0 } else { 1e-3 };
            assert!(
                (found - expected).abs() <= bound,
                "{}: {found} {expected}",
                scheme.0
            );
        }
    }
}

/// The loss of each seed within the trained length, to twice that length, and beyond.
fn within(log: &str, name: &str) -> Vec<[f32; 3]> {
    let bucket: usize = setting(log, "bucket").unwrap().parse().unwrap();
    let ends = [0, TRAINED, 2 * TRAINED, EVALUATED].map(|end| end / bucket);
    let ranges = [ends[0]..ends[1], ends[1]..ends[2], ends[2]..ends[3]];
    let means = means_within(rows(log, "position", name).unwrap().view(), &ranges).unwrap();
    // A learned table has only the first.
    let number = |row: usize, n: usize| means.get([row, n]).copied().unwrap_or(f32::NAN);
    let row = |row: usize| [0, 1, 2].map(|n| number(row, n));
    (0..means.nrows()).map(row).collect()
}

/// Each sentence of the lesson on the race, for every seed.
#[test]
fn the_lesson_says_what_every_seed_shows() {
    let log = log();
    for seed in 0..3 {
        let of = |name: &str| within(&log, name)[seed];
        let (none, sines, rotary) = (of("none"), of("sines"), of("rotary"));
        let (bias, alibi, interpolated) = (of("bias"), of("alibi"), of(INTERPOLATED));
        // Within the trained length rotary and the bias are best, and no positions worst.
        for (name, _) in SCHEMES {
            let found = of(name)[0];
            assert!(found <= none[0], "{name}");
            let is_best = ["rotary", "bias"].contains(&name);
            assert_eq!(found <= rotary[0].max(bias[0]), is_best, "{name}");
        }
        assert!(of("learned")[1].is_nan());
        // Appended sines are better than added ones by about a tenth, and fail too, somewhat later.
        let appended = of("appended");
        let gain = sines[0] - appended[0];
        assert!((0.08..0.16).contains(&gain), "{gain}");
        assert!(sines[1] > appended[1] + 0.2 && appended[1] > appended[0] + 0.8);
        assert!(appended[2] > 4.0 && sines[2] > 3.9);
        // Sines fail from one position to the next, and stay so.
        let by_position = |name| rows(&log, "position", name).unwrap().row(seed).to_owned();
        let sine = by_position("sines");
        assert!(sine[8] > sine[7] + 0.5 && sines[1] > sines[0] + 1.0);
        // Rotary holds to one and a half times the length, and fails at the end.
        let turned = by_position("rotary");
        let mut held = turned.iter().skip(8).take(4);
        assert!(held.all(|&loss| loss < rotary[0] + 0.1), "{turned}");
        assert!(rotary[2] > rotary[0] + 1.0);
        // The biases keep their loss to a tenth; without positions it rises with every range.
        assert!((alibi[2] - alibi[0]).abs() < 0.1 && (bias[2] - bias[0]).abs() < 0.1);
        assert!(none[0] + 0.1 < none[1] && none[1] < none[2]);
        // Interpolation is almost level, worse than its model in training, and better at the end.
        assert!((interpolated[2] - interpolated[0]).abs() < 0.15);
        assert!(interpolated[0] > rotary[0] + 0.5 && interpolated[2] < rotary[2]);
    }
    // The table of the cell has these means.
    let rotary = rows(&log, "position", "rotary").unwrap();
    let all = spread(rotary.view()).unwrap();
    assert!((0..all.ncols()).all(|n| all[[1, n]] <= all[[0, n]] && all[[0, n]] <= all[[2, n]]));
}
