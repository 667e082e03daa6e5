//! The heads of an attention layer: columns of the projections, and the attention of one sequence
//! over them.
//!
//! ```text
//! split:  [T, H·D] -> [H, T, D]         head h owns columns h·D … h·D + D − 1;  join is the inverse
//! ```
//!
//! ```
//! use engine::nn::heads::{join, split};
//! use ndarray::array;
//! let x = array![[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]];
//! let heads = split(x.view(), 2)?;
//! assert_eq!(heads.dim(), (2, 2, 2));
//! assert_eq!(join(heads.view()), x);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.2.2.

use super::attention::{self, Mask, Scoring};
use super::blockwise::Blockwise;
use super::kv_cache::StoredRows::Single;
use crate::error::{EngineError, Result};
use crate::shape::{contiguous, elements_mut, expect};
use crate::trace::Observer;
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
    stacked((heads, tokens, width), out)
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

/// The attention of one sequence: with an observer by [`attention::attend`], which shows every
/// step, and otherwise by the fast path, which computes the same.
///
/// # Errors
/// When `q`, the keys or the values have not as many numbers as the sizes say.
pub(super) fn attend(
    sizes: &Blockwise<'_>,
    q: ArrayView3<'_, f32>,
    trace: &mut Option<&mut dyn Observer>,
) -> Result<Array3<f32>> {
    // q [H, T, D] -> [H, T, D]
    if trace.is_none() {
        let out = sizes.attend(&contiguous(&q))?;
        return stacked((sizes.heads, sizes.tokens, sizes.width), out);
    }
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for g in 0..sizes.kv_heads {
        let (k, v) = (sizes.keys_and_values)(g);
        keys.extend_from_slice(&k.to_f32());
        values.extend_from_slice(&v.to_f32());
    }
    let dim = (sizes.kv_heads, sizes.sources, sizes.width);
    let (k, v) = (stacked(dim, keys)?, stacked(dim, values)?);
    let mask = match sizes.causal {
        Some(first) if sizes.window.is_none() => Mask::Causal { first },
        Some(_) => {
            let dim = (sizes.tokens, sizes.sources);
            Mask::Boolean(Array2::from_shape_fn(dim, |(t, s)| {
                sizes.seen(t).contains(&s)
            }))
        }
        None => Mask::None,
    };
    let scoring = Scoring::Dot(sizes.scale);
    Ok(attention::attend(q, k.view(), v.view(), &scoring, &mask, trace)?.output)
}

/// The attention of one sequence over all keys, softmax(q_h · k_hᵀ / √D) · v_h, as [`attend`].
///
/// # Errors
/// When heads, widths or sources differ.
pub(super) fn attend_all(
    q: ArrayView3<'_, f32>,
    k: ArrayView3<'_, f32>,
    v: ArrayView3<'_, f32>,
    trace: &mut Option<&mut dyn Observer>,
) -> Result<Array3<f32>> {
    // q [H, T, D], k and v [H, S, D] -> [H, T, D]
    let ((heads, tokens, width), sources) = (q.dim(), k.dim().1);
    expect("attention", "keys", &[heads, sources, width], k.shape())?;
    expect("attention", "values", &[heads, sources, width], v.shape())?;
    let (keys, values) = (contiguous(&k), contiguous(&v));
    let head = |h: usize| h * sources * width..(h + 1) * sources * width;
    let sizes = Blockwise {
        heads,
        kv_heads: heads,
        tokens,
        width,
        sources,
        scale: attention::scale(width),
        causal: None,
        window: None,
        keys_and_values: &|h| (Single(&keys[head(h)]), Single(&values[head(h)])),
    };
    attend(&sizes, q, trace)
}

/// An array from its elements in row-major order.
pub(super) fn stacked(dim: (usize, usize, usize), all: Vec<f32>) -> Result<Array3<f32>> {
    Array3::from_shape_vec(dim, all)
        .map_err(|error| EngineError::shape("attention", "heads", error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::normal_matrix;
    use crate::trace::Recorder;
    use ndarray::Ix3;

    /// The fast path against [`attention::attend`]: groups, masks, more queries than it compares at
    /// once.
    #[test]
    fn the_fast_path_computes_what_attend_shows() {
        for (heads, kv_heads) in [(2, 2), (4, 2), (4, 1)] {
            for (tokens, before) in [(1, 0), (1, 9), (3, 0), (5, 4), (32, 1), (70, 3)] {
                for (causal, window) in [
                    (None, None),
                    (Some(before), None),
                    (Some(before), Some(1)),
                    (Some(before), Some(4)),
                    (Some(before), Some(100)),
                ] {
                    let (width, sources) = (6, before + tokens);
                    let draw = |name, count, rows| {
                        normal_matrix(3, name, count * rows, width, 1.0)
                            .into_raw_vec_and_offset()
                            .0
                    };
                    let (keys, values) =
                        (draw("k", kv_heads, sources), draw("v", kv_heads, sources));
                    let head = |g: usize| g * sources * width..(g + 1) * sources * width;
                    let sizes = Blockwise {
                        heads,
                        kv_heads,
                        tokens,
                        width,
                        sources,
                        scale: 0.4,
                        causal,
                        window,
                        keys_and_values: &|g| (Single(&keys[head(g)]), Single(&values[head(g)])),
                    };
                    let q = stacked((heads, tokens, width), draw("q", heads, tokens)).unwrap();
                    let fast = attend(&sizes, q.view(), &mut None).unwrap();
                    let mut seen = Recorder::default();
                    let shown = attend(&sizes, q.view(), &mut Some(&mut seen)).unwrap();
                    assert!((&fast - &shown).iter().all(|d| d.abs() < 1e-6));
                    let weights = seen.get("attention.weights").unwrap();
                    assert_eq!(weights.shape(), [heads, tokens, sources]);
                    let weights = weights.clone().into_dimensionality::<Ix3>().unwrap();
                    for ((_, t, s), &weight) in weights.indexed_iter() {
                        let first = window.map_or(0, |w| (before + t + 1).saturating_sub(w));
                        let hidden = causal.is_some() && (s < first || s > before + t);
                        assert_eq!(weight == 0.0, hidden, "{window:?} {t} {s}");
                    }
                }
            }
        }
    }

    #[test]
    fn heads_that_do_not_divide_the_width_are_refused() {
        let x = Array2::zeros((2, 6));
        assert!(split(x.view(), 4).is_err());
        assert!(split(x.view(), 0).is_err());
    }
}
