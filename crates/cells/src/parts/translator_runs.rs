//! The log of the runs of the lesson on the Transformer of 2017, `translator-runs.tsv`: a translator
//! trained with label smoothing and without, and with another learning rate.

use ndarray::{Array2, Axis};

use crate::error::CellError;
use crate::frame::shown::Record;

/// The log of the runs.
pub(crate) const LOG: &str = "translator-runs.tsv";

/// The runs whose probabilities are compared: the names in the log and of the tensors.
pub(crate) const COMPARED: [&str; 2] = ["plain", "smoothed"];

/// Checkpoints that are kept of a run.
const KEPT: usize = 5;

/// A whole number among the settings of the log.
fn number(log: &str, name: &str) -> Result<f64, CellError> {
    let found = explain::run_log::setting(log, name)?;
    let wrong = |_| CellError::Mismatch(format!("{LOG}: {name} is {found:?}"));
    Ok(found.parse::<u32>().map_err(wrong)?.into())
}

/// Notes how the runs were made.
///
/// # Errors
/// When the log has no such settings.
pub(crate) fn settings(record: &mut Record, log: &str) -> Result<(), CellError> {
    for name in [
        "steps",
        "apart",
        "pairs",
        "measured",
        "tokens",
        "translated",
    ] {
        record.number(&format!("log.{name}"), number(log, name)?);
    }
    let command = explain::run_log::setting(log, "command")?;
    record.words("command", vec![command.to_owned()]);
    Ok(())
}

/// The checkpoints of a run and their means: a row each, of loss, share of right tokens and BLEU.
pub(crate) struct Checkpoints {
    /// Of each checkpoint, the oldest first.
    pub(crate) kept: Array2<f32>,
    /// Of the means of the last 2, 3, … checkpoints; with the ends of the interval of the lead in
    /// BLEU over the last checkpoint.
    pub(crate) means: Array2<f32>,
    /// The step of each checkpoint.
    pub(crate) steps: Vec<f64>,
}

impl Checkpoints {
    /// Reads those of a run.
    ///
    /// # Errors
    /// When the log is not complete.
    pub(crate) fn read(log: &str, scheme: &str) -> Result<Self, CellError> {
        let kept = explain::run_log::rows(log, "kept", scheme)?;
        let means = explain::run_log::rows(log, "averaged", scheme)?;
        if (kept.dim(), means.dim()) != ((KEPT, 3), (KEPT - 1, 5)) {
            let found = format!("{:?} and {:?} numbers", kept.dim(), means.dim());
            return Err(CellError::Mismatch(format!("{LOG}: {scheme} has {found}")));
        }
        let (last, apart) = (number(log, "steps")?, number(log, "apart")?);
        let step = |before: usize| last - apart * before as f64;
        Ok(Self {
            steps: (0..KEPT).rev().map(step).collect(),
            kept,
            means,
        })
    }
}

/// The bins of a run at each temperature, as `[3, bins]`: tokens, right ones, and the sum of their
/// confidences; and the loss there.
pub(crate) struct Confidences {
    pub(crate) bins: Vec<Array2<f32>>,
    pub(crate) nats: Vec<f64>,
}

impl Confidences {
    /// Reads those of a run.
    ///
    /// # Errors
    /// When the log is not complete.
    pub(crate) fn read(log: &str, scheme: &str) -> Result<Self, CellError> {
        let [count, right, sure] =
            ["count", "right", "sure"].map(|kind| explain::run_log::rows(log, kind, scheme));
        let (count, right, sure) = (count?, right?, sure?);
        let nats = explain::run_log::rows(log, "nats", scheme)?;
        let expected = temperatures(log)?.len();
        let dims = [count.dim(), right.dim(), sure.dim()];
        if dims != [(expected, count.ncols()); 3] || nats.dim() != (expected, 1) {
            let found = format!("bins of {dims:?}");
            return Err(CellError::Mismatch(format!("{LOG}: {scheme} has {found}")));
        }
        let rows = count.outer_iter().zip(right.outer_iter());
        let bins = rows
            .zip(sure.outer_iter())
            .map(|((count, right), sure)| ndarray::stack(Axis(0), &[count, right, sure]));
        let bins = bins.collect::<Result<Vec<_>, _>>();
        let wrong = |error: ndarray::ShapeError| CellError::Mismatch(format!("{LOG}: {error}"));
        Ok(Self {
            bins: bins.map_err(wrong)?,
            nats: nats.iter().copied().map(f64::from).collect(),
        })
    }
}

/// The temperatures of the log, in steps of a tenth.
///
/// # Errors
/// When the log does not name them.
pub(crate) fn temperatures(log: &str) -> Result<Vec<f64>, CellError> {
    let ends = ["temperature from", "temperature to"].map(|name| number(log, name));
    let [from, to] = ends;
    let (from, to) = (from? as u32, to? as u32);
    Ok((from..=to).map(|tenths| f64::from(tenths) / 10.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::cache;

    #[test]
    fn a_damaged_log_is_refused() {
        let log = (*cache().opened::<String>(LOG).unwrap()).clone();
        assert!(Checkpoints::read(&log, "smoothed").is_ok());
        for (from, to) in [
            ("setting\tapart", "setting\tfar"),
            ("averaged\tsmoothed\t5", "averaged\tsmooth\t5"),
            ("kept\tsmoothed", "keep\tsmoothed"),
        ] {
            assert!(log.contains(from), "{from}");
            assert!(Checkpoints::read(&log.replace(from, to), "smoothed").is_err());
        }
        assert!(Confidences::read(&log, "plain").is_ok());
        for (from, to) in [
            ("setting\ttemperature to", "setting\ttemperature"),
            ("sure\tplain\t1\t", "sure\tplane\t1\t"),
            ("nats\tplain\t1\t", "nats\tplain\t1\tx"),
        ] {
            assert!(log.contains(from), "{from}");
            assert!(Confidences::read(&log.replace(from, to), "plain").is_err());
        }
    }
}
