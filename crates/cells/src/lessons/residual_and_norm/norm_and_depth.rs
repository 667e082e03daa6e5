//! The gradient of each block of a deep, untrained encoder with its norms before or after the sums,
//! and the losses of our logged runs with and without warm-up.

use explain::norm_stack::{NormStack, Place};
use ndarray::{Array1, Axis};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::depth_runs::{self, LOG};
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// Stacks that a gradient is the mean of, with seeds one after the other: one stack alone varies
/// from block to block.
const STACKS: u64 = 4;

/// The two places of the norms, and the names of their tensors.
const PLACES: [(&str, Place); 2] = [("before", Place::Before), ("after", Place::After)];

/// The cell `norm-and-depth`.
pub const SPEC: CellSpec = CellSpec {
    name: "norm-and-depth",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| vec![LOG],
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("depth", "Blocks", (1.0, 48.0, 1.0), 12.0),
        InputSpec::seed(1),
    ]
}

/// Begins to compute.
///
/// # Errors
/// An input that does not fit, or a log that is not one.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let log = cache.opened::<String>(LOG)?;
    let mut record = Record::new();
    depth_runs::warm_up(&mut record, &log)?;
    Ok(Box::new(Gradients {
        record,
        depth: inputs.count("depth")?,
        seed: inputs.seed()?,
        found: Vec::new(),
    }))
}

/// The stacks that are measured one after the other.
struct Gradients {
    record: Record,
    depth: usize,
    seed: u64,
    /// Loss and gradients of each, the deep and the one-block stacks by turns.
    found: Vec<(f32, Vec<f32>)>,
}

impl Gradients {
    /// The stack of this number: place of the norms, depth and seed.
    fn stack(&self, n: u64) -> Option<(Place, usize, u64)> {
        let (place, rest) = (n / (2 * STACKS), n % (2 * STACKS));
        let (_, place) = PLACES.get(place as usize)?;
        let depth = if rest % 2 == 0 { self.depth } else { 1 };
        Some((*place, depth, self.seed + rest / 2))
    }

    fn finish(&mut self) {
        let record = &mut self.record;
        let per_place = 2 * STACKS as usize;
        for ((name, _), all) in PLACES.into_iter().zip(self.found.chunks(per_place)) {
            let of = |is_one: usize| {
                let stacks = all.iter().skip(is_one).step_by(2);
                let rows: Vec<Array1<f32>> =
                    stacks.map(|(_, norms)| norms.clone().into()).collect();
                let rows: Vec<_> = rows
                    .iter()
                    .map(|row| row.view().insert_axis(Axis(0)))
                    .collect();
                // Rows of one length always fit below each other.
                ndarray::concatenate(Axis(0), &rows)
                    .ok()
                    .and_then(|rows| rows.mean_axis(Axis(0)))
                    .unwrap_or_default()
            };
            let (deep, one) = (of(0), of(1));
            let ends =
                |all: &Array1<f32>, at: usize| f64::from(all.get(at).copied().unwrap_or(0.0));
            let (last, alone) = (ends(&deep, self.depth - 1), ends(&one, 0));
            record.number(&format!("last.{name}"), last);
            record.number(&format!("one.{name}"), alone);
            record.number(&format!("ratio.{name}"), last / alone);
            record.tensor(name, &deep);
        }
        record.number("depth", self.depth as f64);
        record.number("stacks", STACKS as f64);
    }
}

impl Job for Gradients {
    /// One stack.
    fn advance(&mut self) -> Result<Progress, CellError> {
        let n = self.found.len() as u64;
        let Some((place, depth, seed)) = self.stack(n) else {
            self.finish();
            let record = std::mem::take(&mut self.record);
            return Ok(Progress::Done(Box::new(record.finish())));
        };
        let mut stack = NormStack::new(place, depth, seed)?;
        let stack = &mut stack;
        let record = &mut self.record;
        // The others repeat the call of the first.
        let found = if n == 0 {
            shown!(
                record,
                explain::norm_stack::NormStack::gradient_norms,
                stack,
                seed
            )?
        } else {
            stack.gradient_norms(seed)?
        };
        self.found.push(found);
        Ok(Progress::Working(
            self.found.len() as f32 / (4 * STACKS) as f32,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::computation::Computation;
    use crate::input::InputValue;
    use crate::parts::test_models::computed;

    fn at(depth: usize, seed: u32) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("depth", InputValue::Number(depth as f64))
            .with("seed", InputValue::Number(f64::from(seed)));
        computed(&SPEC, &given).unwrap()
    }

    fn number(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// What the lesson says, for several seeds: in a deep pre-norm stack the gradient of the last
    /// block is far smaller than in one of a single block; with post-norm it is not.
    #[test]
    fn only_with_pre_norm_does_the_last_gradient_shrink() {
        for seed in [1, 20, 40] {
            for depth in [12, 24, 48] {
                let c = at(depth, seed);
                let (before, after) = (number(&c, "ratio.before"), number(&c, "ratio.after"));
                assert!(
                    before < 0.75 && after > 0.8,
                    "{depth} {seed}: {before} {after}"
                );
                assert!(number(&c, "last.after") > 2.0 * number(&c, "last.before"));
            }
            assert!(number(&at(48, seed), "ratio.before") < 0.5, "{seed}");
            let shrinks = [1, 6, 12, 48].map(|depth| number(&at(depth, seed), "last.before"));
            assert!(shrinks.is_sorted_by(|a, b| a > b), "{shrinks:?}");
        }
    }

    /// What the lesson says of the logged runs: pre-norm needs no warm-up, post-norm does.
    #[test]
    fn only_post_norm_needs_the_warm_up() {
        let c = at(1, 1);
        let end = |name: &str, n: usize| c.at(&format!("{name}.last"), &[n]).unwrap();
        // Even the highest seed of one is below the lowest of the other.
        let (highest, lowest) = (2, 1);
        assert!(end("cold.before", highest) < 0.01 && end("warm.before", highest) < 0.05);
        assert!(end("cold.after", lowest) > 0.9 && end("warm.after", highest) < 0.75);
        let half = |name: &str| c.at(name, &[20]).unwrap();
        assert!(
            half("cold.before") < half("warm.before"),
            "a warm-up delays the start"
        );
        // Post-norm with warm-up is still learning at the end.
        let late = |n: usize| c.at("warm.after", &[n]).unwrap();
        assert!(late(39) < late(34) - 0.1);
    }

    /// Each block has a gradient, and a stack of one block is the one that it is compared with.
    #[test]
    fn one_block_is_compared_with_itself() {
        let c = at(1, 3);
        for name in ["before", "after"] {
            assert_eq!(number(&c, &format!("ratio.{name}")), 1.0);
        }
        assert_eq!(at(5, 3).tensor("after").unwrap().values.len(), 5);
    }
}
