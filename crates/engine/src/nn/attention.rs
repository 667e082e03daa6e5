//! Attention: the one function that lessons show, that tests compare everything with, and that an
//! observed model runs.
//!
//! ```text
//! scores  = scale · q_h · k_gᵀ         q [H, T, D], k [G, S, D]  -> [H, T, S],  scale = 1/√D,  g = ⌊h G / H⌋
//!     or  = τ_h · cos(q_h, k_g)
//! masked  = scores, hidden pairs −∞, or with a bias added        -> [H, T, S]
//! weights = softmax of each row                                  -> [H, T, S]
//! output  = weights_h · v_g            v [G, S, D_v]             -> [H, T, D_v]
//! ```
//!
//! ```
//! use engine::nn::attention::{attend, scale, Mask, Scoring};
//! use ndarray::array;
//! let q = array![[[1.0, 0.0], [0.8, 0.2], [0.0, 1.0]]]; // One head, three tokens.
//! let k = array![[[1.0, 0.0], [0.9, 0.1], [0.1, 0.9]]];
//! let v = array![[[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]]];
//! let found = attend(q.view(), k.view(), v.view(), &Scoring::Dot(scale(2)), &Mask::None, &mut None)?;
//! assert!((found.scores[[0, 0, 0]] - 0.707).abs() < 1e-3);
//! assert!((found.weights[[0, 0, 0]] - 0.406).abs() < 1e-3);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! A hidden pair gets weight exactly 0 and its value is not read, so a hidden token cannot change a
//! bit of the output, even where it holds NaN.
//!
//! A model without an observer computes the same with `nn/blockwise.rs`, which never holds all
//! weights at once; the gradient is in `grad/attention.rs`. Tests compare both with this function.
//!
//! Source: Vaswani et al. 2017, "Attention is all you need", section 3.2.1, equation 1; groups:
//! Ainslie et al. 2023, "GQA", section 2.2; cosine: Liu et al. 2022, "Swin Transformer V2",
//! equation 2.

use super::softmax::softmax_rows;
use crate::error::{EngineError, Result};
use crate::shape::{contiguous, expect, matrix, mismatch, product_nt};
use crate::trace::{self, Observer, observe};
use crate::{kernel, math};
use ndarray::{Array1, Array2, Array3, ArrayView2, ArrayView3, Axis, Zip};

/// The comparison of a query with a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Scoring {
    /// scale · q · k; see [`scale`].
    Dot(f32),
    /// τ_h · q · k / (|q| |k|), the lengths at least 1e-12. `[H]`: the temperatures τ; head h has
    /// temperature h modulo their number, so windows may come one after the other, each with all
    /// heads.
    Cosine(Array1<f32>),
}

/// The pairs of query and key that may attend to each other, and a bias of their scores.
#[derive(Debug, Clone, PartialEq)]
pub enum Mask {
    /// Every query attends to every key.
    None,
    /// Query t is token `first` + t of its sequence, and attends to the keys 0 … `first` + t.
    Causal {
        /// Position of the first query.
        first: usize,
    },
    /// `[T, S]`: true where query t may attend to key s; elsewhere the score becomes −∞.
    Boolean(Array2<bool>),
    /// `[T, S]`: a number added to each score (ALiBi, relative bias, −10,000 …). −∞ hides the pair,
    /// whatever its score is.
    Additive(Array2<f32>),
    /// `[H, T, S]`: the same with numbers for each head; head h has bias h modulo their number, as
    /// in [`Scoring::Cosine`].
    PerHead(Array3<f32>),
}

/// The four steps of one attention.
#[derive(Debug, Clone, PartialEq)]
pub struct Attention {
    /// `[H, T, S]`: scores of queries and keys, before the mask.
    pub scores: Array3<f32>,
    /// `[H, T, S]`: scores after the mask.
    pub masked: Array3<f32>,
    /// `[H, T, S]`: softmax of each row of `masked`.
    pub weights: Array3<f32>,
    /// `[H, T, D_v]`: for each query the weighted sum of the values.
    pub output: Array3<f32>,
}

/// softmax(mask(scores of q and k)) · v of each head, with every step kept. H may be a multiple of
/// G, the heads of keys and values: H / G heads of queries then share one of them.
///
/// The observer gets `attention.scores` (before the mask), `attention.weights` and
/// `attention.heads`, the output.
///
/// # Errors
/// When heads, widths, lengths of keys and values, or the mask do not fit.
pub fn attend(
    q: ArrayView3<'_, f32>,
    k: ArrayView3<'_, f32>,
    v: ArrayView3<'_, f32>,
    scoring: &Scoring,
    mask: &Mask,
    trace: &mut Option<&mut dyn Observer>,
) -> Result<Attention> {
    // q [H, T, D], k [G, S, D], v [G, S, D_v] -> output [H, T, D_v]
    trace::called(trace, "attention", concat!(module_path!(), "::attend"));
    let heads = q.dim().0;
    let group = group(heads, k, v)?;

    let mut scores = each_head(heads, |h| {
        let (q, k) = (head(&q, h), head(&k, h / group));
        match scoring {
            Scoring::Dot(scale) => scores(q, k, *scale),
            Scoring::Cosine(all) => scores(unit_rows(q).view(), unit_rows(k).view(), of(all, h)?),
        }
    })?;
    observe(trace, "attention.scores", &mut scores);
    let masked = each_head(heads, |h| apply_mask(head(&scores.view(), h), mask, h))?;
    let mut weights = each_head(heads, |h| Ok(softmax_rows(head(&masked.view(), h))))?;
    observe(trace, "attention.weights", &mut weights);
    let mut output = each_head(heads, |h| {
        mix_values(head(&weights.view(), h), head(&v, h / group))
    })?;
    observe(trace, "attention.heads", &mut output);
    Ok(Attention {
        scores,
        masked,
        weights,
        output,
    })
}

/// 1/√d_k, which keeps the variance of a score near 1 for queries and keys of variance 1.
pub fn scale(d_k: usize) -> f32 {
    1.0 / math::sqrt(d_k as f32)
}

/// scale · q · kᵀ of one head.
///
/// # Errors
/// When queries and keys have different widths.
pub fn scores(q: ArrayView2<'_, f32>, k: ArrayView2<'_, f32>, scale: f32) -> Result<Array2<f32>> {
    // q [T, D], k [S, D] -> [T, S]
    Ok(product_nt("attention scores", q, k)? * scale)
}

/// The scores of one head after the mask: hidden pairs are −∞, biases are added. `head` says which
/// bias, where each head has one.
///
/// # Errors
/// When the mask has another shape than the scores.
pub fn apply_mask(scores: ArrayView2<'_, f32>, mask: &Mask, head: usize) -> Result<Array2<f32>> {
    // scores [T, S], mask [T, S] -> [T, S]
    let bias = match mask {
        Mask::None => return Ok(scores.to_owned()),
        Mask::Causal { first } => {
            let mut masked = scores.to_owned();
            for (t, mut row) in masked.rows_mut().into_iter().enumerate() {
                let later = row.iter_mut().skip(first + t + 1);
                later.for_each(|score| *score = f32::NEG_INFINITY);
            }
            return Ok(masked);
        }
        Mask::Boolean(visible) => {
            expect("apply_mask", "mask", scores.shape(), visible.shape())?;
            return Ok(Zip::from(scores)
                .and(visible)
                .map_collect(|&s, &see| if see { s } else { f32::NEG_INFINITY }));
        }
        Mask::Additive(bias) => bias.view(),
        Mask::PerHead(all) if all.is_empty() => return Ok(scores.to_owned()),
        Mask::PerHead(all) => all.index_axis(Axis(0), head % all.dim().0),
    };
    expect("apply_mask", "mask", scores.shape(), bias.shape())?;
    // −∞ replaces instead of being added: NaN − ∞ would stay NaN and leak.
    Ok(Zip::from(scores)
        .and(bias)
        .map_collect(|&s, &b| if b == f32::NEG_INFINITY { b } else { s + b }))
}

/// weights · v of one head; a value whose weight is exactly 0 is not read.
///
/// # Errors
/// When there is not one value for each column of the weights.
pub fn mix_values(weights: ArrayView2<'_, f32>, v: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
    // weights [T, S], v [S, D_v] -> [T, D_v]
    let ((tokens, sources), (found, width)) = (weights.dim(), v.dim());
    if sources != found {
        let (expected, v) = ("weights [T, S] and values [S, D_v]", v.shape());
        return Err(mismatch("mix_values", expected, weights.shape(), v));
    }
    let mut out = vec![0.0; tokens * width];
    let (weights, v) = (contiguous(&weights), contiguous(&v));
    kernel::mix(&weights, &v, &mut out, tokens, sources, width);
    matrix("mix_values", tokens, width, out)
}

/// The heads of queries that share one head of keys and values, H / G.
fn group(heads: usize, k: ArrayView3<'_, f32>, v: ArrayView3<'_, f32>) -> Result<usize> {
    let ((groups, sources, _), (v_groups, v_sources, _)) = (k.dim(), v.dim());
    if (groups, sources) != (v_groups, v_sources) {
        let expected = "keys [G, S, D] and values [G, S, D_v]";
        return Err(mismatch("attend", expected, k.shape(), v.shape()));
    }
    if groups == 0 || heads == 0 || !heads.is_multiple_of(groups) {
        let expected = format!("a multiple, above 0, of the {groups} heads of keys");
        return Err(EngineError::value("attend", "heads", expected, heads));
    }
    Ok(heads / groups)
}

fn head<'a>(all: &'a ArrayView3<'_, f32>, h: usize) -> ArrayView2<'a, f32> {
    all.index_axis(Axis(0), h)
}

/// Temperature h modulo their number.
fn of(temperatures: &Array1<f32>, h: usize) -> Result<f32> {
    let found = temperatures.iter().cycle().nth(h).copied();
    found.ok_or_else(|| EngineError::value("attend", "temperatures", "at least 1", 0))
}

/// The matrices of all heads, one after the other.
fn each_head(heads: usize, compute: impl Fn(usize) -> Result<Array2<f32>>) -> Result<Array3<f32>> {
    let (mut all, mut dim) = (Vec::new(), (0, 0));
    for h in 0..heads {
        let one = compute(h)?;
        dim = one.dim();
        all.reserve_exact((heads - h) * one.len());
        all.extend_from_slice(&contiguous(&one.view()));
    }
    Array3::from_shape_vec((heads, dim.0, dim.1), all)
        .map_err(|error| EngineError::shape("attend", "heads of one shape", error.to_string()))
}

/// Each row scaled to length 1.
fn unit_rows(x: ArrayView2<'_, f32>) -> Array2<f32> {
    let mut x = x.to_owned();
    for mut row in x.rows_mut() {
        let length = math::sqrt(row.iter().map(|v| v * v).sum::<f32>()).max(1e-12);
        row /= length;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::normal_matrix;
    use ndarray::{Array, s};

    fn draw(name: &str, heads: usize, rows: usize, width: usize) -> Array3<f32> {
        let flat = normal_matrix(3, name, heads * rows, width, 1.0);
        flat.into_shape_with_order((heads, rows, width)).unwrap()
    }

    /// Heads attend by themselves, and a group shares its keys and values.
    #[test]
    fn every_head_of_a_group_is_an_attention_of_its_own() {
        let (q, k, v) = (draw("q", 4, 3, 5), draw("k", 2, 6, 5), draw("v", 2, 6, 2));
        let bias = draw("bias", 4, 3, 6);
        let mask = Mask::PerHead(bias.clone());
        let all = attend(
            q.view(),
            k.view(),
            v.view(),
            &Scoring::Dot(0.7),
            &mask,
            &mut None,
        );
        let all = all.unwrap();
        assert_eq!(all.output.dim(), (4, 3, 2));
        for h in 0..4 {
            let (own, shared) = (s![h..=h, .., ..], s![h / 2..=h / 2, .., ..]);
            let mask = Mask::Additive(bias.index_axis(Axis(0), h).to_owned());
            let (q, k, v) = (q.slice(own), k.slice(shared), v.slice(shared));
            let one = attend(q, k, v, &Scoring::Dot(0.7), &mask, &mut None).unwrap();
            assert_eq!(one.output, all.output.slice(own));
            assert_eq!(one.weights, all.weights.slice(own));
        }
    }

    #[test]
    fn causal_masks_say_the_same_in_three_ways() {
        let (q, k, v) = (draw("q", 2, 3, 4), draw("k", 2, 5, 4), draw("v", 2, 5, 4));
        let visible = Array::from_shape_fn((3, 5), |(t, s)| s <= 2 + t);
        let added = visible.mapv(|see| if see { 0.0 } else { f32::NEG_INFINITY });
        let run = |mask| {
            let scoring = Scoring::Dot(scale(4));
            attend(q.view(), k.view(), v.view(), &scoring, &mask, &mut None).unwrap()
        };
        let causal = run(Mask::Causal { first: 2 });
        assert_eq!(causal, run(Mask::Boolean(visible)));
        assert_eq!(causal, run(Mask::Additive(added)));
        assert!(causal.weights[[1, 0, 3]] == 0.0 && causal.weights[[1, 2, 4]] > 0.0);
    }

    /// The length of queries and keys does not matter to their angle, and the temperature
    /// multiplies it.
    #[test]
    fn cosines_are_between_minus_and_plus_their_temperature() {
        let (q, k, v) = (draw("q", 4, 3, 5), draw("k", 4, 6, 5), draw("v", 4, 6, 5));
        let scoring = Scoring::Cosine(Array1::from_vec(vec![1.0, 3.0]));
        let run = |q: &Array3<f32>| {
            attend(
                q.view(),
                k.view(),
                v.view(),
                &scoring,
                &Mask::None,
                &mut None,
            )
            .unwrap()
        };
        let (found, longer) = (run(&q), run(&(&q * 8.0)));
        assert!(
            (&found.scores - &longer.scores)
                .iter()
                .all(|d| d.abs() < 1e-5)
        );
        for ((h, _, _), score) in found.scores.indexed_iter() {
            assert!(score.abs() <= [1.0, 3.0][h % 2] + 1e-5);
        }
        let none = Scoring::Cosine(Array1::zeros(0));
        assert!(attend(q.view(), k.view(), v.view(), &none, &Mask::None, &mut None).is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (q, k) = (draw("q", 4, 3, 5), draw("k", 2, 6, 5));
        let run = |q: &Array3<f32>, k: &Array3<f32>, v: &Array3<f32>, mask: &Mask| {
            attend(
                q.view(),
                k.view(),
                v.view(),
                &Scoring::Dot(1.0),
                mask,
                &mut None,
            )
            .is_err()
        };
        assert!(!run(&q, &k, &k, &Mask::None));
        assert!(run(&draw("q", 3, 3, 5), &k, &k, &Mask::None));
        assert!(run(&draw("q", 4, 3, 4), &k, &k, &Mask::None));
        assert!(run(&q, &k, &draw("v", 2, 5, 5), &Mask::None));
        assert!(run(&q, &k, &draw("v", 4, 6, 5), &Mask::None));
        assert!(run(&q, &k, &k, &Mask::Additive(Array2::zeros((3, 5)))));
        assert!(run(
            &q,
            &k,
            &k,
            &Mask::Boolean(Array2::from_elem((2, 6), true))
        ));
        assert!(run(&q, &k, &k, &Mask::PerHead(Array3::zeros((4, 3, 5)))));
    }
}
