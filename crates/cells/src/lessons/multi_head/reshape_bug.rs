//! A forgotten transpose in digit-vit: right answers with the bug and without, on the same drawn
//! digits, as many as the reader lets it.

use std::sync::Arc;

use engine::model::vit::Vit;
use explain::drawn_digits::digit;
use explain::multi_head::WithoutTranspose;
use ndarray::Array2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::digit_models;
use crate::parts::training::{Steps, Training};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// The number of digits to read.
const DIGITS: usize = 200;

/// The variants: the name of their tensors, and the bug.
const VARIANTS: [(&str, WithoutTranspose); 3] = [
    (
        "right",
        WithoutTranspose {
            split: false,
            join: false,
        },
    ),
    (
        "split",
        WithoutTranspose {
            split: true,
            join: false,
        },
    ),
    (
        "both",
        WithoutTranspose {
            split: true,
            join: true,
        },
    ),
];

/// Tokens, heads and head width of the small example.
const EXAMPLE: (usize, usize, usize) = (4, 2, 2);

/// The cell `reshape-bug`.
pub const SPEC: CellSpec = CellSpec {
    name: "reshape-bug",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = digit_models::entry(SPEC.name, start);

fn inputs() -> Vec<InputSpec> {
    let most = DIGITS as f64;
    vec![InputSpec::number("steps", "Digits", (0.0, most, 1.0), 0.0)]
}

/// Begins to measure.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let vit = digit_models::vit(cache)?;
    let runner = |(name, bug)| Runner {
        name,
        bug,
        vit: Arc::clone(&vit),
        steps: 0,
        right: 0,
        calls: Vec::new(),
    };
    let runners = VARIANTS.map(runner).into_iter().collect();
    Ok(Box::new(Training::new(inputs, runners, show)?))
}

/// The model with or without the bug, and how many digits it has read.
struct Runner {
    name: &'static str,
    bug: WithoutTranspose,
    vit: Arc<Vit>,
    /// Digits read.
    steps: usize,
    /// Right answers.
    right: usize,
    calls: Vec<Call>,
}

impl Steps for Runner {
    fn steps(&self) -> u64 {
        self.steps as u64
    }

    /// The next digit. The first one is noted for "Show the Rust"; all others repeat its calls.
    fn step(&mut self) -> Result<(), CellError> {
        let digit = digit(self.steps)?;
        let (vit, image, mut bug) = (&*self.vit, digit.image.view(), self.bug);
        let logits = if self.steps == 0 {
            let mut record = Record::new();
            let logits = shown!(
                record,
                engine::model::vit::Vit::forward,
                vit,
                image,
                Some(&mut bug)
            )?;
            self.calls = record.finish().calls;
            logits
        } else {
            vit.forward(image, Some(&mut bug))?
        };
        let best = logits.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        self.right += usize::from(best.map(|(class, _)| class) == Some(digit.label));
        self.steps += 1;
        Ok(())
    }
}

fn show(runners: &[Runner], _: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let Some(first) = runners.first() else {
        return Err(CellError::Missing("models".to_owned()));
    };
    example(&mut record)?;
    let done = first.steps;
    record.number("steps", done as f64);
    record.number("digits", DIGITS as f64);
    let config = first.vit.config();
    record.number("heads", config.heads as f64);
    record.number("width", config.width as f64);
    let side = config.image / config.patch;
    record.number("tokens", (1 + side * side) as f64);
    for runner in runners {
        record.calls(&runner.calls);
        let right = runner.right;
        record.number(&format!("{}.count", runner.name), right as f64);
        // Before the first digit there is no share.
        if done > 0 {
            let share = right as f64 / done as f64;
            record.number(&format!("{}.share", runner.name), share);
        }
    }
    Ok(record.finish())
}

/// Which token each number of the first head comes from, cut in the right way and in the wrong one:
/// the numbers of token t are all t.
fn example(record: &mut Record) -> Result<(), CellError> {
    let (tokens, heads, width) = EXAMPLE;
    let x = Array2::from_shape_fn((tokens, heads * width), |(token, _)| (token + 1) as f32);
    let right = shown!(record, engine::nn::heads::split, x.view(), heads)?;
    let wrong = shown!(
        record,
        explain::multi_head::split_without_transpose,
        x.view(),
        heads
    )?;
    record.tensor("example.right", &right);
    record.tensor("example.wrong", &wrong);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, number};

    fn at(steps: f64) -> Computation {
        let given = Inputs::defaults(&inputs()).with("steps", number(steps));
        computed(&SPEC, &given).unwrap()
    }

    /// The figures of the lesson.
    #[test]
    fn the_bug_costs_most_right_answers() {
        let c = at(DIGITS as f64);
        let count = |name: &str| c.at(&format!("{name}.count"), &[]).unwrap();
        let found = [count("right"), count("split"), count("both")];
        assert_eq!(found, [200.0, 47.0, 42.0]);
        assert_eq!(c.at("split.share", &[]), Some(47.0 / 200.0));
    }

    /// An observer that changes nothing leaves the model's own answers.
    #[test]
    fn without_the_bug_the_model_is_itself() {
        let cache = crate::parts::test_models::cache();
        let vit = cache.opened::<Vit>("digit-vit.safetensors").unwrap();
        for digit in [0, 1, 2].map(|n| digit(n).unwrap()) {
            let own = vit.forward(digit.image.view(), None).unwrap();
            let mut bug = VARIANTS[0].1;
            let found = vit.forward(digit.image.view(), Some(&mut bug)).unwrap();
            assert!((&own - &found).iter().all(|d| d.abs() < 1e-4));
        }
    }

    /// Of four tokens and two heads, the first head gets the first two tokens and nothing else.
    #[test]
    fn a_head_that_is_cut_wrongly_holds_half_of_the_tokens() {
        let c = at(0.0);
        let row = |name: &str, t: usize| [0, 1].map(|n| c.at(name, &[0, t, n]).unwrap());
        let all = |name: &str| [0, 1, 2, 3].map(|t| row(name, t));
        let expected = [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]];
        assert_eq!(all("example.right"), expected);
        let expected = [[1.0, 1.0], [1.0, 1.0], [2.0, 2.0], [2.0, 2.0]];
        assert_eq!(all("example.wrong"), expected);
        assert_eq!(c.at("right.share", &[]), None);
    }
}
