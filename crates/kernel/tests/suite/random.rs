//! Random numbers for tests and benchmarks, from a seed: the same bits natively and in the browser.

/// A stream of random numbers: SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable
/// pseudorandom number generators").
///
/// The engine's `Rng` is the same stream with more kinds of draws; it is not used here because this
/// crate knows nothing of the engine.
pub(crate) struct Rng(u64);

impl Rng {
    /// The stream of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The stream of a seed and a name: different names give independent numbers.
    pub(crate) fn named(seed: u64, name: &str) -> Self {
        Self(
            name.bytes()
                .fold(mix(seed), |state, byte| mix(state ^ u64::from(byte))),
        )
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A whole number from 0 to `end` − 1.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// A nearly normal number with mean 0 and deviation 1: the sum of twelve uniform numbers, minus
    /// 6. It is made without a logarithm, so it has the same bits everywhere.
    pub(crate) fn normal(&mut self) -> f32 {
        let uniform = |bits: u64| (bits & 0xff_ffff) as f32 / 16_777_216.0;
        (0..6).fold(-6.0, |sum, _| {
            let bits = self.next();
            sum + (uniform(bits) + uniform(bits >> 32))
        })
    }

    /// The numbers 0 to `length` − 1 in random order (Fisher and Yates).
    pub(crate) fn permutation(&mut self, length: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..length).collect();
        for last in (1..length).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

/// SplitMix64's output function, a bijection of 64 bits.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
