//! The cost of attention, counted.
//!
//! ```text
//! scores of one head:        T²
//! their bytes as f32:        4 T²
//! multiplications of Q·Kᵀ:   T² · D
//! ```
//!
//! ```
//! use explain::cost::{score_bytes, score_count};
//! assert_eq!(score_count(4_096), 16_777_216);
//! assert_eq!(score_bytes(196), 153_664);
//! ```
//!
//! Source: Vaswani et al. 2017, "Attention is all you need", table 1 (self-attention: O(n² · d) a
//! layer).

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
}
