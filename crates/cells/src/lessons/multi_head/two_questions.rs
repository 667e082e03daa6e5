//! A layer that is asked for the symbol before and for the first symbol: our logged runs with every
//! number of heads, and a run that is trained here.

use std::sync::Arc;

use explain::two_questions::{HEADS, HELD_OUT, LENGTH, Questions, Run as Learner, held_out};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::training::{LOOK, Steps, Training};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// The log of the runs.
const LOG: &str = "head-race.tsv";

/// Steps of a run, here as in the log.
const STEPS: f64 = explain::two_questions::STEPS as f64;

/// The cell `two-questions`.
pub const SPEC: CellSpec = CellSpec {
    name: "two-questions",
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
    vec![
        InputSpec::choice(
            "heads",
            "Heads of the run",
            &["1", "2", "4", "8", "16", "32", "64"],
        ),
        InputSpec::number("steps", "Steps", (0.0, STEPS, 1.0), 0.0),
        InputSpec::seed(1),
    ]
}

/// The run that is trained here, and what was noted on the way.
struct Course {
    log: Arc<String>,
    run: Learner,
    losses: Vec<f64>,
    /// Right answers at step 0, [`LOOK`], 2 · [`LOOK`], …: before, first and both.
    right: [Vec<f64>; 3],
    calls: Vec<Call>,
}

impl Course {
    fn look(&mut self) -> Result<(), CellError> {
        for (all, share) in self.right.iter_mut().zip(self.run.evaluate()?) {
            all.push(share);
        }
        Ok(())
    }
}

impl Steps for Course {
    fn steps(&self) -> u64 {
        self.run.steps()
    }

    /// The first step is noted for "Show the Rust"; all others repeat its calls.
    fn step(&mut self) -> Result<(), CellError> {
        let run = &mut self.run;
        let loss = if self.losses.is_empty() {
            let mut record = Record::new();
            let loss = shown!(record, explain::two_questions::Run::step, run)?;
            self.calls = record.finish().calls;
            loss
        } else {
            run.step()?
        };
        self.losses.push(f64::from(loss));
        if self.steps().is_multiple_of(LOOK) {
            self.look()?;
        }
        Ok(())
    }
}

/// Begins to compute.
///
/// # Errors
/// An input that does not fit, or a log that is not there.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let heads = inputs.choice("heads")?;
    let heads = HEADS.into_iter().find(|known| known.to_string() == heads);
    let mut course = Course {
        log: cache.opened::<String>(LOG)?,
        run: Learner::new(heads.unwrap_or(1), inputs.seed()?, Questions::Both)?,
        losses: Vec::new(),
        right: Default::default(),
        calls: Vec::new(),
    };
    course.look()?;
    Ok(Box::new(Training::new(inputs, vec![course], show)?))
}

fn show(courses: &[Course], inputs: &Inputs) -> Result<Computation, CellError> {
    let Some(course) = courses.first() else {
        return Err(CellError::Missing("run".to_owned()));
    };
    let mut record = Record::new();
    logged(&mut record, &course.log)?;
    record.calls(&course.calls);
    let model = &course.run.model;
    let symbols = held_out();
    let example = &symbols[..LENGTH];
    let weights = shown!(
        record,
        explain::two_questions::TwoQuestions::weights,
        model,
        example
    )?;
    record.tensor("weights", &weights);
    let name = |n: &usize| char::from(b'a' + *n as u8).to_string();
    record.words("symbols", example.iter().map(name).collect());
    let looks = (0..course.right[0].len()).map(|n| (n as u64 * LOOK) as f64);
    record.numbers("looks", looks.collect());
    for (name, all) in ["before", "first", "both"].iter().zip(&course.right) {
        record.numbers(name, all.clone());
        record.number(&format!("{name}.now"), all.last().copied().unwrap_or(0.0));
    }
    record.numbers("loss", course.losses.clone());
    record.number("steps", inputs.number("steps")?);
    let heads = weights.dim().0;
    record.number("heads.now", heads as f64);
    // As a vector, for a chart.
    record.numbers(
        "run.now",
        course.right[2].last().copied().into_iter().collect(),
    );
    record.number("answers", (HELD_OUT * (LENGTH - 2)) as f64);
    Ok(record.finish())
}

/// The runs of the log: for each number of heads the mean, the lowest and the highest share of right
/// answers over the seeds.
fn logged(record: &mut Record, log: &str) -> Result<(), CellError> {
    for (task, name, column) in [("both", "logged", 2), ("before", "single", 0)] {
        let mut found = [Vec::new(), Vec::new(), Vec::new()];
        let mut apart = [Vec::new(), Vec::new()];
        for heads in HEADS {
            let scheme = format!("{task}-{heads}");
            let is_first = task == "both" && heads == 1;
            let spread = if is_first {
                let runs = shown!(record, explain::run_log::rows, log, "right", &scheme)?;
                shown!(record, explain::run_log::spread, runs.view())?
            } else {
                // The others repeat the calls of the first.
                let runs = explain::run_log::rows(log, "right", &scheme)?;
                explain::run_log::spread(runs.view())?
            };
            for (n, all) in found.iter_mut().enumerate() {
                all.push(f64::from(spread[[n, column]]));
            }
            for (n, all) in apart.iter_mut().enumerate() {
                all.push(f64::from(spread[[0, n]]));
            }
        }
        let [mean, low, high] = found;
        record.numbers(name, mean);
        record.numbers(&format!("{name}.low"), low);
        record.numbers(&format!("{name}.high"), high);
        if task == "both" {
            let [before, first] = apart;
            record.numbers("logged.before", before);
            record.numbers("logged.first", first);
        }
    }
    record.numbers("heads", HEADS.map(|heads| heads as f64).to_vec());
    let number = |name: &str| -> Result<f64, CellError> {
        let found = explain::run_log::setting(log, name)?;
        let wrong = |_| CellError::Mismatch(format!("{LOG}: {name} is {found:?}"));
        found.parse().map_err(wrong)
    };
    let width = number("width")?;
    record.numbers(
        "head.width",
        HEADS.map(|heads| width / heads as f64).to_vec(),
    );
    for name in ["seeds", "symbols", "length", "width", "parameters"] {
        record.number(name, number(name)?);
    }
    record.number("logged.steps", number("steps")?);
    record.number("single.seeds", number("seeds of one question")?);
    let command = explain::run_log::setting(log, "command")?;
    record.words("command", vec![command.to_owned()]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, number};

    fn at(heads: &str, steps: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("heads", choice(heads))
            .with("steps", number(steps));
        computed(&SPEC, &given).unwrap()
    }

    fn now(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// A run in the tab repeats the run of the log with the same seed.
    #[test]
    fn a_run_here_is_the_run_of_the_log() {
        let c = at("2", 3.0);
        let cache = crate::parts::test_models::cache();
        let log = cache.opened::<String>(LOG).unwrap();
        let first = explain::run_log::rows(&log, "first", "both-2").unwrap();
        for n in 0..3 {
            assert_eq!(c.at("loss", &[n]), Some(f64::from(first[[0, n]])));
        }
    }

    /// What the lesson says of one head and of two, at the end of a run: one head answers one question
    /// and guesses the other, two answer both.
    #[test]
    fn one_head_answers_one_question_and_two_heads_both() {
        let one = at("1", STEPS);
        assert!(now(&one, "first.now") > 0.99);
        assert!(now(&one, "before.now") < 0.1 && now(&one, "both.now") < 0.1);
        let two = at("2", STEPS);
        assert!(now(&two, "both.now") > 0.99);
        // One of the two heads looks one back, the other at the first symbol.
        let weights = &two.tensor("weights").unwrap().values;
        let means = [0, 1].map(|head| {
            let back = (2..LENGTH).map(|t| weights[[head, t, t - 1]]).sum::<f64>();
            let first = (2..LENGTH).map(|t| weights[[head, t, 0]]).sum::<f64>();
            [back, first].map(|sum| sum / (LENGTH - 2) as f64)
        });
        let holds = |a: usize, b: usize| means[a][0] > 0.8 && means[b][1] > 0.8;
        assert!(holds(0, 1) || holds(1, 0), "{means:?}");
    }

    /// The numbers are those of the log, read here a second time in another way.
    #[test]
    fn means_and_spreads_are_those_of_the_log() {
        let c = at("1", 0.0);
        let cache = crate::parts::test_models::cache();
        let log = cache.opened::<String>(LOG).unwrap();
        for (task, name, column) in [("both", "logged", 2), ("before", "single", 0)] {
            for (n, heads) in HEADS.iter().enumerate() {
                let start = format!("right\t{task}-{heads}\t");
                let lines = log.lines().filter_map(|line| line.strip_prefix(&start));
                let all: Vec<f64> = lines
                    .map(|line| line.split('\t').nth(1 + column).unwrap().parse().unwrap())
                    .collect();
                let seeds = if task == "both" {
                    "seeds"
                } else {
                    "single.seeds"
                };
                assert_eq!(now(&c, seeds), all.len() as f64);
                let mean = all.iter().sum::<f64>() / all.len() as f64;
                assert!((c.at(name, &[n]).unwrap() - mean).abs() < 1e-6);
                let low = all.iter().copied().fold(2.0, f64::min);
                let high = all.iter().copied().fold(-1.0, f64::max);
                let near = |part: &str, value: f64| {
                    let found = c.at(&format!("{name}.{part}"), &[n]).unwrap();
                    (found - value).abs() < 1e-6
                };
                assert!(near("low", low) && near("high", high));
            }
        }
    }

    #[test]
    fn more_steps_of_one_run_are_those_of_a_run_from_the_start() {
        let (few, many) = (at("4", 4.0), at("4", 12.0));
        for n in 0..4 {
            assert_eq!(few.at("loss", &[n]), many.at("loss", &[n]));
        }
        assert_eq!(many.tensor("both").unwrap().values.len(), 2);
    }
}
