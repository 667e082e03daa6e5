//! Numbers of an axis: their positions and their text.

use cells::format::{Format, number};

/// One axis: the range of the data, possibly logarithmic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) log: bool,
}

impl Axis {
    /// An axis over `low..high`; one without length is widened, a logarithmic one starts above
    /// zero.
    pub(crate) fn new(low: f64, high: f64, log: bool) -> Self {
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
    pub(crate) fn share(self, value: f64) -> f64 {
        if !self.log {
            return (value - self.low) / (self.high - self.low);
        }
        if value <= 0.0 {
            return 0.0;
        }
        (value / self.low).ln() / (self.high / self.low).ln()
    }

    /// At most about `most` values for numbers along the axis.
    pub(crate) fn ticks(self, most: usize) -> Vec<f64> {
        let decades = if self.log {
            (self.high / self.low).log10()
        } else {
            0.0
        };
        if self.log && decades >= 1.0 {
            let first = self.low.log10().ceil() as i32;
            let last = (self.high.log10() + 1e-9).floor() as i32;
            let step = ((last - first) as usize / most.max(1) + 1) as i32;
            let powers: Vec<f64> = (first..=last)
                .filter(|p| (p - first) % step == 0)
                .map(|p| 10f64.powi(p))
                .collect();
            if powers.len() >= 2 {
                return powers;
            }
        }
        let step = nice((self.high - self.low) / most.max(1) as f64);
        let first = (self.low / step - 1e-9).ceil();
        let count = ((self.high / step + 1e-9).floor() - first).max(0.0) as usize;
        (0..=count.min(50))
            .map(|i| (first + i as f64) * step)
            .collect()
    }
}

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
pub(crate) fn tick_text(value: f64, step: f64) -> String {
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
        let wide = Axis::new(1e-9, 1.0, true).ticks(5);
        assert!(wide.len() >= 2 && wide.len() <= 6, "{wide:?}");
        assert!(
            Axis::new(2.0, 5.0, true).ticks(5).len() >= 2,
            "less than a decade falls back to equal steps"
        );
    }

    #[test]
    fn an_axis_without_length_is_widened() {
        let flat = Axis::new(3.0, 3.0, false);
        assert!(flat.low < 3.0 && flat.high > 3.0);
        assert_eq!(Axis::new(0.0, 8.0, true).share(-1.0), 0.0);
        assert!((Axis::new(1.0, 100.0, true).share(10.0) - 0.5).abs() < 1e-12);
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
