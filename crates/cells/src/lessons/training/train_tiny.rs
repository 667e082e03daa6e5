//! A small Transformer learns to copy, reverse or sort from nothing, as many steps as the reader
//! lets it.

use engine::grad::{Pairs, Task, TrainingConfig};
use engine::trace::Recorder;
use engine::trainable;
use ndarray::{Axis, concatenate};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::parts::training::{Course, HELD_OUT, LOOK, Training, YOUR_TEXT, schedule, task};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// Different symbols of a sequence.
const SYMBOLS: usize = 10;

/// The step from which the rate stays at its end.
const SETTLED: u64 = 800;

/// Most steps that are taken.
const MOST: f64 = 2000.0;

/// Tasks that can be learned, the default first.
const TASKS: &[&str] = &["reverse", "copy", "sort", YOUR_TEXT];

/// The first text: short enough to be memorised, which is what it shows.
const TEXT: &str = "The cat sat on the mat. The mat lay by the fire, and the fire was warm. When the dog came in from the rain, the cat \
    did not move. The dog lay down on the cold stone, and looked at the fire, and looked at the mat. Then the cat got up, went to the \
    door, and looked at the rain. When it came back, the dog lay on the mat, warm and dry, and did not move. So the cat lay down on the \
    dog, and the dog was warm, and the rain went on all night. In the morning the sun came in by the door. The dog went out, and the \
    cat sat on the mat.";

/// The cell `train-tiny`.
pub const SPEC: CellSpec = CellSpec {
    name: "train-tiny",
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
        InputSpec::text("text", "Your text", TEXT),
        InputSpec::number("steps", "Steps", (0.0, MOST, 1.0), 0.0),
        InputSpec::number(
            "rate",
            "Highest learning rate",
            (0.0001, 0.02, 0.0001),
            0.002,
        ),
        InputSpec::number("warmup", "Warm-up steps", (0.0, 400.0, 1.0), 100.0),
        InputSpec::number("length", "Sequence length", (8.0, 16.0, 1.0), 16.0),
        InputSpec::seed(1),
        InputSpec::entry("head", "Head", 1, Some(&[4])),
    ]
}

/// Begins to compute.
///
/// # Errors
/// An input that does not fit.
fn start(inputs: &Inputs) -> Result<Box<dyn Job>, CellError> {
    let task = task(inputs, SYMBOLS, inputs.count("length")?)?;
    let warmup = inputs.count("warmup")? as u64;
    let plan = TrainingConfig {
        seed: inputs.seed()?,
        ..TrainingConfig::of(task, schedule(inputs.number("rate")?, warmup, SETTLED))
    };
    let courses = vec![Course::new(plan, false)?];
    Ok(Box::new(Training::new(inputs, courses, show)?))
}

/// The present state: curves, the rate, one held-out sequence with what the model says and what its
/// heads look at.
fn show(courses: &[Course], _: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    for course in courses {
        course.note(&mut record, "");
        let learner = &course.learner;
        let (steps, schedule) = (learner.steps(), learner.task_config().schedule);
        record.number("steps", steps as f64);
        record.number("held.count", HELD_OUT as f64);
        record.number("looks.every", LOOK as f64);
        if let Some(last) = course.losses.last() {
            record.number("loss.now", *last);
        }
        let rate = shown!(record, engine::grad::Schedule::rate, schedule, steps + 1);
        record.number("rate.next", f64::from(rate));
        let rates = (1..=SETTLED).map(|n| f64::from(schedule.rate(n)));
        record.numbers("rates", rates.collect());
        let mut model = learner.model.clone();
        record.number("parameters", trainable::count(&mut model)? as f64);
        let uniform = f64::from(engine::math::ln(
            learner.task_config().task.vocabulary() as f32
        ));
        record.number("loss.uniform", uniform);
        let example = shown!(record, engine::grad::Learner::held_out, learner, 1)?;
        look_inside(&mut record, course, &example)?;
    }
    Ok(record.finish())
}

/// The weights of the decoder's heads over the source, `[heads of both blocks, T, S]`, and the most
/// likely symbol at each position.
fn look_inside(record: &mut Record, course: &Course, example: &Pairs) -> Result<(), CellError> {
    let model = &course.learner.model;
    let mut seen = Recorder::default();
    let (source, target) = (&example.source.ids[..], &example.target.ids[..]);
    let logits = model.forward(source, target, Some(&mut seen))?;
    let names = (0..model.config().decoder_layers)
        .map(|n| format!("decoder.blocks.{n}.cross.attention.weights"));
    let weights: Vec<_> = names.filter_map(|name| seen.get(&name)).collect();
    let views: Vec<_> = weights.iter().map(|weights| weights.view()).collect();
    let all = concatenate(Axis(0), &views).map_err(|e| CellError::Mismatch(e.to_string()))?;
    record.tensor("cross", &all);
    record.tensor("logits", &logits);

    let task = &course.learner.task_config().task;
    let word = |id: usize| match task {
        Task::Text { text, .. } => match text.characters().get(id) {
            Some(' ') | None => "\u{2423}".to_owned(),
            Some(character) => character.to_string(),
        },
        _ => char::from(b'a' + (id % 26) as u8).to_string(),
    };
    let most_likely = logits.rows().into_iter().map(|row| {
        let larger = |best: usize, id: usize| if row[id] > row[best] { id } else { best };
        (0..row.len()).fold(0, larger)
    });
    let (start, answers) = (task.start(), &example.answers);
    let said: Vec<usize> = most_likely.collect();
    let right = said
        .iter()
        .zip(answers)
        .map(|(&said, answer)| Some(said) == *answer);
    record.number("example.right", right.filter(|&right| right).count() as f64);
    record.number("example.length", answers.len() as f64);
    let symbol = |id: usize| {
        if id == start {
            "\u{25b8}".to_owned()
        } else {
            word(id)
        }
    };
    record.words("source", source.iter().map(|&id| symbol(id)).collect());
    record.words(
        "answer",
        answers.iter().flatten().map(|&id| symbol(id)).collect(),
    );
    record.words("said", said.into_iter().map(symbol).collect());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::jobs;
    use crate::jobs::JobCache;
    use crate::model_cache::ModelCache;
    use crate::spec::Progress;

    fn given(steps: f64) -> Inputs {
        Inputs::defaults(&inputs())
            .with("length", InputValue::Number(8.0))
            .with("steps", InputValue::Number(steps))
    }

    fn run(mut job: Box<dyn Job>) -> (Computation, Box<dyn Job>) {
        loop {
            if let Progress::Done(found) = job.advance().unwrap() {
                return (*found, job);
            }
        }
    }

    /// A continued run gives the bits of a new one, and so does going back.
    #[test]
    fn going_on_and_rewinding_give_the_bits_of_a_new_start() {
        let anew = |steps| jobs::compute(&SPEC, &given(steps), &ModelCache::default()).unwrap();
        let mut kept = JobCache::default();
        let entry = jobs::find(SPEC.name).unwrap();
        for steps in [0.0, 1.0, 12.0, 0.0, 1.0] {
            let job = kept
                .begin(entry, &given(steps), &ModelCache::default())
                .unwrap();
            let (found, job) = run(job);
            kept.keep(SPEC.name, job);
            assert_eq!(found.tensors, anew(steps).tensors, "{steps}");
            assert_eq!(found.tensor("loss").unwrap().shape(), [steps as usize]);
        }
    }

    #[test]
    fn a_job_goes_on_instead_of_starting_anew() {
        let (_, mut job) = run(start(&given(3.0)).unwrap());
        let cache = ModelCache::default();
        assert!(job.go_on(&given(4.0), &cache).unwrap());
        assert!(matches!(job.advance().unwrap(), Progress::Working(1.0)));
        assert!(matches!(job.advance().unwrap(), Progress::Done(_)));
        assert!(!job.go_on(&given(2.0), &cache).unwrap(), "back is anew");
        let other = given(9.0).with("seed", InputValue::Number(2.0));
        assert!(!job.go_on(&other, &cache).unwrap(), "another training");
    }

    /// Every row of every head is a distribution; the rate rises to its peak.
    #[test]
    fn shows_what_it_says_it_shows() {
        let found = jobs::compute(&SPEC, &given(0.0), &ModelCache::default()).unwrap();
        let cross = &found.tensor("cross").unwrap().values;
        assert_eq!(cross.shape(), [8, 8, 8]);
        assert!(
            cross
                .sum_axis(Axis(2))
                .iter()
                .all(|sum| (sum - 1.0).abs() < 1e-5)
        );
        assert!((found.at("rates", &[99]).unwrap() - 0.002).abs() < 1e-9);
        assert!((found.at("rates", &[49]).unwrap() - 0.001).abs() < 1e-9);
        assert_eq!(found.words("source").len(), 8);
        let mut backwards = found.words("answer").to_vec();
        backwards.reverse();
        assert_eq!(found.words("source"), backwards);
    }

    /// It learns: a lower loss on what it never trains on.
    #[test]
    fn the_held_out_loss_falls() {
        let found = jobs::compute(&SPEC, &given(120.0), &ModelCache::default()).unwrap();
        let held = found.tensor("held").unwrap();
        assert_eq!(held.shape(), [13]);
        assert!(held.at(&[12]).unwrap() < 0.7 * held.at(&[0]).unwrap());
    }

    fn text(text: &str, steps: f64) -> Result<crate::Computation, CellError> {
        let given = given(steps)
            .with("task", InputValue::Choice(YOUR_TEXT.to_owned()))
            .with("text", InputValue::Text(text.to_owned()));
        jobs::compute(&SPEC, &given, &ModelCache::default())
    }

    /// So short a text is memorised: sequences outside the training set stay hard.
    #[test]
    fn a_short_text_is_learned_by_heart() {
        let found = text(TEXT, 200.0).unwrap();
        let (training, held) = (
            found.at("loss.now", &[]).unwrap(),
            found.at("held.now", &[]).unwrap(),
        );
        assert!(training < 0.6 * held, "{training} {held}");
        assert!(found.words("source").contains(&"\u{2423}".to_owned()));
    }

    #[test]
    fn a_text_that_is_too_short_or_of_too_many_characters_gets_a_message() {
        let error = text("The cat sat.", 1.0).unwrap_err().to_string();
        assert!(error.contains("at least 64"), "{error}");
        let many: String = (0..200u32)
            .filter_map(|n| char::from_u32(0x4e00 + n))
            .collect();
        let error = text(&many, 1.0).unwrap_err().to_string();
        assert!(error.contains("at most 96"), "{error}");
    }
}
