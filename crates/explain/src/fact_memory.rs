//! An MLP that learns random facts by heart, with one of four nonlinearities and always as many
//! parameters.
//!
//! ```text
//! a fact is a subject, a relation and an answer, drawn at random: every pair has one of 64 answers
//! x = S[subject] + R[relation]                              [N] -> [N, C]
//! y = x + mlp(norm(x))      relu, gelu, silu: F = 4 C      SwiGLU: F = 8 C/3      both 8 C² parameters
//! logits = norm(y) · Wᵀ                                     [N, C] -> [N, A]
//! ```
//! The answers follow no rule, so a sum of two vectors cannot foretell them: what is right has been
//! stored.
//!
//! ```
//! use explain::fact_memory::{Activity, FactRun};
//! let mut run = FactRun::new(Activity::SwiGlu, 0.01, 1)?;
//! let first = run.step()?;
//! for _ in 0..20 {
//!     run.step()?;
//! }
//! assert!(run.step()? < first);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: our own task. Source of the question: Shazeer 2020, "GLU variants improve Transformer",
//! section 2 (two thirds of the inner width); Geva et al. 2021, "Transformer feed-forward layers are
//! key-value memories".

use engine::error::Result;
use engine::grad::{AdamW, Draw, Schedule, Settings, Tape, Var, gradients, initialise};
use engine::nn::compute::Compute;
use engine::nn::feed_forward::{Activation, FeedForward};
use engine::nn::norm::{LayerNorm, Norm};
use engine::nn::plain::Plain;
use engine::nn::pre_norm::Mlp;
use engine::nn::projection::Projection;
use engine::nn::swiglu::SwiGlu;
use engine::parameters::Weight;
use engine::rng::Rng;
use engine::trainable::{self, Kind, Trainable, Visit};
use ndarray::Array2;

/// Subjects, and as many relations: every pair has an answer.
pub const SUBJECTS: usize = 64;
/// The number of facts.
pub const FACTS: usize = SUBJECTS * SUBJECTS;
/// Answers that a fact may have.
pub const ANSWERS: usize = 64;
/// C: the width of the vectors.
pub const WIDTH: usize = 24;
/// F of an MLP of two matrices.
pub const INNER: usize = 4 * WIDTH;
/// F of an MLP of three matrices, for as many parameters.
pub const GATED: usize = 8 * WIDTH / 3;
/// Steps of a run.
pub const STEPS: u64 = 800;
/// Facts in a step.
const BATCH: usize = 128;
/// Highest learning rates of the logged runs, as they are written.
pub const RATES: [&str; 4] = ["0.005", "0.01", "0.02", "0.04"];

/// What the MLP has between its matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// max(x, 0).
    Relu,
    /// x Φ(x).
    Gelu,
    /// x sigmoid(x).
    Silu,
    /// A gate: silu of one matrix times another one.
    SwiGlu,
}

impl Activity {
    /// All four, with their names in the log.
    pub const ALL: [(&'static str, Self); 4] = [
        ("relu", Self::Relu),
        ("gelu", Self::Gelu),
        ("silu", Self::Silu),
        ("swiglu", Self::SwiGlu),
    ];
}

/// The MLP in the middle.
#[derive(Debug, Clone, PartialEq)]
enum Middle {
    Plain(FeedForward),
    Gated(SwiGlu),
}

/// The model.
#[derive(Debug, Clone, PartialEq)]
pub struct FactMemory {
    subjects: Weight,
    relations: Weight,
    norm: LayerNorm,
    middle: Middle,
    last: LayerNorm,
    output: Projection,
}

/// A matrix of zeros without a bias, to be drawn.
fn layer(inputs: usize, outputs: usize) -> Projection {
    Projection {
        weight: Weight::Dense(Array2::zeros((outputs, inputs))),
        bias: None,
    }
}

impl FactMemory {
    /// The model with random parameters: those outside the MLP are the same for every activity.
    ///
    /// # Errors
    /// None for the shapes here; those of the engine's initialisation.
    pub fn new(activity: Activity, seed: u64) -> Result<Self> {
        let plain = |activation| {
            Middle::Plain(FeedForward {
                up: layer(WIDTH, INNER),
                activation,
                down: layer(INNER, WIDTH),
            })
        };
        let middle = match activity {
            Activity::Relu => plain(Activation::Relu),
            Activity::Gelu => plain(Activation::Gelu),
            Activity::Silu => plain(Activation::Silu),
            Activity::SwiGlu => Middle::Gated(SwiGlu {
                gate: layer(WIDTH, GATED),
                up: layer(WIDTH, GATED),
                down: layer(GATED, WIDTH),
            }),
        };
        let table = || Weight::Dense(Array2::zeros((SUBJECTS, WIDTH)));
        let mut model = Self {
            subjects: table(),
            relations: table(),
            norm: LayerNorm::new(WIDTH),
            middle,
            last: LayerNorm::new(WIDTH),
            output: layer(WIDTH, ANSWERS),
        };
        initialise(&mut model, seed, Draw::Xavier)?;
        Ok(model)
    }

    /// The number of parameters.
    ///
    /// # Errors
    /// None for the model here.
    pub fn count(&self) -> Result<usize> {
        trainable::count(&mut self.clone())
    }

    /// The logits of every answer for some pairs.
    fn run<C: Compute>(&self, compute: &mut C, pairs: &[usize]) -> Result<C::Matrix> {
        // pairs [N] -> [N, A]
        let subjects: Vec<usize> = pairs.iter().map(|pair| pair / SUBJECTS).collect();
        let relations: Vec<usize> = pairs.iter().map(|pair| pair % SUBJECTS).collect();
        let x = compute.embed(&self.subjects, &subjects)?;
        let other = compute.embed(&self.relations, &relations)?;
        let x = compute.add(x, &other)?;
        let normed = self.norm.run(compute, &x)?;
        let branch = match &self.middle {
            Middle::Plain(mlp) => mlp.run(compute, &normed)?,
            Middle::Gated(mlp) => mlp.run(compute, &normed)?,
        };
        let y = compute.add(branch, &x)?;
        let y = self.last.run(compute, &y)?;
        self.output.run(compute, &y)
    }

    /// How many of all facts the model answers right.
    ///
    /// # Errors
    /// None for the model here.
    pub fn right(&self) -> Result<usize> {
        let pairs: Vec<usize> = (0..FACTS).collect();
        let logits = self.run(&mut Plain::silent(), &pairs)?;
        let best = |row: ndarray::ArrayView1<'_, f32>| {
            let mut best = 0;
            for (n, x) in row.iter().enumerate() {
                if *x > row[best] {
                    best = n;
                }
            }
            best
        };
        let answers = answers();
        let right = logits.rows().into_iter().zip(&answers);
        Ok(right.filter(|&(row, &answer)| best(row) == answer).count())
    }
}

impl Trainable for FactMemory {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        trainable::weight(&mut self.subjects, "subjects", Kind::Table, visit)?;
        trainable::weight(&mut self.relations, "relations", Kind::Table, visit)?;
        self.norm.parameters("norm", visit)?;
        match &mut self.middle {
            Middle::Plain(mlp) => {
                mlp.up.parameters("mlp.up", visit)?;
                mlp.down.parameters("mlp.down", visit)?;
            }
            Middle::Gated(mlp) => {
                mlp.gate.parameters("mlp.gate", visit)?;
                mlp.up.parameters("mlp.up", visit)?;
                mlp.down.parameters("mlp.down", visit)?;
            }
        }
        self.last.parameters("last", visit)?;
        self.output.parameters("output", visit)
    }
}

/// The answer of every pair: the same ones for all runs.
pub fn answers() -> Vec<usize> {
    // -> [FACTS]
    let mut rng = Rng::named(0, "facts");
    (0..FACTS).map(|_| rng.below(ANSWERS)).collect()
}

/// A training run.
#[derive(Debug, Clone)]
pub struct FactRun {
    /// The model as it is now.
    pub model: FactMemory,
    adam: AdamW,
    schedule: Schedule,
    rng: Rng,
    answers: Vec<usize>,
}

impl FactRun {
    /// A run before its first step, whose learning rate rises to `rate` in 20 steps and falls to a
    /// twentieth of it; runs with one seed see the same facts in the same order.
    ///
    /// # Errors
    /// As [`FactMemory::new`].
    pub fn new(activity: Activity, rate: f32, seed: u64) -> Result<Self> {
        Ok(Self {
            model: FactMemory::new(activity, seed)?,
            adam: AdamW::default(),
            schedule: Schedule::Cosine {
                peak: rate,
                last: rate / 20.0,
                warmup: 20,
                steps: STEPS,
            },
            rng: Rng::named(seed, "order"),
            answers: answers(),
        })
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.adam.steps
    }

    /// One step of Adam on facts drawn at random; returns the loss before it, in nats.
    ///
    /// # Errors
    /// None here; those of the engine.
    pub fn step(&mut self) -> Result<f32> {
        // -> scalar
        let pairs: Vec<usize> = (0..BATCH).map(|_| self.rng.below(FACTS)).collect();
        let targets: Vec<Option<usize>> = pairs.iter().map(|&n| Some(self.answers[n])).collect();
        let settings = Settings::same_bits();
        let (loss, found) = gradients(&mut self.model, &settings, |model, tape: &mut Tape| {
            let logits: Var = model.run(tape, &pairs)?;
            tape.cross_entropy(&logits, &targets, 0.0)
        })?;
        let rate = self.schedule.rate(self.adam.steps + 1);
        self.adam.step(&mut self.model, &found, rate)?;
        Ok(loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All four have as many parameters, and start from the same vectors and the same output.
    #[test]
    fn all_four_have_as_many_parameters() {
        let all = Activity::ALL.map(|(_, activity)| FactMemory::new(activity, 3).unwrap());
        for model in &all {
            assert_eq!(model.count().unwrap(), all[0].count().unwrap());
            assert_eq!(model.subjects, all[0].subjects);
            assert_eq!(model.output, all[0].output);
        }
        assert_eq!(2 * WIDTH * INNER, 3 * WIDTH * GATED);
        assert_eq!(2 * WIDTH * INNER, 8 * WIDTH * WIDTH);
    }

    /// Before training, about one of 64 answers is right; a run is a function of its seed.
    #[test]
    fn a_run_starts_from_chance_and_repeats_itself() {
        let mut run = FactRun::new(Activity::Gelu, 0.01, 2).unwrap();
        assert!(run.model.right().unwrap() < 3 * FACTS / ANSWERS);
        let mut again = FactRun::new(Activity::Gelu, 0.01, 2).unwrap();
        for _ in 0..3 {
            assert_eq!(run.step().unwrap(), again.step().unwrap());
        }
        assert_eq!((run.steps(), again.model), (3, run.model));
    }
}
