//! Two questions at once: one layer of attention that learns to name, at every position, the symbol
//! before it and the first symbol of the sequence; with any number of heads and always as many
//! parameters.
//!
//! ```text
//! x      = √C · (E[symbols] + P[positions])                 symbols [T] -> [T, C]
//! logits = attention(x) · Wᵀ + b                            H heads, no residual, no MLP -> [T, 2 V]
//! loss   = the mean of −ln p(symbol before) and −ln p(first symbol) over the positions 3 … T;
//!          with one question, −ln p(symbol before) alone
//! ```
//! The answers see nothing but the output of the attention. Position 1 has no symbol before it, and
//! at position 2 both answers are the same, so neither counts.
//!
//! ```
//! use explain::two_questions::{Questions, Run, TwoQuestions};
//! let mut run = Run::new(2, 1, Questions::Both)?;
//! let first = run.step()?;
//! for _ in 0..10 {
//!     run.step()?;
//! }
//! assert!(run.step()? < first);
//! assert_eq!(TwoQuestions::new(1, 1)?.count()?, TwoQuestions::new(64, 1)?.count()?);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: our own task. Source of the question: Michel, Levy and Neubig 2019, "Are sixteen heads really
//! better than one?"; Bhojanapalli et al. 2020, "Low-rank bottleneck in multi-head attention models".

use engine::error::{EngineError, Result};
use engine::grad::{AdamW, Draw, Gradients, Schedule, Settings, Tape, Var, gradients, initialise};
use engine::math;
use engine::nn::compute::Compute;
use engine::nn::full_attention::FullAttention;
use engine::nn::grouped::Qkv;
use engine::nn::parts::Parts;
use engine::nn::plain::Plain;
use engine::nn::projection::Projection;
use engine::parameters::Weight;
use engine::rng::Rng;
use engine::trace::{Observer, Recorder};
use engine::trainable::{self, Kind, Trainable, Visit};
use ndarray::{Array1, Array2, Array3, ArrayView1, Axis, Ix3};

/// V: the number of symbols.
pub const SYMBOLS: usize = 16;
/// T: the length of a sequence.
pub const LENGTH: usize = 20;
/// C: the width of the layer.
pub const WIDTH: usize = 64;
/// Numbers of heads that are compared: divisors of the width.
pub const HEADS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Steps of a run.
pub const STEPS: u64 = 400;
/// Sequences in a step.
const BATCH: usize = 32;
/// Sequences that a run is measured on.
pub const HELD_OUT: usize = 200;
/// The first position that counts, from 0.
const FROM: usize = 2;
/// The longest gradient.
const LONGEST: f32 = 1.0;
/// The learning rate.
const RATE: Schedule = Schedule::Cosine {
    peak: 3e-3,
    last: 1.5e-4,
    warmup: 20,
    steps: STEPS,
};

/// What a model is asked at each position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Questions {
    /// The symbol before, and the first symbol.
    Both,
    /// The symbol before.
    Before,
}

/// The model.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoQuestions {
    tokens: Weight,
    positions: Array2<f32>,
    attention: FullAttention,
    readout: Projection,
}

impl TwoQuestions {
    /// The model with random parameters: the same ones for the same seed, whatever the number of
    /// heads.
    ///
    /// # Errors
    /// When the heads do not divide the width.
    pub fn new(heads: usize, seed: u64) -> Result<Self> {
        if heads == 0 || !WIDTH.is_multiple_of(heads) {
            let expected = format!("a divisor of {WIDTH}");
            return Err(EngineError::value(
                "two_questions",
                "heads",
                expected,
                heads,
            ));
        }
        let layer = |inputs: usize, outputs: usize, bias: bool| Projection {
            weight: Weight::Dense(Array2::zeros((outputs, inputs))),
            bias: bias.then(|| Array1::zeros(outputs)),
        };
        let square = || layer(WIDTH, WIDTH, false);
        let mut model = Self {
            tokens: Weight::Dense(Array2::zeros((SYMBOLS, WIDTH))),
            positions: Array2::zeros((LENGTH, WIDTH)),
            attention: FullAttention {
                qkv: Qkv::Separate {
                    q: square(),
                    k: square(),
                    v: square(),
                },
                output: square(),
                heads,
            },
            readout: layer(WIDTH, 2 * SYMBOLS, true),
        };
        initialise(&mut model, seed, Draw::Xavier)?;
        Ok(model)
    }

    /// H.
    pub fn heads(&self) -> usize {
        self.attention.heads
    }

    /// The number of parameters.
    ///
    /// # Errors
    /// None for the model here.
    pub fn count(&self) -> Result<usize> {
        trainable::count(&mut self.clone())
    }

    /// The logits of both answers at every position of some sequences.
    fn run<C: Compute>(&self, compute: &mut C, symbols: &[usize]) -> Result<C::Matrix> {
        // symbols [N · T] -> [N · T, 2 V]
        let count = symbols.len() / LENGTH;
        let places: Vec<usize> = (0..count).flat_map(|_| 0..LENGTH).collect();
        let x = compute.embed(&self.tokens, symbols)?;
        let at = compute.lookup(&self.positions, &places)?;
        let x = compute.add(x, &at)?;
        let x = compute.scale(x, math::sqrt(WIDTH as f32));
        let lengths = vec![LENGTH; count];
        let y = self
            .attention
            .run(compute, &x, &lengths, Parts::default())?;
        self.readout.run(compute, &y)
    }

    /// The attention weights of every head in one sequence.
    ///
    /// # Errors
    /// When there are not T symbols below V.
    pub fn weights(&self, symbols: &[usize]) -> Result<Array3<f32>> {
        // symbols [T] -> [H, T, T]
        let mut seen = Recorder::default();
        let mut trace: Option<&mut dyn Observer> = Some(&mut seen);
        self.run(&mut Plain::new(&mut trace), symbols)?;
        let found = seen.get("attention.weights");
        let found = found.and_then(|all| all.clone().into_dimensionality::<Ix3>().ok());
        found.ok_or_else(|| EngineError::shape("two_questions", "attention weights", "none"))
    }

    /// The shares of right answers on some sequences: the symbol before, the first symbol, and both.
    ///
    /// # Errors
    /// When they are not whole sequences of symbols.
    pub fn accuracy(&self, symbols: &[usize]) -> Result<[f64; 3]> {
        let logits = self.run(&mut Plain::silent(), symbols)?;
        let (mut right, mut count) = ([0_usize; 3], 0_usize);
        for (n, row) in logits.rows().into_iter().enumerate() {
            let Some([before, first]) = answers(symbols, n) else {
                continue;
            };
            let (a, b) = row.split_at(Axis(0), SYMBOLS);
            let (a, b) = (largest(a) == before, largest(b) == first);
            count += 1;
            for (right, holds) in right.iter_mut().zip([a, b, a && b]) {
                *right += usize::from(holds);
            }
        }
        Ok(right.map(|right| right as f64 / count.max(1) as f64))
    }

    /// Loss and gradients on some sequences.
    fn gradients(&mut self, symbols: &[usize], questions: Questions) -> Result<(f32, Gradients)> {
        let known = (0..symbols.len()).map(|n| answers(symbols, n));
        let known: Vec<Option<[usize; 2]>> = known.collect();
        let of = |which: usize| -> Vec<Option<usize>> {
            known
                .iter()
                .map(|both| both.map(|both| both[which]))
                .collect()
        };
        let (before, first) = (of(0), of(1));
        gradients(self, &Settings::same_bits(), |model, tape: &mut Tape| {
            let logits: Var = model.run(tape, symbols)?;
            let a = tape.columns(&logits, 0..SYMBOLS)?;
            let a = tape.cross_entropy(&a, &before, 0.0)?;
            if questions == Questions::Before {
                return Ok(a);
            }
            let b = tape.columns(&logits, SYMBOLS..2 * SYMBOLS)?;
            let b = tape.cross_entropy(&b, &first, 0.0)?;
            let both = tape.add(a, &b)?;
            Ok(tape.scale(both, 0.5))
        })
    }
}

/// The two right answers at a row of some sequences, where both count.
fn answers(symbols: &[usize], row: usize) -> Option<[usize; 2]> {
    let place = row % LENGTH;
    (place >= FROM).then(|| [symbols[row - 1], symbols[row - place]])
}

/// The position of the largest number, the first of equal ones.
fn largest(row: ArrayView1<'_, f32>) -> usize {
    let mut best = 0;
    for (n, x) in row.iter().enumerate() {
        if *x > row[best] {
            best = n;
        }
    }
    best
}

impl Trainable for TwoQuestions {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        trainable::weight(&mut self.tokens, "tokens", Kind::Table, visit)?;
        trainable::array(&mut self.positions, "positions", Kind::Table, visit)?;
        let attention = &mut self.attention;
        attention
            .qkv
            .parameters("attention.", "qkv", ["w_q", "w_k", "w_v"], visit)?;
        attention.output.parameters("attention.w_o", visit)?;
        self.readout.parameters("readout", visit)
    }
}

/// Random sequences, one after the other.
pub fn sequences(rng: &mut Rng, count: usize) -> Vec<usize> {
    // -> [count · T]
    (0..count * LENGTH).map(|_| rng.below(SYMBOLS)).collect()
}

/// The sequences that every run is measured on.
pub fn held_out() -> Vec<usize> {
    sequences(&mut Rng::named(0, "held out"), HELD_OUT)
}

/// A training run.
#[derive(Debug, Clone)]
pub struct Run {
    /// The model as it is now.
    pub model: TwoQuestions,
    optimiser: AdamW,
    rng: Rng,
    questions: Questions,
}

impl Run {
    /// A run before its first step; runs with one seed see the same sequences.
    ///
    /// # Errors
    /// When the heads do not divide the width.
    pub fn new(heads: usize, seed: u64, questions: Questions) -> Result<Self> {
        Ok(Self {
            model: TwoQuestions::new(heads, seed)?,
            optimiser: AdamW {
                beta_2: 0.98,
                ..AdamW::default()
            },
            rng: Rng::named(seed, "training"),
            questions,
        })
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.optimiser.steps
    }

    /// One step on new sequences; returns the loss before it, in nats for each answer.
    ///
    /// # Errors
    /// None for the model here.
    pub fn step(&mut self) -> Result<f32> {
        let symbols = sequences(&mut self.rng, BATCH);
        let (loss, mut found) = self.model.gradients(&symbols, self.questions)?;
        found.check_complete(|_| true)?;
        found.clip(LONGEST);
        let rate = RATE.rate(self.optimiser.steps + 1);
        self.optimiser.step(&mut self.model, &found, rate)?;
        Ok(loss)
    }

    /// The shares of right answers on the held-out sequences ([`TwoQuestions::accuracy`]).
    ///
    /// # Errors
    /// None for the model here.
    pub fn evaluate(&self) -> Result<[f64; 3]> {
        self.model.accuracy(&held_out())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers of a sequence by hand: position 3 (from 1) is the first that counts.
    #[test]
    fn the_answers_are_the_symbol_before_and_the_first() {
        let symbols: Vec<usize> = (0..2 * LENGTH).collect();
        assert_eq!(answers(&symbols, 0), None);
        assert_eq!(answers(&symbols, 1), None);
        assert_eq!(answers(&symbols, 2), Some([1, 0]));
        assert_eq!(answers(&symbols, LENGTH), None);
        assert_eq!(
            answers(&symbols, 2 * LENGTH - 1),
            Some([2 * LENGTH - 2, LENGTH])
        );
    }

    /// All models of a seed start from the same parameters, and differ only in how the layer cuts
    /// them into heads.
    #[test]
    fn heads_share_their_parameters() {
        let count = TwoQuestions::new(1, 5).unwrap().count().unwrap();
        for heads in HEADS {
            let mut model = TwoQuestions::new(heads, 5).unwrap();
            assert_eq!(model.count().unwrap(), count);
            model.attention.heads = 1;
            assert_eq!(model, TwoQuestions::new(1, 5).unwrap());
        }
        assert!(TwoQuestions::new(3, 5).is_err() && TwoQuestions::new(0, 5).is_err());
    }

    /// The weights are those of attention over one sequence.
    #[test]
    fn the_weights_of_a_row_sum_to_one() {
        let model = TwoQuestions::new(4, 2).unwrap();
        let weights = model.weights(&held_out()[..LENGTH]).unwrap();
        assert_eq!(weights.dim(), (4, LENGTH, LENGTH));
        for row in weights.rows() {
            assert!((row.sum() - 1.0).abs() < 1e-5);
        }
    }

    /// What the lesson says of two runs with one head: one puts all weight on the first symbol; the one
    /// that answers both questions divides it, and how much the first symbol gets depends on which
    /// symbol it is.
    #[test]
    fn one_head_takes_one_symbol_or_weighs_two_by_what_they_are() {
        let [plain, odd] = [1, 5].map(|seed| {
            let mut run = Run::new(1, seed, Questions::Both).unwrap();
            for _ in 0..STEPS {
                run.step().unwrap();
            }
            first_weights(&run.model)
        });
        let ends = |means: &[f64]| {
            let low = means.iter().copied().fold(1.0, f64::min);
            (low, means.iter().copied().fold(0.0, f64::max))
        };
        assert!(ends(&plain).0 > 0.98, "{plain:?}");
        let (low, high) = ends(&odd);
        assert!(low < 0.3 && high > 0.6, "{odd:?}");
    }

    /// For each symbol, the mean weight that it gets as the first of a sequence: over the queries at the
    /// positions that count, in all held-out sequences.
    fn first_weights(model: &TwoQuestions) -> Vec<f64> {
        let mut of: Vec<Vec<f64>> = vec![Vec::new(); SYMBOLS];
        for sequence in held_out().chunks(LENGTH) {
            let weights = model.weights(sequence).unwrap();
            let own = (FROM..LENGTH).map(|t| f64::from(weights[[0, t, 0]]));
            of[sequence[0]].extend(own);
        }
        of.iter()
            .map(|all| all.iter().sum::<f64>() / all.len() as f64)
            .collect()
    }
}
