//! Attention of Swin V2: scores by the angle between query and key, with a bias that a small
//! network computes from their distance.
//!
//! ```text
//! scores_h = τ_h · cos(q, k) + B_h (+ mask)         τ_h = exp(min(logit_scale_h, ln 100));  |q|, |k| at least 1e-12
//! B_h(Δy, Δx) = 16 · sigmoid(MLP(c(Δy), c(Δx))_h)   c(Δ) = sign(Δ) · log₂(1 + 8 |Δ| / (M − 1)) / log₂ 8
//! x [N·M·M, C], windows of side M one after the other -> [N·M·M, C];  B [H, M·M, M·M], mask [N, M·M, M·M]
//! ```
//!
//! ```
//! use engine::nn::cosine_attention::log_distance;
//! assert_eq!(log_distance(0, 8), 0.0);
//! assert!((log_distance(-7, 8) + 9.0f32.log2() / 3.0).abs() < 1e-6);
//! ```
//!
//! Source: Liu et al. 2022, "Swin Transformer V2", sections 3.2 (scaled cosine attention, equation
//! 2) and 3.3 (log-spaced coordinates, equation 4).

use super::attention::{Mask, Scoring, attend};
use super::feed_forward::FeedForward;
use super::heads::{join_into, split};
use super::pre_norm::Mlp;
use super::projection::Projection;
use crate::error::Result;
use crate::math;
use crate::shape::expect;
use crate::trace::{Observer, observe};
use ndarray::{Array1, Array2, Array3, Array4, ArrayView2, ArrayView3, Axis, s};

/// The largest temperature.
const LARGEST_SCALE: f32 = 100.0;

/// c(Δ) for a window of side `window`, the one that the network was trained on.
pub fn log_distance(delta: isize, window: usize) -> f32 {
    let reach = window.saturating_sub(1).max(1) as f64;
    let far = 8.0 * delta.unsigned_abs() as f64 / reach;
    let log = math::double::ln(1.0 + far) / math::double::ln(8.0);
    (log * delta.signum() as f64) as f32
}

/// B for windows of side `window`, from a network trained on windows of side `trained`.
///
/// # Errors
/// When the network does not take two numbers.
pub fn distance_bias(network: &FeedForward, window: usize, trained: usize) -> Result<Array3<f32>> {
    // -> [H, M·M, M·M]
    let (span, area) = (2 * window - 1, window * window);
    let coordinate = |n: usize| log_distance(n as isize - (window as isize - 1), trained);
    let table = Array2::from_shape_fn((span * span, 2), |(n, axis)| {
        coordinate(if axis == 0 { n / span } else { n % span })
    });
    let mut table = network.forward(table.view(), &mut None)?;
    table.mapv_inplace(|x| 16.0 / (1.0 + math::exp(-x)));
    let distance = |a: usize, b: usize| {
        let rows = a / window + window - 1 - b / window;
        let columns = a % window + window - 1 - b % window;
        rows * span + columns
    };
    let bias = |(h, a, b): (usize, usize, usize)| table[[distance(a, b), h]];
    Ok(Array3::from_shape_fn((table.ncols(), area, area), bias))
}

/// The parameters of one attention layer.
#[derive(Debug, Clone, PartialEq)]
pub struct CosineAttention {
    /// C to C.
    pub q: Projection,
    /// C to C.
    pub k: Projection,
    /// C to C.
    pub v: Projection,
    /// C to C.
    pub output: Projection,
    /// `[H]`: ln τ, before it is limited.
    pub logit_scale: Array1<f32>,
    /// `[H, M·M, M·M]`: B.
    pub bias: Array3<f32>,
}

impl CosineAttention {
    /// The layer on windows that lie one after the other; the mask is for shifted maps.
    ///
    /// The observer gets `attention.{q, k, v}` `[N·H, M·M, D]`, `attention.scores` (τ · cos, before
    /// bias and mask) and `attention.weights` `[N·H, M·M, M·M]`, `attention.heads`; heads count
    /// first, window n has n·H … n·H + H − 1; then `attention.output` `[N·M·M, C]`.
    ///
    /// # Errors
    /// When a shape does not fit the others.
    pub fn forward(
        &self,
        x: ArrayView2<'_, f32>,
        mask: Option<ArrayView3<'_, f32>>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // x [N·M·M, C] -> [N·M·M, C]
        let (heads, area, _) = self.bias.dim();
        let windows = x.nrows() / area.max(1);
        expect("attention", "rows", &[windows * area], &[x.nrows()])?;
        expect("attention", "scales", &[heads], self.logit_scale.shape())?;
        if let Some(mask) = mask {
            expect("attention", "mask", &[windows, area, area], mask.shape())?;
        }
        let mut q = self.by_window(self.q.forward(x)?, windows)?;
        let mut k = self.by_window(self.k.forward(x)?, windows)?;
        let mut v = self.by_window(self.v.forward(x)?, windows)?;
        observe(trace, "attention.q", &mut q);
        observe(trace, "attention.k", &mut k);
        observe(trace, "attention.v", &mut v);
        let largest = math::ln(LARGEST_SCALE);
        let temperatures = self.logit_scale.mapv(|scale| math::exp(scale.min(largest)));
        let scoring = Scoring::Cosine(temperatures);
        let bias = Mask::PerHead(self.bias_of(mask));
        let found = attend(q.view(), k.view(), v.view(), &scoring, &bias, trace)?;

        let mut joined = Array2::zeros(x.raw_dim());
        for window in 0..windows {
            let heads = s![window * heads..(window + 1) * heads, .., ..];
            join_into(found.output.slice(heads), &mut joined, window * area)?;
        }
        let mut output = self.output.forward(joined.view())?;
        observe(trace, "attention.output", &mut output);
        Ok(output)
    }

    /// The numbers added to the scores: the bias of each head, and in a shifted map the mask of
    /// each window.
    fn bias_of(&self, mask: Option<ArrayView3<'_, f32>>) -> Array3<f32> {
        // mask [N, M·M, M·M] -> [H, M·M, M·M], or with a mask [N·H, M·M, M·M]
        let Some(mask) = mask else {
            return self.bias.clone();
        };
        let (heads, area, _) = self.bias.dim();
        let mut all = Array3::zeros((mask.dim().0 * heads, area, area));
        for (at, mut sum) in all.outer_iter_mut().enumerate() {
            sum.assign(&self.bias.index_axis(Axis(0), at % heads));
            sum += &mask.index_axis(Axis(0), at / heads);
        }
        all
    }

    /// [N·M·M, C] -> [N·H, M·M, D].
    fn by_window(&self, rows: Array2<f32>, windows: usize) -> Result<Array3<f32>> {
        let (heads, area, _) = self.bias.dim();
        let mut out = Array4::zeros((windows, heads, area, rows.ncols() / heads.max(1)));
        for (window, mut part) in out.outer_iter_mut().enumerate() {
            let rows = rows.slice(s![window * area..(window + 1) * area, ..]);
            part.assign(&split(rows, heads)?);
        }
        let (windows, heads, area, width) = out.dim();
        let shape = (windows * heads, area, width);
        let found = out.into_shape_with_order(shape);
        found.map_err(|e| crate::EngineError::shape("attention", "windows", e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::feed_forward::Activation;
    use crate::parameters::Weight;
    use crate::rng::normal_matrix;

    fn layer(name: &str, outputs: usize, inputs: usize) -> Projection {
        let weight = Weight::Dense(normal_matrix(5, name, outputs, inputs, 0.5));
        Projection { weight, bias: None }
    }

    #[test]
    fn the_bias_depends_on_the_distance_alone() {
        let network = FeedForward {
            up: layer("up", 16, 2),
            activation: Activation::Relu,
            down: layer("down", 3, 16),
        };
        let bias = distance_bias(&network, 3, 3).unwrap();
        assert_eq!(bias.dim(), (3, 9, 9));
        // Places 0 and 4 are one row and one column apart, as are 4 and 8.
        assert_eq!(bias[[1, 0, 4]], bias[[1, 4, 8]]);
        assert_ne!(bias[[1, 0, 4]], bias[[1, 4, 0]]);
        assert!(bias.iter().all(|b| (0.0..=16.0).contains(b)));
    }

    #[test]
    fn the_length_of_the_input_does_not_change_the_weights() {
        let attention = CosineAttention {
            q: layer("q", 4, 4),
            k: layer("k", 4, 4),
            v: layer("v", 4, 4),
            output: layer("o", 4, 4),
            logit_scale: Array1::from_vec(vec![9.0, 0.1]),
            bias: Array3::zeros((2, 4, 4)),
        };
        let x = normal_matrix(5, "x", 8, 4, 1.0);
        let y = attention.forward(x.view(), None, &mut None).unwrap();
        let twice = attention.forward((&x * 2.0).view(), None, &mut None);
        let difference = twice.unwrap() - &y * 2.0;
        assert!(difference.iter().all(|d| d.abs() < 1e-4));
        assert!(
            attention
                .forward(x.slice(s![..7, ..]), None, &mut None)
                .is_err()
        );
    }
}
