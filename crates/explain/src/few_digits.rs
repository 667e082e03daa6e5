//! Two small networks of as many parameters that learn a few digits from nothing: one with convolutions,
//! one a Vision Transformer.
//!
//! ```text
//! Cnn   convolutions 5 x 5 with stride 2 to 8 and 16 channels, an MLP 784 -> 20 -> 10
//! Vit   49 patches of 4 x 4 pixels, 2 blocks of dimension 32 with 4 heads and F = 64, class token, learned positions
//!       or without positions; or with the mean of the patches in place of the class token
//! step  Adam on the mean cross entropy of 20 digits; every digit once before any comes again
//! ```
//! The digits are not varied: a network sees only the ones that it is given.
//!
//! ```
//! use explain::few_digits::{Digits, FewRun, Kind};
//! let digits = Digits::drawn(0..20)?;
//! let mut run = FewRun::new(Kind::Cnn, digits.clone(), 1)?;
//! let first = run.step()?;
//! for _ in 0..15 {
//!     run.step()?;
//! }
//! assert!(run.step()? < first);
//! assert!(run.right(&digits)? > 2);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: our own comparison. Source of the question: Dosovitskiy et al. 2021, sections 3.1 (inductive
//! bias) and 4.3 (figures 3 and 4), with pictures from ten million on.

use std::ops::Range;

use engine::drawing::SIDE;
use engine::error::{EngineError, Result};
use engine::formula::Formula;
use engine::grad::{AdamW, Draw, Schedule, Settings, Tape, Var, gradients, initialise};
use engine::model::cnn::{self, Cnn};
use engine::model::vit::{self, Pooling, Vit};
use engine::nn::compute::Compute;
use engine::nn::plain::Plain;
use engine::nn::softmax::top_indices;
use engine::rng::Rng;
use engine::trainable::{self, Trainable, Visit};
use ndarray::{Array2, Array3, Array4, ArrayView4, Axis};

use crate::drawn_digits::digit;

/// Digits in a step.
pub const BATCH: usize = 20;
/// Steps of a run.
pub const STEPS: u64 = 300;
/// The sizes of training sets that the lesson compares.
pub const SIZES: [usize; 3] = [100, 300, 1000];
/// Drawn digits to test with.
pub const TEST: usize = 200;
/// The largest training set.
const LARGEST: usize = 1000;
/// The number of different sets: seeds that are so far apart share one.
const SETS: u64 = 1000;
/// The highest learning rate.
const RATE: f32 = 2e-3;
/// Steps in which the learning rate rises.
const WARMUP: u64 = 20;
/// Digits that are read together when the right answers are counted.
const LOOK: usize = 50;
/// The ten digits.
const CLASSES: usize = 10;

/// A kind of network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// With convolutions.
    Cnn,
    /// With patches and attention, a class token and learned positions.
    Vit,
    /// [`Self::Vit`] without a table of positions.
    VitWithoutPositions,
    /// [`Self::Vit`] with the mean of its patches in place of a class token.
    VitMean,
}

impl Kind {
    /// The two that are compared first, with their names in the log.
    pub const ALL: [(&'static str, Self); 2] = [("cnn", Self::Cnn), ("vit", Self::Vit)];

    /// The Vision Transformers, with their names in the log.
    pub const VITS: [(&'static str, Self); 3] = [
        ("vit", Self::Vit),
        ("vit-nopos", Self::VitWithoutPositions),
        ("vit-mean", Self::VitMean),
    ];
}

/// Pictures of digits, and what they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Digits {
    /// `[N, 1, 28, 28]`: 0 paper to 1 ink.
    pub pictures: Array4<f32>,
    /// `[N]`, 0 to 9.
    pub labels: Vec<usize>,
}

impl Digits {
    /// Some of the digits that the code draws ([`crate::drawn_digits`]).
    ///
    /// # Errors
    /// None for these digits.
    pub fn drawn(numbers: Range<usize>) -> Result<Self> {
        let all = numbers.map(digit).collect::<Result<Vec<_>>>()?;
        let pictures: Vec<Array3<f32>> = all.iter().map(|digit| digit.image.clone()).collect();
        Self::of(&pictures, all.iter().map(|digit| digit.label).collect())
    }

    /// The drawn digits to test with: the first ones.
    ///
    /// # Errors
    /// None for these digits.
    pub fn to_test() -> Result<Self> {
        Self::drawn(0..TEST)
    }

    /// The drawn digits to learn: another set for each seed, as many of each class, and none to test with.
    ///
    /// # Errors
    /// None for these digits.
    pub fn to_learn(size: usize, seed: u64) -> Result<Self> {
        let first = TEST + LARGEST * (seed % SETS) as usize;
        Self::drawn(first..first + size.min(LARGEST))
    }

    /// These pictures `[1, 28, 28]` with their labels.
    ///
    /// # Errors
    /// When there are not as many labels, or a picture has another size.
    pub fn of(pictures: &[Array3<f32>], labels: Vec<usize>) -> Result<Self> {
        let mut all = Array4::zeros((pictures.len(), 1, SIDE, SIDE));
        if labels.len() != pictures.len() {
            let expected = format!("{} labels", pictures.len());
            let found = labels.len().to_string();
            return Err(EngineError::shape("digits", expected, found));
        }
        for (mut to, picture) in all.outer_iter_mut().zip(pictures) {
            engine::shape::expect("digits", "picture", &[1, SIDE, SIDE], picture.shape())?;
            to.assign(picture);
        }
        Ok(Self {
            pictures: all,
            labels,
        })
    }

    /// The number of digits.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

/// The sizes of the Vision Transformer.
pub fn vit_config() -> vit::Config {
    vit::Config {
        width: 32,
        heads: 4,
        layers: 2,
        inner: 64,
        channels: 1,
        patch: 4,
        image: SIDE,
        classes: CLASSES,
        norm_eps: 1e-6,
        pooling: Pooling::Class,
        positions: true,
    }
}

/// One of the networks.
#[derive(Debug, Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "one or two are alive at a time; the parameters lie elsewhere"
)]
pub enum Network {
    /// With convolutions.
    Cnn(Cnn),
    /// A Vision Transformer.
    Vit(Vit),
}

impl Network {
    /// The network with random parameters.
    ///
    /// # Errors
    /// None for the sizes here.
    pub fn new(kind: Kind, seed: u64) -> Result<Self> {
        match kind {
            Kind::Cnn => {
                let config = cnn::Config {
                    channels: 1,
                    image: SIDE,
                    widths: vec![8, 16],
                    side: 5,
                    inner: 20,
                    classes: CLASSES,
                };
                let mut source = Formula::new(0, config.shapes());
                Self::Cnn(Cnn::load(config, &mut source)?).drawn(seed)
            }
            Kind::Vit => Self::vit(vit_config(), seed),
            Kind::VitWithoutPositions => {
                let positions = false;
                Self::vit(
                    vit::Config {
                        positions,
                        ..vit_config()
                    },
                    seed,
                )
            }
            Kind::VitMean => {
                let pooling = Pooling::Mean;
                Self::vit(
                    vit::Config {
                        pooling,
                        ..vit_config()
                    },
                    seed,
                )
            }
        }
    }

    /// A Vision Transformer of other sizes, with random parameters. Where its head reads the mean of
    /// the patches, it has no class token.
    ///
    /// # Errors
    /// When the sizes do not divide each other.
    pub fn vit(config: vit::Config, seed: u64) -> Result<Self> {
        let shapes = match config.pooling {
            Pooling::Mean => config.shapes_of_patches(),
            Pooling::Class => config.shapes(),
        };
        let mut source = Formula::new(0, shapes);
        Self::Vit(Vit::load(config, &mut source)?).drawn(seed)
    }

    /// The network with its parameters drawn.
    fn drawn(mut self, seed: u64) -> Result<Self> {
        initialise(&mut self, seed, Draw::Xavier)?;
        Ok(self)
    }

    /// The number of parameters.
    ///
    /// # Errors
    /// None for the networks here.
    pub fn count(&self) -> Result<usize> {
        trainable::count(&mut self.clone())
    }

    /// The logits of pictures.
    fn run<C: Compute>(&self, compute: &mut C, pictures: ArrayView4<'_, f32>) -> Result<C::Matrix> {
        // pictures [B, 1, 28, 28] -> [B, 10]
        match self {
            Self::Cnn(cnn) => cnn.run(compute, pictures),
            Self::Vit(vit) => {
                let (hidden, lengths) = vit.run(compute, pictures)?;
                vit.run_logits(compute, &hidden, &lengths)
            }
        }
    }
}

impl Trainable for Network {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        match self {
            Self::Cnn(cnn) => cnn.parameters(visit),
            Self::Vit(vit) => vit.parameters(visit),
        }
    }
}

/// The learning rate of a run of so many steps.
fn schedule(steps: u64) -> Schedule {
    Schedule::Cosine {
        peak: RATE,
        last: RATE / 20.0,
        warmup: WARMUP,
        steps,
    }
}

/// A training run.
#[derive(Debug, Clone)]
pub struct FewRun {
    /// The network as it is now.
    pub network: Network,
    digits: Digits,
    adam: AdamW,
    schedule: Schedule,
    rng: Rng,
    /// The digits that are still to come before any comes again.
    order: Vec<usize>,
}

impl FewRun {
    /// A run before its first step. Runs with one seed and one set of digits see them in the same order.
    ///
    /// # Errors
    /// When there are fewer digits than one step takes.
    pub fn new(kind: Kind, digits: Digits, seed: u64) -> Result<Self> {
        Self::of(Network::new(kind, seed)?, digits, seed)
    }

    /// A run of this network before its first step.
    ///
    /// # Errors
    /// When there are fewer digits than one step takes.
    pub fn of(network: Network, digits: Digits, seed: u64) -> Result<Self> {
        if digits.len() < BATCH {
            let expected = format!("at least {BATCH}");
            return Err(EngineError::value(
                "a run",
                "digits",
                expected,
                digits.len(),
            ));
        }
        Ok(Self {
            network,
            digits,
            adam: AdamW {
                beta_2: 0.99,
                ..AdamW::default()
            },
            schedule: schedule(STEPS),
            rng: Rng::named(seed, "order"),
            order: Vec::new(),
        })
    }

    /// The same run with a learning rate that falls over so many steps, in place of [`STEPS`].
    #[must_use]
    pub fn lasting(mut self, steps: u64) -> Self {
        self.schedule = schedule(steps);
        self
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.adam.steps
    }

    /// One step; returns the loss before it, in nats.
    ///
    /// # Errors
    /// None here; those of the engine.
    pub fn step(&mut self) -> Result<f32> {
        // -> scalar
        self.step_with(|tape, logits, labels, _| tape.cross_entropy(logits, labels, 0.0))
    }

    /// One step on a loss of the caller's, which gets the logits `[B, 10]`, the labels of the digits, and
    /// their numbers in the training set; returns the loss before the step.
    ///
    /// # Errors
    /// As the loss.
    pub fn step_with(
        &mut self,
        loss: impl Fn(&mut Tape, &Var, &[Option<usize>], &[usize]) -> Result<Var>,
    ) -> Result<f32> {
        // -> scalar
        if self.order.len() < BATCH {
            self.order = self.rng.permutation(self.digits.len());
        }
        let chosen = self.order.split_off(self.order.len() - BATCH);
        let pictures = self.digits.pictures.select(Axis(0), &chosen);
        let labels: Vec<Option<usize>> =
            (chosen.iter().map(|&n| Some(self.digits.labels[n]))).collect();
        let settings = Settings::same_bits();
        let (loss, found) = gradients(&mut self.network, &settings, |network, tape: &mut Tape| {
            let logits: Var = network.run(tape, pictures.view())?;
            loss(tape, &logits, &labels, &chosen)
        })?;
        let rate = self.schedule.rate(self.adam.steps + 1);
        self.adam.step(&mut self.network, &found, rate)?;
        Ok(loss)
    }

    /// The answers of the network to some digits, the class with the largest logit each.
    ///
    /// # Errors
    /// None here; those of the engine.
    pub fn answers(&self, digits: &Digits) -> Result<Vec<usize>> {
        // -> [N]
        let mut all = Vec::with_capacity(digits.len());
        for pictures in digits.pictures.axis_chunks_iter(Axis(0), LOOK) {
            let logits: Array2<f32> = self.network.run(&mut Plain::silent(), pictures)?;
            let best = logits.outer_iter().map(|row| top_indices(row, 1));
            all.extend(best.filter_map(|best| best.first().copied()));
        }
        Ok(all)
    }

    /// How many of some digits the network reads right.
    ///
    /// # Errors
    /// As [`Self::answers`].
    pub fn right(&self, digits: &Digits) -> Result<usize> {
        let answers = self.answers(digits)?;
        let both = answers.iter().zip(&digits.labels);
        Ok(both.filter(|(answer, label)| answer == label).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both have nearly as many parameters, and start from chance.
    #[test]
    fn both_networks_are_as_large() {
        let digits = Digits::drawn(0..50).unwrap();
        let counts = Kind::ALL.map(|(_, kind)| {
            let run = FewRun::new(kind, digits.clone(), 3).unwrap();
            assert!(run.right(&digits).unwrap() < 20);
            run.network.count().unwrap()
        });
        assert_eq!(counts, [19_334, 19_658]);
    }

    /// The other Vision Transformers lack some parameters: the table of positions, or the class token with
    /// its position.
    #[test]
    fn variants_lack_what_they_are_named_after() {
        let counts = Kind::VITS.map(|(_, kind)| Network::new(kind, 3).unwrap().count().unwrap());
        assert_eq!(counts, [19_658, 19_658 - 50 * 32, 19_658 - 2 * 32]);
    }

    /// Each Vision Transformer learns twenty digits. Afterwards only the one without positions answers
    /// shuffled patches as it answers the picture, up to rounding.
    #[test]
    fn every_variant_learns_and_one_cannot_tell_the_order() {
        let digits = Digits::drawn(0..20).unwrap();
        let order = Rng::named(7, "order").permutation(49);
        let shuffled = digits.pictures.outer_iter();
        let shuffled = shuffled.map(|one| crate::jigsaw::rearranged(one, 4, &order).unwrap());
        let shuffled = Digits::of(&shuffled.collect::<Vec<_>>(), digits.labels.clone()).unwrap();
        for (name, kind) in Kind::VITS {
            let mut run = FewRun::new(kind, digits.clone(), 1).unwrap();
            let first = run.step().unwrap();
            for _ in 0..40 {
                run.step().unwrap();
            }
            let last = run.step().unwrap();
            assert!(last < 0.7 * first, "{name}: {first} {last}");
            let logits = |digits: &Digits| -> Array2<f32> {
                let mut plain = Plain::silent();
                run.network.run(&mut plain, digits.pictures.view()).unwrap()
            };
            let apart = (logits(&digits) - logits(&shuffled)).mapv(f32::abs);
            let apart = apart.iter().copied().fold(0.0_f32, f32::max);
            let is_blind = kind == Kind::VitWithoutPositions;
            assert_eq!(apart < 1e-3, is_blind, "{name}: {apart}");
        }
    }

    /// Every digit is learned from once before any comes again, and a run is a function of its seed.
    #[test]
    fn a_run_repeats_itself() {
        let digits = Digits::drawn(0..60).unwrap();
        for (_, kind) in Kind::ALL {
            let [mut run, mut again] =
                [1, 1].map(|seed| FewRun::new(kind, digits.clone(), seed).unwrap());
            let mut seen = Vec::new();
            for step in 0..3 {
                assert_eq!(
                    run.step().unwrap().to_bits(),
                    again.step().unwrap().to_bits()
                );
                assert_eq!(run.order.len(), 60 - BATCH * (step + 1));
                seen.push(run.order.clone());
            }
            let mut first = run.rng.clone();
            assert_eq!(run.steps(), 3);
            run.step().unwrap();
            assert_eq!(run.order.len(), 40, "a new order");
            assert_ne!(first.permutation(60)[..40], seen[0][..]);
        }
    }

    /// Each seed has digits of its own to learn, ten of each class in a hundred, and none to test with.
    #[test]
    fn each_seed_has_digits_of_its_own() {
        let test = Digits::to_test().unwrap();
        let sets = [1, 2, 1001].map(|seed| Digits::to_learn(100, seed).unwrap());
        assert_eq!(sets[0], sets[2]);
        assert_ne!(sets[0], sets[1]);
        for set in &sets {
            for class in 0..10 {
                assert_eq!(
                    set.labels.iter().filter(|&&label| label == class).count(),
                    10
                );
            }
            let mut all = set.pictures.outer_iter();
            assert!(all.all(|one| test.pictures.outer_iter().all(|other| one != other)));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let digits = Digits::drawn(0..10).unwrap();
        assert!(FewRun::new(Kind::Cnn, digits.clone(), 1).is_err());
        let picture = Array3::zeros((1, SIDE, SIDE));
        assert!(Digits::of(std::slice::from_ref(&picture), vec![1, 2]).is_err());
        assert!(Digits::of(&[Array3::zeros((1, 4, 4))], vec![1]).is_err());
    }
}
