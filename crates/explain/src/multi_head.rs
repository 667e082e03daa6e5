//! Attention with several heads, as a formula writes it and taken apart: the heads, the part that
//! each of them writes, and the wrong way to cut a matrix into heads.
//!
//! ```text
//! q, k, v = split(x · W_Q), split(x · W_K), split(x · W_V)      x [T, C], W [C, C] -> [H, T, D], D = C / H
//! joined  = join(attend(q, k, v))                                                  -> [T, C]
//! output  = joined · W_O                                        W_O [C, C]         -> [T, C]
//!         = Σ_h head_h · W_O^h                                  W_O^h: rows h·D … h·D + D − 1 of W_O
//! ```
//!
//! ```
//! use explain::multi_head::{attend_heads, parts};
//! use engine::{nn::linear::project, rng::normal_matrix};
//! let [w_q, w_k, w_v, w_o] = ["q", "k", "v", "o"].map(|name| normal_matrix(7, name, 4, 4, 0.5));
//! let x = normal_matrix(7, "x", 3, 4, 1.0);
//! let layer = attend_heads(x.view(), w_q.view(), w_k.view(), w_v.view(), 2)?;
//! let output = project(layer.joined.view(), w_o.view())?;
//! let parts = parts(layer.attention.output.view(), w_o.view())?;
//! assert_eq!(parts.dim(), (2, 3, 4));
//! let sum = parts.sum_axis(ndarray::Axis(0));
//! assert!((&sum - &output).iter().all(|d| d.abs() < 1e-6));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, "Attention is all you need", section 3.2.2.

use engine::error::{EngineError, Result};
use engine::nn::attention::{Attention, Mask, Scoring, attend, scale};
use engine::nn::heads::{join, split};
use engine::nn::linear::project;
use engine::trace::Observer;
use ndarray::{Array2, Array3, ArrayView2, ArrayView3, ArrayViewMutD, Axis, Ix3, Slice};

/// The heads of an attention layer, with every step up to W_O.
#[derive(Debug, Clone, PartialEq)]
pub struct Heads {
    /// `[H, T, D]`: the queries of each head.
    pub q: Array3<f32>,
    /// `[H, T, D]`: the keys of each head.
    pub k: Array3<f32>,
    /// `[H, T, D]`: the values of each head.
    pub v: Array3<f32>,
    /// Scores, weights and outputs of each head.
    pub attention: Attention,
    /// `[T, C]`: the outputs of the heads side by side.
    pub joined: Array2<f32>,
}

/// Attention of a sequence over itself in `heads` heads, nothing hidden.
///
/// # Errors
/// When the heads do not divide the width of the projections, or shapes do not fit.
pub fn attend_heads(
    x: ArrayView2<'_, f32>,
    w_q: ArrayView2<'_, f32>,
    w_k: ArrayView2<'_, f32>,
    w_v: ArrayView2<'_, f32>,
    heads: usize,
) -> Result<Heads> {
    // x [T, C], w_q, w_k and w_v [C, H·D] -> q, k, v [H, T, D], joined [T, H·D]
    let q = split(project(x, w_q)?.view(), heads)?;
    let k = split(project(x, w_k)?.view(), heads)?;
    let v = split(project(x, w_v)?.view(), heads)?;
    let (scoring, mask) = (Scoring::Dot(scale(q.dim().2)), Mask::None);
    let attention = attend(q.view(), k.view(), v.view(), &scoring, &mask, &mut None)?;
    let joined = join(attention.output.view());
    Ok(Heads {
        q,
        k,
        v,
        attention,
        joined,
    })
}

/// What each head adds to the output: its own output times its own rows of W_O.
///
/// # Errors
/// When W_O has not as many rows as the heads have columns together.
pub fn parts(outputs: ArrayView3<'_, f32>, w_o: ArrayView2<'_, f32>) -> Result<Array3<f32>> {
    // outputs [H, T, D], w_o [H·D, C] -> [H, T, C]
    let (heads, tokens, width) = outputs.dim();
    if w_o.nrows() != heads * width {
        let expected = format!("W_O of {} rows", heads * width);
        return Err(EngineError::shape(
            "parts",
            expected,
            format!("{}", w_o.nrows()),
        ));
    }
    let mut all = Array3::zeros((heads, tokens, w_o.ncols()));
    for (h, mut part) in all.axis_iter_mut(Axis(0)).enumerate() {
        let rows = w_o.slice_axis(Axis(0), Slice::from(h * width..(h + 1) * width));
        part.assign(&project(outputs.index_axis(Axis(0), h), rows)?);
    }
    Ok(all)
}

/// The number of parameters of such a layer without biases: three matrices [C × D] for each head,
/// and W_O [H·D × C].
///
/// # Errors
/// When the heads do not divide the width.
pub fn parameters(width: usize, heads: usize) -> Result<usize> {
    if heads == 0 || !width.is_multiple_of(heads) {
        let expected = format!("a divisor of the width {width}");
        return Err(EngineError::value("parameters", "heads", expected, heads));
    }
    let head_width = width / heads;
    Ok(heads * 3 * width * head_width + heads * head_width * width)
}

/// The bug: the numbers of `[T, H·D]` read on, row by row, as `[H, T, D]`, as `x.view(H, T, D)` does
/// in PyTorch. The right way is `x.view(T, H, D).transpose(0, 1)`, the engine's [`split`].
///
/// # Errors
/// When the heads do not divide the columns.
pub fn split_without_transpose(joined: ArrayView2<'_, f32>, heads: usize) -> Result<Array3<f32>> {
    // joined [T, H·D] -> [H, T, D]
    let (tokens, columns) = joined.dim();
    if heads == 0 || !columns.is_multiple_of(heads) {
        let expected = format!("a divisor of the width {columns}");
        return Err(EngineError::value("split", "heads", expected, heads));
    }
    let numbers = joined.iter().copied().collect();
    Array3::from_shape_vec((heads, tokens, columns / heads), numbers)
        .map_err(|error| EngineError::shape("split", "heads", error.to_string()))
}

/// The same bug on the way back: the numbers of `[H, T, D]` read on as `[T, H·D]`.
///
/// # Errors
/// None for an array of the engine.
pub fn join_without_transpose(heads: ArrayView3<'_, f32>) -> Result<Array2<f32>> {
    // heads [H, T, D] -> [T, H·D]
    let (count, tokens, width) = heads.dim();
    let numbers = heads.iter().copied().collect();
    Array2::from_shape_vec((tokens, count * width), numbers)
        .map_err(|error| EngineError::shape("join", "tokens", error.to_string()))
}

/// Puts the bug into a model while it runs: an observer that cuts queries, keys and values into heads
/// without the transpose, or joins the outputs of the heads without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WithoutTranspose {
    /// Where the heads are cut.
    pub split: bool,
    /// Where they are joined.
    pub join: bool,
}

impl WithoutTranspose {
    /// An intermediate `[H, T, D]` as a model with the bug has it; `None` where the bug does not
    /// touch it.
    fn mistaken(self, name: &str, right: ArrayView3<'_, f32>) -> Option<Array3<f32>> {
        let heads = right.dim().0;
        let part = name.rsplit("attention.").next()?;
        match part {
            "q" | "k" | "v" if self.split => {
                split_without_transpose(join(right).view(), heads).ok()
            }
            "heads" if self.join => split(join_without_transpose(right).ok()?.view(), heads).ok(),
            _ => None,
        }
    }
}

impl Observer for WithoutTranspose {
    fn observe(&mut self, _: &str, _: ndarray::ArrayViewD<'_, f32>) {}

    fn change(&mut self, name: &str, tensor: ArrayViewMutD<'_, f32>) {
        let Ok(mut tensor) = tensor.into_dimensionality::<Ix3>() else {
            return;
        };
        if let Some(mistaken) = self.mistaken(name, tensor.view()) {
            tensor.assign(&mistaken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::rng::normal_matrix;

    fn layer(heads: usize) -> (Heads, Array2<f32>) {
        let [w_q, w_k, w_v, w_o] =
            ["q", "k", "v", "o"].map(|name| normal_matrix(3, name, 12, 12, 0.4));
        let x = normal_matrix(3, "x", 5, 12, 1.0);
        let layer = attend_heads(x.view(), w_q.view(), w_k.view(), w_v.view(), heads);
        (layer.unwrap(), w_o)
    }

    /// Each head is an attention of its own, with its own columns of the three matrices.
    #[test]
    fn every_head_has_its_own_columns() {
        use crate::one_head::self_attention;
        let [w_q, w_k, w_v] = ["q", "k", "v"].map(|name| normal_matrix(3, name, 12, 12, 0.4));
        let x = normal_matrix(3, "x", 5, 12, 1.0);
        for heads in [1, 2, 3, 4, 6, 12] {
            let (all, _) = layer(heads);
            let width = 12 / heads;
            for h in 0..heads {
                let own = Slice::from(h * width..(h + 1) * width);
                let one = self_attention(
                    x.view(),
                    w_q.slice_axis(Axis(1), own),
                    w_k.slice_axis(Axis(1), own),
                    w_v.slice_axis(Axis(1), own),
                    &Mask::None,
                )
                .unwrap();
                let found = all.attention.output.index_axis(Axis(0), h);
                assert!(
                    (&one.attention.output - &found)
                        .iter()
                        .all(|d| d.abs() < 1e-6)
                );
            }
        }
    }

    #[test]
    fn the_output_is_the_sum_of_what_the_heads_write() {
        for heads in [1, 2, 3, 4, 6, 12] {
            let (all, w_o) = layer(heads);
            let parts = parts(all.attention.output.view(), w_o.view()).unwrap();
            let output = project(all.joined.view(), w_o.view()).unwrap();
            let sum = parts.sum_axis(Axis(0));
            assert!((&sum - &output).iter().all(|d| d.abs() < 3e-6));
        }
    }

    /// The number that lessons quote, for every number of heads.
    #[test]
    fn the_number_of_heads_costs_no_parameters() {
        for heads in [1, 2, 4, 8, 16, 64, 512] {
            assert_eq!(parameters(512, heads).unwrap(), 1_048_576);
        }
        assert!(parameters(512, 0).is_err() && parameters(512, 3).is_err());
    }

    /// With one head there is nothing to transpose; with more, the two ways differ, and the wrong way
    /// back undoes the wrong way there.
    #[test]
    fn the_bug_moves_numbers_between_tokens() {
        let x = normal_matrix(3, "x", 6, 8, 1.0);
        let right = |heads| split(x.view(), heads).unwrap();
        let wrong = |heads| split_without_transpose(x.view(), heads).unwrap();
        assert_eq!(right(1), wrong(1));
        for heads in [2, 4, 8] {
            assert_ne!(right(heads), wrong(heads));
            assert_eq!(join_without_transpose(wrong(heads).view()).unwrap(), x);
        }
        // Row 1 of head 0 of two: the second half of the first token.
        let first = wrong(2).index_axis_move(Axis(0), 0);
        assert_eq!(first.row(1), x.row(0).slice_axis(Axis(0), Slice::from(4..)));
        assert!(split_without_transpose(x.view(), 3).is_err());
    }
}
