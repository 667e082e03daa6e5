//! The log of the runs of the lesson on scale, `scale-runs.tsv`: the small networks of the lesson on
//! inductive bias with more digits, and for more steps.

use explain::few_digits::Kind;

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::parts::bias_runs;

/// The log of the runs.
pub(crate) const LOG: &str = "scale-runs.tsv";

/// The sizes of training sets, for runs of 300 steps: the first three are in the log of
/// [`bias_runs`].
const SHORT: [usize; 5] = [100, 300, 1000, 3000, 9500];

/// The sizes of training sets of the long runs.
const LONG: [usize; 3] = [100, 1000, 9500];

/// A whole number among the settings of the log.
fn number(log: &str, name: &str) -> Result<f64, CellError> {
    let found = explain::run_log::setting(log, name)?;
    let wrong = |_| CellError::Mismatch(format!("{LOG}: {name} is {found:?}"));
    Ok(found.parse::<u32>().map_err(wrong)?.into())
}

/// Notes, for each kind of network, the share of test digits that runs read right after learning from each
/// number of digits: mean, lowest and highest of the seeds; and the means' distance, `gap`. `long` chooses
/// the runs of ten times as many steps.
///
/// # Errors
/// When a log is not complete.
pub(crate) fn curve(
    record: &mut Record,
    [few, more]: [&str; 2],
    long: bool,
) -> Result<(), CellError> {
    let sizes: &[usize] = if long { &LONG } else { &SHORT };
    let mut means: Vec<Vec<f64>> = Vec::new();
    for (kind, _) in Kind::ALL {
        let mut all: [Vec<f64>; 3] = Default::default();
        for &size in sizes {
            let end = if long { "-long" } else { "" };
            let scheme = format!("{kind}-{size}{end}");
            let is_few = !long && size <= 1000;
            let log = if is_few { few } else { more };
            let rows = explain::run_log::rows(log, "right", &scheme)?;
            let spread = if all[0].is_empty() {
                shown!(record, explain::run_log::spread, rows.view())?
            } else {
                // The others repeat the call of the first.
                explain::run_log::spread(rows.view())?
            };
            record.number("seeds", rows.nrows() as f64);
            for (n, list) in all.iter_mut().enumerate() {
                list.push(f64::from(spread[[n, 0]]));
            }
        }
        means.push(all[0].clone());
        for (name, list) in ["mean", "low", "high"].iter().zip(all) {
            record.numbers(&format!("{kind}.{name}"), list);
        }
    }
    let gap = means[0].iter().zip(&means[1]);
    record.numbers("gap", gap.map(|(cnn, vit)| cnn - vit).collect());
    record.numbers("sizes", sizes.iter().map(|&size| size as f64).collect());
    let steps = if long { "long steps" } else { "steps" };
    record.number("log.steps", number(more, steps)?);
    record.number("log.test", number(more, "test digits")?);
    // All long runs are in one of the logs.
    let logs = if long { vec![more] } else { vec![few, more] };
    let commands = logs.into_iter().map(|log| {
        let command = explain::run_log::setting(log, "command")?;
        Ok(command.to_owned())
    });
    record.words("command", commands.collect::<Result<_, CellError>>()?);
    Ok(())
}

/// The files of both logs.
pub(crate) fn files() -> Vec<&'static str> {
    vec![bias_runs::LOG, LOG]
}
