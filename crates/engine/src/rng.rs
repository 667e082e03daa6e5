//! Seeded random numbers, the same bits natively, in wasm and in a few lines of Python.
//!
//! The stream is SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number
//! generators", OOPSLA, figure 17), which is a counter passed through a mixing function. All
//! arithmetic is modulo 2⁶⁴:
//!
//! ```text
//! mix(z):  z = (z ^ (z >> 30)) · 0xBF58476D1CE4E5B9
//!          z = (z ^ (z >> 27)) · 0x94D049BB133111EB
//!          z ^ (z >> 31)
//! n-th draw, n = 1, 2, …:   u64_n = mix(seed + n · 0x9E3779B97F4A7C15)
//! uniform (1 draw):         (u64 >> 40) / 2²⁴                                  in [0, 1)
//! normal (2 draws a, b):    u = ((a >> 11) + 1) / 2⁵³,  v = (b >> 11) / 2⁵³
//!                           √(−2 ln u) · cos(2π v), in f64, then rounded to f32
//! below n (1 draw):         (u64 · n) >> 64, the product in 128 bits
//! named stream:             seed' = mix(seed) ^ fnv1a64(name)
//! ```
//!
//! The normal draws are the cosine half of Box and Muller (1958). The sine half is not used, so
//! every normal takes exactly two draws and the stream stays a plain counter.
//!
//! ```
//! use engine::rng::Rng;
//! let mut a = Rng::new(7);
//! let mut b = Rng::new(7);
//! assert_eq!(a.next_u64(), b.next_u64());
//! assert!((0.0..1.0).contains(&a.uniform()));
//! ```

use crate::math::double;
use ndarray::Array2;

/// 2⁶⁴ divided by the golden ratio, made odd: the counter's step.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64's output function: a bijection of 64 bits in which each input bit moves about half of
/// the output bits.
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The 64-bit FNV-1a hash of a name (Fowler, Noll and Vo), used to give each named tensor its own
/// stream.
pub fn fnv1a64(name: &str) -> u64 {
    name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

/// A stream of random numbers. Two streams with the same seed give the same numbers everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// A stream that starts at `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The stream of the tensor called `name` under `seed`; it does not depend on which other
    /// tensors were drawn before.
    pub fn named(seed: u64, name: &str) -> Self {
        Self::new(mix(seed) ^ fnv1a64(name))
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// Uniform in [0, 1), a multiple of 2⁻²⁴.
    pub fn uniform(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 * (1.0 / 16_777_216.0)
    }

    /// Uniform between `low` (included) and `high` (excluded, but for rounding).
    pub fn uniform_in(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.uniform()
    }

    /// Standard normal: mean 0, variance 1.
    pub fn normal(&mut self) -> f32 {
        const UNIT: f64 = 1.0 / 9_007_199_254_740_992.0;
        // One is added so that the logarithm never sees 0.
        let u = ((self.next_u64() >> 11) + 1) as f64 * UNIT;
        let v = (self.next_u64() >> 11) as f64 * UNIT;
        (double::sqrt(-2.0 * double::ln(u)) * double::cos(std::f64::consts::TAU * v)) as f32
    }

    /// A whole number in 0..`n`; 0 when `n` is 0. The bias of the multiply-and-shift is below n /
    /// 2⁶⁴.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// A random order of 0..`n` (Fisher and Yates, from the last position down).
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

/// A `[rows, cols]` matrix of normal draws with mean 0 and standard deviation `std`, filled row by
/// row from the stream `name`.
pub fn normal_matrix(seed: u64, name: &str, rows: usize, cols: usize, std: f32) -> Array2<f32> {
    let mut rng = Rng::named(seed, name);
    Array2::from_shape_simple_fn((rows, cols), || rng.normal() * std)
}

/// A `[rows, cols]` matrix of standard normal draws in which row r has a stream of its own, named
/// `name.R` with R = `first` + r. More columns keep the numbers of the first ones, and rows can be
/// drawn in any portions.
pub fn normal_rows(seed: u64, name: &str, first: usize, rows: usize, cols: usize) -> Array2<f32> {
    let mut out = Array2::zeros((rows, cols));
    for (r, mut row) in out.rows_mut().into_iter().enumerate() {
        let mut rng = Rng::named(seed, &format!("{name}.{}", first + r));
        for value in &mut row {
            *value = rng.normal();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the authors' generator for seed 1234567, as printed in many ports of
    /// it.
    #[test]
    fn splitmix64_gives_the_published_sequence() {
        let mut rng = Rng::new(1_234_567);
        let drawn: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn fnv1a64_gives_the_published_values() {
        assert_eq!(fnv1a64(""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a64("a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(fnv1a64("foobar"), 0x8594_4171_F739_67E8);
    }

    #[test]
    fn normal_draws_have_mean_zero_and_variance_one() {
        let draws = normal_matrix(3, "check", 100, 1000, 1.0);
        let mean: f64 = draws.iter().map(|&x| f64::from(x)).sum::<f64>() / 1e5;
        let variance: f64 = draws
            .iter()
            .map(|&x| (f64::from(x) - mean).powi(2))
            .sum::<f64>()
            / 1e5;
        // Four standard errors: 4/√100,000 and 4·√(2/100,000).
        assert!(mean.abs() < 0.0127, "{mean}");
        assert!((variance - 1.0).abs() < 0.0179, "{variance}");
    }

    #[test]
    fn rows_keep_their_numbers_when_they_widen_or_are_drawn_in_portions() {
        let all = normal_rows(7, "q", 0, 4, 6);
        let part = normal_rows(7, "q", 2, 2, 3);
        assert_eq!(part, all.slice(ndarray::s![2.., ..3]));
        assert_ne!(all.row(0), all.row(1));
    }

    #[test]
    fn uniform_and_below_stay_inside_and_reach_every_value() {
        let mut rng = Rng::new(1);
        let mut seen = [0usize; 6];
        for _ in 0..6_000 {
            let u = rng.uniform();
            assert!((0.0..1.0).contains(&u));
            seen[rng.below(6)] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn permutation_holds_each_index_once() {
        let mut order = Rng::new(9).permutation(50);
        assert_ne!(order, (0..50).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..50).collect::<Vec<_>>());
        assert!(Rng::new(9).permutation(0).is_empty());
    }
}
