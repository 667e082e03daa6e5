//! The same bits natively and in wasm: one number stands for thousands of results of `rng`, `math`
//! and the position tables.

use engine::math::{self, double};
use engine::nn::position::{alibi, sinusoidal};
use engine::rng::{Rng, mix, normal_matrix};
use explain::rotary;

/// What [`fingerprint`] must give everywhere. It changes only when a function or the stream itself
/// changes.
pub(crate) const FINGERPRINT: u64 = 0x5f0d_9f05_3559_506c;

/// All results, mixed in order into one number.
pub(crate) fn fingerprint() -> u64 {
    let mut state = 0;
    let mut take = |bits: u64| state = mix(state ^ bits);

    let mut rng = Rng::new(20_170_612);
    for _ in 0..2_000 {
        take(rng.next_u64());
        take(u64::from(rng.uniform().to_bits()));
        take(u64::from(rng.uniform_in(-3.0, 5.0).to_bits()));
        take(u64::from(rng.normal().to_bits()));
        take(rng.below(1_000) as u64);
    }
    rng.permutation(100)
        .into_iter()
        .for_each(|place| take(place as u64));
    normal_matrix(7, "w_q", 20, 20, 0.25)
        .iter()
        .for_each(|x| take(u64::from(x.to_bits())));

    let single: [fn(f32) -> f32; 7] = [
        math::exp,
        math::ln,
        math::tanh,
        math::sin,
        math::cos,
        math::erf,
        math::sqrt,
    ];
    let wide: [fn(f64) -> f64; 7] = [
        double::exp,
        double::ln,
        double::tanh,
        double::sin,
        double::cos,
        double::erf,
        double::sqrt,
    ];
    for _ in 0..2_000 {
        let x = rng.normal() * [0.01, 1.0, 30.0, 1e4][rng.below(4)];
        // Logarithm and root of what is negative are NaN, whose bits are not the same everywhere.
        let positive = x.abs();
        for (n, (f, g)) in single.iter().zip(&wide).enumerate() {
            let x = if matches!(n, 1 | 6) { positive } else { x };
            take(u64::from(f(x).to_bits()));
            take(g(f64::from(x)).to_bits());
        }
        take(u64::from(math::pow(positive, rng.normal()).to_bits()));
        take(double::pow(f64::from(positive), f64::from(rng.normal())).to_bits());
    }

    sinusoidal::table(60, 34)
        .iter()
        .for_each(|x| take(u64::from(x.to_bits())));
    rotary::frequencies(64, 10_000.0)
        .into_iter()
        .for_each(|x| take(u64::from(x.to_bits())));
    alibi::slopes(12)
        .into_iter()
        .for_each(|x| take(u64::from(x.to_bits())));
    state
}
