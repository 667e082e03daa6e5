//! Two recurrent models learn to copy or reverse side by side: one passes on a single vector, one
//! may look back.

use engine::formula::Formula;
use engine::grad::{Learner, Pairs, Settings, Task, TaskConfig};
use engine::model::seq2seq::{self, Seq2Seq};
use engine::model::seq2seq_attention::{self, AttentiveSeq2Seq};
use engine::trainable;
use engine::translate::TranslationModel;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::parts::training::{LOOK, Steps, Training, noted_step, schedule};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// Different symbols of a sequence.
const SYMBOLS: usize = 8;

/// The shortest sequences that are trained on.
const SHORTEST: usize = 4;

/// The lengths that are measured; the last ones are longer than any that is trained on.
const LENGTHS: [usize; 6] = [4, 8, 12, 16, 20, 24];

/// Held-out sequences of each length.
const OF_EACH: usize = 12;

/// E, the width of all token tables.
const EMBEDDING: usize = 16;

/// Widths of the states with which both models have nearly as many parameters: without attention,
/// and with it.
const WIDTHS: (usize, usize) = (56, 32);

/// The step from which the rate stays at its end.
const SETTLED: u64 = 600;

/// Steps of warm-up.
const WARM_UP: u64 = 50;

/// Most steps that are taken.
const MOST: f64 = 1500.0;

/// The tasks, the first being the default.
const TASKS: &[&str] = &["reverse", "copy"];

/// The cell `train-the-race`.
pub const SPEC: CellSpec = CellSpec {
    name: "train-the-race",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: no_files,
    start: |inputs, _| start(inputs),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::choice("task", "What to learn", TASKS),
        InputSpec::toggle(
            "backwards",
            "The one-vector model reads from the end",
            false,
        ),
        InputSpec::number("steps", "Steps", (0.0, MOST, 1.0), 0.0),
        InputSpec::number(
            "longest",
            "Longest training sequence",
            (8.0, 16.0, 4.0),
            16.0,
        ),
        InputSpec::number(
            "rate",
            "Highest learning rate",
            (0.0005, 0.02, 0.0005),
            0.005,
        ),
        InputSpec::seed(1),
    ]
}

/// Begins to train.
fn start(inputs: &Inputs) -> Result<Box<dyn Job>, CellError> {
    let (symbols, length) = (SYMBOLS, inputs.count("longest")?);
    let task = match inputs.choice("task")? {
        "copy" => Task::Copy { symbols, length },
        _ => Task::Reverse { symbols, length },
    };
    let vocabulary = task.vocabulary();
    let drill = TaskConfig {
        task,
        shortest: SHORTEST,
        batch: 16,
        schedule: schedule(inputs.number("rate")?, WARM_UP, SETTLED),
        seed: inputs.seed()?,
    };
    let fixed = seq2seq::Config {
        source_vocabulary: vocabulary,
        target_vocabulary: vocabulary,
        embedding: EMBEDDING,
        width: WIDTHS.0,
        layers: 1,
        readout: None,
        feeds_context: false,
        reverse_source: inputs.toggle("backwards")?,
    };
    let attention = seq2seq_attention::Config {
        source_vocabulary: vocabulary,
        target_vocabulary: vocabulary,
        embedding: EMBEDDING,
        width: WIDTHS.1,
        inner: WIDTHS.1,
        readout: None,
    };
    // What the parameters are here does not matter: the learner draws them from the seed.
    let fixed = Seq2Seq::load(fixed, &mut Formula::new(0, fixed.shapes()))?;
    let attention = AttentiveSeq2Seq::load(attention, &mut Formula::new(0, attention.shapes()))?;
    let models = [
        TranslationModel::Gru(fixed),
        TranslationModel::Attention(Box::new(attention)),
    ];
    let runners = models.map(|model| Runner::new(model, drill.clone()));
    let runners = runners.into_iter().collect::<Result<_, _>>()?;
    Ok(Box::new(Training::new(inputs, runners, show)?))
}

/// One of the two, with what was noted on the way.
struct Runner {
    learner: Learner<TranslationModel>,
    held: Pairs,
    calls: Vec<Call>,
    losses: Vec<f64>,
    looks: Vec<Look>,
}

/// The shares of the held-out sequences of each length.
struct Look {
    symbols: Vec<f64>,
    whole: Vec<f64>,
}

impl Runner {
    fn new(model: TranslationModel, drill: TaskConfig) -> Result<Self, CellError> {
        let mut record = Record::new();
        let learner = Learner::of(model, drill, Settings::same_bits())?;
        let lengths: Vec<usize> = LENGTHS
            .iter()
            .flat_map(|&length| [length; OF_EACH])
            .collect();
        let held = shown!(
            record,
            engine::grad::Learner::held_out_lengths,
            &learner,
            &lengths
        )?;
        shown!(
            record,
            engine::grad::Learner::symbols_right,
            &learner,
            &held
        )?;
        let mut runner = Self {
            learner,
            held,
            calls: record.finish().calls,
            losses: Vec::new(),
            looks: Vec::new(),
        };
        runner.look()?;
        Ok(runner)
    }

    fn look(&mut self) -> Result<(), CellError> {
        let right = self.learner.symbols_right(&self.held)?;
        let mut look = Look {
            symbols: Vec::new(),
            whole: Vec::new(),
        };
        for (right, length) in right.chunks(OF_EACH).zip(LENGTHS) {
            let (all, of_each) = (right.iter().sum::<usize>(), OF_EACH as f64);
            let whole = right.iter().filter(|&&right| right == length).count();
            look.symbols.push(all as f64 / (of_each * length as f64));
            look.whole.push(whole as f64 / of_each);
        }
        self.looks.push(look);
        Ok(())
    }
}

impl Steps for Runner {
    fn steps(&self) -> u64 {
        self.learner.steps()
    }

    fn step(&mut self) -> Result<(), CellError> {
        noted_step(&mut self.learner, &mut self.losses, &mut self.calls)?;
        if self.steps().is_multiple_of(LOOK) {
            self.look()?;
        }
        Ok(())
    }
}

fn show(runners: &[Runner], inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    record.number("steps", inputs.number("steps")?);
    record.number("longest", inputs.number("longest")?);
    record.number("held.count", OF_EACH as f64);
    record.number("looks.every", LOOK as f64);
    record.numbers("lengths", LENGTHS.map(|length| length as f64).to_vec());
    for (runner, name) in runners.iter().zip(["fixed", "attention"]) {
        record.calls(&runner.calls);
        let mut model = runner.learner.model.clone();
        let parameters = trainable::count(&mut model)?;
        record.number(&format!("{name}.parameters"), parameters as f64);
        record.numbers(&format!("{name}.loss"), runner.losses.clone());
        if let Some(last) = runner.losses.last() {
            record.number(&format!("{name}.loss.now"), *last);
        }
        if let Some(now) = runner.looks.last() {
            record.numbers(&format!("{name}.symbols"), now.symbols.clone());
            record.numbers(&format!("{name}.whole"), now.whole.clone());
        }
    }
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs::{JobCache, find};
    use crate::model_cache::ModelCache;

    fn given(steps: f64) -> Inputs {
        Inputs::defaults(&inputs()).with("steps", InputValue::Number(steps))
    }

    fn run(job: &mut dyn Job) -> Computation {
        loop {
            if let crate::Progress::Done(found) = job.advance().unwrap() {
                return *found;
            }
        }
    }

    /// Going on, and going back, gives the bits of a new start.
    #[test]
    fn rewinding_gives_the_bits_of_a_new_start() {
        let mut kept = JobCache::default();
        for steps in [0.0, 2.0, 11.0, 0.0, 2.0] {
            let entry = find(SPEC.name).unwrap();
            let mut job = kept
                .begin(entry, &given(steps), &ModelCache::default())
                .unwrap();
            let found = run(&mut *job);
            kept.keep(SPEC.name, job);
            let anew = run(&mut *start(&given(steps)).unwrap());
            assert_eq!(found.tensors, anew.tensors, "{steps}");
            assert_eq!(
                found.tensor("fixed.loss").unwrap().shape(),
                [steps as usize]
            );
        }
    }

    /// Nearly as many parameters on either side, and the same sequences for both.
    #[test]
    fn the_race_is_fair() {
        let found = run(&mut *start(&given(0.0)).unwrap());
        let of = |name: &str| found.at(name, &[]).unwrap();
        let ratio = of("fixed.parameters") / of("attention.parameters");
        assert!((0.95..=1.05).contains(&ratio), "{ratio}");
        let job = |backwards| {
            let given = given(0.0).with("backwards", InputValue::Toggle(backwards));
            run(&mut *start(&given).unwrap())
        };
        assert_ne!(
            job(true).tensor("fixed.symbols"),
            job(false).tensor("fixed.symbols")
        );
        assert_eq!(
            job(true).tensor("attention.symbols"),
            job(false).tensor("attention.symbols")
        );
    }

    /// The lesson's claim: short sequences are learned by both, long ones by the model that may
    /// look back.
    #[test]
    fn attention_learns_long_sequences_and_one_vector_does_not() {
        let found = run(&mut *start(&given(300.0)).unwrap());
        let share = |name: &str, n: usize| found.at(name, &[n]).unwrap();
        assert!(share("fixed.symbols", 0) > 0.8, "4 symbols, one vector");
        assert!(share("attention.symbols", 3) > 0.9, "16 symbols, attention");
        assert!(share("fixed.symbols", 3) < 0.7, "16 symbols, one vector");
        assert!(share("fixed.whole", 3) < 0.1);
    }
}
