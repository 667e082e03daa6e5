//! The log of the runs of the lesson on learning without labels, `unlabelled-runs.tsv`: networks that
//! taught themselves, and probes of digit-gpt.

use explain::dino::Without;

use crate::error::CellError;
use crate::frame::shown::Record;

/// The log of the runs.
pub(crate) const LOG: &str = "unlabelled-runs.tsv";

/// A whole number among the settings of the log.
fn number(log: &str, name: &str) -> Result<f64, CellError> {
    let found = explain::run_log::setting(log, name)?;
    let wrong = |_| CellError::Mismatch(format!("{LOG}: {name} is {found:?}"));
    Ok(found.parse::<u32>().map_err(wrong)?.into())
}

/// Notes what the networks that taught themselves read of the test digits: for each kind the mean, the
/// lowest and the highest of the seeds, in place and moved (`log.KIND.mean`, `.low`, `.high`), and the
/// means of the two entropies (`log.KIND.entropy`).
///
/// # Errors
/// When the log is not complete.
pub(crate) fn distilled(record: &mut Record, log: &str) -> Result<(), CellError> {
    let kinds = Without::ALL.map(|(name, _)| name);
    for (n, kind) in kinds.into_iter().chain(["random", "pixels"]).enumerate() {
        let rows = explain::run_log::rows(log, "right", kind)?;
        let spread = if n == 0 {
            shown!(record, explain::run_log::spread, rows.view())?
        } else {
            // The others repeat the call of the first.
            explain::run_log::spread(rows.view())?
        };
        for (n, name) in ["mean", "low", "high"].iter().enumerate() {
            record.tensor(&format!("log.{kind}.{name}"), &spread.row(n));
        }
    }
    for kind in kinds {
        let rows = explain::run_log::rows(log, "entropy", kind)?;
        let spread = explain::run_log::spread(rows.view())?;
        record.tensor(&format!("log.{kind}.entropy"), &spread.row(0));
    }
    record.number("seeds", number(log, "seeds")?);
    record.number("log.steps", number(log, "steps")?);
    record.number("log.seen", number(log, "digits")?);
    record.number("log.known", number(log, "known digits")?);
    record.number("log.moved", number(log, "moved by")?);
    common(record, log)
}

/// Notes the shares of test digits that probes read, at each depth: `log.trained`, `log.random`, and
/// `log.pixels`, the same at all depths.
///
/// # Errors
/// When the log is not complete.
pub(crate) fn probes(record: &mut Record, log: &str) -> Result<(), CellError> {
    let row = |scheme: &str| -> Result<Vec<f64>, CellError> {
        let rows = explain::run_log::rows(log, "probe", scheme)?;
        Ok(rows.row(0).iter().map(|&share| f64::from(share)).collect())
    };
    let (trained, random, pixels) = (row("digit-gpt")?, row("random")?, row("pixels")?);
    let pixels = vec![pixels[0]; trained.len()];
    for (name, shares) in [("trained", trained), ("random", random), ("pixels", pixels)] {
        record.numbers(&format!("log.{name}"), shares);
    }
    record.number("log.labels", number(log, "probed digits")?);
    common(record, log)
}

fn common(record: &mut Record, log: &str) -> Result<(), CellError> {
    record.number("log.test", number(log, "test digits")?);
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
        distilled(&mut record, &log).unwrap();
        probes(&mut record, &log).unwrap();
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
        for (kind, _) in Without::ALL {
            let all = numbers(&format!("right\t{kind}\t"));
            assert_eq!(c.at("seeds", &[]), Some(all.len() as f64));
            for n in 0..2 {
                let mean = all.iter().map(|row| row[n]).sum::<f64>() / all.len() as f64;
                let found = c.at(&format!("log.{kind}.mean"), &[n]).unwrap();
                assert!((found - mean).abs() < 1e-6);
            }
        }
        for (name, scheme) in [
            ("trained", "digit-gpt"),
            ("random", "random"),
            ("pixels", "pixels"),
        ] {
            let expected = &numbers(&format!("probe\t{scheme}\t"))[0];
            for (depth, share) in expected.iter().enumerate() {
                let found = c.at(&format!("log.{name}"), &[depth]).unwrap();
                assert!((found - share).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn a_damaged_log_is_refused() {
        let log = log();
        for (from, to) in [
            ("setting\tsteps", "setting\tstep"),
            ("right\tboth\t2", "right\tboth\t2\tx"),
            ("entropy\tnot-centred", "entropy\tcentred"),
        ] {
            assert!(log.contains(from), "{from}");
            assert!(distilled(&mut Record::new(), &log.replace(from, to)).is_err());
        }
        let other = log.replace("probe\tpixels", "probe\tpixel");
        assert!(probes(&mut Record::new(), &other).is_err());
    }
}
