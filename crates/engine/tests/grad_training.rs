//! Training is repeatable, and learns.
#![cfg(not(target_family = "wasm"))]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "gradients/bits.rs"]
mod bits;

use engine::grad::{Learner, Schedule, Settings, Task, TrainingConfig};

#[test]
fn plain_kernels_give_the_known_bits() {
    bits::plain_kernels_give_the_known_bits();
}

#[test]
fn four_lanes_give_the_known_bits() {
    bits::four_lanes_give_the_known_bits();
}

#[test]
fn quick_kernels_repeat_and_stay_near() {
    bits::quick_kernels_repeat_and_stay_near();
}

/// The whole of `grad_wasm.rs`'s measurement in small: sequences of 8, so that it takes seconds.
#[test]
fn a_task_is_learned_from_nothing() {
    for task in [
        Task::Copy {
            symbols: 6,
            length: 8,
        },
        Task::Reverse {
            symbols: 6,
            length: 8,
        },
        Task::Sort {
            symbols: 6,
            length: 8,
        },
    ] {
        let schedule = Schedule::Cosine {
            peak: 0.004,
            last: 0.0004,
            warmup: 50,
            steps: 300,
        };
        let plan = TrainingConfig {
            width: 32,
            batch: 32,
            ..TrainingConfig::of(task.clone(), schedule)
        };
        let mut learner = Learner::new(plan, Settings::default()).unwrap();
        let before = learner.score(100).unwrap();
        for _ in 0..300 {
            learner.step().unwrap();
        }
        let after = learner.score(200).unwrap();
        assert!(before < 0.05 && after > 0.9, "{task:?}: {before}, {after}");
        let held = learner.held_out(50).unwrap();
        let right = learner.evaluate(&held).unwrap().right;
        assert_eq!(learner.written_right(&held).unwrap(), right);
        // What it gets right with the right beginnings it writes by itself.
        let pairs =
            engine::grad::Pairs::draw(&task, &mut engine::rng::Rng::new(9), 1, true).unwrap();
        let source = &pairs.source.ids;
        let written = learner
            .model
            .greedy(source, task.start(), usize::MAX, source.len())
            .unwrap();
        if pairs.right(&learner.model).unwrap() == 1 {
            let written: Vec<_> = written.into_iter().map(Some).collect();
            assert_eq!(written, pairs.answers);
        }
    }
}
