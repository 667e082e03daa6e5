//! Training is repeatable, and learns.

use engine::grad::{Learner, Schedule, Settings, Task, TrainingConfig};
use engine::model::encoder_decoder::EncoderDecoder;
use engine::model::transformer::Transformer;
use engine::nn::compute::Compute;
use engine::nn::packed::Packed;
use engine::nn::parts::Parts;
use engine::trainable::{Trainable, Visit};

use crate::gradients::bits;

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

/// A model that computes with a clone of its parameters, which no gradient reaches.
struct Cloned(Transformer);

impl Trainable for Cloned {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> engine::Result<()> {
        self.0.parameters(visit)
    }
}

impl EncoderDecoder for Cloned {
    fn run<C: Compute>(
        &self,
        compute: &mut C,
        source: &Packed,
        target: &Packed,
    ) -> engine::Result<C::Matrix> {
        self.0.clone().run(compute, source, target)
    }
}

#[test]
fn a_parameter_without_a_gradient_is_refused() {
    let task = Task::Copy {
        symbols: 4,
        length: 8,
    };
    let schedule = Schedule::InverseRoot {
        peak: 0.01,
        warmup: 10,
    };
    let plan = TrainingConfig {
        width: 8,
        ..TrainingConfig::of(task, schedule)
    };
    let learner = Learner::new(plan.clone(), Settings::default()).unwrap();
    let cloned = Cloned(learner.model);
    let mut learner = Learner::of(cloned, plan.task_config(), Settings::default()).unwrap();
    let error = learner.step().unwrap_err();
    assert_eq!(
        error.to_string(),
        "parameter embedding.weight: expected a gradient, found none: the loss is not computed from it"
    );
    // Norms that are switched off need none.
    let parts = Parts {
        norm: false,
        ..Parts::default()
    };
    let without = TrainingConfig { parts, ..plan };
    Learner::new(without, Settings::default())
        .unwrap()
        .step()
        .unwrap();
}
