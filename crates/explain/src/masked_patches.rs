//! Masked patch prediction in small: a Vision Transformer learns to paint the hidden patches of a digit,
//! without any label.
//!
//! ```text
//! x     = the picture with 24 of its 49 patches grey (½)                                     [1, 28, 28]
//! y_n   = mean_n + norm(ViT(x))_n · Wᵀ + b, for each hidden patch n, its 16 pixels
//! loss  = the mean of (y − pixel)² over the pixels of the hidden patches
//! ```
//! mean_n is patch n of the mean of the digits to learn, and W and b start from zeros: before its first
//! step, the network paints the mean digit. The network is that of [`crate::few_digits`] with 16 outputs for each patch in place of ten for the
//! class token. The paper hides half of the patches, too, but predicts the mean colour of each patch, as
//! one of 512, and learns an embedding for hidden patches.
//!
//! ```
//! use explain::few_digits::Digits;
//! use explain::masked_patches::{MaskedRun, hidden};
//! let digits = Digits::drawn(0..20)?;
//! let mut run = MaskedRun::new(digits.clone(), 1)?;
//! let first = run.step()?;
//! for _ in 0..10 {
//!     run.step()?;
//! }
//! assert!(run.error(&digits)? < first);
//! assert_eq!(hidden(7, "test.0").len(), 24);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Dosovitskiy et al. 2021, section 4.6 and appendix B.1.2 (self-supervision); He et al. 2022,
//! "Masked autoencoders are scalable vision learners", section 3, for pixels as targets.

use engine::drawing::SIDE;
use engine::error::{EngineError, Result};
use engine::formula::Formula;
use engine::grad::{AdamW, Draw, Schedule, Settings, Tape, Var, gradients, initialise};
use engine::model::vit::{Config, Pooling, Vit};
use engine::nn::compute::Compute;
use engine::nn::patch::{cut, uncut};
use engine::nn::plain::Plain;
use engine::rng::Rng;
use engine::trainable::{self, Trainable};
use ndarray::{Array2, Array3, Array4, ArrayView3, ArrayView4, Axis};

use crate::few_digits::{BATCH, Digits};

/// P: the side of a patch.
pub const PATCH: usize = 4;
/// N: the number of patches of a digit.
pub const PATCHES: usize = 49;
/// The number of hidden patches of a digit: about half of them.
pub const HIDDEN: usize = 24;
/// The value of the pixels of a hidden patch.
pub const GREY: f32 = 0.5;
/// Steps of a run.
pub const STEPS: u64 = 400;
/// Pixels of a patch.
const PIXELS: usize = PATCH * PATCH;
/// The learning rate.
const RATE: Schedule = Schedule::Cosine {
    peak: 8e-3,
    last: 4e-4,
    warmup: 20,
    steps: STEPS,
};

/// The patches of a digit that are hidden, in ascending order: a draw of the stream `name`.
pub fn hidden(seed: u64, name: &str) -> Vec<usize> {
    // -> [24]
    let mut order = Rng::named(seed, name).permutation(PATCHES);
    order.truncate(HIDDEN);
    order.sort_unstable();
    order
}

/// The picture with some of its patches in one grey.
///
/// # Errors
/// When it has another size, or there is no patch of such a number.
pub fn masked(picture: ArrayView3<'_, f32>, hidden: &[usize]) -> Result<Array3<f32>> {
    // picture [1, 28, 28] -> [1, 28, 28]
    painted(picture, hidden, |_, _| GREY)
}

/// The picture whose hidden patches have other pixels, those of `paint`: it gets the place in `hidden`
/// and the pixel of the patch.
fn painted(
    picture: ArrayView3<'_, f32>,
    hidden: &[usize],
    paint: impl Fn(usize, usize) -> f32,
) -> Result<Array3<f32>> {
    engine::shape::expect("masked", "picture", &[1, SIDE, SIDE], picture.shape())?;
    let mut patches = cut(picture, PATCH)?;
    if let Some(&n) = hidden.iter().find(|&&n| n >= PATCHES) {
        let expected = format!("below {PATCHES}");
        return Err(EngineError::value("masked", "patch", expected, n));
    }
    for (place, &n) in hidden.iter().enumerate() {
        for (pixel, to) in patches.row_mut(n).iter_mut().enumerate() {
            *to = paint(place, pixel);
        }
    }
    uncut(patches.view(), 1, SIDE, SIDE, PATCH)
}

/// The pixels of some patches of a picture.
fn pixels(picture: ArrayView3<'_, f32>, hidden: &[usize]) -> Result<Array2<f32>> {
    // picture [1, 28, 28] -> [24, 16]
    Ok(cut(picture, PATCH)?.select(Axis(0), hidden))
}

/// The mean of some digits: what can be painted without looking at a digit.
///
/// # Errors
/// When there is none.
pub fn mean_digit(digits: &Digits) -> Result<Array3<f32>> {
    // -> [1, 28, 28]
    let none = || EngineError::value("mean_digit", "digits", "at least 1", 0);
    digits.pictures.mean_axis(Axis(0)).ok_or_else(none)
}

/// The mean squared error of one picture, painted over the hidden patches of each digit to test.
///
/// # Errors
/// None for digits.
pub fn error_of(picture: ArrayView3<'_, f32>, digits: &Digits) -> Result<f32> {
    let (mut total, mut count) = (0.0f64, 0);
    for (n, digit) in digits.pictures.outer_iter().enumerate() {
        let hidden = hidden_of_test(n);
        let (found, expected) = (pixels(picture, &hidden)?, pixels(digit, &hidden)?);
        for (x, y) in found.iter().zip(&expected) {
            total += f64::from((x - y) * (x - y));
            count += 1;
        }
    }
    Ok((total / f64::from(count.max(1))) as f32)
}

/// The hidden patches of a digit to test, the same in each run.
pub fn hidden_of_test(n: usize) -> Vec<usize> {
    hidden(7, &format!("test.{n}"))
}

/// A training run.
#[derive(Debug, Clone)]
pub struct MaskedRun {
    /// The network as it is now.
    pub network: Vit,
    digits: Digits,
    /// The mean of the digits, `[1, 28, 28]`.
    mean: Array3<f32>,
    adam: AdamW,
    rng: Rng,
    seed: u64,
    /// The digits that are still to come before any comes again.
    order: Vec<usize>,
}

impl MaskedRun {
    /// A run before its first step. The labels of the digits are not used.
    ///
    /// # Errors
    /// When there are fewer digits than one step takes.
    pub fn new(digits: Digits, seed: u64) -> Result<Self> {
        if digits.len() < BATCH {
            let expected = format!("at least {BATCH}");
            return Err(EngineError::value(
                "masked",
                "digits",
                expected,
                digits.len(),
            ));
        }
        let config = Config {
            width: 32,
            heads: 4,
            layers: 2,
            inner: 64,
            channels: 1,
            patch: PATCH,
            image: SIDE,
            classes: PIXELS,
            norm_eps: 1e-6,
            pooling: Pooling::Class,
            positions: true,
        };
        let mut source = Formula::new(0, config.shapes());
        let mut network = Vit::load(config, &mut source)?;
        initialise(&mut network, seed, Draw::Xavier)?;
        network.parameters(&mut |parameter| {
            if parameter.name.starts_with("head.") {
                parameter.values.fill(0.0);
            }
            Ok(())
        })?;
        Ok(Self {
            network,
            mean: mean_digit(&digits)?,
            digits,
            adam: AdamW {
                beta_2: 0.99,
                ..AdamW::default()
            },
            rng: Rng::named(seed, "order"),
            seed,
            order: Vec::new(),
        })
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.adam.steps
    }

    /// The number of parameters.
    ///
    /// # Errors
    /// None for the network here.
    pub fn count(&self) -> Result<usize> {
        trainable::count(&mut self.network.clone())
    }

    /// One step on 20 digits, each with other hidden patches; returns the loss before it.
    ///
    /// # Errors
    /// None here; those of the engine.
    pub fn step(&mut self) -> Result<f32> {
        // -> scalar
        if self.order.len() < BATCH {
            self.order = self.rng.permutation(self.digits.len());
        }
        let chosen = self.order.split_off(self.order.len() - BATCH);
        let (mut pictures, mut targets, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for (place, &n) in chosen.iter().enumerate() {
            let digit = self.digits.pictures.index_axis(Axis(0), n);
            let stream = format!("mask.{}.{place}", self.adam.steps);
            let hidden = hidden(self.seed, &stream);
            pictures.push(masked(digit, &hidden)?);
            targets.extend(pixels(digit, &hidden)? - pixels(self.mean.view(), &hidden)?);
            all.push(hidden);
        }
        let pictures = together(&pictures)?;
        let settings = Settings::same_bits();
        let count = targets.len();
        let targets = engine::shape::matrix("masked", count / PIXELS, PIXELS, targets)?;
        let (loss, found) = gradients(&mut self.network, &settings, |vit, tape: &mut Tape| {
            let painted: Var = paint(vit, tape, pictures.view(), &all)?;
            let aims = tape.constant(targets.mapv(|x| -x).view());
            let apart = tape.add(painted, &aims)?;
            let squares = tape.multiply(apart, &apart)?;
            tape.weighted_sum(&squares, &vec![1.0 / count as f32; count])
        })?;
        let rate = RATE.rate(self.adam.steps + 1);
        self.adam.step(&mut self.network, &found, rate)?;
        Ok(loss)
    }

    /// The picture of a digit whose hidden patches the network has painted.
    ///
    /// # Errors
    /// When the picture has another size, or there is no patch of such a number.
    pub fn completed(&self, picture: ArrayView3<'_, f32>, hidden: &[usize]) -> Result<Array3<f32>> {
        // picture [1, 28, 28] -> [1, 28, 28]
        let input = masked(picture, hidden)?.insert_axis(Axis(0));
        let places = [hidden.to_vec()];
        let found = paint(&self.network, &mut Plain::silent(), input.view(), &places)?;
        let found = found + pixels(self.mean.view(), hidden)?;
        painted(picture, hidden, |place, pixel| found[[place, pixel]])
    }

    /// The mean squared error over the hidden patches of some digits to test.
    ///
    /// # Errors
    /// As [`Self::completed`].
    pub fn error(&self, digits: &Digits) -> Result<f32> {
        let (mut total, mut count) = (0.0f64, 0);
        for (n, digit) in digits.pictures.outer_iter().enumerate() {
            let hidden = hidden_of_test(n);
            let found = pixels(self.completed(digit, &hidden)?.view(), &hidden)?;
            for (x, y) in found.iter().zip(&pixels(digit, &hidden)?) {
                total += f64::from((x - y) * (x - y));
                count += 1;
            }
        }
        Ok((total / f64::from(count.max(1))) as f32)
    }
}

/// Pictures as one array.
fn together(pictures: &[Array3<f32>]) -> Result<Array4<f32>> {
    // -> [B, 1, 28, 28]
    let views: Vec<_> = pictures.iter().map(|picture| picture.view()).collect();
    let all = ndarray::stack(Axis(0), &views);
    all.map_err(|error| EngineError::shape("masked", "pictures of one size", error.to_string()))
}

/// What a network adds to the mean digit in the hidden patches of each picture, one patch a row.
fn paint<C: Compute>(
    vit: &Vit,
    compute: &mut C,
    pictures: ArrayView4<'_, f32>,
    hidden: &[Vec<usize>],
) -> Result<C::Matrix> {
    // pictures [B, 1, 28, 28] -> [B · 24, 16]
    let (tokens, _) = vit.run(compute, pictures)?;
    // The class token of each picture comes before its patches.
    let each = 1 + PATCHES;
    let rows = hidden.iter().enumerate();
    let rows = rows.flat_map(|(b, hidden)| hidden.iter().map(move |n| b * each + 1 + n));
    let rows: Vec<usize> = rows.collect();
    let chosen = compute.gather(&tokens, &rows)?;
    // Each patch as a sequence of one token, whose vector the head reads.
    vit.run_logits(compute, &chosen, &vec![1; rows.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pixels of hidden patches are not seen: other pixels there give the same painting.
    #[test]
    fn hidden_pixels_are_hidden() {
        let digits = Digits::drawn(0..20).unwrap();
        let run = MaskedRun::new(digits.clone(), 3).unwrap();
        let picture = digits.pictures.index_axis(Axis(0), 4);
        let hidden = hidden_of_test(0);
        let other = painted(picture, &hidden, |_, _| 1.0).unwrap();
        let found = [picture, other.view()].map(|x| run.completed(x, &hidden).unwrap());
        assert_eq!(found[0], found[1]);
        // The other patches stay as they are.
        let shown: Vec<usize> = (0..PATCHES).filter(|n| !hidden.contains(n)).collect();
        assert_eq!(
            pixels(found[0].view(), &shown).unwrap(),
            pixels(picture, &shown).unwrap()
        );
        assert_eq!(run.count().unwrap(), 19_856);
    }

    /// Before its first step the network paints the mean digit.
    #[test]
    fn the_head_starts_from_zeros() {
        let digits = Digits::drawn(0..20).unwrap();
        let run = MaskedRun::new(digits.clone(), 3).unwrap();
        let mean = mean_digit(&digits).unwrap();
        let [found, expected] =
            [run.error(&digits), error_of(mean.view(), &digits)].map(Result::unwrap);
        assert_eq!(found, expected);
    }

    /// One digit's own picture has no error, and a run is a function of its seed.
    #[test]
    fn errors_and_seeds() {
        let digits = Digits::drawn(0..20).unwrap();
        let one = Digits::drawn(3..4).unwrap();
        let mean = mean_digit(&one).unwrap();
        assert_eq!(error_of(mean.view(), &one).unwrap(), 0.0);
        assert!(error_of(mean_digit(&digits).unwrap().view(), &digits).unwrap() > 0.0);
        let [mut run, mut again, mut other] =
            [1, 1, 2].map(|seed| MaskedRun::new(digits.clone(), seed).unwrap());
        let losses = [run.step(), again.step(), other.step()].map(|loss| loss.unwrap().to_bits());
        assert_eq!(losses[0], losses[1]);
        assert_ne!(losses[0], losses[2]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let digits = Digits::drawn(0..20).unwrap();
        let picture = digits.pictures.index_axis(Axis(0), 0);
        assert!(masked(picture, &[PATCHES]).is_err());
        assert!(masked(Array3::zeros((1, 4, 4)).view(), &[]).is_err());
        assert!(MaskedRun::new(Digits::drawn(0..3).unwrap(), 1).is_err());
    }
}
