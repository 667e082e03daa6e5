//! `translator-runs`: the translator trained with label smoothing and without, and with another
//! learning rate; the mean of its last checkpoints; and how well its probabilities keep what they
//! promise. The log that the site ships:
//!
//! ```text
//! setting   NAME    VALUE                             what was run, and how
//! first     SCHEME  SEED         loss …               of the first steps, each to its last bit
//! kept      SCHEME  STEP         loss right bleu      of a checkpoint
//! averaged  SCHEME  COUNT        loss right bleu low high
//!                                                     of the mean of the last COUNT checkpoints; the 95 % interval of its lead in
//!                                                     BLEU over the last one
//! nats      SCHEME  TEMPERATURE  loss                 of the last checkpoint, its logits divided by a temperature
//! count     SCHEME  TEMPERATURE  tokens …             in each bin of its confidence
//! right     SCHEME  TEMPERATURE  tokens …             of these, those that it predicts right
//! sure      SCHEME  TEMPERATURE  confidence …         summed over the bin
//! ```
//! The fields of a line are separated by tabs. Losses are without smoothing, in nats per token of
//! the first version of held-out sentences, after right tokens; BLEU is 0 to 100.

use super::score::{DRAWS, SEED, scored};
use super::split::is_long;
use super::translation::{Example, Kind, PEAK, SMOOTHING, Translation};
use crate::Result;
use crate::frame::{
    Card, Choice, Evaluation, Figure, Keep, Options, Recipe, Subject, kept, losses, replace, train,
};
use engine::grad::{Schedule, Tape, Var};
use engine::parameters::{Memory, Parameters};
use engine::rng::Rng;
use engine::translate::{Pair, TranslationModel};
use explain::averaged::averaged;
use explain::calibration::{Prediction, binned};
use explain::score::Score;
use serde_json::Value;
use std::fmt::{Display, Write};
use std::path::Path;

/// The file that the site ships.
pub const FILE: &str = "translator-runs.tsv";
/// Steps whose losses are in the log to the last bit.
pub const FIRST: usize = 3;
/// Steps of a run: about one and a half passes over the pairs.
pub const STEPS: u64 = 3_000;
/// One of this number of held-out pairs is measured token by token.
const MEASURED: usize = 4;
/// Bins of the confidence.
pub const BINS: usize = 20;
/// The temperatures, in tenths.
pub const TEMPERATURES: std::ops::RangeInclusive<u32> = 6..=15;

/// One way to train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scheme {
    /// Its name in the log.
    pub name: &'static str,
    /// ε of label smoothing.
    pub smoothing: f32,
    /// True for a learning rate that falls to nearly 0, as in the training of the translator; false
    /// for the paper's.
    pub falls: bool,
}

/// The runs.
pub const SCHEMES: [Scheme; 3] = [
    Scheme {
        name: "smoothed",
        smoothing: SMOOTHING,
        falls: false,
    },
    Scheme {
        name: "plain",
        smoothing: 0.0,
        falls: false,
    },
    Scheme {
        name: "falling",
        smoothing: SMOOTHING,
        falls: true,
    },
];

/// The checkpoints of a run that are averaged. The paper's last five, 10 minutes apart, are 1/72 of
/// its 12 hours apart.
pub fn keep(steps: u64) -> Keep {
    Keep {
        count: 5,
        apart: (steps / 60).max(1),
    }
}

/// A run: the translator with one scheme.
#[derive(Debug)]
pub struct SchemeRun<'a> {
    translation: &'a Translation,
    scheme: Scheme,
    steps: u64,
}

impl<'a> SchemeRun<'a> {
    /// A run of the Transformer with these pairs.
    pub fn new(translation: &'a Translation, scheme: Scheme, steps: u64) -> Self {
        Self {
            translation,
            scheme,
            steps,
        }
    }
}

impl Subject for SchemeRun<'_> {
    type Model = TranslationModel;

    fn name(&self) -> &'static str {
        self.scheme.name
    }

    fn load(&self, source: &mut dyn Parameters) -> Result<TranslationModel> {
        self.translation.load(source)
    }

    fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        self.translation.shapes()
    }

    fn config(&self) -> Value {
        self.translation.config()
    }

    fn recipe(&self) -> Recipe {
        let (steps, warmup) = (self.steps, self.steps / 20);
        let schedule = match self.scheme.falls {
            true => Schedule::Cosine {
                peak: PEAK,
                last: PEAK / 50.0,
                warmup,
                steps,
            },
            false => Schedule::InverseRoot { peak: PEAK, warmup },
        };
        Recipe {
            steps,
            schedule,
            // The last steps count, in every scheme.
            evaluate_every: u64::MAX,
            patience: 1,
            choice: Choice::SmallestLoss,
            keep: Some(keep(steps)),
            ..self.translation.recipe()
        }
    }

    fn batches(&self, rng: &mut Rng) -> Vec<Vec<usize>> {
        self.translation.batches(rng)
    }

    fn loss(
        &self,
        model: &TranslationModel,
        tape: &mut Tape,
        batch: &[usize],
        _: &mut Rng,
    ) -> Result<Var> {
        let smoothing = self.scheme.smoothing;
        self.translation
            .smoothed_loss(model, tape, batch, smoothing)
    }

    fn evaluate(&self, model: &TranslationModel) -> Result<Evaluation> {
        self.translation.evaluate(model)
    }

    fn measure(&self, model: &TranslationModel) -> Result<Vec<Figure>> {
        self.translation.measure(model)
    }

    fn card(&self) -> Card {
        self.translation.card()
    }
}

/// Trains every scheme, each in a folder of its own in the work folder, measures the kept checkpoints
/// and their means, and writes the log to `out`. With `resume`, runs that are done are not repeated.
///
/// # Errors
/// When the data or a work folder cannot be read or written, or a run fails.
pub fn race(data: &Path, options: &Options, out: &Path) -> Result<()> {
    let translation = Translation::read(Kind::Transformer, data)?;
    let held_out = HeldOut::new(&translation)?;
    let path = out.join(FILE);
    let mut log = settings(&held_out, data, options);
    for scheme in SCHEMES {
        eprintln!("{}", scheme.name);
        log.push_str(&one(&held_out, scheme, options)?);
        replace(&path, log.as_bytes())?;
    }
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// The pairs that every model is measured on.
struct HeldOut<'a> {
    translation: &'a Translation,
    /// Those whose tokens are predicted.
    examples: Vec<Example>,
    /// Those that are translated: with 9 and 10 words.
    long: Vec<&'a Pair>,
}

/// The figures of a model.
struct Measured {
    loss: f64,
    right: f64,
    score: Score,
}

impl<'a> HeldOut<'a> {
    fn new(translation: &'a Translation) -> Result<Self> {
        let test = translation.test();
        Ok(Self {
            translation,
            examples: translation.examples(test.iter().step_by(MEASURED))?,
            long: test.iter().filter(|pair| is_long(pair)).collect(),
        })
    }

    /// The predictions of all tokens at each of some temperatures.
    fn predictions(
        &self,
        model: &TranslationModel,
        temperatures: &[f64],
    ) -> Result<Vec<Vec<Prediction>>> {
        let mut all = vec![Vec::new(); temperatures.len()];
        self.translation
            .each_answer(model, &self.examples, |logits, answer| {
                for (to, &temperature) in all.iter_mut().zip(temperatures) {
                    to.push(Prediction::new(logits, answer, temperature)?);
                }
                Ok(())
            })?;
        Ok(all)
    }

    fn measure(&self, parameters: &Memory) -> Result<Measured> {
        let model = self.translation.load(&mut parameters.clone())?;
        let all = self.predictions(&model, &[1.0])?.concat();
        let translator = self.translation.translator(&model)?;
        Ok(Measured {
            loss: mean_loss(&all),
            right: all.iter().filter(|found| found.is_right).count() as f64 / count(&all),
            score: scored(&translator, self.long.iter().copied())?,
        })
    }
}

fn count(all: &[Prediction]) -> f64 {
    all.len().max(1) as f64
}

fn mean_loss(all: &[Prediction]) -> f64 {
    all.iter().map(|found| found.loss).sum::<f64>() / count(all)
}

impl Measured {
    /// Its fields in the log.
    fn shown(&self) -> String {
        let (loss, right) = (self.loss, self.right);
        format!("{loss:.4}\t{right:.4}\t{:.2}", 100.0 * self.score.bleu())
    }
}

/// The lines on all runs together.
fn settings(held_out: &HeldOut<'_>, data: &Path, options: &Options) -> String {
    let kernels = engine::kernel::steady().name();
    let mut command = format!(
        "cargo xtask train translator-runs --data {} --seed {}",
        data.display(),
        options.seed
    );
    let steps = options.steps.unwrap_or(STEPS);
    if steps != STEPS {
        let _ = write!(command, " --steps {steps}");
    }
    let tokens: usize = held_out.examples.iter().map(Example::answers).sum();
    let mut all = String::new();
    for (name, value) in [
        ("command", command),
        ("kernels", kernels.to_owned()),
        ("steps", steps.to_string()),
        ("apart", keep(steps).apart.to_string()),
        ("smoothing", SMOOTHING.to_string()),
        ("pairs", held_out.translation.training_pairs().to_string()),
        ("measured", held_out.examples.len().to_string()),
        ("tokens", tokens.to_string()),
        ("translated", held_out.long.len().to_string()),
        ("bins", BINS.to_string()),
        ("temperature from", TEMPERATURES.start().to_string()),
        ("temperature to", TEMPERATURES.end().to_string()),
    ] {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(all, "setting\t{name}\t{value}");
    }
    all
}

fn line(log: &mut String, [kind, scheme]: [&str; 2], of: impl Display, fields: &str) {
    let _ = writeln!(log, "{kind}\t{scheme}\t{of}\t{fields}");
}

/// The lines of one run.
fn one(held_out: &HeldOut<'_>, scheme: Scheme, options: &Options) -> Result<String> {
    let work = options.work.join(scheme.name);
    let own = Options {
        resume: options.resume && work.join("checkpoint.safetensors").exists(),
        work: work.clone(),
        ..options.clone()
    };
    let steps = own.steps.unwrap_or(STEPS);
    let run = SchemeRun::new(held_out.translation, scheme, steps);
    train(&run, &own)?;
    let mut log = String::new();
    let first = losses(&work)?;
    let first: Vec<String> = first.iter().take(FIRST).map(f32::to_string).collect();
    line(
        &mut log,
        ["first", scheme.name],
        own.seed,
        &first.join("\t"),
    );
    let kept = kept(&work, &run.recipe())?;
    let mut last = Score::default();
    for (step, parameters) in &kept {
        let measured = held_out.measure(parameters)?;
        eprintln!("{step}\t{}", measured.shown());
        line(&mut log, ["kept", scheme.name], step, &measured.shown());
        last = measured.score;
    }
    let parameters: Vec<Memory> = kept.into_iter().map(|(_, parameters)| parameters).collect();
    for count in 2..=parameters.len() {
        let mean = averaged(&parameters[parameters.len() - count..])?;
        let measured = held_out.measure(&mean)?;
        let (low, high) = measured.score.lead_interval(&last, DRAWS, SEED);
        let lead = format!("{:.2}\t{:.2}", 100.0 * low, 100.0 * high);
        let fields = format!("{}\t{lead}", measured.shown());
        eprintln!("mean of {count}\t{fields}");
        line(&mut log, ["averaged", scheme.name], count, &fields);
    }
    if let Some(last) = parameters.last() {
        calibration(&mut log, held_out, scheme.name, last)?;
    }
    Ok(log)
}

/// The lines on the probabilities of a model.
fn calibration(
    log: &mut String,
    held_out: &HeldOut<'_>,
    scheme: &str,
    parameters: &Memory,
) -> Result<()> {
    let model = held_out.translation.load(&mut parameters.clone())?;
    let temperatures: Vec<f64> = TEMPERATURES
        .map(|tenths| f64::from(tenths) / 10.0)
        .collect();
    let all = held_out.predictions(&model, &temperatures)?;
    for (predictions, temperature) in all.iter().zip(&temperatures) {
        let bins = binned(predictions, BINS)?;
        let nats = format!("{:.4}", mean_loss(predictions));
        line(log, ["nats", scheme], temperature, &nats);
        for (kind, row, decimals) in [("count", 0, 0), ("right", 1, 0), ("sure", 2, 1)] {
            let row = bins.row(row);
            let fields: Vec<String> = row.iter().map(|x| format!("{x:.decimals$}")).collect();
            line(log, [kind, scheme], temperature, &fields.join("\t"));
        }
    }
    Ok(())
}
