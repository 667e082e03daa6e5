//! A small convolutional network, a picture model without attention: LeNet's shape with strides in
//! place of pooling.
//!
//! ```text
//! x_0 = image                                   [C_0, H, W]
//! x_n = max(conv_n(x_{n−1}), 0)                 kernels P x P, stride 2, padding ⌊P/2⌋     [C_n, ⌈H/2ⁿ⌉, ⌈W/2ⁿ⌉]
//! logits = W_2 max(W_1 flat(x_N) + b_1, 0) + b_2                                           [classes]
//! ```
//!
//! ```
//! use engine::formula::Formula;
//! use engine::model::cnn::{Cnn, Config};
//! use ndarray::Array4;
//! let config = Config { channels: 1, image: 7, widths: vec![2, 3], side: 3, inner: 5, classes: 4 };
//! let model = Cnn::load(config.clone(), &mut Formula::new(1, config.shapes()))?;
//! assert_eq!(model.forward_batch(Array4::zeros((2, 1, 7, 7)).view())?.dim(), (2, 4));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: LeCun et al. 1998, "Gradient-based learning applied to document recognition", section
//! II.B; Springenberg et al. 2015, "Striving for simplicity", section 2 (strides for pooling).
//! Names of parameters: `convs.N`, `up`, `down`, as PyTorch would.

use super::config::{self, LARGEST, Lookup};
use super::names::Shapes;
use crate::error::{EngineError, Result};
use crate::nn::compute::Compute;
use crate::nn::feed_forward::{Activation, FeedForward};
use crate::nn::plain::Plain;
use crate::nn::pre_norm::Mlp;
use crate::nn::projection::Projection;
use crate::nn::unfold::Windows;
use crate::parameters::{Parameters, tensor, vector};
use crate::shape::expect;
use crate::trace::Observer;
use crate::trainable::{self, Kind, Trainable, Visit};
use ndarray::{Array2, ArrayView4};

/// The sizes of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// C_0.
    pub channels: usize,
    /// Side of the pictures.
    pub image: usize,
    /// C_1, C_2, …: the channels after each convolution.
    pub widths: Vec<usize>,
    /// P, odd.
    pub side: usize,
    /// F, between the two last layers.
    pub inner: usize,
    /// Number of classes.
    pub classes: usize,
}

/// Pixels from a window to the next.
const STRIDE: usize = 2;

impl Config {
    /// The sizes from named numbers: `channels`, `image`, `side`, `inner`, `classes`, and for each
    /// convolution `width_1`, `width_2`, …
    ///
    /// # Errors
    /// When a size is missing or not a whole number in range, or the side is even.
    pub fn from_keys(lookup: Lookup<'_>) -> Result<Self> {
        let size = |name: &'static str| config::size("cnn", lookup, &[name]);
        // Each convolution halves the picture: no more of them than a side has bits.
        let mut widths = Vec::new();
        for name in [
            "width_1", "width_2", "width_3", "width_4", "width_5", "width_6",
        ] {
            match config::optional("cnn", lookup, &[name])? {
                Some(width) => widths.push(width),
                None => break,
            }
        }
        let config = Self {
            channels: size("channels")?,
            image: size("image")?,
            widths,
            side: size("side")?,
            inner: size("inner")?,
            classes: size("classes")?,
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        let sizes = [
            self.channels,
            self.image,
            self.side,
            self.inner,
            self.classes,
        ];
        let all = || sizes.into_iter().chain(self.widths.iter().copied());
        if let Some(size) = all().find(|size| !(1..=LARGEST).contains(size)) {
            let expected = format!("from 1 to {LARGEST}");
            return Err(EngineError::value("cnn", "size", expected, size));
        }
        match self.side.is_multiple_of(2) {
            true => Err(EngineError::value("cnn", "side", "odd", self.side)),
            false => Ok(()),
        }
    }

    /// The windows of each convolution, with the channels before and after it.
    fn convolutions(&self) -> Vec<(Windows, [usize; 2])> {
        let (mut image, mut before) = (self.image, self.channels);
        let convolution = |&after: &usize| {
            let windows = Windows {
                height: image,
                width: image,
                side: self.side,
                stride: STRIDE,
                padding: self.side / 2,
            };
            let channels = [before, after];
            (image, before) = (image.div_ceil(STRIDE), after);
            (windows, channels)
        };
        self.widths.iter().map(convolution).collect()
    }

    /// The windows of each convolution, the first reading the picture.
    pub fn windows(&self) -> Vec<Windows> {
        let all = self.convolutions().into_iter();
        all.map(|(windows, _)| windows).collect()
    }

    /// All of the last map as one window, and its channels.
    fn flat(&self) -> (Windows, usize) {
        let halved = |side: usize, _| side.div_ceil(STRIDE);
        let side = self.widths.iter().fold(self.image, halved);
        let windows = Windows {
            height: side,
            width: side,
            side,
            stride: 1,
            padding: 0,
        };
        let channels = self.widths.last().copied().unwrap_or(self.channels);
        (windows, channels)
    }

    /// The names of all parameters with their shapes.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let mut all = Shapes::default();
        for (n, (_, [before, after])) in self.convolutions().into_iter().enumerate() {
            all.layer(
                &format!("convs.{n}"),
                &[after, before, self.side, self.side],
            );
        }
        let (windows, channels) = self.flat();
        let flat = channels * windows.side * windows.side;
        all.layer("up", &[self.inner, flat]);
        all.layer("down", &[self.classes, self.inner]);
        all.0
    }
}

/// The network: convolutions, then an MLP.
#[derive(Debug, Clone)]
pub struct Cnn {
    config: Config,
    convolutions: Vec<Projection>,
    head: FeedForward,
}

impl Cnn {
    /// The network with the parameters of a source.
    ///
    /// # Errors
    /// When a size is 0, the side even, or a parameter is missing or has another shape.
    pub fn load(config: Config, source: &mut dyn Parameters) -> Result<Self> {
        config.check()?;
        let mut convolutions = Vec::with_capacity(config.widths.len());
        for (n, (_, [before, after])) in config.convolutions().into_iter().enumerate() {
            let (name, side) = (format!("convs.{n}"), config.side);
            let shape = [after, before, side, side];
            let kernel = tensor(source, &format!("{name}.weight"), &shape)?;
            let rows = kernel.into_shape_with_order((after, before * side * side));
            let rows = rows.map_err(|e| EngineError::shape("cnn", "a kernel", e.to_string()))?;
            convolutions.push(Projection {
                weight: source.pack(&name, rows)?,
                bias: Some(vector(source, &format!("{name}.bias"), after)?),
            });
        }
        let (windows, channels) = config.flat();
        let flat = channels * windows.side * windows.side;
        let head = FeedForward {
            up: Projection::load(source, "up", flat, config.inner, true)?,
            activation: Activation::Relu,
            down: Projection::load(source, "down", config.inner, config.classes, true)?,
        };
        Ok(Self {
            config,
            convolutions,
            head,
        })
    }

    /// The sizes of the model.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The kernels of convolution `n`, a row for each channel after it, columns in the order of
    /// [`Windows::unfold`]; none where there are not so many.
    pub fn convolution(&self, n: usize) -> Option<&Projection> {
        self.convolutions.get(n)
    }

    /// The logits of pictures, generic over the executor. The observer gets `convs.N` (a row for
    /// each pixel), `mlp.before`, `mlp.inner` and `mlp.output`.
    ///
    /// # Errors
    /// When the pictures have another size.
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        images: ArrayView4<'_, f32>,
    ) -> Result<C::Matrix> {
        // images [B, C_0, H, W] -> [B, classes]
        let (count, side) = (images.dim().0, self.config.image);
        let expected = [count, self.config.channels, side, side];
        expect("cnn", "pictures", &expected, images.shape())?;
        // A row for each pixel.
        let pixels = images.permuted_axes([0, 2, 3, 1]);
        let dim = (count * side * side, self.config.channels);
        let pixels = Array2::from_shape_vec(dim, pixels.iter().copied().collect())
            .map_err(|error| EngineError::shape("cnn", "pixels", error.to_string()))?;
        let mut x = compute.constant(pixels.view());
        let windows = self.config.convolutions();
        for (n, (layer, (windows, _))) in self.convolutions.iter().zip(windows).enumerate() {
            let rows = compute.unfold(&x, &windows)?;
            let y = layer.run(compute, &rows)?;
            x = compute.activate(y, Activation::Relu);
            compute.trace(&format!("convs.{n}"), &mut x);
        }
        let flat = compute.unfold(&x, &self.config.flat().0)?;
        let flat = compute.dropout(flat);
        self.head.run(compute, &flat)
    }

    /// The logits of pictures.
    ///
    /// # Errors
    /// When the pictures have another size.
    pub fn forward_batch(&self, images: ArrayView4<'_, f32>) -> Result<Array2<f32>> {
        // images [B, C_0, H, W] -> [B, classes]
        self.run(&mut Plain::silent(), images)
    }

    /// The logits of pictures, with an observer, which may change the maps ([`Self::run`] names
    /// them).
    ///
    /// # Errors
    /// When the pictures have another size.
    pub fn watched(
        &self,
        images: ArrayView4<'_, f32>,
        observer: &mut dyn Observer,
    ) -> Result<Array2<f32>> {
        // images [B, C_0, H, W] -> [B, classes]
        self.run(&mut Plain::new(&mut Some(observer)), images)
    }
}

impl Trainable for Cnn {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let side = self.config.side;
        for (n, Projection { weight, bias }) in self.convolutions.iter_mut().enumerate() {
            let (after, flat) = weight.dim();
            let shape = [after, flat / (side * side), side, side];
            let name = format!("convs.{n}.weight");
            trainable::weight_as(weight, &name, &shape, Kind::Matrix, visit)?;
            if let Some(bias) = bias {
                trainable::array(bias, &format!("convs.{n}.bias"), Kind::Bias, visit)?;
            }
        }
        self.head.up.parameters("up", visit)?;
        self.head.down.parameters("down", visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Formula;

    #[test]
    fn nonsense_is_refused() {
        let config = Config {
            channels: 1,
            image: 7,
            widths: vec![2],
            side: 3,
            inner: 5,
            classes: 4,
        };
        let load =
            |config: Config| Cnn::load(config.clone(), &mut Formula::new(1, config.shapes()));
        let model = load(config.clone()).unwrap();
        let wrong = ndarray::Array4::zeros((1, 1, 6, 7));
        assert!(model.forward_batch(wrong.view()).is_err());
        let even = Config {
            side: 4,
            ..config.clone()
        };
        assert!(load(even).is_err());
        let empty = Config { inner: 0, ..config };
        assert!(load(empty).is_err());
    }

    #[test]
    fn sizes_have_names() {
        let names = [
            "channels", "image", "width_1", "width_2", "side", "inner", "classes",
        ];
        let found = |missing: &str| {
            Config::from_keys(&|name| {
                let place = names.iter().position(|known| *known == name)?;
                (name != missing).then_some(2.0 * place as f64 + 1.0)
            })
        };
        let expected = Config {
            channels: 1,
            image: 3,
            widths: vec![5, 7],
            side: 9,
            inner: 11,
            classes: 13,
        };
        assert_eq!(found("none").unwrap(), expected);
        assert_eq!(found("width_2").unwrap().widths, [5]);
        assert!(found("inner").is_err());
    }
}
