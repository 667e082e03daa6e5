//! The bits that a message may need, and those that a vector can hold.
//!
//! ```text
//! message:  T · log₂ V        bits that tell T tokens out of V apart, all messages being equally likely
//! vector:   d · b             bits of d numbers with b bits each
//! ```
//! Both are upper bounds. Language is no even draw and needs fewer bits; a trained network does not
//! use every bit pattern of its numbers, far from it.
//!
//! ```
//! use explain::capacity::{longest_message, message_bits, vector_bits};
//! assert_eq!(message_bits(1_000, 50_000).round(), 15_610.0);
//! assert_eq!(vector_bits(512, 32), 16_384.0);
//! assert_eq!(longest_message(50_000, 16_384.0), 1_049.0);
//! ```
//!
//! Source: Hartley 1928, "Transmission of information", equation 1 (n log s); Shannon 1948, "A
//! mathematical theory of communication".

use engine::math::double;

/// log₂ V: the bits of one token, all V being equally likely.
pub fn token_bits(vocabulary: usize) -> f64 {
    double::ln(vocabulary as f64) / std::f64::consts::LN_2
}

/// T · log₂ V, in bits.
pub fn message_bits(tokens: usize, vocabulary: usize) -> f64 {
    tokens as f64 * token_bits(vocabulary)
}

/// d · b, in bits.
pub fn vector_bits(width: usize, bits: usize) -> f64 {
    (width * bits) as f64
}

/// The most tokens whose message needs no more than so many bits; infinite where a token needs
/// none.
pub fn longest_message(vocabulary: usize, bits: f64) -> f64 {
    (bits / token_bits(vocabulary)).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_two_is_a_bit() {
        for power in 1..=17 {
            assert_eq!(token_bits(1 << power), f64::from(power));
        }
        assert_eq!(message_bits(7, 1), 0.0);
        assert_eq!(longest_message(1, 5.0), f64::INFINITY);
    }

    /// The boundary is one: the longest message fits, and one token more does not.
    #[test]
    fn one_token_more_does_not_fit() {
        for (vocabulary, width, bits) in [(50_000, 512, 32), (37_000, 1_024, 16), (2_048, 240, 2)] {
            let room = vector_bits(width, bits);
            let most = longest_message(vocabulary, room) as usize;
            assert!(message_bits(most, vocabulary) <= room);
            assert!(message_bits(most + 1, vocabulary) > room);
        }
    }
}
