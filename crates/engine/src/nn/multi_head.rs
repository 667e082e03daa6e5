//! Multi-head attention.
//!
//! ```text
//! q = x · W_Q (+ b_Q), k, v alike       x [T, C], W [C, C]  -> [T, C], head h owns columns h·D … h·D + D − 1
//! heads_h = attend(q_h, k_h, v_h)       [H, T, D], D = C / H, weights [H, T, T]
//! output = concat(heads) · W_O (+ b_O)  [T, C]
//! ```
//!
//! ```
//! use engine::nn::attention::Mask;
//! use engine::nn::multi_head::MultiHead;
//! use engine::rng::normal_matrix;
//! let w = |name| normal_matrix(7, name, 8, 8, 0.35);
//! let layer = MultiHead { w_q: w("q"), w_k: w("k"), w_v: w("v"), w_o: w("o"), bias: None, heads: 2 };
//! let out = layer.forward(normal_matrix(7, "x", 3, 8, 1.0).view(), &Mask::None)?;
//! assert_eq!(out.weights.dim(), (2, 3, 3));
//! assert_eq!(out.output.dim(), (3, 8));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.2.2; `torch.nn.MultiheadAttention`.

use super::attention::{Mask, attend, scale};
use super::linear::project;
use super::shape::expect;
use crate::error::{EngineError, Result};
use crate::rng::normal_matrix;
use ndarray::{Array1, Array2, Array3, ArrayView2, s};

/// The four biases of a multi-head layer, each `[C]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectionBias {
    /// Added to the queries.
    pub q: Array1<f32>,
    /// Added to the keys.
    pub k: Array1<f32>,
    /// Added to the values.
    pub v: Array1<f32>,
    /// Added to the output.
    pub o: Array1<f32>,
}

/// The weights of a multi-head layer, in the paper's convention (x · W).
#[derive(Debug, Clone, PartialEq)]
pub struct MultiHead {
    /// `[C, C]`: to queries.
    pub w_q: Array2<f32>,
    /// `[C, C]`: to keys.
    pub w_k: Array2<f32>,
    /// `[C, C]`: to values.
    pub w_v: Array2<f32>,
    /// `[C, C]`: from the heads side by side to the output.
    pub w_o: Array2<f32>,
    /// The biases, where the model has them (the paper's formula has none, GPT-2 does).
    pub bias: Option<ProjectionBias>,
    /// H, a divisor of C.
    pub heads: usize,
}

/// Everything that a multi-head layer computes on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiHeadOutput {
    /// `[H, T, D]`.
    pub q: Array3<f32>,
    /// `[H, T, D]`.
    pub k: Array3<f32>,
    /// `[H, T, D]`.
    pub v: Array3<f32>,
    /// `[H, T, T]`: scaled scores before the mask.
    pub scores: Array3<f32>,
    /// `[H, T, T]`.
    pub weights: Array3<f32>,
    /// `[H, T, D]`: each head's weighted sum of values.
    pub heads: Array3<f32>,
    /// `[T, C]`.
    pub output: Array2<f32>,
}

impl MultiHead {
    /// Untrained weights, normal with standard deviation 1/√C so that widths are kept in variance, no biases; `name` is put
    /// before `w_q` … in the names of the random streams.
    pub fn random(seed: u64, name: &str, width: usize, heads: usize) -> Self {
        let std = scale(width);
        let draw =
            |weight: &str| normal_matrix(seed, &format!("{name}{weight}"), width, width, std);
        Self {
            w_q: draw("w_q"),
            w_k: draw("w_k"),
            w_v: draw("w_v"),
            w_o: draw("w_o"),
            bias: None,
            heads,
        }
    }

    /// The whole layer on one sequence.
    ///
    /// # Errors
    /// When H does not divide C, or `x`, a weight, a bias or the mask has another shape than the others ask for.
    pub fn forward(&self, x: ArrayView2<'_, f32>, mask: &Mask) -> Result<MultiHeadOutput> {
        // x [T, C], mask [T, T] -> output [T, C]
        let width = self.check(x)?;
        let bias = self.bias.as_ref();
        let q = self.split(
            with_bias(project(x, self.w_q.view())?, bias.map(|b| &b.q))?,
            width,
        );
        let k = self.split(
            with_bias(project(x, self.w_k.view())?, bias.map(|b| &b.k))?,
            width,
        );
        let v = self.split(
            with_bias(project(x, self.w_v.view())?, bias.map(|b| &b.v))?,
            width,
        );

        let (tokens, head_width) = (x.nrows(), width / self.heads);
        let mut scores = Array3::zeros((self.heads, tokens, tokens));
        let mut weights = Array3::zeros((self.heads, tokens, tokens));
        let mut heads = Array3::zeros((self.heads, tokens, head_width));
        let mut side_by_side = Array2::zeros((tokens, width));
        for head in 0..self.heads {
            let at = s![head, .., ..];
            let found = attend(
                q.slice(at),
                k.slice(at),
                v.slice(at),
                scale(head_width),
                mask,
            )?;
            let columns = head * head_width..(head + 1) * head_width;
            side_by_side
                .slice_mut(s![.., columns])
                .assign(&found.output);
            scores.slice_mut(at).assign(&found.scores);
            weights.slice_mut(at).assign(&found.weights);
            heads.slice_mut(at).assign(&found.output);
        }
        let output = with_bias(
            project(side_by_side.view(), self.w_o.view())?,
            bias.map(|b| &b.o),
        )?;
        Ok(MultiHeadOutput {
            q,
            k,
            v,
            scores,
            weights,
            heads,
            output,
        })
    }

    /// C, once the weights and the number of heads are known to fit it.
    fn check(&self, x: ArrayView2<'_, f32>) -> Result<usize> {
        let width = x.ncols();
        for (name, weight) in [
            ("w_q", &self.w_q),
            ("w_k", &self.w_k),
            ("w_v", &self.w_v),
            ("w_o", &self.w_o),
        ] {
            expect("multi_head", name, &[width, width], weight.shape())?;
        }
        if self.heads == 0 || !width.is_multiple_of(self.heads) {
            return Err(EngineError::value(
                "multi_head",
                "heads",
                format!("a divisor of the width {width}"),
                self.heads,
            ));
        }
        Ok(width)
    }

    /// [T, C] -> [H, T, D]: head h takes columns h·D … h·D + D − 1.
    fn split(&self, joined: Array2<f32>, width: usize) -> Array3<f32> {
        let head_width = width / self.heads;
        Array3::from_shape_fn((self.heads, joined.nrows(), head_width), |(h, t, d)| {
            joined[[t, h * head_width + d]]
        })
    }
}

fn with_bias(mut x: Array2<f32>, bias: Option<&Array1<f32>>) -> Result<Array2<f32>> {
    if let Some(bias) = bias {
        expect("multi_head", "bias", &[x.ncols()], bias.shape())?;
        x += bias;
    }
    Ok(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_must_divide_the_width() {
        let x = normal_matrix(1, "x", 3, 6, 1.0);
        let error = MultiHead::random(1, "", 6, 4)
            .forward(x.view(), &Mask::None)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "multi_head: heads must be a divisor of the width 6, found 4"
        );
        assert!(
            MultiHead::random(1, "", 6, 0)
                .forward(x.view(), &Mask::None)
                .is_err()
        );
        assert!(
            MultiHead::random(1, "", 8, 2)
                .forward(x.view(), &Mask::None)
                .is_err()
        );
    }

    #[test]
    fn one_head_is_plain_self_attention() {
        let x = normal_matrix(1, "x", 4, 6, 1.0);
        let layer = MultiHead::random(1, "", 6, 1);
        let plain = super::super::attention::self_attention(
            x.view(),
            layer.w_q.view(),
            layer.w_k.view(),
            layer.w_v.view(),
            &Mask::None,
        )
        .unwrap();
        let found = layer.forward(x.view(), &Mask::None).unwrap();
        assert_eq!(found.heads.slice(s![0, .., ..]), plain.attention.output);
    }
}
