//! The cost of attention and of other layers, counted.
//!
//! ```text
//! scores of one head:        T²
//! their bytes as f32:        4 T²
//! multiplications of Q·Kᵀ:   T² · D
//!
//! layer                      multiplications   steps in sequence   longest path
//! self-attention             2 T² C            1                   1
//! recurrence                 2 T C²            T                   T − 1
//! convolution, kernel k      k T C²            1                   ⌈(T − 1)/(k − 1)⌉ layers
//! attention to r tokens      2 r T C           1                   ⌈(T − 1)/(r − 1)⌉ layers
//! the projections            4 T C²            (of any attention: Q, K, V and the output)
//! ```
//! with T tokens of C numbers. Attention multiplies queries with keys, and weights with values; a
//! recurrence multiplies the input with one matrix and the state with another. A query attends to r
//! tokens, itself included, and fewer at the ends count as r.
//!
//! ```
//! use explain::cost::{score_bytes, score_count, self_attention};
//! assert_eq!(score_count(4_096), 16_777_216);
//! assert_eq!(score_bytes(196), 153_664);
//! assert_eq!(self_attention(50, 512).multiplications, 2_560_000);
//! ```
//!
//! Source: Vaswani et al. 2017, "Attention is all you need", table 1, which leaves out constant
//! factors and the projections.

use engine::error::{EngineError, Result};

/// The cost of one layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerCost {
    /// Multiplications of two numbers.
    pub multiplications: u64,
    /// Steps of which each needs the result of the one before.
    pub sequential: u64,
    /// Layers, or steps of one, that a signal passes from one end of the text to the other.
    pub path: u64,
}

/// Self-attention without its projections.
pub fn self_attention(tokens: usize, width: usize) -> LayerCost {
    let (t, c) = (tokens as u64, width as u64);
    LayerCost {
        multiplications: 2 * t * t * c,
        sequential: 1,
        path: 1,
    }
}

/// The projections of an attention to Q, K and V and of its output.
pub fn projections(tokens: usize, width: usize) -> u64 {
    let (t, c) = (tokens as u64, width as u64);
    4 * t * c * c
}

/// A recurrent layer: a matrix for the input and one for the state.
pub fn recurrent(tokens: usize, width: usize) -> LayerCost {
    let (t, c) = (tokens as u64, width as u64);
    LayerCost {
        multiplications: 2 * t * c * c,
        sequential: t,
        path: t.saturating_sub(1),
    }
}

/// A convolution whose kernel holds `kernel` neighbours.
///
/// # Errors
/// When the kernel holds fewer than two tokens and so reaches nothing.
pub fn convolution(tokens: usize, width: usize, kernel: usize) -> Result<LayerCost> {
    let (t, c) = (tokens as u64, width as u64);
    Ok(LayerCost {
        multiplications: kernel as u64 * t * c * c,
        sequential: 1,
        path: layers(tokens, kernel)?,
    })
}

/// Attention to `window` tokens, itself included, or to all where there are not so many.
///
/// # Errors
/// When the window holds fewer than two tokens and so reaches nothing.
pub fn restricted_attention(tokens: usize, width: usize, window: usize) -> Result<LayerCost> {
    let (t, c) = (tokens as u64, width as u64);
    Ok(LayerCost {
        multiplications: 2 * window.min(tokens) as u64 * t * c,
        sequential: 1,
        path: layers(tokens, window)?,
    })
}

/// Layers from one end to the other, where each reaches `held` − 1 tokens further.
fn layers(tokens: usize, held: usize) -> Result<u64> {
    if held < 2 {
        return Err(EngineError::value(
            "cost",
            "kernel or window",
            "at least 2",
            held,
        ));
    }
    Ok((tokens.saturating_sub(1) as u64).div_ceil(held as u64 - 1))
}

/// Numbers that attention holds for one query at a time when it keeps the whole row: its scores, and
/// the output.
pub fn held_by_rows(sources: usize, d: usize) -> u64 {
    (sources + d) as u64
}

/// Numbers that it holds when it reads the scores one by one: the largest, the sum, and the output.
pub fn held_online(d: usize) -> u64 {
    d as u64 + 2
}

/// Scores that one head computes for `tokens` tokens that all attend to each other.
pub fn score_count(tokens: usize) -> u64 {
    let t = tokens as u64;
    t * t
}

/// Bytes that those scores take as `f32`.
pub fn score_bytes(tokens: usize) -> u64 {
    4 * score_count(tokens)
}

/// Multiplications of Q·Kᵀ for one head of width `d`.
pub fn score_multiplications(tokens: usize, d: usize) -> u64 {
    score_count(tokens) * d as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_of_pixels_is_out_of_reach() {
        assert_eq!(score_count(224 * 224), 2_517_630_976);
        assert_eq!(score_multiplications(224 * 224, 64), 161_128_382_464);
    }

    /// A naive count: one for each product that a loop makes.
    #[test]
    fn multiplications_are_those_of_plain_loops() {
        for (tokens, width, window) in [(1, 1, 2), (5, 3, 2), (7, 4, 3), (4, 6, 9)] {
            let (mut attention, mut recurrence, mut convolved) = (0, 0, 0);
            for _query in 0..tokens {
                for _key in 0..tokens {
                    attention += width; // q · k
                    attention += width; // weight · v
                }
                for _output in 0..width {
                    recurrence += width; // the input
                    recurrence += width; // the state
                    convolved += window * width;
                }
            }
            assert_eq!(
                self_attention(tokens, width).multiplications,
                attention as u64
            );
            assert_eq!(recurrent(tokens, width).multiplications, recurrence as u64);
            let found = convolution(tokens, width, window).unwrap();
            assert_eq!(found.multiplications, convolved as u64);
            let all = restricted_attention(tokens, width, tokens.max(2)).unwrap();
            assert_eq!(all.multiplications, attention as u64);
        }
    }

    /// Recurrence and attention cost the same where T = C.
    #[test]
    fn attention_is_cheaper_below_as_many_tokens_as_numbers() {
        for width in [2, 64, 512] {
            let of = |tokens| {
                let [attention, recurrence] =
                    [self_attention(tokens, width), recurrent(tokens, width)];
                attention.multiplications.cmp(&recurrence.multiplications)
            };
            assert!(of(width - 1).is_lt() && of(width).is_eq() && of(width + 1).is_gt());
        }
    }

    #[test]
    fn paths_are_those_that_are_walked() {
        use crate::path;
        for tokens in 2..60 {
            let last = tokens - 1;
            let steps = |path: Vec<usize>| path.len() as u64 - 1;
            assert_eq!(recurrent(tokens, 4).path, steps(path::recurrent(0, last)));
            assert_eq!(
                self_attention(tokens, 4).path,
                steps(path::attention(0, last))
            );
            for held in 2..9 {
                let walked = steps(path::contiguous(0, last, held).unwrap());
                assert_eq!(convolution(tokens, 4, held).unwrap().path, walked);
                assert_eq!(restricted_attention(tokens, 4, held).unwrap().path, walked);
            }
        }
        assert!(convolution(3, 4, 1).is_err() && restricted_attention(3, 4, 0).is_err());
    }
}
