//! Two heads by hand that continue a repetition: the first looks at the token before, the second at
//! the token that came after the same token earlier.
//!
//! ```text
//! head 1:  P = each token's own row: 1 at the token before, 0 elsewhere        [T, T]
//!          before = P · x                                                      x [T, V], one-hot
//! head 2:  scores = s · x · beforeᵀ     queries: the token itself; keys: what came before a token
//!          weights = softmax(causal mask(scores))                              [T, T]
//!          next = weights · x           the share of each token as the next one [T, V]
//! ```
//!
//! ```
//! use explain::induction::induction;
//! use ndarray::array;
//! // a b a: after the last a comes b again.
//! let x = array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]];
//! let found = induction(x.view(), 10.0, true)?;
//! assert!(found.next[[3, 2]] > 0.99);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Elhage et al. 2021, "A mathematical framework for Transformer circuits", "Induction
//! heads"; Olsson et al. 2022, "In-context learning and induction heads".

use engine::error::Result;
use engine::nn::attention::{Mask, Scoring, attend, mix_values};
use engine::rng::Rng;
use ndarray::{Array2, ArrayView2, Axis};

/// What [`induction`] computes.
#[derive(Debug, Clone, PartialEq)]
pub struct Induction {
    /// `[T, T]`: the weights of head 1.
    pub previous: Array2<f32>,
    /// `[T, V]`: what head 1 writes, the token before each token.
    pub before: Array2<f32>,
    /// `[T, T]`: the weights of head 2.
    pub weights: Array2<f32>,
    /// `[T, V]`: what head 2 writes, the share of each token as the next one.
    pub next: Array2<f32>,
}

/// The two heads on one-hot tokens. `sharpness` is the score of two equal tokens; with `looks_back`
/// false, head 1 is switched off and writes zeros. The first token looks back at itself.
///
/// # Errors
/// None for the shapes here; those of the engine's attention.
pub fn induction(x: ArrayView2<'_, f32>, sharpness: f32, looks_back: bool) -> Result<Induction> {
    // x [T, V] -> weights [T, T], next [T, V]
    let tokens = x.nrows();
    let previous = Array2::from_shape_fn((tokens, tokens), |(t, s)| {
        let is_before = looks_back && s == t.saturating_sub(1);
        if is_before { 1.0 } else { 0.0 }
    });
    let before = mix_values(previous.view(), x)?;
    let (scoring, mask) = (Scoring::Dot(sharpness), Mask::Causal { first: 0 });
    let [q, k, v] = [x, before.view(), x].map(|rows| rows.insert_axis(Axis(0)));
    let head_2 = attend(q, k, v, &scoring, &mask, &mut None)?;
    Ok(Induction {
        weights: head_2.weights.index_axis_move(Axis(0), 0),
        next: head_2.output.index_axis_move(Axis(0), 0),
        previous,
        before,
    })
}

/// The number of a vocabulary's single bytes, whose ids come first.
const BYTES: usize = 256;

/// The token `end`, which comes last in a byte-level vocabulary and begins every text, and `count`
/// random tokens, the latter twice. They are merged tokens, which are words and parts of them; bytes
/// hardly ever are tokens of a text.
pub fn twice(end: usize, count: usize, rng: &mut Rng) -> Vec<usize> {
    let merged = end.saturating_sub(BYTES);
    said_twice(end, count, || BYTES + rng.below(merged))
}

/// As [`twice`], for a vocabulary in any order: the token `start` and `count` random ones out of
/// `tokens`, the latter twice. Without tokens to draw from there is only the first.
pub fn twice_from(start: usize, tokens: &[usize], count: usize, rng: &mut Rng) -> Vec<usize> {
    let count = if tokens.is_empty() { 0 } else { count };
    said_twice(start, count, || tokens[rng.below(tokens.len())])
}

fn said_twice(start: usize, count: usize, mut draw: impl FnMut() -> usize) -> Vec<usize> {
    let tokens: Vec<usize> = (0..count).map(|_| draw()).collect();
    [&[start], tokens.as_slice(), tokens.as_slice()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::one_hot::one_hot;

    fn of(ids: &[usize], size: usize, looks_back: bool) -> Induction {
        let rows: Vec<f32> = ids.iter().flat_map(|&id| one_hot(id, size)).collect();
        let x = Array2::from_shape_vec((ids.len(), size), rows).unwrap();
        induction(x.view(), 12.0, looks_back).unwrap()
    }

    /// A list that is said twice is continued, from its second token on.
    #[test]
    fn a_list_said_twice_is_continued() {
        let ids = [0, 3, 1, 4, 2, 3, 1, 4, 2];
        let found = of(&ids, 5, true);
        for t in 5..8 {
            assert!(found.next[[t, ids[t + 1]]] > 0.99, "{t}");
            assert!(found.weights[[t, t - 3]] > 0.99, "{t}");
        }
    }

    /// A token with two continuations gets both, in equal shares.
    #[test]
    fn two_continuations_share_the_weight() {
        let found = of(&[0, 1, 2, 1, 3, 1], 4, true);
        for token in [2, 3] {
            assert!((found.next[[5, token]] - 0.5).abs() < 1e-3);
        }
    }

    #[test]
    fn a_list_is_said_twice() {
        let ids = twice(300, 20, &mut Rng::new(1));
        assert_eq!(ids.len(), 41);
        assert_eq!(ids[1..=20], ids[21..]);
        assert!(ids[1..].iter().all(|id| (256..300).contains(id)));
        // Another way to name the same tokens.
        let merged: Vec<usize> = (256..300).collect();
        assert_eq!(twice_from(300, &merged, 20, &mut Rng::new(1)), ids);
        assert_eq!(twice_from(1, &[7], 2, &mut Rng::new(1)), [1, 7, 7, 7, 7]);
        assert_eq!(twice_from(1, &[], 20, &mut Rng::new(1)), [1]);
    }

    /// Without head 1 the keys are zeros, so head 2 weighs all tokens so far alike.
    #[test]
    fn without_the_first_head_the_second_is_even() {
        let found = of(&[0, 1, 2, 1], 3, false);
        assert!(found.weights.row(3).iter().all(|&w| w == 0.25));
        assert!(found.before.iter().all(|&x| x == 0.0));
    }
}
