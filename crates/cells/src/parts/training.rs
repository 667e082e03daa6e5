//! Training runs as cells show them: the state after so many steps, which is a function of the
//! inputs and that number.

use std::sync::Arc;

use engine::grad::{Corpus, Evaluation, Learner, Pairs, Schedule, Settings, Task, TrainingConfig};
use engine::model::encoder_decoder::EncoderDecoder;

use crate::error::CellError;
use crate::frame::shown::{Call, Describe, Record};
use crate::input::Inputs;
use crate::model_cache::ModelCache;

/// Steps between two looks at the held-out sequences.
pub(crate) const LOOK: u64 = 10;

/// Held-out sequences that are looked at.
pub(crate) const HELD_OUT: usize = 40;

/// The tasks, the first being the default.
pub(crate) const TASKS: &[&str] = &["reverse", "copy", "sort"];

/// The task that learns from the reader's text.
pub(crate) const YOUR_TEXT: &str = "your text";

/// Most different characters that a text may have.
const CHARACTERS: usize = 96;

/// The task of the input `task`, of sequences of `length` out of `symbols`.
pub(crate) fn task(inputs: &Inputs, symbols: usize, length: usize) -> Result<Task, CellError> {
    Ok(match inputs.choice("task")? {
        "copy" => Task::Copy { symbols, length },
        "sort" => Task::Sort { symbols, length },
        YOUR_TEXT => Task::Text {
            text: Arc::new(text(inputs.text("text")?, length)?),
            length,
        },
        _ => Task::Reverse { symbols, length },
    })
}

/// The reader's text, every space between words made one.
fn text(given: &str, length: usize) -> Result<Corpus, CellError> {
    let plain: Vec<&str> = given.split_whitespace().collect();
    let plain = plain.join(" ");
    let refuse = |message: String| Err(CellError::input("text", "Your text", message));
    let (count, fewest) = (plain.chars().count(), Corpus::fewest(length));
    if count < fewest {
        return refuse(format!(
            "this is {count} characters long; passages of {length} need at least {fewest}, so that some can be held out. Write more, or \
             make the sequences shorter."
        ));
    }
    let text = Corpus::new(&plain);
    let different = text.characters().len();
    if different > CHARACTERS {
        return refuse(format!(
            "this has {different} different characters; at most {CHARACTERS} can be learned here."
        ));
    }
    Ok(text)
}

/// A rate that rises to `peak`, falls to a twentieth of it until step `until`, and stays there.
pub(crate) fn schedule(peak: f64, warmup: u64, until: u64) -> Schedule {
    Schedule::Cosine {
        peak: peak as f32,
        last: peak as f32 / 20.0,
        warmup,
        steps: until,
    }
}

/// One training and what was noted on the way.
pub(crate) struct Course {
    pub(crate) learner: Learner,
    held: Pairs,
    by_itself: bool,
    calls: Vec<Call>,
    /// The loss that step n + 1 began with.
    pub(crate) losses: Vec<f64>,
    looks: Looks,
}

/// Results on the held-out sequences, at step 0, [`LOOK`], 2 · [`LOOK`], …
#[derive(Default)]
struct Looks {
    losses: Vec<f64>,
    right: Vec<f64>,
    written: Vec<f64>,
}

impl Course {
    /// Before the first step. With `by_itself` the model also writes the held-out answers
    /// autoregressively.
    pub(crate) fn new(plan: TrainingConfig, by_itself: bool) -> Result<Self, CellError> {
        let mut record = Record::new();
        let settings = Settings::same_bits();
        let learner = Learner::new(plan, settings)?;
        let held = shown!(record, engine::grad::Learner::held_out, &learner, HELD_OUT)?;
        let mut course = Self {
            learner,
            held,
            by_itself,
            calls: record.finish().calls,
            losses: Vec::new(),
            looks: Looks::default(),
        };
        course.look()?;
        Ok(course)
    }

    fn learn(&mut self) -> Result<(), CellError> {
        noted_step(&mut self.learner, &mut self.losses, &mut self.calls)?;
        if self.steps().is_multiple_of(LOOK) {
            self.look()?;
        }
        Ok(())
    }

    fn look(&mut self) -> Result<(), CellError> {
        let share = |right: usize| right as f64 / HELD_OUT as f64;
        let Evaluation { loss, right } = if self.looks.losses.is_empty() {
            let mut record = Record::new();
            let held = &self.held;
            let found = shown!(record, engine::grad::Learner::evaluate, &self.learner, held)?;
            self.calls.extend(record.finish().calls);
            found
        } else {
            self.learner.evaluate(&self.held)?
        };
        self.looks.losses.push(f64::from(loss));
        self.looks.right.push(share(right));
        if self.by_itself {
            let written = self.learner.written_right(&self.held)?;
            self.looks.written.push(share(written));
        }
        Ok(())
    }

    /// Writes down the curves and their last points under names that begin with `prefix`.
    pub(crate) fn note(&self, record: &mut Record, prefix: &str) {
        record.calls(&self.calls);
        let name = |what: &str| format!("{prefix}{what}");
        let steps = |count: usize| (0..count).map(|n| (n as u64 * LOOK) as f64).collect();
        record.numbers(&name("loss"), self.losses.clone());
        let Looks {
            losses,
            right,
            written,
        } = &self.looks;
        record.numbers(&name("looks"), steps(losses.len()));
        let curves = [("held", losses), ("right", right), ("written", written)];
        for (what, curve) in curves {
            if let Some(last) = curve.last() {
                record.numbers(&name(what), curve.clone());
                record.number(&name(&format!("{what}.now")), *last);
            }
        }
    }
}

/// One step, and the loss that it began with. The first one is noted for "Show the Rust"; all
/// others repeat its calls.
pub(crate) fn noted_step<M: EncoderDecoder + Describe>(
    learner: &mut Learner<M>,
    losses: &mut Vec<f64>,
    calls: &mut Vec<Call>,
) -> Result<(), CellError> {
    let loss = if losses.is_empty() {
        let mut record = Record::new();
        let loss = shown!(record, engine::grad::Learner::step, learner)?;
        calls.extend(record.finish().calls);
        loss
    } else {
        learner.step()?
    };
    losses.push(f64::from(loss));
    Ok(())
}

/// A model that a [`Training`] trains step by step.
pub(crate) trait Steps: Send {
    /// Steps made.
    fn steps(&self) -> u64;

    /// One step.
    fn step(&mut self) -> Result<(), CellError>;
}

impl Steps for Course {
    fn steps(&self) -> u64 {
        self.learner.steps()
    }

    fn step(&mut self) -> Result<(), CellError> {
        self.learn()
    }
}

/// The job of a cell that trains, or measures: its courses, all of them as many steps as the input
/// `steps` says, and what is shown of them.
pub(crate) struct Training<C = Course> {
    inputs: Inputs,
    courses: Vec<C>,
    /// Steps of all courses that were made before.
    begun: u64,
    wanted: u64,
    show: fn(&[C], &Inputs) -> Result<crate::Computation, CellError>,
}

impl<C: Steps> Training<C> {
    /// From nothing.
    pub(crate) fn new(
        inputs: &Inputs,
        courses: Vec<C>,
        show: fn(&[C], &Inputs) -> Result<crate::Computation, CellError>,
    ) -> Result<Self, CellError> {
        Ok(Self {
            inputs: inputs.clone(),
            courses,
            begun: 0,
            wanted: inputs.count("steps")? as u64,
            show,
        })
    }

    fn steps(&self) -> u64 {
        self.courses.iter().map(C::steps).min().unwrap_or(0)
    }

    /// Steps of all courses together.
    fn all_steps(&self) -> u64 {
        self.courses.iter().map(C::steps).sum()
    }

    /// The courses, to which more can be added: these catch up with the others. Call
    /// [`Self::start_counting`] afterwards.
    pub(crate) fn courses_mut(&mut self) -> &mut Vec<C> {
        &mut self.courses
    }

    /// Counts the progress from here on.
    pub(crate) fn start_counting(&mut self) {
        self.begun = self.all_steps();
    }
}

impl<C: Steps> crate::Job for Training<C> {
    fn advance(&mut self) -> Result<crate::Progress, CellError> {
        let now = self.steps();
        let behind = |course: &&mut C| course.steps() == now;
        match self.courses.iter_mut().find(behind) {
            Some(course) if now < self.wanted => {
                course.step()?;
                let done = self.all_steps() - self.begun;
                let all = (self.courses.len() as u64 * self.wanted).saturating_sub(self.begun);
                Ok(crate::Progress::Working(done as f32 / all.max(1) as f32))
            }
            _ => {
                let shown = (self.show)(&self.courses, &self.inputs)?;
                Ok(crate::Progress::Done(Box::new(shown)))
            }
        }
    }

    fn is_kept(&self) -> bool {
        true
    }

    /// To more steps of the same training.
    fn go_on(&mut self, inputs: &Inputs, _: &ModelCache) -> Result<bool, CellError> {
        let wanted = inputs.count("steps")? as u64;
        let same = |(name, value): (&String, &crate::InputValue)| {
            name == "steps" || inputs.0.get(name) == Some(value)
        };
        let ahead = self.courses.iter().any(|course| course.steps() > wanted);
        if ahead
            || !self
                .inputs
                .0
                .iter()
                .all(|(name, value)| same((name, value)))
        {
            return Ok(false);
        }
        self.wanted = wanted;
        self.inputs = inputs.clone();
        self.start_counting();
        Ok(true)
    }
}
