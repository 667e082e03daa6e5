//! What more blocks, a larger dimension and smaller patches do for a small Vision Transformer on digits,
//! from our logged runs: right answers, beside the parameters and the work of each shape.

use explain::vit_shapes::{Factor, Shape};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The log of the runs.
pub const LOG: &str = "shape-runs.tsv";

/// The factors that the reader chooses between.
pub const FACTORS: [&str; 3] = ["depth", "width", "patch"];

/// The cell `shape-runs`.
pub const SPEC: CellSpec = CellSpec {
    name: "shape-runs",
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
    vec![InputSpec::choice("factor", "What changes", &FACTORS)]
}

/// Begins to compute.
///
/// # Errors
/// A log that is not one.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let log = cache.opened::<String>(LOG)?;
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &log)))
}

/// A whole number among the settings of the log.
fn setting(log: &str, name: &str) -> Result<f64, CellError> {
    let found = explain::run_log::setting(log, name)?;
    let wrong = |_| CellError::Mismatch(format!("{LOG}: {name} is {found:?}"));
    Ok(found.parse::<u32>().map_err(wrong)?.into())
}

/// The shapes of one factor.
#[derive(Default)]
struct Group {
    /// Mean, lowest and highest share of right answers over the seeds.
    right: [Vec<f64>; 3],
    values: Vec<f64>,
    tokens: Vec<f64>,
    parameters: Vec<f64>,
    work: Vec<f64>,
}

impl Group {
    fn read(record: &mut Record, log: &str, factor: Factor) -> Result<Self, CellError> {
        let mut group = Self::default();
        for shape in factor.shapes() {
            let config = &shape.config();
            let rows = explain::run_log::rows(log, "right", &shape.name())?;
            // Each function is shown once.
            let is_first = factor == Factor::Depth && group.values.is_empty();
            let (spread, parts, cost) = if is_first {
                record.number("seeds", rows.nrows() as f64);
                (
                    shown!(record, explain::run_log::spread, rows.view())?,
                    shown!(record, explain::vit_sizes::parameters, config),
                    shown!(record, explain::vit_sizes::cost, config),
                )
            } else {
                (
                    explain::run_log::spread(rows.view())?,
                    explain::vit_sizes::parameters(config),
                    explain::vit_sizes::cost(config),
                )
            };
            for (list, share) in group.right.iter_mut().zip(spread.column(0)) {
                list.push(f64::from(*share));
            }
            group.values.push(factor.of(shape) as f64);
            group.tokens.push((1 + cost.patches) as f64);
            group.parameters.push(parts.iter().sum::<usize>() as f64);
            group.work.push(cost.multiplications as f64);
        }
        Ok(group)
    }

    /// Notes everything under a name.
    fn note(&self, record: &mut Record, before: &str) {
        let [mean, low, high] = &self.right;
        for (name, list) in [
            ("mean", mean),
            ("low", low),
            ("high", high),
            ("values", &self.values),
            ("tokens", &self.tokens),
            ("parameters", &self.parameters),
            ("work", &self.work),
        ] {
            record.numbers(&format!("{before}{name}"), list.clone());
        }
    }
}

fn compute(inputs: &Inputs, log: &str) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let chosen = inputs.choice("factor")?;
    let mut best = (Shape::BASE, 0.0);
    for (name, factor) in Factor::ALL {
        let group = Group::read(&mut record, log, factor)?;
        group.note(&mut record, &format!("{name}."));
        for (shape, mean) in factor.shapes().into_iter().zip(&group.right[0]) {
            if *mean > best.1 {
                best = (shape, *mean);
            }
        }
        if name == chosen {
            group.note(&mut record, "");
        }
    }
    for (start, shape) in [("base", Shape::BASE), ("best", best.0)] {
        for (name, factor) in Factor::ALL {
            record.number(&format!("{start}.{name}"), factor.of(shape) as f64);
        }
    }
    record.number("log.steps", setting(log, "steps")?);
    record.number("log.digits", setting(log, "digits")?);
    record.number("log.test", setting(log, "test digits")?);
    let command = explain::run_log::setting(log, "command")?;
    record.words("command", vec![command.to_owned()]);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{cache, choice, computed};

    fn of(factor: &str) -> Computation {
        let given = Inputs::defaults(&inputs()).with("factor", choice(factor));
        computed(&SPEC, &given).unwrap()
    }

    fn all(c: &Computation, name: &str) -> Vec<f64> {
        c.tensor(name).unwrap().values.iter().copied().collect()
    }

    fn log() -> String {
        (*cache().opened::<String>(LOG).unwrap()).clone()
    }

    /// The choices of the cell are the factors, and the chosen one is shown.
    #[test]
    fn the_chosen_factor_is_shown() {
        assert_eq!(Factor::ALL.map(|(name, _)| name), FACTORS);
        for name in FACTORS {
            let c = of(name);
            for what in [
                "mean",
                "low",
                "high",
                "values",
                "tokens",
                "parameters",
                "work",
            ] {
                assert_eq!(all(&c, what), all(&c, &format!("{name}.{what}")), "{what}");
            }
        }
    }

    /// The shares are those of the log, read here a second time in another way.
    #[test]
    fn shares_are_those_of_the_log() {
        let (log, c) = (log(), of("depth"));
        for (name, factor) in Factor::ALL {
            for (n, shape) in factor.shapes().into_iter().enumerate() {
                let start = format!("right\t{}\t", shape.name());
                let lines = log.lines().filter_map(|line| line.strip_prefix(&start));
                let shares: Vec<f64> = lines
                    .map(|line| line.split('\t').nth(1).unwrap().parse().unwrap())
                    .collect();
                assert_eq!(c.at("seeds", &[]), Some(shares.len() as f64));
                let mean = shares.iter().sum::<f64>() / shares.len() as f64;
                let found = c.at(&format!("{name}.mean"), &[n]).unwrap();
                assert!((found - mean).abs() < 1e-6, "{}", shape.name());
            }
        }
    }

    /// What the lesson says of depth: little is gained, and nothing from 4 blocks to 8.
    #[test]
    fn more_blocks_help_little() {
        let c = of("depth");
        let (mean, work) = (all(&c, "mean"), all(&c, "work"));
        assert!(mean[0] < mean[1] && mean[1] < mean[2] && mean[2] > mean[3]);
        assert!((0.01..0.02).contains(&(mean[3] - mean[0])), "{mean:?}");
        assert!((7.6..7.8).contains(&(work[3] / work[0])), "{work:?}");
        // The runs of 2, 4 and 8 blocks overlap.
        let (low, high) = (all(&c, "low"), all(&c, "high"));
        assert!(low[2] < high[1] && low[3] < high[1]);
    }

    /// What it says of width: most from 16 to 64; 96 is worse, in every run.
    #[test]
    fn width_helps_up_to_a_point() {
        let c = of("width");
        let (mean, low, high) = (all(&c, "mean"), all(&c, "low"), all(&c, "high"));
        assert!(high[0] < low[1] && high[1] < low[2] && high[3] < low[2]);
        assert!((0.09..0.1).contains(&(mean[2] - mean[0])), "{mean:?}");
        // For about as many multiplications, width gives more than depth.
        let work = c.at("width.work", &[2]).unwrap() / c.at("depth.work", &[3]).unwrap();
        assert!((0.8..1.0).contains(&work), "{work}");
        assert!(low[2] > c.at("depth.high", &[3]).unwrap());
    }

    /// What it says of patches: the largest are best, of all runs, and cost a tenth of the base.
    #[test]
    fn large_patches_are_best_here() {
        let c = of("patch");
        let (low, work) = (all(&c, "low"), all(&c, "work"));
        for name in FACTORS {
            let from = usize::from(name == "patch");
            let others = all(&c, &format!("{name}.high"));
            assert!(others[from..].iter().all(|&high| high < low[0]), "{name}");
        }
        assert!((0.09..0.1).contains(&(work[0] / work[2])), "{work:?}");
        // The smallest cost seven times as much as the base, and are no better.
        assert!((6.9..7.2).contains(&(work[3] / work[2])), "{work:?}");
        let mean = all(&c, "mean");
        assert!(mean[0] > mean[1] && mean[1] > mean[2] && mean[2] > mean[3]);
        assert!(all(&c, "high")[3] > all(&c, "low")[2]);
        // The base in 3,000 steps, in the log of another cell.
        let longer = (*cache().opened::<String>("scale-runs.tsv").unwrap()).clone();
        let longer = explain::run_log::rows(&longer, "right", "vit-9500-long").unwrap();
        assert!(longer[[0, 0]] == 0.919 && f64::from(longer[[0, 0]]) < low[0]);
        assert_eq!(
            (c.at("best.patch", &[]), c.at("best.depth", &[])),
            (Some(14.0), Some(2.0))
        );
    }

    #[test]
    fn a_damaged_log_is_refused() {
        let (log, given) = (log(), Inputs::defaults(&inputs()));
        assert!(compute(&given, &log).is_ok());
        for (part, other) in [
            ("right\t2-32-7\t", "right\t2-32-6\t"),
            ("setting\tdigits\t", "setting\tdigits\tmany "),
            ("setting\tcommand\t", "setting\tword\t"),
        ] {
            assert!(
                compute(&given, &log.replace(part, other)).is_err(),
                "{part}"
            );
        }
    }
}
