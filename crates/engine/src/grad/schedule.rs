//! Learning rates over time.
//!
//! ```text
//! warm-up:              peak · n / warmup                                                        n = 1 … warmup
//! inverse square root:  peak · √(warmup / n)                                                     from there on
//! cosine:               last + (peak − last) · (1 + cos(π (n − warmup)/(steps − warmup))) / 2    until n = steps, then last
//! ```
//! Vaswani et al.'s rate is the first with peak = 1/√(C · warmup).
//!
//! ```
//! use engine::grad::Schedule;
//! let rate = Schedule::InverseRoot { peak: 0.01, warmup: 100 };
//! assert_eq!([rate.rate(50), rate.rate(100), rate.rate(400)], [0.005, 0.01, 0.005]);
//! ```
//!
//! Source: Vaswani et al. 2017, section 5.3, equation 3; Loshchilov and Hutter 2017, "SGDR",
//! equation 5, without restarts.

use crate::math::double;

/// A schedule of the learning rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schedule {
    /// Falls as 1/√n after the warm-up.
    InverseRoot {
        /// The highest rate.
        peak: f32,
        /// Steps until then.
        warmup: u64,
    },
    /// Falls along half a cosine after the warm-up.
    Cosine {
        /// The highest rate.
        peak: f32,
        /// The rate at the end.
        last: f32,
        /// Steps until the highest rate.
        warmup: u64,
        /// Steps until the end.
        steps: u64,
    },
}

impl Schedule {
    /// The rate of step `n`, counted from 1.
    pub fn rate(self, n: u64) -> f32 {
        let (Self::InverseRoot { peak, warmup } | Self::Cosine { peak, warmup, .. }) = self;
        if n < warmup {
            return (f64::from(peak) * n as f64 / warmup as f64) as f32;
        }
        match self {
            Self::InverseRoot { peak, .. } => {
                let share = warmup.max(1) as f64 / n.max(1) as f64;
                (f64::from(peak) * double::sqrt(share)) as f32
            }
            Self::Cosine {
                peak, last, steps, ..
            } => {
                let length = steps.saturating_sub(warmup).max(1);
                let share = ((n - warmup) as f64 / length as f64).min(1.0);
                let (peak, last) = (f64::from(peak), f64::from(last));
                let half = (1.0 + double::cos(std::f64::consts::PI * share)) / 2.0;
                (last + (peak - last) * half) as f32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;

    #[test]
    fn rates_meet_at_the_corners() {
        let cosine = Schedule::Cosine {
            peak: 1.0,
            last: 0.1,
            warmup: 10,
            steps: 110,
        };
        let found = [1, 10, 60, 110, 500].map(|n| cosine.rate(n));
        let expected = [0.1, 1.0, 0.55, 0.1, 0.1];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found}, {expected}");
        }
        // Vaswani et al.: C^(−1/2) · min(n^(−1/2), n · warmup^(−3/2)).
        let peak = 1.0 / f32::sqrt(512.0 * 4000.0);
        let paper = Schedule::InverseRoot { peak, warmup: 4000 };
        for n in [1u64, 100, 4000, 30_000] {
            let x = n as f64;
            let expected = 512f64.powf(-0.5) * x.powf(-0.5).min(x * 4000f64.powf(-1.5));
            assert!((f64::from(paper.rate(n)) / expected - 1.0).abs() < 1e-6);
        }
        let at_once = Schedule::InverseRoot {
            peak: 1.0,
            warmup: 0,
        };
        assert_eq!(at_once.rate(1), 1.0);
    }
}
