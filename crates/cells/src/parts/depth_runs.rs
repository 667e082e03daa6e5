//! The log of the runs on depth, `depth-runs.tsv`: stacks with and without residual connections,
//! and norms before and after the sums with and without warm-up.

pub(crate) use explain::deep_stack::{DEEP, SHALLOW, STEPS};
use ndarray::{Array2, Axis};

use crate::error::CellError;
use crate::frame::shown::Record;

/// The log of the runs.
pub(crate) const LOG: &str = "depth-runs.tsv";

/// The runs on norms: the name of the tensors, and that in the log.
const WARM_UP: [(&str, &str); 4] = [
    ("cold.before", "before-0"),
    ("warm.before", "before-warm"),
    ("cold.after", "after-0"),
    ("warm.after", "after-warm"),
];

/// The stacks: the name of the tensors, and that in the log.
const STACKS: [(&str, &str); 4] = [
    ("plain.shallow", "plain-6"),
    ("plain.deep", "plain-20"),
    ("residual.shallow", "residual-6"),
    ("residual.deep", "residual-20"),
];

/// A whole number among the settings of the log.
fn number(log: &str, name: &str) -> Result<f64, CellError> {
    let found = explain::run_log::setting(log, name)?;
    let wrong = |_| CellError::Mismatch(format!("{LOG}: {name} is {found:?}"));
    Ok(found.parse::<u32>().map_err(wrong)?.into())
}

/// Mean, lowest and highest of each point of a curve, as three vectors.
fn tensors(record: &mut Record, name: &str, spread: &Array2<f32>) {
    for (n, part) in ["", ".low", ".high"].into_iter().enumerate() {
        record.tensor(&format!("{name}{part}"), &spread.index_axis(Axis(0), n));
    }
}

/// The curves of one scheme: means of each point over the seeds, with the lowest and highest, and
/// the same of its last point.
fn curves(
    record: &mut Record,
    log: &str,
    kind: &str,
    (name, scheme): (&str, &str),
) -> Result<(), CellError> {
    let rows = explain::run_log::rows(log, kind, scheme)?;
    let spread = explain::run_log::spread(rows.view())?;
    tensors(record, name, &spread);
    let last = spread.index_axis(Axis(1), spread.ncols() - 1);
    record.tensor(&format!("{name}.last"), &last);
    record.number("seeds", rows.nrows() as f64);
    Ok(())
}

/// The steps in the middle of the `count` equal parts of `steps`.
fn middles(record: &mut Record, name: &str, steps: f64, count: usize) {
    let part = steps / count as f64;
    let middle = |n: usize| part * n as f64 + (part + 1.0) / 2.0;
    record.numbers(name, (0..count).map(middle).collect());
}

/// Notes the runs with norms before and after the sums, with warm-up and without.
///
/// # Errors
/// When the log is not complete.
pub(crate) fn warm_up(record: &mut Record, log: &str) -> Result<(), CellError> {
    for names in WARM_UP {
        curves(record, log, "norm", names)?;
    }
    let points = number(log, "points")?;
    let steps = number(log, "norm steps")?;
    middles(record, "log.step", steps, points as usize);
    record.number("log.steps", steps);
    record.number("log.depth", number(log, "norm depth")?);
    record.number("log.warmup", number(log, "norm warm-up")?);
    command(record, log)
}

/// Notes the runs of plain and residual stacks.
///
/// # Errors
/// When the log is not complete.
pub(crate) fn degradation(record: &mut Record, log: &str) -> Result<(), CellError> {
    for (name, scheme) in STACKS {
        curves(record, log, "stack", (&format!("log.{name}"), scheme))?;
        let right = explain::run_log::rows(log, "right", scheme)?;
        let right = explain::run_log::spread(right.view())?;
        record.tensor(&format!("log.{name}.right"), &right.index_axis(Axis(1), 0));
    }
    record.number("log.steps", number(log, "stack steps")?);
    record.number("log.shallow", SHALLOW as f64);
    record.number("log.deep", DEEP as f64);
    command(record, log)
}

fn command(record: &mut Record, log: &str) -> Result<(), CellError> {
    let command = explain::run_log::setting(log, "command")?;
    record.words("command", vec![command.to_owned()]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::cache;

    fn log() -> String {
        (*cache().opened::<String>(LOG).unwrap()).clone()
    }

    /// The means are those of the log, read here a second time in another way.
    #[test]
    fn means_are_those_of_the_log() {
        let log = log();
        let mut record = Record::new();
        degradation(&mut record, &log).unwrap();
        let c = record.finish();
        for (name, scheme) in STACKS {
            let start = format!("stack\t{scheme}\t");
            let runs: Vec<Vec<f64>> = (log.lines())
                .filter_map(|line| line.strip_prefix(&start))
                .map(|line| {
                    line.split('\t')
                        .skip(1)
                        .filter_map(|x| x.parse().ok())
                        .collect()
                })
                .collect();
            assert_eq!(c.at("seeds", &[]), Some(runs.len() as f64));
            let all = || runs.iter().filter_map(|run| run.last());
            let mean = all().sum::<f64>() / runs.len() as f64;
            let last = format!("log.{name}.last");
            assert!((c.at(&last, &[0]).unwrap() - mean).abs() < 1e-5);
            let low = all().copied().fold(9.0, f64::min);
            assert!((c.at(&last, &[1]).unwrap() - low).abs() < 1e-5);
        }
    }

    #[test]
    fn a_damaged_log_is_refused() {
        let log = log();
        for (from, to) in [
            ("setting\tnorm steps", "setting\tnorm step"),
            ("norm\tafter-0\t1", "norm\tafter-0\t1\tx"),
        ] {
            assert!(log.contains(from), "{from}");
            assert!(warm_up(&mut Record::new(), &log.replace(from, to)).is_err());
        }
        let cut = log.replace("right\tplain-6", "right\tplane-6");
        assert!(degradation(&mut Record::new(), &cut).is_err());
    }
}
