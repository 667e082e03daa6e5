//! Numbers of an axis: their positions and their text.

use cells::format::{Format, number};

/// One axis: the range of the data, possibly logarithmic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// Value at its start.
    pub low: f64,
    /// Value at its end.
    pub high: f64,
    /// Equal ratios instead of equal steps.
    pub log: bool,
}

impl Axis {
    /// An axis over `low..high`; one without length is widened, a logarithmic one starts above
    /// zero.
    pub fn new(low: f64, high: f64, log: bool) -> Self {
        if log {
            let high = if high > 0.0 { high } else { 1.0 };
            let low = if low > 0.0 { low } else { high / 1000.0 };
            let high = if high > low { high } else { low * 10.0 };
            return Self { low, high, log };
        }
        if high > low {
            return Self { low, high, log };
        }
        let around = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
        Self {
            low: low - around,
            high: high + around,
            log,
        }
    }

    /// Share of the way along the axis; values outside lie outside 0 to 1, and what has no
    /// logarithm at the low end.
    pub fn share(self, value: f64) -> f64 {
        if !self.log {
            return (value - self.low) / (self.high - self.low);
        }
        if value <= 0.0 {
            return 0.0;
        }
        (value / self.low).ln() / (self.high / self.low).ln()
    }

    /// The value at a share of the way along the axis.
    pub fn value(self, share: f64) -> f64 {
        if self.log {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low + share * (self.high - self.low)
        }
    }

    /// About `most` round values along the axis.
    pub(crate) fn ticks(self, most: usize) -> Vec<f64> {
        let most = most.max(2);
        if self.log {
            let ratios = self.ratio_ticks(most);
            // Over less than about a decade, steps tell more.
            if ratios.len() >= LEAST_TICKS {
                return ratios;
            }
        }
        // Two numbers do not fill an axis whose ends are not round.
        let steps = (most..most + 4).map(|most| self.step_ticks(most));
        steps
            .reduce(|found, denser| {
                if found.len() < LEAST_TICKS {
                    denser
                } else {
                    found
                }
            })
            .unwrap_or_default()
    }

    /// The multiples along the axis of the smallest step of 1, 2 or 5 that gives at most about
    /// `most`.
    fn step_ticks(self, most: usize) -> Vec<f64> {
        let step = nice((self.high - self.low) / most as f64);
        let first = (self.low / step - 1e-9).ceil();
        let count = ((self.high / step + 1e-9).floor() - first).max(0.0) as usize;
        (0..=count.min(50))
            .map(|i| (first + i as f64) * step)
            .collect()
    }

    /// Of these the densest that has at most `most` values: 1, 3, 10, 30 and so on; every power of
    /// ten; every second one, every third, and so on. Where that is too few, the sparsest that has
    /// enough, also of 1, 2, 5, 10, 20, 50 and so on.
    fn ratio_ticks(self, most: usize) -> Vec<f64> {
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let inside = |leads: &[f64], every: i32| -> Vec<f64> {
            (first..=last)
                .filter(|power| power.rem_euclid(every) == 0)
                .flat_map(|power| leads.iter().map(move |lead| lead * 10f64.powi(power)))
                .filter(|v| (self.low * (1.0 - 1e-9)..=self.high * (1.0 + 1e-9)).contains(v))
                .collect()
        };
        let mut enough = inside(&[1.0, 2.0, 5.0], 1);
        let sparser = (1..=(last - first).max(1)).map(|every| inside(&[1.0], every));
        for ticks in std::iter::once(inside(&[1.0, 3.0], 1)).chain(sparser) {
            if ticks.len() < LEAST_TICKS {
                break;
            }
            enough = ticks;
            if enough.len() <= most {
                break;
            }
        }
        enough
    }
}

/// Fewer numbers do not tell how an axis runs.
const LEAST_TICKS: usize = 3;

/// The smallest of 1, 2, 5 times a power of ten that is not below `step`.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let lead = step / power;
    let chosen = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|&n| lead <= n * (1.0 + 1e-9))
        .unwrap_or(10.0);
    chosen * power
}

/// A number of an axis whose ticks are `step` apart, as short as tells it from its neighbours.
pub fn tick_text(value: f64, step: f64) -> String {
    let size = value.abs();
    if value == 0.0 || size < step.abs() * 1e-6 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&size) {
        return number(value, Format::Power(0));
    }
    let decimals = (-(step.abs().min(size)).log10().floor()).clamp(0.0, 6.0) as u8;
    if decimals == 0 {
        number(value, Format::Count)
    } else {
        number(value, Format::Fixed(decimals))
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, nice, tick_text};

    #[test]
    fn steps_are_round() {
        for (raw, step) in [
            (0.13, 0.2),
            (0.2, 0.2),
            (0.21, 0.5),
            (7.0, 10.0),
            (1.0, 1.0),
        ] {
            assert!((nice(raw) - step).abs() < 1e-12, "{raw}");
        }
    }

    #[test]
    fn ticks_lie_within_the_axis() {
        assert_eq!(
            Axis::new(0.0, 1.0, false).ticks(5),
            [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]
        );
        assert_eq!(
            Axis::new(-3.0, 7.0, false).ticks(5),
            [-2.0, 0.0, 2.0, 4.0, 6.0]
        );
        assert_eq!(
            Axis::new(1.0, 1000.0, true).ticks(5),
            [1.0, 10.0, 100.0, 1000.0]
        );
    }

    #[test]
    fn a_narrow_axis_has_three_numbers_too() {
        let ticks = |low, high| Axis::new(low, high, false).ticks(3);
        assert_eq!(ticks(-32.0, 32.0), [-20.0, 0.0, 20.0]);
        assert_eq!(ticks(0.0, 64.0), [0.0, 20.0, 40.0, 60.0]);
        assert_eq!(ticks(0.0, 100.0), [0.0, 50.0, 100.0]);
    }

    #[test]
    fn ratios_have_three_numbers_and_none_far_below_the_end() {
        let ticks = |low, high| Axis::new(low, high, true).ticks(6);
        assert_eq!(ticks(1.0, 40.0), [1.0, 3.0, 10.0, 30.0]);
        assert_eq!(ticks(1.0, 16.0), [1.0, 3.0, 10.0]);
        assert_eq!(ticks(2.0, 19.0), [2.0, 5.0, 10.0]);
        assert_eq!(
            Axis::new(1.0, 1024.0, true).ticks(3),
            [1.0, 10.0, 100.0, 1000.0],
            "one more than asked for, but not ten"
        );
        assert_eq!(ticks(2.0, 5.0), [2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]);
        for (low, high) in [
            (1e-9, 1.0),
            (1e-12, 1e12),
            (0.004, 70.0),
            (5.0, 5e5),
            (3.0, 90.0),
        ] {
            let ticks = ticks(low, high);
            assert!((3..=7).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
            let [.., before, last] = ticks[..] else {
                panic!("two ticks")
            };
            assert!(
                high < last * (last / before) * 1.01,
                "{low} to {high}: {ticks:?}"
            );
        }
    }

    #[test]
    fn an_axis_without_length_is_widened() {
        let flat = Axis::new(3.0, 3.0, false);
        assert!(flat.low < 3.0 && flat.high > 3.0);
        assert_eq!(Axis::new(0.0, 8.0, true).share(-1.0), 0.0);
        let ratios = Axis::new(1.0, 100.0, true);
        assert!((ratios.share(10.0) - 0.5).abs() < 1e-12);
        assert!((ratios.value(0.5) - 10.0).abs() < 1e-12);
        assert_eq!(Axis::new(-1.0, 3.0, false).value(0.5), 1.0);
    }

    #[test]
    fn tick_numbers_are_short() {
        assert_eq!(tick_text(0.6000000000000001, 0.2), "0.6");
        assert_eq!(tick_text(1000.0, 200.0), "1,000");
        assert_eq!(tick_text(1e-17, 0.2), "0");
        assert_eq!(tick_text(1e7, 1e7), "1e7");
        assert_eq!(tick_text(0.01, 0.01), "0.01");
    }
}
