//! The log of `translator-runs`: it is complete, and a run repeats its first losses.

use engine::kernel;
use engine::ndarray::Array2;
use explain::run_log::{rows, setting};
use skip::shared;
use std::path::Path;
use training::frame::{Options, losses, train};
use training::text::pairs;
use training::text::translation::{Kind, SMOOTHING, Translation};
use training::text::translator_runs::{
    BINS, FILE, FIRST, SCHEMES, STEPS, SchemeRun, TEMPERATURES, keep,
};

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
    let said = |name: &str| setting(&log, name).unwrap();
    assert_eq!(said("steps"), STEPS.to_string());
    assert_eq!(said("apart"), keep(STEPS).apart.to_string());
    assert_eq!(said("smoothing"), SMOOTHING.to_string());
    let tokens: f32 = said("tokens").parse().unwrap();
    let (kept, temperatures) = (keep(STEPS).count as usize, TEMPERATURES.count());
    for scheme in SCHEMES {
        let name = scheme.name;
        assert_eq!(of(&log, "first", name).dim(), (1, FIRST));
        assert_eq!(of(&log, "kept", name).dim(), (kept, 3));
        assert_eq!(of(&log, "averaged", name).dim(), (kept - 1, 5));
        assert_eq!(of(&log, "nats", name).dim(), (temperatures, 1));
        let [count, right, sure] = ["count", "right", "sure"].map(|kind| of(&log, kind, name));
        assert_eq!(count.dim(), (temperatures, BINS));
        assert!(count.outer_iter().all(|row| row.sum() == tokens), "{name}");
        assert!(right.iter().zip(&count).all(|(right, all)| right <= all));
        // A bin's confidences are within its ends, but for the rounding of their sum.
        for (((_, bin), sure), all) in sure.indexed_iter().zip(&count) {
            let (low, high) = (bin as f32 / BINS as f32, (bin + 1) as f32 / BINS as f32);
            let within = all * low - 0.06..=all * high + 0.06;
            assert!(within.contains(sure), "{name}: bin {bin}: {sure} of {all}");
        }
        // The last checkpoint is the one whose probabilities were counted.
        let last = of(&log, "kept", name);
        let one = (10 - TEMPERATURES.start()) as usize;
        let share = right.row(one).sum() / tokens;
        assert!((share - last[[kept - 1, 1]]).abs() < 1e-4, "{name}");
        assert!((of(&log, "nats", name)[[one, 0]] - last[[kept - 1, 0]]).abs() < 1e-4);
    }
    assert!(log.len() <= 20_000, "{} bytes", log.len());
}

/// Runs of the log, begun again: their first losses have the same bits, on any number of threads.
#[test]
fn runs_repeat_their_first_losses() {
    if shared(&format!("data/{}", pairs::FILE)).is_none() {
        return;
    }
    let translation = Translation::read(Kind::Transformer, &shared("data").unwrap()).unwrap();
    let log = log();
    let is_same = setting(&log, "kernels").unwrap() == kernel::steady().name();
    for scheme in SCHEMES {
        let name = scheme.name;
        let work = std::env::temp_dir().join(format!("runs-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&work);
        let options = Options {
            work: work.clone(),
            seed: 1,
            checkpoint_every: 200,
            resume: false,
            steps: None,
            stop_after: Some(FIRST as u64),
        };
        let run = SchemeRun::new(&translation, scheme, STEPS);
        train(&run, &options).unwrap();
        let found = losses(&work).unwrap();
        std::fs::remove_dir_all(&work).unwrap();
        for (found, expected) in found.iter().zip(of(&log, "first", name).row(0)) {
            // Other kernels add in another order.
            let bound = if is_same { 0.0 } else { 1e-3 };
            let distance = (found - expected).abs();
            assert!(distance <= bound, "{name}: {found} {expected}");
        }
    }
}
