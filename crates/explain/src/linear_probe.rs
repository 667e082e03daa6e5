//! A linear probe: how well one layer of weighted sums reads classes off features that stay as they are.
//!
//! ```text
//! features = the mean of the residual stream over all positions, after the embedding and after each block
//! p        = softmax(x Wᵀ + b)                 x [N, C], every column with mean 0 and deviation 1
//! loss     = mean of −ln of what the right class got
//! W −= rate · mean((p − y) xᵀ)                 y one-hot; the model below does not change
//! ```
//!
//! ```
//! use explain::linear_probe::Probe;
//! use ndarray::array;
//! let (x, labels) = (array![[1.0, 0.0], [-1.0, 0.5]], [1, 0]);
//! let mut probe = Probe::new(2, 2);
//! let before = probe.step(x.view(), &labels, 0.5)?;
//! assert!(probe.step(x.view(), &labels, 0.5)? < before);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Chen et al. 2020, "Generative pretraining from pixels", section 2.5: features by layer, averaged over
//! the sequence. Theirs come from behind a norm.

use engine::error::{EngineError, Result};
use engine::math;
use engine::model::decoder::{Decoder, DecoderExt};
use engine::model::image_gpt::ImageGpt;
use engine::nn::linear::linear;
use engine::nn::softmax::{softmax_rows, top_indices};
use engine::shape::{expect, mismatch};
use engine::trace::Observer;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewD, Axis, Ix2};

use crate::half_digit::GREYS;

/// Steps of a probe.
pub const STEPS: usize = 300;
/// Their learning rate.
pub const RATE: f32 = 0.05;
/// The standard deviation from which the matrices of a model with random parameters are drawn: that from
/// which the training of `digit-gpt` started.
pub const DEVIATION: f32 = 0.05;
/// The ten digits.
const CLASSES: usize = 10;

/// The probe.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// W, `[classes, C]`.
    pub weights: Array2<f32>,
    /// b, `[classes]`.
    pub bias: Array1<f32>,
}

impl Probe {
    /// A probe of zeros, which gives all classes the same.
    pub fn new(features: usize, classes: usize) -> Self {
        Self {
            weights: Array2::zeros((classes, features)),
            bias: Array1::zeros(classes),
        }
    }

    /// A probe of the ten digits after all its steps, from rows that are standardised already.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn trained(x: ArrayView2<'_, f32>, labels: &[usize]) -> Result<Self> {
        // x [N, C], labels [N]
        let mut probe = Self::new(x.ncols(), CLASSES);
        for _ in 0..STEPS {
            probe.step(x, labels, RATE)?;
        }
        Ok(probe)
    }

    /// The logits of the classes.
    ///
    /// # Errors
    /// When the rows have another length than those of the weights.
    pub fn logits(&self, x: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        // x [N, C] -> [N, classes]
        linear(x, self.weights.view(), Some(self.bias.view()))
    }

    /// One step of gradient descent on the mean loss of the rows. Returns the loss before it, in nats.
    ///
    /// # Errors
    /// As [`Self::logits`], and when there is not one class of the probe for each row.
    pub fn step(&mut self, x: ArrayView2<'_, f32>, labels: &[usize], rate: f32) -> Result<f32> {
        // x [N, C], labels [N] -> scalar
        let mut slopes = softmax_rows(self.logits(x)?.view());
        expect("probe", "labels", &[x.nrows()], &[labels.len()])?;
        let (count, mut loss) = (labels.len().max(1) as f32, 0.0);
        for ((x, mut slopes), &label) in x.rows().into_iter().zip(slopes.rows_mut()).zip(labels) {
            let right = slopes.get_mut(label).ok_or_else(|| {
                EngineError::value("probe", "label", "one of the probe's classes", label)
            })?;
            loss -= math::ln(right.max(f32::MIN_POSITIVE)) / count;
            *right -= 1.0;
            for (class, &slope) in slopes.iter().enumerate() {
                let change = -rate * slope / count;
                self.weights.row_mut(class).scaled_add(change, &x);
                self.bias[class] += change;
            }
        }
        Ok(loss)
    }

    /// How many rows the probe reads right.
    ///
    /// # Errors
    /// As [`Self::logits`].
    pub fn right(&self, x: ArrayView2<'_, f32>, labels: &[usize]) -> Result<usize> {
        // x [N, C] -> scalar
        let logits = self.logits(x)?;
        if labels.len() != logits.nrows() {
            let expected = "a label for each row";
            return Err(mismatch("probe", expected, x.shape(), &[labels.len()]));
        }
        let answers = logits.rows().into_iter().map(|row| top_indices(row, 1));
        let both = answers.zip(labels);
        Ok(both
            .filter(|(best, label)| best.first() == Some(*label))
            .count())
    }
}

/// The features of a picture at every depth of a decoder of pixels, which reads the start token and all
/// pixels but the last.
///
/// # Errors
/// When there are more pixels than the model reads.
pub fn features(model: &ImageGpt, pixels: &[usize]) -> Result<Array2<f32>> {
    // pixels [T] -> [layers + 1, C]
    let before = pixels.iter().take(pixels.len().saturating_sub(1)).copied();
    let ids: Vec<usize> = std::iter::once(GREYS).chain(before).collect();
    let mut means = Means(Vec::new());
    model.forward(&ids, Some(&mut means))?;
    let width = model.config().width;
    expect(
        "features",
        "depths",
        &[model.layers() + 1],
        &[means.0.len()],
    )?;
    let mut all = Array2::zeros((means.0.len(), width));
    for (mut to, mean) in all.rows_mut().into_iter().zip(&means.0) {
        expect("features", "width", &[width], mean.shape())?;
        to.assign(mean);
    }
    Ok(all)
}

/// Keeps the mean of the residual stream over the positions, at each depth.
struct Means(Vec<Array1<f32>>);

impl Observer for Means {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        // "blocks.N.output" is the stream, "blocks.N.mlp.output" is not.
        let block = name.strip_prefix("blocks.");
        let number = block.and_then(|name| name.strip_suffix(".output"));
        if name != "input" && number.is_none_or(|n| n.parse::<usize>().is_err()) {
            return;
        }
        let stream = tensor.into_dimensionality::<Ix2>();
        self.0
            .extend(stream.ok().and_then(|stream| stream.mean_axis(Axis(0))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::formula::Formula;
    use engine::model::image_gpt::{Config, shapes};
    use engine::rng::normal_matrix;
    use engine::trace::Recorder;
    use ndarray::array;

    /// The steps follow the gradient of the loss: compared with central differences.
    #[test]
    fn a_step_follows_the_gradient() {
        let (x, labels) = (normal_matrix(1, "x", 6, 4, 1.0), [2, 0, 1, 1, 2, 0]);
        let start = Probe {
            weights: normal_matrix(1, "w", 3, 4, 0.5),
            bias: array![0.1, -0.2, 0.3],
        };
        let mut moved = start.clone();
        moved.step(x.view(), &labels, 1.0).unwrap();
        for (row, col) in [(0, 0), (1, 3), (2, 2)] {
            let loss = |by: f32| {
                let mut probe = start.clone();
                probe.weights[[row, col]] += by;
                probe.step(x.view(), &labels, 0.0).unwrap()
            };
            let slope = (loss(1e-2) - loss(-1e-2)) / 2e-2;
            let step = start.weights[[row, col]] - moved.weights[[row, col]];
            assert!((slope - step).abs() < 1e-3, "{slope} {step}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (mut probe, x) = (Probe::new(2, 3), array![[1.0, 2.0]]);
        assert!(probe.step(x.view(), &[3], 0.1).is_err());
        assert!(probe.step(x.view(), &[0, 1], 0.1).is_err());
        assert!(probe.step(array![[1.0]].view(), &[0], 0.1).is_err());
        assert!(probe.right(x.view(), &[]).is_err());
        assert_eq!(probe.right(x.view(), &[0]), Ok(1));
    }

    /// The depths are the stream after the embedding and after each block, and no sub-layer.
    #[test]
    fn features_are_means_of_the_stream() {
        let config = Config {
            vocabulary: 5,
            width: 8,
            heads: 2,
            layers: 3,
            inner: 16,
            context: 9,
            norm_eps: 1e-5,
        };
        let model = ImageGpt::load(config.clone(), &mut Formula::new(0, shapes(&config))).unwrap();
        let pixels = [0, 1, 2, 3, 0, 1, 2, 3, 1];
        let found = features(&model, &pixels).unwrap();
        assert_eq!(found.dim(), (4, 8));
        let mut seen = Recorder::default();
        model
            .forward(&[4, 0, 1, 2, 3, 0, 1, 2, 3], Some(&mut seen))
            .unwrap();
        for (depth, name) in [(0, "input"), (3, "blocks.2.output")] {
            let stream = seen.get(name).unwrap();
            let mean = stream.mean_axis(Axis(0)).unwrap();
            assert!((&mean - &found.row(depth)).iter().all(|x| x.abs() < 1e-6));
        }
    }
}
