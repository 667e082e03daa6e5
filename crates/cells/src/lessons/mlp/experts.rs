//! Two mixtures of experts that learn a text side by side, with a loss that balances the load of the
//! experts and without: which expert each word goes through, and the same of our logged runs.

use std::sync::Arc;

use explain::expert_words::{
    ALPHA, EXPERTS, ExpertRun, STEPS, TEXT, WIDTH, Words, expert_parameters,
};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::mlp_runs::{self, LOG};
use crate::parts::training::{Steps, Training};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// Fewest and most words that are learned.
const WORDS: (usize, usize) = (20, 300);

/// Words that are shown with their experts.
const SHOWN: usize = 18;

/// The two mixtures: their names, and whether their loss balances the load.
const MIXTURES: [(&str, bool); 2] = [("free", false), ("balanced", true)];

/// The cell `experts`.
pub const SPEC: CellSpec = CellSpec {
    name: "experts",
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
        InputSpec::number("steps", "Steps", (0.0, STEPS as f64, 1.0), 0.0),
        InputSpec::text("text", "Your text", TEXT),
        InputSpec::seed(2),
    ]
}

/// One of the two mixtures, and what was noted on the way.
struct Course {
    name: &'static str,
    run: ExpertRun,
    words: Words,
    losses: Vec<f64>,
    calls: Vec<Call>,
    log: Arc<String>,
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
            let loss = shown!(record, explain::expert_words::ExpertRun::step, run)?;
            self.calls = record.finish().calls;
            loss
        } else {
            run.step()?
        };
        self.losses.push(f64::from(loss));
        Ok(())
    }
}

/// Begins to compute.
///
/// # Errors
/// A text that is too short or too long, or a log that is not one.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let log = cache.opened::<String>(LOG)?;
    let words = Words::of(inputs.text("text")?);
    let (fewest, most) = WORDS;
    let count = words.ids.len();
    if !(fewest..=most).contains(&count) {
        let message = format!(
            "this is {count} words and marks; between {fewest} and {most} can be learned here."
        );
        return Err(CellError::input("text", "Your text", message));
    }
    let mut courses = Vec::new();
    for (name, is_balanced) in MIXTURES {
        courses.push(Course {
            name,
            run: ExpertRun::new(&words, is_balanced, inputs.seed()?)?,
            words: words.clone(),
            losses: Vec::new(),
            calls: Vec::new(),
            log: Arc::clone(&log),
        });
    }
    Ok(Box::new(Training::new(inputs, courses, show)?))
}

fn show(courses: &[Course], inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    for course in courses {
        record.calls(&course.calls);
        let of = |what: &str| format!("{}.{what}", course.name);
        let gates = course.run.gates()?;
        let gates = gates.view();
        let shares = shown!(record, explain::expert_words::load, gates);
        record.tensor(&of("load"), &shares);
        let busiest = shares.iter().copied().fold(0.0, f32::max);
        record.number(&of("busiest"), f64::from(busiest));
        let idle = shares.iter().filter(|&&share| share == 0.0).count();
        record.number(&of("idle"), idle as f64);
        // A row for each expert, a column for each of the first words.
        let first = gates.nrows().min(SHOWN);
        let map = ndarray::Array2::from_shape_fn((EXPERTS, first), |(e, t)| gates[[t, e]]);
        record.tensor(&of("gates"), &map);
        record.numbers(&of("loss"), course.losses.clone());
        if let Some(last) = course.losses.last() {
            record.number(&of("loss.now"), *last);
        }
        let word = |&id: &usize| course.words.vocabulary.get(id).cloned().unwrap_or_default();
        // The first word of the text has none before it.
        let words = course.words.ids.iter().skip(1).take(first).map(word);
        record.words("words", words.collect());
        record.number("count", course.words.ids.len() as f64);
    }
    let names = (1..=EXPERTS).map(|n| format!("expert {n}"));
    record.words("experts", names.collect());
    record.number("steps", inputs.number("steps")?);
    record.number("alpha", f64::from(ALPHA));
    let router = WIDTH * EXPERTS;
    record.number("even", 1.0 / EXPERTS as f64);
    record.number("number", EXPERTS as f64);
    record.number("parameters.expert", expert_parameters() as f64);
    record.number(
        "parameters.all",
        (EXPERTS * expert_parameters() + router) as f64,
    );
    record.number("parameters.active", (expert_parameters() + router) as f64);
    if let Some(course) = courses.first() {
        mlp_runs::experts(&mut record, &course.log)?;
    }
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{cache, computed, number, text};

    fn at(seed: f64, steps: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("seed", number(seed))
            .with("steps", number(steps));
        computed(&SPEC, &given).unwrap()
    }

    fn now(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// What the lesson says of the run on the page, and of all logged runs: without the balance loss
    /// one expert gets a third of the words or more and some get none; with it all get some, none
    /// more than a sixth; and the loss is the same.
    #[test]
    fn without_the_balance_loss_some_experts_stay_idle() {
        let c = at(2.0, STEPS as f64);
        assert!(now(&c, "free.busiest") > 0.8 && now(&c, "free.idle") >= 5.0);
        assert!(now(&c, "balanced.busiest") < 0.16 && now(&c, "balanced.idle") == 0.0);
        assert!((now(&c, "free.loss.now") - now(&c, "balanced.loss.now")).abs() < 0.01);
        let log = |name: &str, n: usize| c.at(&format!("log.{name}"), &[n]).unwrap();
        let (low, high) = (1, 2);
        assert!(log("free.busiest", low) > 1.0 / 3.0);
        assert!(log("free.idle", low) >= 1.0);
        assert!(log("balanced.busiest", high) < 1.0 / 6.0);
        assert_eq!(log("balanced.idle", high), 0.0);
        assert!((log("free.words", 0) - log("balanced.words", 0)).abs() < 0.005);
    }

    /// The losses of the cell are those of the log, to the bit.
    #[test]
    fn a_run_here_is_the_run_of_the_log() {
        let log = cache().opened::<String>(LOG).unwrap();
        for seed in [1, 3] {
            let c = at(f64::from(seed), 3.0);
            for (name, _) in MIXTURES {
                let first = explain::run_log::rows(&log, "first", name).unwrap();
                for n in 0..3 {
                    let found = c.at(&format!("{name}.loss"), &[n]);
                    assert_eq!(found, Some(f64::from(first[[seed as usize - 1, n]])));
                }
            }
        }
    }

    /// Every word goes through one expert.
    #[test]
    fn a_column_has_one_gate() {
        let c = at(1.0, 5.0);
        let map = &c.tensor("balanced.gates").unwrap().values;
        for t in 0..SHOWN {
            let open = (0..EXPERTS).filter(|&e| map[[e, t]] > 0.0);
            assert_eq!(open.count(), 1);
        }
        assert_eq!(c.words("words").len(), SHOWN);
    }

    #[test]
    fn a_text_that_is_too_short_or_too_long_is_refused() {
        for given in ["", "  ", "the cat sat", &"word ".repeat(400)] {
            let given = Inputs::defaults(&inputs()).with("text", text(given));
            assert!(computed(&SPEC, &given).is_err());
        }
    }
}
