//! How far what a token holds spreads through layers of masked attention.
//!
//! ```text
//! reached_0 = {from},   reached_{l+1} = reached_l and every t that sees an s of reached_l     mask [T, T]
//! ```
//! Only whether something can arrive is followed, not how much of it. The residual stream keeps what
//! is there, so a token stays reached.
//!
//! ```
//! use engine::nn::mask::causal;
//! use explain::reach::{layers_to, window};
//! assert_eq!(layers_to(causal(9).view(), 0, 8)?, Some(1));
//! assert_eq!(layers_to(window(9, 3).view(), 0, 8)?, Some(4)); // 2 tokens further with each layer
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Beltagy, Peters and Cohan 2020, "Longformer", section 3.1 (l layers with windows of w reach
//! l · w); Child et al. 2019, "Generating long sequences with sparse Transformers", section 4.2.

use engine::error::{EngineError, Result};
use engine::nn::mask;
use engine::shape;
use ndarray::{Array2, ArrayView2};

/// The causal mask within a window: each token sees itself and the `held` − 1 tokens before it.
pub fn window(tokens: usize, held: usize) -> Array2<bool> {
    // -> [T, T]
    let near = mask::local_window(tokens, held.saturating_sub(1));
    mask::causal(tokens) & near
}

/// For each token the number of layers after which it is reached; `None` for one that never is.
///
/// # Errors
/// When the mask is not square, or has no token `from`.
pub fn layers(mask: ArrayView2<'_, bool>, from: usize) -> Result<Vec<Option<usize>>> {
    // mask [T, T] -> [T]
    let tokens = mask.nrows();
    shape::expect("reach", "mask", &[tokens, tokens], mask.shape())?;
    if from >= tokens {
        return Err(EngineError::value("reach", "from", "a token", from));
    }
    let mut reached = vec![None; tokens];
    reached[from] = Some(0);
    let mut last = vec![from];
    for layer in 1.. {
        let mut next = Vec::new();
        for &s in &last {
            for (t, reached) in reached.iter_mut().enumerate() {
                if reached.is_none() && mask[[t, s]] {
                    *reached = Some(layer);
                    next.push(t);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        last = next;
    }
    Ok(reached)
}

/// The number of layers until token `to` is reached; `None` if it never is.
///
/// # Errors
/// When the mask is not square, or has no such tokens.
pub fn layers_to(mask: ArrayView2<'_, bool>, from: usize, to: usize) -> Result<Option<usize>> {
    // mask [T, T] -> scalar
    let all = layers(mask, from)?;
    let there = all.get(to).copied();
    there.ok_or_else(|| EngineError::value("reach", "to", "a token", to))
}

/// The share of visible pairs in each of `side` x `side` equal parts of a mask: a picture of a large
/// one.
pub fn density(mask: ArrayView2<'_, bool>, side: usize) -> Array2<f32> {
    // mask [T, T] -> [side, side]
    let (rows, cols) = mask.dim();
    let bounds = |n: usize, count: usize| (n * count / side)..((n + 1) * count / side);
    Array2::from_shape_fn((side, side), |(i, j)| {
        let (down, across) = (bounds(i, rows), bounds(j, cols));
        let count = down.len() * across.len();
        let seen = down.flat_map(|t| across.clone().filter(move |&s| mask[[t, s]]));
        seen.count() as f32 / count.max(1) as f32
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::nn::mask::{blocks, causal, full, strided};

    /// The same by products of matrices of zeros and ones.
    fn by_products(mask: &Array2<bool>, from: usize, to: usize) -> Option<usize> {
        let tokens = mask.nrows();
        let ones = mask.mapv(|see| if see { 1.0_f32 } else { 0.0 });
        let mut held = ndarray::Array1::<f32>::zeros(tokens);
        held[from] = 1.0;
        for layer in 0..=tokens {
            if held[to] > 0.0 {
                return Some(layer);
            }
            held = (&held + &ones.dot(&held)).mapv(|x| if x > 0.0 { 1.0 } else { 0.0 });
        }
        None
    }

    #[test]
    fn layers_are_those_of_boolean_products() {
        for tokens in [2, 7, 30] {
            for size in 1..9 {
                let masks = [
                    window(tokens, size),
                    blocks(tokens, size),
                    strided(tokens, size),
                    causal(tokens),
                    full(tokens, tokens),
                ];
                for mask in masks {
                    for (from, to) in [(0, tokens - 1), (1, tokens / 2), (tokens - 1, 0)] {
                        let found = layers_to(mask.view(), from, to).unwrap();
                        assert_eq!(found, by_products(&mask, from, to));
                    }
                }
            }
        }
    }

    /// ⌈d / (w − 1)⌉ layers of windows of w; two layers of strides; blocks never.
    #[test]
    fn windows_need_many_layers_strides_two_and_blocks_all() {
        for (tokens, size) in [(500, 64), (500, 2), (100, 10)] {
            let to = tokens - 1;
            let found = layers_to(window(tokens, size).view(), 0, to).unwrap();
            assert_eq!(found, Some(to.div_ceil(size - 1)));
            let found = layers_to(blocks(tokens, size).view(), 0, to).unwrap();
            assert_eq!(found, None);
        }
        assert_eq!(layers_to(strided(500, 22).view(), 0, 499).unwrap(), Some(2));
        assert_eq!(layers_to(causal(500).view(), 499, 0).unwrap(), None);
    }

    #[test]
    fn a_large_mask_in_small() {
        let small = density(causal(4).view(), 2);
        assert_eq!(small, ndarray::array![[0.75, 0.0], [1.0, 0.75]]);
        // A picture finer than the mask has empty parts.
        assert_eq!(density(causal(1).view(), 2).sum(), 1.0);
    }

    #[test]
    fn masks_and_tokens_that_do_not_exist_are_refused() {
        assert!(layers(full(2, 3).view(), 0).is_err());
        assert!(layers(causal(2).view(), 2).is_err());
        assert!(layers_to(causal(2).view(), 0, 2).is_err());
    }
}
