//! Whether the probabilities of a translator keep what they promise, trained with label smoothing and
//! without: our logged runs.

use engine::math::double;
use explain::calibration::{calibration_error, merged, reliability};
use ndarray::Axis;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::translator_runs::{COMPARED, Confidences, LOG, settings, temperatures};
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The numbers of bins; all are parts of the bins of the log.
const BINS: &[&str] = &["10", "5", "20"];

/// The cell `calibration`.
pub const SPEC: CellSpec = CellSpec {
    name: "calibration",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
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
        InputSpec::number("temperature", "Temperature $T$", (0.6, 1.5, 0.1), 1.0),
        InputSpec::choice("bins", "Bins", BINS),
    ]
}

fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let log = cache.opened::<String>(LOG)?;
    let temperature = inputs.number("temperature")?;
    let bins = inputs.choice("bins")?;
    let bins: usize = bins
        .parse()
        .map_err(|_| CellError::Mismatch(format!("the number of bins is {bins:?}")))?;
    Ok(once(move || compute(&log, temperature, bins)))
}

fn compute(log: &str, temperature: f64, bins: usize) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let all = temperatures(log)?;
    let distance = |at: usize| (all[at] - temperature).abs();
    let nearest = (0..all.len()).min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    let nearest = nearest.unwrap_or_default();
    for (n, name) in COMPARED.into_iter().enumerate() {
        let found = Confidences::read(log, name)?;
        let narrow = found.bins[nearest].view();
        // The second run repeats the calls of the first.
        let (wide, diagram, error) = if n == 0 {
            let wide = shown!(record, explain::calibration::merged, narrow, bins)?;
            let view = wide.view();
            let diagram = shown!(record, explain::calibration::reliability, view)?;
            let error = shown!(record, explain::calibration::calibration_error, view)?;
            (wide, diagram, error)
        } else {
            let wide = merged(narrow, bins)?;
            let diagram = reliability(wide.view())?;
            let error = calibration_error(wide.view())?;
            (wide, diagram, error)
        };
        let of = |what: &str| format!("{name}.{what}");
        for (column, what) in ["confidence", "accuracy", "tokens"].into_iter().enumerate() {
            record.tensor(&of(what), &diagram.index_axis(Axis(1), column));
        }
        record.number(&of("error"), f64::from(error));
        let sums = wide.sum_axis(Axis(1)).mapv(f64::from);
        record.number(&of("right"), sums[1] / sums[0]);
        record.number(&of("mean"), sums[2] / sums[0]);
        record.number(&of("perplexity"), double::exp(found.nats[nearest]));
        let errors = found.bins.iter().map(|narrow| {
            let wide = merged(narrow.view(), bins)?;
            Ok(f64::from(calibration_error(wide.view())?))
        });
        let errors = errors.collect::<Result<Vec<f64>, CellError>>()?;
        let least = (0..all.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b]));
        let least = least.unwrap_or_default();
        record.number(&of("best.temperature"), all[least]);
        record.number(&of("best.error"), errors[least]);
        record.numbers(&of("errors"), errors);
    }
    record.numbers("promised", vec![0.0, 1.0]);
    record.number("temperature", all[nearest]);
    record.numbers("temperatures", all);
    settings(&mut record, log)?;
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::parts::test_models::{cache, computed};

    fn with(temperature: f64, bins: &str) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("temperature", InputValue::Number(temperature))
            .with("bins", InputValue::Choice(bins.to_owned()));
        computed(&SPEC, &given).unwrap()
    }

    fn number(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// The error is the one of the log's numbers, computed here a second time in another way.
    #[test]
    fn errors_are_those_of_the_log() {
        let log = (*cache().opened::<String>(LOG).unwrap()).clone();
        let numbers = |start: String| -> Vec<f64> {
            let line = log.lines().find_map(|line| line.strip_prefix(&start));
            let fields = line.unwrap().split('\t');
            fields.map(|x| x.parse().unwrap()).collect()
        };
        for (temperature, shown) in [(1.0, "1"), (0.7, "0.7"), (1.5, "1.5")] {
            for (bins, each) in [("5", 4), ("10", 2), ("20", 1)] {
                let c = with(temperature, bins);
                for name in COMPARED {
                    let [count, right, sure] = ["count", "right", "sure"]
                        .map(|kind| numbers(format!("{kind}\t{name}\t{shown}\t")));
                    let all: f64 = count.iter().sum();
                    let parts = right.chunks(each).zip(sure.chunks(each));
                    let gaps = parts.map(|(right, sure)| {
                        (right.iter().sum::<f64>() - sure.iter().sum::<f64>()).abs()
                    });
                    let expected = gaps.sum::<f64>() / all;
                    let found = number(&c, &format!("{name}.error"));
                    assert!(
                        (found - expected).abs() < 1e-5,
                        "{name}: {found} {expected}"
                    );
                    let right = right.iter().sum::<f64>() / all;
                    assert!((number(&c, &format!("{name}.right")) - right).abs() < 1e-6);
                    assert_eq!(number(&c, "log.tokens"), all);
                    let nats = numbers(format!("nats\t{name}\t{shown}\t"))[0];
                    let perplexity = number(&c, &format!("{name}.perplexity"));
                    assert!((perplexity.ln() - nats).abs() < 1e-6);
                }
            }
        }
    }

    /// A temperature changes no prediction, and confidence falls as it rises.
    #[test]
    fn a_temperature_changes_confidence_alone() {
        for name in COMPARED {
            let right = |t: f64| number(&with(t, "10"), &format!("{name}.right"));
            let sure =
                [0.6, 0.8, 1.0, 1.2, 1.5].map(|t| number(&with(t, "10"), &format!("{name}.mean")));
            assert!(sure.is_sorted_by(|a, b| a > b), "{sure:?}");
            assert_eq!(right(0.6), right(1.5));
        }
    }

    /// What the lesson says: the smoothed model promises too little, and neither promises too much;
    /// a temperature below 1 mends the smoothed one.
    #[test]
    fn the_smoothed_model_promises_less_than_it_keeps() {
        let c = with(1.0, "10");
        let at = |name: &str| number(&c, name);
        assert!(at("smoothed.perplexity") > at("plain.perplexity") + 0.5);
        assert!((at("smoothed.right") - at("plain.right")).abs() < 0.01);
        assert!(at("smoothed.mean") < at("smoothed.right") - 0.08);
        assert!(at("plain.mean") < at("plain.right"));
        assert!(at("smoothed.error") > 2.0 * at("plain.error"));
        assert_eq!(at("smoothed.best.temperature"), 0.9);
        assert!(at("smoothed.best.error") < 0.02);
        assert!(at("smoothed.best.error") < at("plain.best.error"));
    }
}
