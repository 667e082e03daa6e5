//! The learning rate of Vaswani et al.
//!
//! ```text
//! rate(n) = C^(−1/2) · min(n^(−1/2), n · warmup^(−3/2))        n = 1, 2, …
//! ```
//! It climbs in a straight line to 1/√(C · warmup) at n = warmup, and then falls as 1/√n.
//!
//! ```
//! use explain::paper_rate::rate;
//! assert!((rate(512, 4_000, 4_000) - 6.987_712e-4).abs() < 1e-9);
//! ```
//!
//! Source: Vaswani et al. 2017, section 5.3, equation 3.

use engine::math::double;

/// The rate of step `n`, counted from 1, of a model of width `c`.
pub fn rate(c: u64, warmup: u64, n: u64) -> f64 {
    let (c, warmup, n) = (c as f64, warmup as f64, n as f64);
    let falling = 1.0 / double::sqrt(n);
    let climbing = n / (warmup * double::sqrt(warmup));
    falling.min(climbing) / double::sqrt(c)
}

#[cfg(test)]
mod tests {
    use super::rate;
    use engine::grad::Schedule;

    /// The same as the engine's schedule with the paper's peak.
    #[test]
    fn it_is_the_schedule_of_training() {
        for (c, warmup) in [(512, 4_000), (1_024, 400)] {
            let peak = rate(c, warmup, warmup) as f32;
            let schedule = Schedule::InverseRoot { peak, warmup };
            for n in [1, 100, warmup, 3 * warmup, 50_000] {
                let expected = f64::from(schedule.rate(n));
                assert!((rate(c, warmup, n) / expected - 1.0).abs() < 1e-6, "{n}");
            }
        }
    }
}
