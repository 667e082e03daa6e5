//! Masks: the pairs of tokens that may attend to each other.
//!
//! ```text
//! mask[t, s] = true  where query t may attend to key s      -> [T, S]
//! causal(T):                s ≤ t
//! padding(T, valid):        s < valid
//! local_window(T, radius):  |t − s| ≤ radius
//! prefix(T, length):        s ≤ t  or  s < length
//! blocks(T, size):          s ≤ t  and  ⌊s / size⌋ = ⌊t / size⌋
//! strided(T, stride):       s ≤ t  and  (t − s < stride  or  stride divides t − s)
//! ```
//!
//! ```
//! use engine::nn::mask::causal;
//! use ndarray::array;
//! assert_eq!(causal(2), array![[true, false], [true, true]]);
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.2.3 (causal); Raffel et al. 2020 (T5), figure 4 (prefix);
//! Beltagy, Peters and Cohan 2020 (Longformer), section 3.1 (window); Child et al. 2019 (Sparse
//! Transformer), section 4.3 (strided).

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

/// The text is cut into blocks of `size` tokens, the last one maybe shorter. Each token sees itself
/// and those before it in its own block.
pub fn blocks(tokens: usize, size: usize) -> Array2<bool> {
    // -> [T, T]
    let size = size.max(1);
    Array2::from_shape_fn((tokens, tokens), |(t, s)| s <= t && s / size == t / size)
}

/// Each token sees itself, the `stride` − 1 tokens before it, and every `stride`th token before
/// those.
pub fn strided(tokens: usize, stride: usize) -> Array2<bool> {
    // -> [T, T]
    let stride = stride.max(1);
    Array2::from_shape_fn((tokens, tokens), |(t, s)| {
        s <= t && (t - s < stride || (t - s).is_multiple_of(stride))
    })
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
        assert_eq!(
            blocks(3, 2),
            array![
                [true, false, false],
                [true, true, false],
                [false, false, true]
            ]
        );
        assert_eq!(
            strided(4, 2),
            array![
                [true, false, false, false],
                [true, true, false, false],
                [true, true, true, false],
                [false, true, true, true]
            ]
        );
        // A block or a stride of the whole text is the causal mask, and so is a stride of one.
        for all in [blocks(5, 5), strided(5, 5), strided(5, 1), strided(5, 0)] {
            assert_eq!(all, causal(5));
        }
        assert_eq!(causal(0).dim(), (0, 0));
    }
}
