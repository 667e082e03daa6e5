//! Causal attention of whole texts with a bias on each score, by head and distance.
//!
//! ```text
//! bias_h[t, s] = by_distance[h, min(t − s, R)]      s ≤ t, by_distance [H, R + 1]
//!              = −∞                                 s > t: later tokens are hidden        -> [H, T, T]
//! heads = softmax(q_h · k_hᵀ / √D + bias_h) · v_h                                         -> [T, H·D]
//! ```
//! A learned bias by offset and the slopes of ALiBi are both of this form; beyond distance R all
//! pairs of a head share its last number.
//!
//! ```
//! use engine::nn::biased::causal_bias;
//! use ndarray::array;
//! let bias = causal_bias(array![[0.0, -0.5]].view(), 3)?;
//! assert_eq!(bias.row(2).to_vec(), [-0.5, -0.5, 0.0]);
//! assert_eq!(bias[[0, 1]], f32::NEG_INFINITY);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Raffel et al. 2020 (T5), section 2.1; Press, Smith and Lewis 2022 (ALiBi), section 3.

use super::attention::{self, Mask, Scoring, scale};
use super::heads::{join_into, split};
use super::packed::{expect_tokens, ranges};
use super::position::relative::bias_matrix;
use crate::error::{EngineError, Result};
use crate::shape::expect;
use crate::trace::{Observer, observe};
use ndarray::{Array2, Array3, ArrayView2, Axis, s};

/// The bias of one head, from its row of `by_distance`: hidden pairs are −∞.
///
/// # Errors
/// When there is no number or more than one row.
pub fn causal_bias(by_distance: ArrayView2<'_, f32>, tokens: usize) -> Result<Array2<f32>> {
    // by_distance [1, R + 1] -> [T, T]
    let count = by_distance.ncols();
    expect(
        "causal_bias",
        "rows",
        &[1, count.max(1)],
        by_distance.shape(),
    )?;
    // One offset more to either side than there are distances, so that a later key has its own.
    let offset = |i: usize| match count.checked_sub(i) {
        Some(distance) => by_distance[[0, distance.min(count - 1)]],
        None => f32::NEG_INFINITY,
    };
    let by_offset: Vec<f32> = (0..=2 * count).map(offset).collect();
    bias_matrix(&by_offset, tokens, tokens)
}

/// Each sequence by itself; heads side by side.
pub(super) fn attend_each(
    q: &Array2<f32>,
    k: &Array2<f32>,
    v: &Array2<f32>,
    by_distance: ArrayView2<'_, f32>,
    lengths: &[usize],
    trace: &mut Option<&mut dyn Observer>,
) -> Result<Array2<f32>> {
    // q, k, v [T, H·D], by_distance [H, R + 1] -> [T, H·D]
    let (tokens, width) = q.dim();
    expect_tokens(lengths, tokens)?;
    let heads = by_distance.nrows();
    if heads == 0 {
        return Err(EngineError::value(
            "attention",
            "heads",
            "at least 1",
            heads,
        ));
    }
    let mut joined = Array2::zeros(q.raw_dim());
    // The texts of a batch are mostly as long as each other.
    let mut mask = Mask::None;
    let mut masked = 0;
    for rows in ranges(lengths) {
        if rows.len() != masked {
            masked = rows.len();
            mask = Mask::PerHead(stacked(by_distance, masked)?);
        }
        let (start, rows) = (rows.start, s![rows, ..]);
        let mut q = split(q.slice(rows), heads)?;
        let mut k = split(k.slice(rows), heads)?;
        let mut v = split(v.slice(rows), heads)?;
        observe(trace, "attention.q", &mut q);
        observe(trace, "attention.k", &mut k);
        observe(trace, "attention.v", &mut v);
        let scoring = Scoring::Dot(scale(width / heads));
        let found = attention::attend(q.view(), k.view(), v.view(), &scoring, &mask, trace)?;
        join_into(found.output.view(), &mut joined, start)?;
    }
    Ok(joined)
}

/// The biases of all heads for a text of `tokens` tokens.
fn stacked(by_distance: ArrayView2<'_, f32>, tokens: usize) -> Result<Array3<f32>> {
    // by_distance [H, R + 1] -> [H, T, T]
    let mut all = Array3::zeros((by_distance.nrows(), tokens, tokens));
    for (h, mut head) in all.outer_iter_mut().enumerate() {
        head.assign(&causal_bias(
            by_distance.slice_axis(Axis(0), (h..=h).into()),
            tokens,
        )?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::compute::Compute;
    use crate::nn::plain::Plain;
    use crate::nn::position::alibi::{bias, slopes};
    use crate::rng::normal_matrix;

    #[test]
    fn the_slopes_of_alibi_are_such_a_bias() {
        let slope = slopes(4)[1];
        let by_distance = Array2::from_shape_fn((1, 5), |(_, d)| -slope * d as f32);
        let found = causal_bias(by_distance.view(), 5).unwrap();
        let expected = bias(5, slope);
        for ((t, s), found) in found.indexed_iter() {
            let expected = if s > t {
                f32::NEG_INFINITY
            } else {
                expected[[t, s]]
            };
            assert_eq!(*found, expected, "{t} {s}");
        }
    }

    #[test]
    fn without_bias_it_is_causal_attention() {
        let [q, k, v] = ["q", "k", "v"].map(|name| normal_matrix(3, name, 7, 6, 1.0));
        let none = Array2::zeros((2, 1));
        let all = [q.clone(), k.clone(), v.clone()];
        let found = Plain::silent().attend_with_bias(all, &none, &[4, 3]);
        let found = found.unwrap();
        for rows in [0..4, 4..7] {
            let (first, rows) = (rows.start, s![rows, ..]);
            let parts = [&q, &k, &v].map(|x| split(x.slice(rows), 2).unwrap());
            let [q, k, v] = parts.each_ref().map(|part| part.view());
            let scoring = Scoring::Dot(scale(3));
            let causal = Mask::Causal { first: 0 };
            let expected = attention::attend(q, k, v, &scoring, &causal, &mut None).unwrap();
            let mut joined = Array2::zeros((7, 6));
            join_into(expected.output.view(), &mut joined, first).unwrap();
            let differences = &joined.slice(rows) - &found.slice(rows);
            assert!(differences.iter().all(|d| d.abs() < 1e-6));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let x = normal_matrix(3, "x", 4, 6, 1.0);
        let all = || [x.clone(), x.clone(), x.clone()];
        let mut plain = Plain::silent();
        for (shape, lengths) in [((0, 1), [4]), ((2, 0), [4]), ((4, 1), [4]), ((2, 1), [3])] {
            let bias = Array2::zeros(shape);
            assert!(plain.attend_with_bias(all(), &bias, &lengths).is_err());
        }
    }
}
