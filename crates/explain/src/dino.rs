//! Self-distillation without labels, in small: a student learns to give one crop of a digit the output
//! that a teacher gives another crop, and the teacher is a moving average of the student.
//!
//! ```text
//! crops    two random squares of a digit, each scaled to 14 x 14 pixels
//! vector   two convolutions 3 x 3 with stride 2 to 8 and 16 channels, then 64 numbers, ReLU after each
//! output   vector, scaled to length 1, times a matrix                                         -> K = 32
//! target   softmax((teacher(crop a) − centre) / τ_t)                                      no gradient
//! loss     −Σ target ln softmax(student(crop b) / τ_s)     the mean over both orders of two crops
//! student  Adam on the loss
//! teacher  θ_t ← m θ_t + (1 − m) θ_s                       centre ← such an average of its outputs
//! ```
//! No step sees a label. Labels come in only afterwards, to ask whether digits of one class have similar
//! vectors: the neighbours of a test digit vote ([`crate::nearest`]).
//!
//! ```
//! use explain::dino::{DinoRun, Without};
//! use explain::few_digits::Digits;
//! let mut run = DinoRun::new(Digits::drawn(0..40)?, Without::Nothing, 1)?;
//! let loss = run.step()?;
//! assert!(loss > 0.0 && run.steps() == 1);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Caron et al. 2021, "Emerging properties in self-supervised vision transformers", algorithm 1. Their
//! networks are Vision Transformers or ResNets, with many crops of a picture.

use engine::drawing::{SIDE, halved};
use engine::error::{EngineError, Result};
use engine::grad::{AdamW, Draw, Schedule, Settings, Tape, Var, gradients, initialise};
use engine::math;
use engine::nn::compute::Compute;
use engine::nn::feed_forward::Activation;
use engine::nn::plain::Plain;
use engine::nn::projection::Projection;
use engine::nn::unfold::Windows;
use engine::parameters::Weight;
use engine::picture::resize;
use engine::rng::Rng;
use engine::trainable::{self, Kind, Trainable, Visit};
use ndarray::{
    Array1, Array2, Array3, Array4, ArrayView2, ArrayView3, ArrayView4, Axis, Slice, concatenate,
};

use crate::centre_and_sharpen::{self, moved};
use crate::few_digits::Digits;
use crate::nearest;

/// The side of a crop, in pixels.
pub const CROP: usize = SIDE / 2;
/// K: the outputs of a network.
pub const OUTPUTS: usize = 32;
/// C: the numbers of a vector.
pub const WIDTH: usize = 64;
/// Steps of a run.
pub const STEPS: u64 = 400;
/// Neighbours that vote.
pub const NEIGHBOURS: usize = 5;
/// Pixels of the 28 x 28 by which test digits are moved.
pub const MOVED: isize = 2;
/// Drawn digits to test with, in the runs of the lesson: the first ones.
pub const TEST: usize = 200;
/// Drawn digits after them whose labels the vote knows.
pub const KNOWN: usize = 200;
/// Drawn digits that a run sees, from the same one on as the vote.
pub const SEEN: usize = 500;
/// Digits in a step.
const BATCH: usize = 32;
/// The least side of the square that becomes a crop.
const LEAST: usize = 18;
/// The channels before and after each convolution.
const CHANNELS: [usize; 3] = [1, 8, 16];
/// The side of a convolution's window.
const WINDOW: usize = 3;
/// The temperature of the student, of the teacher, and of a teacher that does not sharpen.
const STUDENT: f32 = 0.1;
const SHARP: f32 = 0.04;
const FLAT: f32 = 1.0;
/// m: the share of the old teacher that stays in a step, and that of the old centre.
const KEEP: f32 = 0.98;
const KEEP_CENTRE: f32 = 0.9;
/// The highest learning rate, and the steps in which it rises.
const RATE: f32 = 2e-3;
const WARMUP: u64 = 20;
/// Digits that are read together.
const LOOK: usize = 50;

/// What a run leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    /// Nothing: the teacher's outputs are centred and sharpened.
    Nothing,
    /// The centre.
    Centring,
    /// The low temperature of the teacher.
    Sharpening,
}

impl Without {
    /// All, with their names in the log.
    pub const ALL: [(&'static str, Self); 3] = [
        ("both", Self::Nothing),
        ("not-centred", Self::Centring),
        ("not-sharpened", Self::Sharpening),
    ];

    /// The temperature of the teacher.
    fn tau(self) -> f32 {
        match self {
            Self::Sharpening => FLAT,
            _ => SHARP,
        }
    }
}

/// A network: convolutions, a vector, and outputs for the training run alone.
#[derive(Debug, Clone)]
pub struct Network {
    convolutions: Vec<Projection>,
    vector: Projection,
    outputs: Weight,
}

impl Network {
    /// A network with random parameters.
    ///
    /// # Errors
    /// None for the sizes here.
    pub fn new(seed: u64) -> Result<Self> {
        let layer = |inputs: usize, outputs: usize| Projection {
            weight: Weight::Dense(Array2::zeros((outputs, inputs))),
            bias: Some(Array1::zeros(outputs)),
        };
        let window = WINDOW * WINDOW;
        let convolutions = CHANNELS.windows(2).map(|c| layer(c[0] * window, c[1]));
        let last = maps().last().map_or(CROP, |map| map.height.div_ceil(2));
        let mut network = Self {
            convolutions: convolutions.collect(),
            vector: layer(CHANNELS[CHANNELS.len() - 1] * last * last, WIDTH),
            outputs: Weight::Dense(Array2::zeros((OUTPUTS, WIDTH))),
        };
        initialise(&mut network, seed, Draw::Xavier)?;
        Ok(network)
    }

    /// The number of parameters.
    ///
    /// # Errors
    /// None for the network here.
    pub fn count(&self) -> Result<usize> {
        trainable::count(&mut self.clone())
    }

    /// The vectors of pictures.
    fn vectors<C: Compute>(
        &self,
        compute: &mut C,
        pictures: ArrayView4<'_, f32>,
    ) -> Result<C::Matrix> {
        // pictures [N, 1, 14, 14] -> [N, C]
        // With one channel, a row for each pixel.
        let pixels: Vec<f32> = pictures.iter().copied().collect();
        let pixels = engine::shape::matrix("dino", pixels.len(), 1, pixels)?;
        let mut x = compute.constant(pixels.view());
        let mut whole = None;
        for (layer, map) in self.convolutions.iter().zip(maps()) {
            let rows = compute.unfold(&x, &map)?;
            let y = layer.run(compute, &rows)?;
            x = compute.activate(y, Activation::Relu);
            let side = map.height.div_ceil(map.stride);
            whole = Some(Windows {
                height: side,
                width: side,
                side,
                stride: 1,
                padding: 0,
            });
        }
        let flat = match whole {
            Some(whole) => compute.unfold(&x, &whole)?,
            None => x,
        };
        let y = self.vector.run(compute, &flat)?;
        Ok(compute.activate(y, Activation::Relu))
    }

    /// The outputs of pictures: their vectors, each scaled to length 1, times a matrix.
    fn outputs<C: Compute>(
        &self,
        compute: &mut C,
        pictures: ArrayView4<'_, f32>,
    ) -> Result<C::Matrix> {
        // pictures [N, 1, 14, 14] -> [N, K]
        let x = self.vectors(compute, pictures)?;
        // x / √(mean of squares), times 1/√C: length 1.
        let scale = Array1::from_elem(WIDTH, 1.0 / math::sqrt(WIDTH as f32));
        let x = compute.rms_norm(&x, &scale, 1e-6)?;
        compute.linear(&x, &self.outputs, None)
    }
}

/// The windows of the convolutions.
fn maps() -> Vec<Windows> {
    let mut side = CROP;
    let map = |_| {
        let map = Windows {
            height: side,
            width: side,
            side: WINDOW,
            stride: 2,
            padding: WINDOW / 2,
        };
        side = side.div_ceil(2);
        map
    };
    (1..CHANNELS.len()).map(map).collect()
}

impl Trainable for Network {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        for (n, layer) in self.convolutions.iter_mut().enumerate() {
            layer.parameters(&format!("convs.{n}"), visit)?;
        }
        self.vector.parameters("vector", visit)?;
        trainable::weight(&mut self.outputs, "outputs.weight", Kind::Matrix, visit)
    }
}

/// A training run.
#[derive(Debug, Clone)]
pub struct DinoRun {
    /// The teacher as it is now: a moving average of the students so far.
    pub teacher: Network,
    student: Network,
    /// `[K]`
    centre: Array1<f32>,
    without: Without,
    digits: Digits,
    adam: AdamW,
    schedule: Schedule,
    rng: Rng,
    /// The digits that are still to come before any comes again.
    order: Vec<usize>,
    /// Of the targets of the last step: entropy of their mean, and their mean entropy, in nats.
    entropies: Option<[f32; 2]>,
}

impl DinoRun {
    /// A run before its first step. The labels of the digits are not used.
    ///
    /// # Errors
    /// When there are fewer digits than one step takes.
    pub fn new(digits: Digits, without: Without, seed: u64) -> Result<Self> {
        if digits.len() < BATCH {
            let expected = format!("at least {BATCH}");
            return Err(EngineError::value("dino", "digits", expected, digits.len()));
        }
        let student = Network::new(seed)?;
        Ok(Self {
            teacher: student.clone(),
            student,
            centre: Array1::zeros(OUTPUTS),
            without,
            digits,
            adam: AdamW {
                beta_2: 0.99,
                ..AdamW::default()
            },
            schedule: Schedule::Cosine {
                peak: RATE,
                last: RATE / 20.0,
                warmup: WARMUP,
                steps: STEPS,
            },
            rng: Rng::named(seed, "crops"),
            order: Vec::new(),
            entropies: None,
        })
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.adam.steps
    }

    /// Of the targets of the last step: entropy of their mean, and their mean entropy, in nats.
    pub fn entropies(&self) -> Option<[f32; 2]> {
        self.entropies
    }

    /// One step; returns the loss before it, in nats.
    ///
    /// # Errors
    /// None here; those of the engine.
    pub fn step(&mut self) -> Result<f32> {
        // -> scalar
        let crops = self.crops()?;
        let (teacher, centre, tau) = (&self.teacher, &self.centre, self.without.tau());
        let (mut seen, mut entropies) = (Array2::zeros((0, OUTPUTS)), None);
        let settings = Settings::same_bits();
        let (loss, found) = gradients(&mut self.student, &settings, |student, tape: &mut Tape| {
            // The tape knows the student's parameters alone: no gradient reaches the teacher.
            let outputs = teacher.outputs(tape, crops.view())?;
            seen = tape.value(&outputs)?;
            let targets = centre_and_sharpen::targets(seen.view(), centre.view(), tau)?;
            entropies = Some([targets.entropy_of_mean, targets.mean_entropy]);
            // The first half of the rows are crops a, the second half crops b of the same digits.
            let (a, b) = (targets.probabilities.view()).split_at(Axis(0), BATCH);
            let exchanged = concatenate![Axis(0), b, a];
            let logits: Var = student.outputs(tape, crops.view())?;
            let logits = tape.scale(logits, 1.0 / STUDENT);
            tape.soft_cross_entropy(&logits, exchanged.view())
        })?;
        let rate = self.schedule.rate(self.adam.steps + 1);
        self.adam.step(&mut self.student, &found, rate)?;
        follow(&mut self.teacher, &mut self.student, KEEP)?;
        if self.without != Without::Centring {
            self.centre = moved(self.centre.view(), seen.view(), KEEP_CENTRE)?;
        }
        self.entropies = entropies;
        Ok(loss)
    }

    /// Two crops of each digit of a step: first one of each, then the other.
    fn crops(&mut self) -> Result<Array4<f32>> {
        // -> [2 B, 1, 14, 14]
        if self.order.len() < BATCH {
            self.order = self.rng.permutation(self.digits.len());
        }
        let chosen = self.order.split_off(self.order.len() - BATCH);
        let mut crops = Array4::zeros((2 * BATCH, 1, CROP, CROP));
        for (n, mut to) in crops.outer_iter_mut().enumerate() {
            let digit = self.digits.pictures.index_axis(Axis(0), chosen[n % BATCH]);
            to.assign(&crop(digit, &mut self.rng)?);
        }
        Ok(crops)
    }

    /// How many test digits the vectors of the teacher tell apart: the nearest known digits vote.
    ///
    /// # Errors
    /// None here; those of the engine.
    pub fn right(&self, known: &Digits, test: &Digits) -> Result<usize> {
        // -> scalar
        let vectors = |digits: &Digits| {
            let mut all = Array2::zeros((0, WIDTH));
            for some in digits.pictures.axis_chunks_iter(Axis(0), LOOK) {
                let found = (self.teacher).vectors(&mut Plain::silent(), small(some).view())?;
                all = concatenate![Axis(0), all, found];
            }
            Ok::<_, EngineError>(all)
        };
        vote(vectors(known)?.view(), vectors(test)?.view(), known, test)
    }
}

/// How many test digits their pixels tell apart, by the same vote.
///
/// # Errors
/// None for digits.
pub fn right_by_pixels(known: &Digits, test: &Digits) -> Result<usize> {
    // -> scalar
    let flat = |digits: &Digits| {
        let pixels: Vec<f32> = small(digits.pictures.view()).iter().copied().collect();
        engine::shape::matrix("dino", digits.len(), CROP * CROP, pixels)
    };
    vote(flat(known)?.view(), flat(test)?.view(), known, test)
}

fn vote(
    own: ArrayView2<'_, f32>,
    queries: ArrayView2<'_, f32>,
    known: &Digits,
    test: &Digits,
) -> Result<usize> {
    let answers = nearest::answers(queries, own, &known.labels, NEIGHBOURS)?;
    Ok(nearest::right(&answers, &test.labels))
}

/// A random square of a digit, at least `LEAST` pixels wide, scaled to [`CROP`] pixels.
///
/// # Errors
/// None for a picture of a digit.
pub fn crop(digit: ArrayView3<'_, f32>, rng: &mut Rng) -> Result<Array3<f32>> {
    // digit [1, 28, 28] -> [1, 14, 14]
    let side = LEAST + rng.below(SIDE - LEAST + 1);
    let top = rng.below(SIDE - side + 1);
    let left = rng.below(SIDE - side + 1);
    let rows = Slice::from(top..top + side);
    let columns = Slice::from(left..left + side);
    let square = digit.slice_axis(Axis(1), rows);
    resize(square.slice_axis(Axis(2), columns), CROP, CROP)
}

/// Whole digits as the networks read them: half as many pixels in each row and column.
pub fn small(digits: ArrayView4<'_, f32>) -> Array4<f32> {
    // digits [N, 1, 28, 28] -> [N, 1, 14, 14]
    let mut all = Array4::zeros((digits.len_of(Axis(0)), 1, CROP, CROP));
    for (mut to, digit) in all.outer_iter_mut().zip(digits.outer_iter()) {
        to.assign(&halved(digit));
    }
    all
}

/// The digits, each moved by [`MOVED`] pixels: ten down, ten up, ten to the right, ten to the left, and so on.
pub fn moved_digits(digits: &Digits) -> Digits {
    let mut all = digits.clone();
    for (n, mut picture) in all.pictures.outer_iter_mut().enumerate() {
        let by = [[MOVED, 0], [-MOVED, 0], [0, MOVED], [0, -MOVED]][n / 10 % 4];
        let moved = crate::shift::moved(picture.view(), by);
        picture.assign(&moved);
    }
    all
}

/// Moves the teacher's parameters towards the student's: a share `keep` of each stays.
///
/// # Errors
/// None for two networks of the same sizes.
pub fn follow<M: Trainable>(teacher: &mut M, student: &mut M, keep: f32) -> Result<()> {
    let mut all = Vec::new();
    student.parameters(&mut |parameter| {
        all.push(parameter.values.to_vec());
        Ok(())
    })?;
    let mut all = all.into_iter();
    teacher.parameters(&mut |parameter| {
        let students = all.next().unwrap_or_default();
        for (t, s) in parameter.values.iter_mut().zip(students) {
            *t = keep * *t + (1.0 - keep) * s;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_repeats_itself_and_seeds_differ() {
        let digits = Digits::drawn(0..80).unwrap();
        let of = |without, seed| {
            let mut run = DinoRun::new(digits.clone(), without, seed).unwrap();
            let losses: Vec<u32> = (0..3).map(|_| run.step().unwrap().to_bits()).collect();
            assert_eq!((run.steps(), run.order.len()), (3, 48));
            losses
        };
        let first = of(Without::Nothing, 1);
        assert_eq!(first, of(Without::Nothing, 1));
        assert_ne!(first, of(Without::Nothing, 2));
        assert_ne!(first, of(Without::Centring, 1));
        assert_ne!(first, of(Without::Sharpening, 1));
        assert_eq!(Network::new(1).unwrap().count().unwrap(), 19_744);
    }

    /// The teacher is the mean of what it was and of the student, and crops are pictures.
    #[test]
    fn the_teacher_follows() {
        let (mut teacher, mut student) = (Network::new(1).unwrap(), Network::new(2).unwrap());
        let first = |network: &mut Network| {
            let mut found = 0.0;
            network
                .parameters(&mut |parameter| {
                    found = parameter.values[0];
                    Ok(())
                })
                .unwrap();
            found
        };
        let (before, towards) = (first(&mut teacher), first(&mut student));
        follow(&mut teacher, &mut student, 0.75).unwrap();
        let expected = 0.75 * before + 0.25 * towards;
        assert!((first(&mut teacher) - expected).abs() < 1e-7);
        let digits = Digits::drawn(0..2).unwrap();
        let mut rng = Rng::named(1, "crops");
        let crop = crop(digits.pictures.index_axis(Axis(0), 0), &mut rng).unwrap();
        assert!(crop.iter().all(|x| (-1e-6..=1.0 + 1e-6).contains(x)) && crop.sum() > 1.0);
        assert!(DinoRun::new(digits, Without::Nothing, 1).is_err());
    }
}
