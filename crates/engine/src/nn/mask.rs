//! Masks: the pairs of tokens that may attend to each other.
//!
//! ```text
//! mask[t, s] = true  where query t may attend to key s      -> [T, S]
//! causal(T):                s ≤ t
//! padding(T, valid):        s < valid
//! local_window(T, radius):  |t − s| ≤ radius
//! prefix(T, length):        s ≤ t  or  s < length
//! ```
//!
//! ```
//! use engine::nn::mask::causal;
//! use ndarray::array;
//! assert_eq!(causal(2), array![[true, false], [true, true]]);
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.2.3 (causal); Raffel et al. 2020 (T5), figure 4 (prefix);
//! Beltagy, Peters and Cohan 2020 (Longformer), section 3.1 (window).

use ndarray::Array2;

/// Each token sees itself and the ones before it.
pub fn causal(tokens: usize) -> Array2<bool> {
    // -> [T, T]
    Array2::from_shape_fn((tokens, tokens), |(t, s)| s <= t)
}

/// Only the first `valid` tokens are real; the rest is padding that no token may attend to.
pub fn padding(tokens: usize, valid: usize) -> Array2<bool> {
    // -> [T, T]
    Array2::from_shape_fn((tokens, tokens), |(_, s)| s < valid)
}

/// Each token sees those at most `radius` positions away on either side.
pub fn local_window(tokens: usize, radius: usize) -> Array2<bool> {
    // -> [T, T]
    Array2::from_shape_fn((tokens, tokens), |(t, s)| t.abs_diff(s) <= radius)
}

/// The first `length` tokens are seen by all; after them the mask is causal.
pub fn prefix(tokens: usize, length: usize) -> Array2<bool> {
    // -> [T, T]
    Array2::from_shape_fn((tokens, tokens), |(t, s)| s <= t || s < length)
}

/// Everything may be seen, also between two sequences.
pub fn full(tokens: usize, sources: usize) -> Array2<bool> {
    // -> [T, S]
    Array2::from_elem((tokens, sources), true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn presets_on_three_tokens() {
        assert_eq!(padding(2, 1), array![[true, false], [true, false]]);
        assert_eq!(
            local_window(3, 1),
            array![[true, true, false], [true, true, true], [false, true, true]]
        );
        assert_eq!(
            prefix(3, 2),
            array![[true, true, false], [true, true, false], [true, true, true]]
        );
        assert_eq!(full(1, 2), array![[true, true]]);
        assert_eq!(causal(0).dim(), (0, 0));
    }
}
