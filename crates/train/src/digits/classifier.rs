//! Two classifiers of the same digits, of as many parameters: with attention and with convolutions.
//!
//! Source: Dosovitskiy et al. 2021, "An image is worth 16x16 words"; LeCun et al. 1998,
//! "Gradient-based learning applied to document recognition".

use super::augment::Augment;
use super::data::{Digits, Mnist};
use crate::Result;
use crate::frame::{Card, Choice, Evaluation, Figure, Recipe, Subject};
use engine::drawing::SIDE;
use engine::grad::{Draw, Schedule, Tape, Var};
use engine::model::cnn::{self, Cnn};
use engine::model::vit::{self, Pooling, Vit};
use engine::ndarray::{Array2, Array4, ArrayView2, ArrayView4, Axis, Slice};
use engine::nn::compute::Compute;
use engine::nn::plain::Plain;
use engine::parameters::Parameters;
use engine::rng::Rng;
use engine::trainable::Trainable;
use serde_json::{Value, json};

/// A network that gives ten logits for each digit.
pub trait Network: Trainable + Sized + Sync {
    /// The name that it ships under.
    const NAME: &'static str;

    /// The text of its card.
    const ABOUT: &'static str;

    /// The highest learning rate.
    const RATE: f32 = 2e-3;

    /// The most steps.
    const STEPS: u64 = 8_000;

    /// After so many evaluations without a better one training stops.
    const PATIENCE: u64 = 10;

    /// Its names and shapes.
    fn shapes() -> Vec<(String, Vec<usize>)>;

    /// The configuration in its file.
    fn config() -> Value;

    /// The network with parameters of a source.
    ///
    /// # Errors
    /// When a parameter is missing or has another shape.
    fn load(source: &mut dyn Parameters) -> engine::Result<Self>;

    /// The logits of digits, by whoever computes.
    ///
    /// # Errors
    /// When pictures have another size.
    fn logits<C: Compute>(
        &self,
        compute: &mut C,
        digits: ArrayView4<'_, f32>,
    ) -> engine::Result<C::Matrix>;
}

/// Digits have ten classes.
const CLASSES: usize = 10;

pub(super) fn vit_config() -> vit::Config {
    vit::Config {
        width: 64,
        heads: 4,
        layers: 4,
        inner: 128,
        channels: 1,
        patch: 4,
        image: SIDE,
        classes: CLASSES,
        norm_eps: 1e-6,
        pooling: Pooling::Class,
        positions: true,
    }
}

/// The classes' names, for programs that print them.
fn labels() -> Value {
    (0..CLASSES)
        .map(|digit| (digit.to_string(), json!(digit.to_string())))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The configuration in the file of a ViT of digits.
pub(super) fn vit_file_config() -> Value {
    let c = vit_config();
    json!({
        "model_type": "vit", "hidden_size": c.width, "num_attention_heads": c.heads, "num_hidden_layers": c.layers,
        "intermediate_size": c.inner, "num_channels": c.channels, "patch_size": c.patch, "image_size": c.image,
        "layer_norm_eps": 1e-6, "drawing": true, "image_mean": [0, 0, 0], "image_std": [1, 1, 1], "id2label": labels(),
    })
}

impl Network for Vit {
    const NAME: &'static str = "digit-vit";

    const ABOUT: &'static str = "A ViT that reads a handwritten digit as 49 patches of 4 x 4 pixels (`engine::model::vit`).";

    fn shapes() -> Vec<(String, Vec<usize>)> {
        vit_config().shapes()
    }

    fn config() -> Value {
        vit_file_config()
    }

    fn load(source: &mut dyn Parameters) -> engine::Result<Self> {
        Self::load(vit_config(), source)
    }

    fn logits<C: Compute>(
        &self,
        compute: &mut C,
        digits: ArrayView4<'_, f32>,
    ) -> engine::Result<C::Matrix> {
        // digits [B, 1, SIDE, SIDE] -> [B, 10]
        let (hidden, lengths) = self.run(compute, digits)?;
        self.run_logits(compute, &hidden, &lengths)
    }
}

fn cnn_config() -> cnn::Config {
    cnn::Config {
        channels: 1,
        image: SIDE,
        widths: vec![16, 32],
        side: 5,
        inner: 80,
        classes: CLASSES,
    }
}

impl Network for Cnn {
    const NAME: &'static str = "digit-cnn";

    const ABOUT: &'static str = "Two convolutions and a perceptron that read a handwritten digit (`engine::model::cnn`): what to compare `digit-vit` with.";

    // It is as good as its rate allows within a few hundred steps; what a lower rate adds comes at
    // the end.
    const PATIENCE: u64 = 40;

    fn shapes() -> Vec<(String, Vec<usize>)> {
        cnn_config().shapes()
    }

    fn config() -> Value {
        let c = cnn_config();
        json!({
            "model_type": "cnn", "channels": c.channels, "image": c.image, "width_1": c.widths[0], "width_2": c.widths[1],
            "side": c.side, "inner": c.inner, "classes": c.classes, "drawing": true, "id2label": labels(),
        })
    }

    fn load(source: &mut dyn Parameters) -> engine::Result<Self> {
        Self::load(cnn_config(), source)
    }

    fn logits<C: Compute>(
        &self,
        compute: &mut C,
        digits: ArrayView4<'_, f32>,
    ) -> engine::Result<C::Matrix> {
        // digits [B, 1, SIDE, SIDE] -> [B, 10]
        self.run(compute, digits)
    }
}

/// A network with the digits that it learns.
pub struct Classifier<N> {
    digits: Mnist,
    network: std::marker::PhantomData<N>,
}

/// Digits in a step.
const BATCH: usize = 64;

/// Digits that are looked at together without training, which bounds memory.
const LOOK: usize = 100;

/// The farthest that test digits are moved, in pixels. Digits keep 4 pixels of paper around their
/// box, so that beyond that ink is lost.
const SHIFTS: isize = 6;

/// Number of test digits that are moved, each in four directions.
const MOVED: usize = 500;

/// The share of each answer that label smoothing spreads over all classes.
const SMOOTHING: f32 = 0.05;

impl<N: Network> Classifier<N> {
    /// A classifier of these digits.
    pub fn new(digits: Mnist) -> Self {
        let network = std::marker::PhantomData;
        Self { digits, network }
    }
}

/// Pictures `places` of some digits, each through `change`.
fn batch(
    digits: &Digits,
    places: &[usize],
    mut change: impl FnMut(ArrayView2<'_, f32>) -> Array2<f32>,
) -> Array4<f32> {
    // -> [B, 1, SIDE, SIDE]
    let mut batch = Array4::zeros((places.len(), 1, SIDE, SIDE));
    for (mut to, &place) in batch.outer_iter_mut().zip(places) {
        let changed = change(digits.picture(place));
        to.index_axis_mut(Axis(0), 0).assign(&changed);
    }
    batch
}

/// A digit moved by whole pixels; what goes over the border is lost.
fn moved(digit: ArrayView2<'_, f32>, [down, right]: [isize; 2]) -> Array2<f32> {
    let mut to = Array2::zeros(digit.dim());
    // Where the moved digit begins, and where the part of it that stays does.
    let part = |by: isize| (by.max(0), (-by).max(0), SIDE as isize - by.abs());
    let ((top, from_top, height), (left, from_left, width)) = (part(down), part(right));
    let mut kept = digit;
    kept.slice_axis_inplace(Axis(0), Slice::from(from_top..from_top + height));
    kept.slice_axis_inplace(Axis(1), Slice::from(from_left..from_left + width));
    let mut place = to.slice_axis_mut(Axis(0), Slice::from(top..top + height));
    place.slice_axis_inplace(Axis(1), Slice::from(left..left + width));
    place.assign(&kept);
    to
}

/// The number of digits that a network classifies rightly, and the sum of the losses, in nats: of
/// the targets of training, smoothed, so that a network that is as sure as it was taught to be has
/// the least.
fn right<N: Network>(
    network: &N,
    digits: &Digits,
    count: usize,
    by: [isize; 2],
) -> Result<(usize, f64)> {
    let (mut right, mut loss) = (0, 0.0);
    let places: Vec<usize> = (0..count).collect();
    for places in places.chunks(LOOK) {
        let pictures = batch(digits, places, |digit| moved(digit, by));
        let logits = network.logits(&mut Plain::silent(), pictures.view())?;
        for (row, &place) in logits.outer_iter().zip(places) {
            let label = digits.labels[place];
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f64 = row.iter().map(|&x| f64::from(x - largest).exp()).sum();
            let mean: f64 =
                row.iter().map(|&x| f64::from(x - largest)).sum::<f64>() / CLASSES as f64;
            let (own, even) = (f64::from(row[label] - largest), f64::from(SMOOTHING));
            loss += sum.ln() - (1.0 - even) * own - even * mean;
            let answer = row.iter().position(|&value| value == largest);
            right += usize::from(answer == Some(label));
        }
    }
    Ok((right, loss))
}

impl<N: Network> Subject for Classifier<N> {
    type Model = N;

    fn name(&self) -> &'static str {
        N::NAME
    }

    fn load(&self, source: &mut dyn Parameters) -> Result<N> {
        Ok(N::load(source)?)
    }

    fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        N::shapes()
    }

    fn config(&self) -> Value {
        N::config()
    }

    fn recipe(&self) -> Recipe {
        Recipe {
            steps: N::STEPS,
            schedule: Schedule::Cosine {
                peak: N::RATE,
                last: N::RATE / 100.0,
                warmup: N::STEPS / 20,
                steps: N::STEPS,
            },
            beta_2: 0.99,
            decay: 0.05,
            clip: 1.0,
            dropout: 0.0,
            draw: Draw::Xavier,
            evaluate_every: 200,
            patience: N::PATIENCE,
            score: "right of those held out, %",
            choice: Choice::SmallestLoss,
            keep: None,
        }
    }

    fn batches(&self, rng: &mut Rng) -> Vec<Vec<usize>> {
        let order = rng.permutation(self.digits.train.len());
        order.chunks_exact(BATCH).map(<[usize]>::to_vec).collect()
    }

    fn loss(&self, model: &N, tape: &mut Tape, places: &[usize], rng: &mut Rng) -> Result<Var> {
        let digits = &self.digits.train;
        let pictures = batch(digits, places, |digit| Augment::USUAL.apply(digit, rng));
        let logits = model.logits(tape, pictures.view())?;
        let labels: Vec<Option<usize>> = places.iter().map(|&n| Some(digits.labels[n])).collect();
        Ok(tape.cross_entropy(&logits, &labels, SMOOTHING)?)
    }

    fn evaluate(&self, model: &N) -> Result<Evaluation> {
        let digits = &self.digits.held_out;
        let count = digits.len();
        let (right, loss) = right(model, digits, count, [0, 0])?;
        Ok(Evaluation {
            loss: loss / count as f64,
            score: 100.0 * right as f64 / count as f64,
        })
    }

    fn measure(&self, model: &N) -> Result<Vec<Figure>> {
        let digits = &self.digits.test;
        let figure = |name: String, right: usize, of: usize, decimals: usize| Figure {
            name,
            value: 100.0 * right as f64 / of as f64,
            decimals,
            // Two digits may be so near to two classes that another order of additions decides.
            tolerance: 100.0 * 2.5 / of as f64,
            allowed: -0.3..=f64::INFINITY,
        };
        let count = digits.len();
        let (whole, _) = right(model, digits, count, [0, 0])?;
        let mut figures = vec![figure(
            format!("right of {count} test digits, %"),
            whole,
            count,
            2,
        )];
        for by in 0..=SHIFTS {
            let (mut total, mut of) = (0, 0);
            for direction in [[by, 0], [-by, 0], [0, by], [0, -by]] {
                total += right(model, digits, MOVED, direction)?.0;
                of += MOVED;
                if by == 0 {
                    break;
                }
            }
            let name =
                format!("right of {MOVED} test digits, each moved {by} pixels in 4 directions, %");
            figures.push(figure(name, total, of, 2));
        }
        Ok(figures)
    }

    fn card(&self) -> Card {
        Card {
            about: N::ABOUT.to_owned(),
            ..super::data::card()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_parameters_with_attention_as_with_convolutions() {
        let count = |shapes: Vec<(String, Vec<usize>)>| -> usize {
            let sizes = shapes
                .iter()
                .map(|(_, shape)| shape.iter().product::<usize>());
            sizes.sum()
        };
        let [vit, cnn] = [count(Vit::shapes()), count(Cnn::shapes())];
        assert!(vit.abs_diff(cnn) * 10 <= vit.min(cnn), "{vit} and {cnn}");
    }

    #[test]
    fn moving_loses_what_goes_over_the_border() {
        let digit = Array2::from_shape_fn((SIDE, SIDE), |(row, col)| (row * SIDE + col) as f32);
        let found = moved(digit.view(), [2, -3]);
        assert_eq!(found[[2, 0]], digit[[0, 3]]);
        assert_eq!(found[[27, 24]], digit[[25, 27]]);
        assert_eq!((found[[1, 5]], found[[20, 25]]), (0.0, 0.0));
        assert_eq!(moved(digit.view(), [0, 0]), digit);
    }
}
