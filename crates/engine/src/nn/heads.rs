//! The heads of an attention layer, all at once, where everything may be seen.
//!
//! ```text
//! split:  [T, H·D] -> [H, T, D]         head h owns columns h·D … h·D + D − 1;  join is the way back
//! attend: softmax(scale · q_h · k_hᵀ) · v_h      q [H, T, D], k and v [H, S, D] -> [H, T, D]
//! ```
//!
//! ```
//! use engine::nn::heads::{attend, join, split};
//! use ndarray::array;
//! let x = array![[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]];
//! let heads = split(x.view(), 2)?;
//! assert_eq!(heads.dim(), (2, 2, 2));
//! assert_eq!(join(heads.view()), x);
//! let out = attend(heads.clone(), heads.view(), heads.view(), 0.0, &mut None)?; // Scale 0: each takes the mean of all.
//! assert_eq!(join(out.view()), array![[3.0, 4.0, 5.0, 6.0], [3.0, 4.0, 5.0, 6.0]]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.2.2.

use super::blockwise::Blockwise;
use super::shape::{contiguous, elements_mut, expect};
use crate::error::{EngineError, Result};
use crate::kernel;
use crate::trace::{Observer, observe};
use ndarray::{Array2, Array3, ArrayView2, ArrayView3};

/// Columns to heads.
///
/// # Errors
/// When the number of heads does not divide the columns.
pub fn split(joined: ArrayView2<'_, f32>, heads: usize) -> Result<Array3<f32>> {
    // joined [T, H·D] -> [H, T, D]
    let (tokens, columns) = joined.dim();
    if heads == 0 || !columns.is_multiple_of(heads) {
        let expected = format!("a divisor of the width {columns}");
        return Err(EngineError::value("split", "heads", expected, heads));
    }
    let (width, all) = (columns / heads, contiguous(&joined));
    let mut out = Vec::with_capacity(all.len());
    for h in 0..heads {
        for row in all.chunks_exact(columns.max(1)) {
            out.extend_from_slice(&row[h * width..(h + 1) * width]);
        }
    }
    Array3::from_shape_vec((heads, tokens, width), out)
        .map_err(|error| EngineError::shape("split", "heads", error.to_string()))
}

/// Heads side by side.
pub fn join(heads: ArrayView3<'_, f32>) -> Array2<f32> {
    // heads [H, T, D] -> [T, H·D]
    let (count, tokens, width) = heads.dim();
    let mut out = Array2::zeros((tokens, count * width));
    // A new array lies row by row, and has the rows.
    let _ = join_into(heads, &mut out, 0);
    out
}

/// Heads side by side, into the rows from `start` on.
///
/// # Errors
/// When `out` does not lie row by row.
pub(super) fn join_into(
    heads: ArrayView3<'_, f32>,
    out: &mut Array2<f32>,
    start: usize,
) -> Result<()> {
    // heads [H, T, D], out [.., H·D]
    let ((_, tokens, width), columns) = (heads.dim(), out.ncols());
    let all = contiguous(&heads);
    let out = elements_mut("attention", out)?;
    for (n, from) in all.chunks_exact(width.max(1)).enumerate() {
        let (head, token) = (n / tokens, n % tokens);
        let at = (start + token) * columns + head * width;
        out[at..at + width].copy_from_slice(from);
    }
    Ok(())
}

/// scale · q · kᵀ of each head.
///
/// # Errors
/// When heads or widths differ.
pub fn scores(q: ArrayView3<'_, f32>, k: ArrayView3<'_, f32>, scale: f32) -> Result<Array3<f32>> {
    // q [H, T, D], k [H, S, D] -> [H, T, S]
    let ((heads, tokens, width), sources) = (q.dim(), k.dim().1);
    expect("attention", "keys", &[heads, sources, width], k.shape())?;
    let mut out = Array3::zeros((heads, tokens, sources));
    let (q, k) = (contiguous(&q), contiguous(&k));
    let all = elements_mut("attention", &mut out)?;
    for h in 0..heads {
        kernel::matmul_nt(
            &q[h * tokens * width..(h + 1) * tokens * width],
            &k[h * sources * width..(h + 1) * sources * width],
            &mut all[h * tokens * sources..(h + 1) * tokens * sources],
            tokens,
            width,
            sources,
        );
    }
    all.iter_mut().for_each(|score| *score *= scale);
    Ok(out)
}

/// softmax over the last axis, in place.
///
/// # Errors
/// When the rows do not lie one after the other.
pub fn softmax(scores: &mut Array3<f32>) -> Result<()> {
    // scores [H, T, S]
    let sources = scores.dim().2;
    let all = elements_mut("attention", scores)?;
    all.chunks_exact_mut(sources.max(1))
        .for_each(kernel::softmax);
    Ok(())
}

/// weights · v of each head.
///
/// # Errors
/// When heads or sources differ.
pub fn mix(weights: ArrayView3<'_, f32>, v: ArrayView3<'_, f32>) -> Result<Array3<f32>> {
    // weights [H, T, S], v [H, S, D] -> [H, T, D]
    let ((heads, tokens, sources), width) = (weights.dim(), v.dim().2);
    expect("attention", "values", &[heads, sources, width], v.shape())?;
    let mut out = Array3::zeros((heads, tokens, width));
    let (weights, v) = (contiguous(&weights), contiguous(&v));
    let all = elements_mut("attention", &mut out)?;
    for h in 0..heads {
        kernel::mix(
            &weights[h * tokens * sources..(h + 1) * tokens * sources],
            &v[h * sources * width..(h + 1) * sources * width],
            &mut all[h * tokens * width..(h + 1) * tokens * width],
            tokens,
            sources,
            width,
        );
    }
    Ok(out)
}

/// softmax(scale · q · kᵀ) · v of each head. The observer gets `attention.scores` and `attention.weights` `[H, T, S]` and
/// `attention.heads` `[H, T, D]`.
///
/// # Errors
/// When heads, widths or sources differ.
pub fn attend(
    q: Array3<f32>,
    k: ArrayView3<'_, f32>,
    v: ArrayView3<'_, f32>,
    scale: f32,
    trace: &mut Option<&mut dyn Observer>,
) -> Result<Array3<f32>> {
    // q [H, T, D], k and v [H, S, D] -> [H, T, D]
    if trace.is_none() {
        let ((heads, tokens, width), sources) = (q.dim(), k.dim().1);
        expect("attention", "keys", &[heads, sources, width], k.shape())?;
        expect("attention", "values", &[heads, sources, width], v.shape())?;
        let (keys, values) = (contiguous(&k), contiguous(&v));
        let head = |h: usize| h * sources * width..(h + 1) * sources * width;
        let all = Blockwise {
            heads,
            kv_heads: heads,
            tokens,
            width,
            sources,
            scale,
            causal: None,
            keys_and_values: &|h| (&keys[head(h)], &values[head(h)]),
        };
        let out = all.attend(&contiguous(&q.view()))?;
        return Array3::from_shape_vec((heads, tokens, width), out)
            .map_err(|error| EngineError::shape("attention", "heads", error.to_string()));
    }
    let mut weights = scores(q.view(), k, scale)?;
    observe(trace, "attention.scores", &mut weights);
    softmax(&mut weights)?;
    observe(trace, "attention.weights", &mut weights);
    let mut heads = mix(weights.view(), v)?;
    observe(trace, "attention.heads", &mut heads);
    Ok(heads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::attention::{Mask, attend as one_head};
    use crate::rng::normal_matrix;
    use ndarray::s;

    #[test]
    fn each_head_is_an_attention_of_its_own() {
        let draw = |name, rows| split(normal_matrix(3, name, rows, 6, 1.0).view(), 2).unwrap();
        let (q, k, v) = (draw("q", 3), draw("k", 4), draw("v", 4));
        let found = attend(q.clone(), k.view(), v.view(), 0.7, &mut None).unwrap();
        for h in 0..2 {
            let head = s![h, .., ..];
            let (q, k, v) = (q.slice(head), k.slice(head), v.slice(head));
            let expected = one_head(q, k, v, 0.7, &Mask::None).unwrap().output;
            let difference = &found.slice(head) - &expected;
            assert!(difference.iter().all(|d| d.abs() < 1e-6));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let x = Array2::zeros((2, 6));
        assert!(split(x.view(), 4).is_err());
        assert!(split(x.view(), 0).is_err());
        let (a, b) = (Array3::zeros((2, 3, 4)), Array3::zeros((2, 3, 5)));
        assert!(scores(a.view(), b.view(), 1.0).is_err());
        assert!(mix(a.view(), b.view()).is_err());
    }
}
