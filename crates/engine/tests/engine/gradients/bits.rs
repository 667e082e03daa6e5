//! 200 steps of training, small enough for the plain kernels in a browser.

use engine::grad::{Learner, Schedule, Settings, Task, TrainingConfig};

/// Steps of a run.
pub(crate) const STEPS: usize = 200;

/// Bits of the losses of every fortieth step with the plain kernels, then of all: what
/// `grad_training.rs` finds natively and `grad_wasm.rs` in Chromium.
pub(crate) const LOSSES: [u32; 5] = [
    0x3f49_4145,
    0x3f2f_7fcb,
    0x3f23_865e,
    0x3ef7_81d6,
    0x3ea3_9afc,
];
pub(crate) const FINGERPRINT: u64 = 0x8a4d_1088_e39e_5501;

/// The same of all losses with four lanes, SIMD128 in wasm.
pub(crate) const FINGERPRINT_OF_FOUR: u64 = 0x432c_97ca_2167_5334;

/// How far a run with quick kernels may be from one with the plain ones, at every step.
pub(crate) const QUICK_TOLERANCE: f32 = 1e-3;

/// The losses of a run, dropout and clipping included.
pub(crate) fn run(settings: Settings) -> Vec<f32> {
    let task = Task::Sort {
        symbols: 5,
        length: 8,
    };
    let schedule = Schedule::InverseRoot {
        peak: 0.002,
        warmup: 40,
    };
    let settings = Settings {
        dropout: 0.05,
        ..settings
    };
    let plan = TrainingConfig {
        width: 16,
        batch: 6,
        ..TrainingConfig::of(task, schedule)
    };
    let mut learner = Learner::new(plan, settings).unwrap();
    (0..STEPS).map(|_| learner.step().unwrap()).collect()
}

/// All bits of all losses in one number.
pub(crate) fn fingerprint(losses: &[f32]) -> u64 {
    let bits = losses.iter().map(|loss| u64::from(loss.to_bits()));
    bits.fold(0, |sum, bits| engine::rng::mix(sum ^ bits))
}

/// The plain kernels give the same bits on every machine.
pub(crate) fn plain_kernels_give_the_known_bits() {
    let losses = run(Settings::reference());
    let every: Vec<u32> = losses
        .iter()
        .skip(STEPS / 5 - 1)
        .step_by(STEPS / 5)
        .map(|loss| loss.to_bits())
        .collect();
    assert_eq!(every, LOSSES, "{every:#x?}");
    let found = fingerprint(&losses);
    assert_eq!(found, FINGERPRINT, "{found:#x}");
}

/// Four lanes give the same bits natively and as SIMD128.
pub(crate) fn four_lanes_give_the_known_bits() {
    let found = fingerprint(&run(Settings::same_bits()));
    assert_eq!(found, FINGERPRINT_OF_FOUR, "{found:#x}");
}

/// The quick kernels give the same bits each time on one build, and nearly the plain ones' losses.
pub(crate) fn quick_kernels_repeat_and_stay_near() {
    let (first, second) = (run(Settings::default()), run(Settings::default()));
    let bits = |losses: &[f32]| losses.iter().map(|loss| loss.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&first), bits(&second));
    let plain = run(Settings::reference());
    for (n, (quick, plain)) in first.iter().zip(&plain).enumerate() {
        let difference = (quick - plain).abs();
        assert!(difference < QUICK_TOLERANCE, "step {n}: {quick}, {plain}");
    }
    assert!(first[STEPS - 1] < 0.8 * first[0]);
}
