//! Measurements of a model: the settings, one run, the figures of several.

use std::sync::Arc;

use engine::formula::image;
use engine::model::bert::Bert;
use engine::model::decoder::{Decoder, Session};
use engine::ndarray::Array1;
use engine::rng::Rng;
use engine::sample::greedy;
use serde::{Deserialize, Serialize};

use crate::build::{Build, Purpose};
use crate::model::any_model::AnyModel;
use crate::model::error::ModelError;
use crate::model::host::memory_bytes;
use crate::model::packing::Packing;
use crate::model::protocol::ModelInfo;

/// The figures of one run; `None` where one does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Figures {
    /// Tokens of the prompt in a second, up to the logits of the last one.
    pub prefill_tokens_per_s: Option<f64>,
    /// New tokens in a second, each chosen and read one by one.
    pub decode_tokens_per_s: Option<f64>,
    /// Milliseconds for the classes of a picture.
    pub picture_ms: Option<f64>,
    /// Sentences of the prompt's length in a second.
    pub sentences_per_s: Option<f64>,
    /// Bytes of the memory of all threads.
    pub memory_bytes: u64,
}

impl Figures {
    /// The median of each figure; memory is the largest.
    pub fn medians(runs: &[Self]) -> Self {
        let of =
            |figure: fn(&Self) -> Option<f64>| median(runs.iter().filter_map(figure).collect());
        Self {
            prefill_tokens_per_s: of(|run| run.prefill_tokens_per_s),
            decode_tokens_per_s: of(|run| run.decode_tokens_per_s),
            picture_ms: of(|run| run.picture_ms),
            sentences_per_s: of(|run| run.sentences_per_s),
            memory_bytes: runs.iter().map(|run| run.memory_bytes).max().unwrap_or(0),
        }
    }
}

/// The middle one; the mean of the middle two where the number is even.
fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    let upper = *numbers.get(middle)?;
    let lower = if numbers.len().is_multiple_of(2) {
        *numbers.get(middle - 1)?
    } else {
        upper
    };
    Some((lower + upper) / 2.0)
}

/// The content of `window.benchResult`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(
    missing_docs,
    reason = "the fields are those of the issue, in its words"
)]
pub struct Report {
    pub model: String,
    #[serde(rename = "type")]
    pub packing: &'static str,
    pub build: &'static str,
    pub threads: usize,
    pub prompt: Option<usize>,
    pub new: Option<usize>,
    pub load_ms: f64,
    pub prefill_tokens_per_s: Option<f64>,
    pub decode_tokens_per_s: Option<f64>,
    pub picture_ms: Option<f64>,
    pub weight_bytes: u64,
    pub peak_bytes: u64,
    pub activation_bits: u32,
    pub runs: usize,
}

impl Report {
    /// The report on some runs of a model.
    pub fn new(
        asked: &BenchSettings,
        build: Build,
        threads: usize,
        loaded: &ModelInfo,
        runs: &[Figures],
    ) -> Self {
        let figures = Figures::medians(runs);
        Self {
            model: asked.model.clone(),
            packing: asked.packing.name(),
            build: build.name(),
            threads,
            prompt: loaded.reads.then_some(asked.prompt),
            new: loaded.writes.then_some(asked.new),
            load_ms: loaded.load_ms,
            prefill_tokens_per_s: figures.prefill_tokens_per_s,
            decode_tokens_per_s: figures.decode_tokens_per_s,
            picture_ms: figures.picture_ms,
            weight_bytes: loaded.weight_bytes,
            peak_bytes: figures.memory_bytes.max(loaded.memory_bytes),
            activation_bits: loaded.activation_bits,
            runs: runs.len(),
        }
    }
}

/// The settings of a measurement, as the address names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchSettings {
    /// A shape's name or a file's address.
    pub model: String,
    /// The form of its matrices.
    pub packing: Packing,
    /// The build of the worker; `None` takes the best.
    pub build: Option<Build>,
    /// Threads, where the build has them; `None` leaves the number to the browser.
    pub threads: Option<usize>,
    /// Tokens of the prompt.
    pub prompt: usize,
    /// New tokens.
    pub new: usize,
    /// Number of runs.
    pub runs: usize,
}

impl Default for BenchSettings {
    /// The settings of the empty form.
    fn default() -> Self {
        Self {
            model: String::new(),
            packing: Packing::Q8_0,
            build: None,
            threads: None,
            prompt: 128,
            new: 64,
            runs: 5,
        }
    }
}

impl BenchSettings {
    /// Reads a query, whose values `lookup` gives; what it does not name keeps its usual value.
    ///
    /// # Errors
    /// A sentence that names the part that cannot be used.
    pub fn parse(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let usual = Self::default();
        let number = |key: &str, usual: usize, least: usize, most: usize| {
            let Some(text) = lookup(key) else {
                return Ok(usual);
            };
            let number = text
                .trim()
                .parse()
                .ok()
                .filter(|n| (least..=most).contains(n));
            number.ok_or_else(|| {
                format!("{key} has to be a whole number from {least} to {most}, not {text}.")
            })
        };
        let packing = match lookup("type") {
            None => usual.packing,
            Some(name) => Packing::from_name(&name).ok_or_else(|| {
                format!("There is no type {name}. The types are f32, q8_0 and q4_0.")
            })?,
        };
        let build = match lookup("build").filter(|name| !name.is_empty()) {
            None => None,
            Some(name) => {
                let known = Purpose::Measure.builds();
                let build = Build::from_name(&name).filter(|build| known.contains(build));
                Some(build.ok_or_else(|| {
                    let known: Vec<&str> = known.iter().map(|build| build.name()).collect();
                    let known = known.join(", ");
                    format!("There is no build {name}. The builds are {known}.")
                })?)
            }
        };
        Ok(Self {
            model: lookup("model").unwrap_or_default().trim().to_owned(),
            packing,
            build,
            threads: match lookup("threads") {
                Some(_) => Some(number("threads", 1, 1, 64)?),
                None => None,
            },
            prompt: number("prompt", usual.prompt, 1, 1_000_000)?,
            new: number("new", usual.new, 0, 1_000_000)?,
            runs: number("runs", usual.runs, 1, 1000)?,
        })
    }
}

/// One run of a model.
pub struct Run {
    task: Task,
    figures: Figures,
}

enum Task {
    Text {
        session: Session<Arc<dyn Decoder>>,
        prompt: Vec<usize>,
        /// Scores of the next token, once the prompt is read.
        logits: Option<Array1<f32>>,
        new: usize,
        done: usize,
        decode_ms: f64,
    },
    Sentence {
        model: Arc<Bert>,
        ids: Vec<usize>,
    },
    Picture {
        model: AnyModel,
        side: usize,
    },
}

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RunProgress {
    /// Share that is done, 0 to 1.
    Working(f32),
    /// The end of the run.
    Done(Figures),
}

impl Run {
    /// A run of a model on a prompt of random tokens, always the same.
    ///
    /// # Errors
    /// When the model does not read so many tokens.
    pub fn new(model: &AnyModel, prompt: usize, new: usize) -> Result<Self, ModelError> {
        let fits = |asked: usize, context: usize| match asked <= context {
            true => Ok(()),
            false => Err(ModelError::TooLong { context, asked }),
        };
        let ids = |vocabulary: usize| {
            let mut rng = Rng::new(0);
            (0..prompt).map(|_| rng.below(vocabulary)).collect()
        };
        let task = match model {
            AnyModel::Text(model) => {
                fits(prompt.saturating_add(new), model.context())?;
                let prompt = ids(model.vocabulary());
                let session = Session::new(Arc::clone(model));
                Task::Text {
                    session,
                    prompt,
                    logits: None,
                    new,
                    done: 0,
                    decode_ms: 0.0,
                }
            }
            AnyModel::Sentence(model) => {
                fits(prompt, model.config().context)?;
                Task::Sentence {
                    model: Arc::clone(model),
                    ids: ids(model.config().vocabulary),
                }
            }
            model => Task::Picture {
                model: model.clone(),
                side: model.side().unwrap_or_default(),
            },
        };
        Ok(Self {
            task,
            figures: Figures::default(),
        })
    }

    /// Takes the next step: reads the prompt, or writes one token, or runs the whole picture or
    /// sentence.
    ///
    /// # Errors
    /// When the model refuses its input.
    pub fn advance(&mut self, now_ms: impl Fn() -> f64) -> Result<RunProgress, ModelError> {
        let begun = now_ms();
        let elapsed = || now_ms() - begun;
        let figures = &mut self.figures;
        match &mut self.task {
            Task::Text {
                session,
                prompt,
                logits: logits @ None,
                new,
                ..
            } => {
                *logits = Some(session.feed(prompt)?);
                figures.prefill_tokens_per_s = Some(per_second(prompt.len(), elapsed()));
                if *new > 0 {
                    return Ok(RunProgress::Working(share(0, *new)));
                }
            }
            Task::Text {
                session,
                logits: Some(logits),
                new,
                done,
                decode_ms,
                ..
            } => {
                let id = greedy(logits.view())?;
                *logits = session.feed(&[id])?;
                *decode_ms += elapsed();
                *done += 1;
                if done < new {
                    return Ok(RunProgress::Working(share(*done, *new)));
                }
                figures.decode_tokens_per_s = Some(per_second(*new, *decode_ms));
            }
            Task::Sentence { model, ids } => {
                model.sentence(ids, None)?;
                figures.sentences_per_s = Some(per_second(1, elapsed()));
            }
            Task::Picture { model, side } => {
                let picture = image(*side, 0);
                let begun = now_ms();
                model.see(picture.view(), None)?;
                figures.picture_ms = Some(now_ms() - begun);
            }
        }
        figures.memory_bytes = memory_bytes();
        Ok(RunProgress::Done(*figures))
    }
}

fn per_second(count: usize, elapsed_ms: f64) -> f64 {
    // A clock that did not move would give infinity, which JSON cannot write.
    count as f64 * 1000.0 / elapsed_ms.max(0.001)
}

/// The prompt counts as one step.
fn share(done: usize, new: usize) -> f32 {
    (done + 1) as f32 / (new + 1) as f32
}
