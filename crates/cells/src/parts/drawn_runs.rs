//! The log of training runs on digits that the site draws, `drawn-runs.tsv`: the same runs as those of three
//! cells in the reader's tab, with other seeds.

use crate::error::CellError;
use crate::frame::shown::Record;

/// The log of the runs.
pub(crate) const LOG: &str = "drawn-runs.tsv";

/// A whole number among the settings of the log.
fn number(log: &str, name: &str) -> Result<f64, CellError> {
    let found = explain::run_log::setting(log, name)?;
    let wrong = |_| CellError::Mismatch(format!("{LOG}: {name} is {found:?}"));
    Ok(found.parse::<u32>().map_err(wrong)?.into())
}

/// Notes which run this is, and what the logged runs of the same setting read of the test digits after
/// their last step: `logged.mean`, `logged.low` and `logged.high`, each with an entry for each scheme; the
/// number of their seeds and the first of them. Nothing about logged runs where none of these schemes is
/// in the log.
///
/// # Errors
/// When the log is damaged, or has some of the schemes and not the others.
pub(crate) fn note(
    record: &mut Record,
    log: &str,
    (setting, seed): (&[&str], u64),
    schemes: &[String],
) -> Result<(), CellError> {
    record.words(
        "setting",
        setting.iter().map(|&word| word.to_owned()).collect(),
    );
    record.number("seed.now", seed as f64);
    let is_logged = |scheme: &String| log.contains(&format!("right\t{scheme}\t"));
    if !schemes.iter().any(is_logged) {
        return Ok(());
    }
    let mut all: [Vec<f64>; 3] = Default::default();
    for (n, scheme) in schemes.iter().enumerate() {
        let rows = explain::run_log::rows(log, "right", scheme)?;
        let spread = if n == 0 {
            shown!(record, explain::run_log::spread, rows.view())?
        } else {
            // The others repeat the call of the first.
            explain::run_log::spread(rows.view())?
        };
        for (which, list) in all.iter_mut().enumerate() {
            list.push(f64::from(spread[[which, 0]]));
        }
    }
    for (name, list) in ["mean", "low", "high"].iter().zip(all) {
        record.numbers(&format!("logged.{name}"), list);
    }
    record.number("logged.seeds", number(log, "seeds")?);
    record.number("logged.first", number(log, "first seed")?);
    let command = explain::run_log::setting(log, "command")?;
    record.words("logged.command", vec![command.to_owned()]);
    Ok(())
}

/// Notes the means of the logged runs of some schemes, an entry for each.
///
/// # Errors
/// When the log lacks one of them.
pub(crate) fn means(
    record: &mut Record,
    log: &str,
    name: &str,
    schemes: &[String],
) -> Result<(), CellError> {
    let mean = |scheme: &String| -> Result<f64, CellError> {
        let rows = explain::run_log::rows(log, "right", scheme)?;
        let spread = explain::run_log::spread(rows.view())?;
        Ok(f64::from(spread[[0, 0]]))
    };
    let means = schemes.iter().map(mean).collect::<Result<_, _>>()?;
    record.numbers(name, means);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::cache;

    fn log() -> String {
        (*cache().opened::<String>(LOG).unwrap()).clone()
    }

    fn noted(log: &str, schemes: &[&str]) -> Result<crate::Computation, CellError> {
        let schemes: Vec<String> = schemes.iter().map(|&one| one.to_owned()).collect();
        let mut record = Record::new();
        note(&mut record, log, (&["a", "b"], 3), &schemes)?;
        Ok(record.finish())
    }

    /// The spread is that of the log, read here a second time in another way.
    #[test]
    fn the_spread_is_that_of_the_log() {
        let log = log();
        let schemes = ["few-cnn-100", "few-vit-nopos-1000", "distil-soft"];
        let c = noted(&log, &schemes).unwrap();
        assert_eq!(c.words("setting"), ["a", "b"]);
        assert_eq!(c.at("seed.now", &[]), Some(3.0));
        for (n, scheme) in schemes.iter().enumerate() {
            let start = format!("right\t{scheme}\t");
            let lines = log.lines().filter_map(|line| line.strip_prefix(&start));
            let shares: Vec<f64> = lines
                .map(|line| line.split('\t').nth(1).unwrap().parse().unwrap())
                .collect();
            assert_eq!(c.at("logged.seeds", &[]), Some(shares.len() as f64));
            let low = shares.iter().copied().fold(1.0, f64::min);
            let high = shares.iter().copied().fold(0.0, f64::max);
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            for (what, expected) in [("low", low), ("high", high), ("mean", mean)] {
                let found = c.at(&format!("logged.{what}"), &[n]).unwrap();
                assert!((found - expected).abs() < 1e-6, "{scheme} {what}");
            }
        }
    }

    /// Of a setting that nobody logged nothing is said, and half a log is refused.
    #[test]
    fn what_was_not_logged_has_no_spread() {
        let log = log();
        let c = noted(&log, &["few-rnn-100"]).unwrap();
        assert!(c.tensor("logged.low").is_none() && c.words("logged.command").is_empty());
        assert!(noted(&log, &["few-cnn-100", "few-rnn-100"]).is_err());
        let damaged = log.replace("setting\tfirst seed", "setting\tfirst");
        assert!(noted(&damaged, &["few-cnn-100"]).is_err());
    }
}
