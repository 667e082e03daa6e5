//! The log of the runs of the lesson on the MLP, `mlp-runs.tsv`: four nonlinearities at four learning
//! rates, and mixtures of experts with the balance loss and without.

use explain::fact_memory::{Activity, RATES};
use ndarray::{Array2, Axis};

use crate::error::CellError;
use crate::frame::shown::Record;

/// The log of the runs.
pub(crate) const LOG: &str = "mlp-runs.tsv";

/// A whole number among the settings of the log.
fn number(log: &str, name: &str) -> Result<f64, CellError> {
    let found = explain::run_log::setting(log, name)?;
    let wrong = |_| CellError::Mismatch(format!("{LOG}: {name} is {found:?}"));
    Ok(found.parse::<u32>().map_err(wrong)?.into())
}

/// Notes how the runs were made.
fn settings(record: &mut Record, log: &str, steps: &str) -> Result<(), CellError> {
    record.number("log.steps", number(log, steps)?);
    record.number("seeds", number(log, "seeds")?);
    let command = explain::run_log::setting(log, "command")?;
    record.words("command", vec![command.to_owned()]);
    Ok(())
}

/// Notes the shares of right facts: for each nonlinearity the mean, the lowest and the highest of
/// the seeds, a number for each rate; and the best mean of each.
///
/// # Errors
/// When the log is not complete.
pub(crate) fn facts(record: &mut Record, log: &str) -> Result<(), CellError> {
    let mut best: Vec<f64> = Vec::new();
    for (name, _) in Activity::ALL {
        let mut all: [Vec<f64>; 3] = Default::default();
        for rate in RATES {
            let scheme = format!("{name}-{rate}");
            let spread = if best.is_empty() && all[0].is_empty() {
                let rows = shown!(record, explain::run_log::rows, log, "right", &scheme)?;
                shown!(record, explain::run_log::spread, rows.view())?
            } else {
                // The others repeat the calls of the first.
                let rows = explain::run_log::rows(log, "right", &scheme)?;
                explain::run_log::spread(rows.view())?
            };
            for (n, list) in all.iter_mut().enumerate() {
                list.push(f64::from(spread[[n, 0]]));
            }
        }
        let [mean, low, high] = all;
        best.push(mean.iter().copied().fold(0.0, f64::max));
        record.numbers(&format!("log.{name}"), mean);
        record.numbers(&format!("log.{name}.low"), low);
        record.numbers(&format!("log.{name}.high"), high);
    }
    record.numbers("best", best);
    let rates = RATES.iter().filter_map(|rate| rate.parse().ok());
    record.numbers("rates", rates.collect());
    settings(record, log, "fact steps")
}

/// Notes of the mixtures the share of the busiest expert, the number of experts without a word, and
/// the loss: mean, lowest and highest of the seeds.
///
/// # Errors
/// When the log is not complete.
pub(crate) fn experts(record: &mut Record, log: &str) -> Result<(), CellError> {
    for name in ["free", "balanced"] {
        let loads = explain::run_log::rows(log, "load", name)?;
        let seeds = loads.nrows();
        let busiest = loads.map_axis(Axis(1), |row| row.iter().copied().fold(0.0, f32::max));
        let idle = loads.map_axis(Axis(1), |row| {
            row.iter().filter(|&&share| share == 0.0).count() as f32
        });
        let words = explain::run_log::rows(log, "words", name)?;
        let column = |all: ndarray::Array1<f32>| Array2::from_shape_fn((seeds, 1), |(n, _)| all[n]);
        for (part, rows) in [
            ("busiest", column(busiest)),
            ("idle", column(idle)),
            ("words", words),
        ] {
            let spread = explain::run_log::spread(rows.view())?;
            record.tensor(
                &format!("log.{name}.{part}"),
                &spread.index_axis(Axis(1), 0),
            );
        }
    }
    settings(record, log, "expert steps")
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
        facts(&mut record, &log).unwrap();
        experts(&mut record, &log).unwrap();
        let c = record.finish();
        let numbers = |start: &str| -> Vec<f64> {
            let lines = log.lines().filter_map(|line| line.strip_prefix(start));
            lines
                .map(|line| {
                    let all = line.split('\t').skip(1).filter_map(|x| x.parse().ok());
                    all.fold(0.0, f64::max)
                })
                .collect()
        };
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
        for (name, _) in Activity::ALL {
            for (n, rate) in RATES.iter().enumerate() {
                let all = numbers(&format!("right\t{name}-{rate}\t"));
                assert_eq!(c.at("seeds", &[]), Some(all.len() as f64));
                let found = c.at(&format!("log.{name}"), &[n]).unwrap();
                assert!((found - mean(&all)).abs() < 1e-6);
            }
        }
        for name in ["free", "balanced"] {
            let found = c.at(&format!("log.{name}.busiest"), &[0]).unwrap();
            assert!((found - mean(&numbers(&format!("load\t{name}\t")))).abs() < 1e-6);
        }
    }

    #[test]
    fn a_damaged_log_is_refused() {
        let log = log();
        for (from, to) in [
            ("setting\tfact steps", "setting\tfact step"),
            ("right\tsilu-0.02\t3", "right\tsilu-0.02\t3\tx"),
        ] {
            assert!(log.contains(from), "{from}");
            assert!(facts(&mut Record::new(), &log.replace(from, to)).is_err());
        }
        let cut = log.replace("load\tfree", "load\tfreed");
        assert!(experts(&mut Record::new(), &cut).is_err());
    }
}
