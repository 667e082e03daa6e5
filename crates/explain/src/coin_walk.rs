//! Coin flips: the simplest sum of independent numbers with mean 0 and variance 1.
//!
//! ```text
//! walk_r = Σᵢ c_rᵢ,  i = 1 … d,   c = +1 (heads) or −1 (tails), each with probability 1/2      -> [R]
//! mean 0, variance d, standard deviation √d
//! ```
//! The dot product of two vectors whose entries are +1 or −1 at random is such a sum.
//!
//! ```
//! use explain::coin_walk::heads_minus_tails;
//! let found = heads_minus_tails(7, 3, 4);
//! assert_eq!(found.len(), 3);
//! assert!(found.iter().all(|x| [-4.0, -2.0, 0.0, 2.0, 4.0].contains(x)));
//! ```
//!
//! Source: Feller 1968, "An introduction to probability theory and its applications", volume 1,
//! chapter III (coin tossing) and section IX.5 (variance of a sum).

use engine::rng::Rng;
use ndarray::Array1;

/// Flips `flips` coins `repeats` times, and gives heads minus tails of each time. Time r has the
/// random stream `coins.r`: more flips continue the first ones.
pub fn heads_minus_tails(seed: u64, repeats: usize, flips: usize) -> Array1<f32> {
    // -> [R]
    Array1::from_shape_fn(repeats, |r| {
        let mut rng = Rng::named(seed, &format!("coins.{r}"));
        let coin = |rng: &mut Rng| if rng.below(2) == 1 { 1.0 } else { -1.0 };
        (0..flips).map(|_| coin(&mut rng)).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{mean, standard_deviation};

    #[test]
    fn the_spread_is_the_root_of_the_number_of_flips() {
        for flips in [1, 4, 64, 256] {
            let found = heads_minus_tails(7, 10_000, flips);
            let root = (flips as f64).sqrt();
            // Four standard errors: 4·√(d/10,000) of the mean, 4·√(d/20,000) of the deviation.
            assert!(mean(found.view()).abs() < 0.04 * root, "{flips} flips");
            let spread = standard_deviation(found.view());
            assert!((spread / root - 1.0).abs() < 0.029, "{flips}: {spread}");
        }
    }

    #[test]
    fn heads_minus_tails_is_even_where_the_number_of_flips_is() {
        let found = heads_minus_tails(3, 200, 64);
        assert!(found.iter().all(|x| x % 2.0 == 0.0 && x.abs() <= 64.0));
        assert!(heads_minus_tails(3, 200, 0).iter().all(|&x| x == 0.0));
    }

    #[test]
    fn more_flips_continue_the_first_ones() {
        let (short, long) = (heads_minus_tails(9, 50, 63), heads_minus_tails(9, 50, 64));
        assert!((&short - &long).iter().all(|d| d.abs() == 1.0));
    }
}
