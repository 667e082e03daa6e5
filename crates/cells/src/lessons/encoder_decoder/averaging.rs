//! The last five checkpoints of a training run and their mean: our logged runs.

use ndarray::Axis;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::translator_runs::{Checkpoints, LOG, settings};
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// The runs: the name of the choice, and that in the log and of the tensors.
const RUNS: [(&str, &str); 3] = [
    ("with label smoothing", "smoothed"),
    ("without smoothing", "plain"),
    ("rate falls to zero", "falling"),
];

/// What is measured of a model, in the order of the log.
const FIGURES: [&str; 3] = ["loss", "right", "bleu"];

/// The cell `averaging`.
pub const SPEC: CellSpec = CellSpec {
    name: "averaging",
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
    const NAMES: [&str; 3] = [RUNS[0].0, RUNS[1].0, RUNS[2].0];
    vec![
        InputSpec::choice("run", "Training run", &NAMES),
        InputSpec::number("count", "Checkpoints in the mean", (2.0, 5.0, 1.0), 5.0),
    ]
}

fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let log = cache.opened::<String>(LOG)?;
    let chosen = inputs.choice("run")?.to_owned();
    let count = inputs.count("count")?;
    Ok(once(move || compute(&log, &chosen, count)))
}

fn compute(log: &str, chosen: &str, count: usize) -> Result<Computation, CellError> {
    let mut record = Record::new();
    for (label, name) in RUNS {
        let is_chosen = label == chosen;
        let found = Checkpoints::read(log, name)?;
        if is_chosen {
            shown!(record, explain::run_log::rows, log, "kept", name)?;
            shown!(record, explain::run_log::rows, log, "averaged", name)?;
        }
        // All runs with five checkpoints, for the text; the chosen one as the reader asks.
        note(&mut record, name, &found, found.kept.nrows());
        if is_chosen {
            note(&mut record, "now", &found, count);
        }
    }
    record.number("count", count as f64);
    settings(&mut record, log)?;
    Ok(record.finish())
}

/// Notes the checkpoints of a run and the mean of the last `count`.
fn note(record: &mut Record, name: &str, found: &Checkpoints, count: usize) {
    let Checkpoints { kept, means, steps } = found;
    let of = |what: &str| format!("{name}.{what}");
    // The first row is the mean of two.
    let mean = means.row((count - 2).min(means.nrows() - 1));
    let last = kept.row(kept.nrows() - 1);
    for (n, figure) in FIGURES.into_iter().enumerate() {
        record.tensor(&of(figure), &kept.index_axis(Axis(1), n));
        let (mean, last) = (f64::from(mean[n]), f64::from(last[n]));
        record.number(&of(&format!("mean.{figure}")), mean);
        record.number(&of(&format!("last.{figure}")), last);
        record.number(&of(&format!("gain.{figure}")), mean - last);
        record.numbers(&of(&format!("line.{figure}")), vec![mean; count]);
    }
    record.number(&of("lead.low"), f64::from(mean[3]));
    record.number(&of("lead.high"), f64::from(mean[4]));
    record.numbers(&of("step"), steps.clone());
    record.numbers(&of("line.step"), steps[steps.len() - count..].to_vec());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::parts::test_models::{cache, computed};

    fn with(run: usize, count: u32) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("run", InputValue::Choice(RUNS[run].0.to_owned()))
            .with("count", InputValue::Number(f64::from(count)));
        computed(&SPEC, &given).unwrap()
    }

    /// The numbers are those of the log, read here a second time in another way.
    #[test]
    fn figures_are_those_of_the_log() {
        let log = (*cache().opened::<String>(LOG).unwrap()).clone();
        for (n, (_, name)) in RUNS.into_iter().enumerate() {
            let c = with(n, 3);
            let numbers = |start: String| -> Vec<f64> {
                let line = log.lines().find_map(|line| line.strip_prefix(&start));
                line.unwrap()
                    .split('\t')
                    .map(|x| x.parse().unwrap())
                    .collect()
            };
            for (k, step) in c.tensor("now.step").unwrap().values.iter().enumerate() {
                let line = numbers(format!("kept\t{name}\t{step}\t"));
                for (figure, expected) in FIGURES.iter().zip(line) {
                    let found = c.at(&format!("now.{figure}"), &[k]).unwrap();
                    assert!((found - expected).abs() < 1e-5, "{name} {figure}");
                }
            }
            let line = numbers(format!("averaged\t{name}\t3\t"));
            let last = numbers(format!(
                "kept\t{name}\t{}\t",
                c.at("log.steps", &[]).unwrap()
            ));
            for (k, figure) in FIGURES.iter().enumerate() {
                let found = c.at(&format!("now.mean.{figure}"), &[]).unwrap();
                assert!((found - line[k]).abs() < 1e-5);
                let gain = c.at(&format!("now.gain.{figure}"), &[]).unwrap();
                assert!((gain - (line[k] - last[k])).abs() < 1e-4);
            }
            assert!((c.at("now.lead.low", &[]).unwrap() - line[3]).abs() < 1e-5);
            assert_eq!(c.tensor("now.line.loss").unwrap().values.len(), 3);
        }
    }

    /// With five checkpoints the chosen run has the figures that the text quotes.
    #[test]
    fn the_text_quotes_the_mean_of_five() {
        for (n, (_, name)) in RUNS.into_iter().enumerate() {
            let c = with(n, 5);
            for figure in ["mean.loss", "mean.bleu", "gain.bleu", "lead.low"] {
                assert_eq!(
                    c.at(&format!("now.{figure}"), &[]),
                    c.at(&format!("{name}.{figure}"), &[])
                );
            }
        }
    }

    /// What the lesson says: with a rate that stays high the mean of five is better, beyond chance;
    /// with one that falls to nearly zero the difference may be chance.
    #[test]
    fn the_mean_helps_where_the_rate_stays_high() {
        let c = with(0, 5);
        let number = |name: String| c.at(&name, &[]).unwrap();
        for name in ["smoothed", "plain"] {
            assert!(number(format!("{name}.lead.low")) > 0.5, "{name}");
            assert!(number(format!("{name}.gain.bleu")) > 1.7);
            assert!(number(format!("{name}.gain.loss")) < -0.03);
            // More checkpoints are better, and each mean is better than every single one.
            let means = [2, 3, 4, 5].map(|count| {
                with(usize::from(name == "plain"), count)
                    .at("now.mean.bleu", &[])
                    .unwrap()
            });
            assert!(means.is_sorted(), "{means:?}");
            let best = c.tensor(&format!("{name}.bleu")).unwrap();
            assert!(best.values.iter().all(|&bleu| bleu < means[0]));
        }
        let falling = |what: &str| number(format!("falling.{what}"));
        assert!(falling("lead.low") < 0.0 && falling("lead.high") > 0.0);
        assert!(falling("gain.loss").abs() < 0.002);
        assert!(falling("last.bleu") > number("smoothed.mean.bleu".to_owned()) + 3.0);
    }
}
