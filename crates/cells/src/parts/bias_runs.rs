//! The log of the runs of the lesson on inductive bias, `bias-runs.tsv`: small networks that learned few
//! digits, and the shipped models of digits on digits that are moved, shuffled or covered.

use explain::few_digits::{Kind, SIZES};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::parts::digit_models::Three;

/// The log of the runs.
pub(crate) const LOG: &str = "bias-runs.tsv";

/// A whole number among the settings of the log.
fn number(log: &str, name: &str) -> Result<f64, CellError> {
    let found = explain::run_log::setting(log, name)?;
    let wrong = |_| CellError::Mismatch(format!("{LOG}: {name} is {found:?}"));
    Ok(found.parse::<u32>().map_err(wrong)?.into())
}

/// Notes the shares of changed test digits that the three models read right, a line of the log for each:
/// `KIND.cnn`, `KIND.vit`, `KIND.bag`; and how they were measured.
///
/// # Errors
/// When the log is not complete.
pub(crate) fn changed(record: &mut Record, log: &str, kind: &str) -> Result<(), CellError> {
    for (name, model) in Three::NAMES.iter().zip(Three::MODELS) {
        let rows = match *name {
            "cnn" => shown!(record, explain::run_log::rows, log, kind, model)?,
            // The others repeat the call of the first.
            _ => explain::run_log::rows(log, kind, model)?,
        };
        record.tensor(&format!("{kind}.{name}"), &rows.row(0));
    }
    record.number("log.digits", number(log, "changed test digits")?);
    command(record, log)
}

/// Notes the shares of test digits that were read right after learning from each number of digits: for
/// each kind of network the mean, the lowest and the highest of the seeds, a number for each size.
///
/// # Errors
/// When the log is not complete.
pub(crate) fn learned(record: &mut Record, log: &str) -> Result<(), CellError> {
    for (kind, _) in Kind::ALL {
        let mut all: [Vec<f64>; 3] = Default::default();
        for size in SIZES {
            let rows = explain::run_log::rows(log, "right", &format!("{kind}-{size}"))?;
            let spread = if all[0].is_empty() {
                shown!(record, explain::run_log::spread, rows.view())?
            } else {
                // The others repeat the call of the first.
                explain::run_log::spread(rows.view())?
            };
            for (n, list) in all.iter_mut().enumerate() {
                list.push(f64::from(spread[[n, 0]]));
            }
        }
        for (name, list) in ["mean", "low", "high"].iter().zip(all) {
            record.numbers(&format!("log.{kind}.{name}"), list);
        }
    }
    record.number("seeds", number(log, "seeds")?);
    record.number("log.steps", number(log, "steps")?);
    record.number("log.test", number(log, "test digits")?);
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

    /// The numbers are those of the log, read here a second time in another way.
    #[test]
    fn shares_are_those_of_the_log() {
        let log = log();
        let mut record = Record::new();
        changed(&mut record, &log, "moved").unwrap();
        learned(&mut record, &log).unwrap();
        let c = record.finish();
        let numbers = |start: &str| -> Vec<Vec<f64>> {
            let lines = log.lines().filter_map(|line| line.strip_prefix(start));
            let fields = |line: &str| {
                line.split('\t')
                    .skip(1)
                    .filter_map(|x| x.parse().ok())
                    .collect()
            };
            lines.map(fields).collect()
        };
        for (name, model) in Three::NAMES.iter().zip(Three::MODELS) {
            let expected = &numbers(&format!("moved\t{model}\t"))[0];
            assert_eq!(expected.len(), 7);
            for (by, share) in expected.iter().enumerate() {
                let found = c.at(&format!("moved.{name}"), &[by]).unwrap();
                assert!((found - share).abs() < 1e-6);
            }
        }
        for (kind, _) in Kind::ALL {
            for (n, size) in SIZES.iter().enumerate() {
                let all = numbers(&format!("right\t{kind}-{size}\t"));
                let all: Vec<f64> = all.into_iter().flatten().collect();
                assert_eq!(c.at("seeds", &[]), Some(all.len() as f64));
                let mean = all.iter().sum::<f64>() / all.len() as f64;
                let low = all.iter().copied().fold(1.0, f64::min);
                for (what, expected) in [("mean", mean), ("low", low)] {
                    let found = c.at(&format!("log.{kind}.{what}"), &[n]).unwrap();
                    assert!((found - expected).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn a_damaged_log_is_refused() {
        let log = log();
        for (from, to) in [
            ("setting\tsteps", "setting\tstep"),
            ("right\tvit-300\t3", "right\tvit-300\t3\tx"),
            ("right\tcnn-100", "right\tdnn-100"),
        ] {
            assert!(log.contains(from), "{from}");
            assert!(learned(&mut Record::new(), &log.replace(from, to)).is_err());
        }
        assert!(
            changed(
                &mut Record::new(),
                &log.replace("moved\tdigit-vit\t", "moved\tvit\t"),
                "moved"
            )
            .is_err()
        );
    }
}
