//! Formats of printed numbers. The page and the tests that compare it with the engine share this
//! file.

use std::fmt;
use std::str::FromStr;

/// A way to print a number, written as `data-format` on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// So many digits after the point, and groups of three before it: `0.406`, `1,117.3`; a number
    /// that is exactly zero is `0`, one that rounds to it `0.000`.
    Fixed(u8),
    /// A whole number with groups of three: `16,777,216`.
    Count,
    /// One digit, a number of decimals, a power of ten: `3.1e-8`; from a thousandth to a thousand
    /// the same digits without the power, `0.62`; zero is `0`.
    Power(u8),
    /// As the reader typed it: the shortest text that reads back as the same `f32`.
    Typed,
    /// A share of one as a percentage with a number of decimals: `40.6 %`.
    Percent(u8),
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(n) => write!(f, "fixed{n}"),
            Self::Count => f.write_str("count"),
            Self::Power(n) => write!(f, "power{n}"),
            Self::Typed => f.write_str("typed"),
            Self::Percent(n) => write!(f, "percent{n}"),
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = |rest: &str| {
            rest.parse::<u8>()
                .map_err(|_| format!("not a number format: {text}"))
        };
        match text {
            "count" => Ok(Self::Count),
            "typed" => Ok(Self::Typed),
            _ => {
                if let Some(rest) = text.strip_prefix("fixed") {
                    digits(rest).map(Self::Fixed)
                } else if let Some(rest) = text.strip_prefix("power") {
                    digits(rest).map(Self::Power)
                } else if let Some(rest) = text.strip_prefix("percent") {
                    digits(rest).map(Self::Percent)
                } else {
                    Err(format!("not a number format: {text}"))
                }
            }
        }
    }
}

/// The sign before negative numbers: the minus sign, as wide as a digit.
pub const MINUS: char = '\u{2212}';

/// Prints `value`. Infinities are `∞`, and a number that rounds to zero has no sign.
pub fn number(value: f64, format: Format) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 {
            "\u{221e}".to_owned()
        } else {
            format!("{MINUS}\u{221e}")
        };
    }
    let plain = match format {
        Format::Fixed(_) | Format::Power(_) if value == 0.0 => "0".to_owned(),
        Format::Fixed(n) => grouped(&format!("{value:.*}", usize::from(n))),
        Format::Count => grouped(&format!("{value:.0}")),
        Format::Power(n) => power(value, usize::from(n)),
        Format::Typed => (value as f32).to_string(),
        Format::Percent(n) => format!("{:.*} %", usize::from(n), value * 100.0),
    };
    match plain.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.' | ' ' | '%')) => rest.to_owned(),
        Some(rest) => format!("{MINUS}{}", rest.replace('-', "\u{2212}")),
        None => plain.replace('-', "\u{2212}"),
    }
}

fn power(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$e}");
    // The power of the rounded number: 999.97 is 1.00e3.
    match text
        .split_once('e')
        .and_then(|(_, p)| p.parse::<i32>().ok())
    {
        Some(power @ -3..=2) => {
            let places = decimals as i32 - power;
            format!("{value:.*}", places.max(0) as usize)
        }
        _ => text,
    }
}

/// The number with commas between the thousands of its whole part.
fn grouped(number: &str) -> String {
    let (sign, rest) = match number.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", number),
    };
    let (whole, fraction) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    let mut out = sign.to_owned();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_a_page_should() {
        assert_eq!(number(0.4056, Format::Fixed(3)), "0.406");
        assert_eq!(number(-0.0001, Format::Fixed(3)), "0.000");
        assert_eq!(number(-1.5, Format::Fixed(1)), "\u{2212}1.5");
        assert_eq!(number(16_777_216.0, Format::Count), "16,777,216");
        assert_eq!(number(1117.25, Format::Fixed(1)), "1,117.2");
        assert_eq!(number(-9997.0, Format::Fixed(3)), "\u{2212}9,997.000");
        assert_eq!(number(-15_610.0, Format::Fixed(0)), "\u{2212}15,610");
        assert_eq!(number(999.96, Format::Fixed(1)), "1,000.0");
        assert_eq!(number(2_517_630_976.0, Format::Count), "2,517,630,976");
        assert_eq!(number(3.14e-8, Format::Power(1)), "3.1e\u{2212}8");
        assert_eq!(number(0.0, Format::Power(1)), "0");
        assert_eq!(number(0.0, Format::Fixed(3)), "0");
        assert_eq!(number(1e-9, Format::Fixed(3)), "0.000");
        assert_eq!(number(0.62, Format::Power(1)), "0.62");
        assert_eq!(number(7.389, Format::Power(2)), "7.39");
        assert_eq!(number(-0.0015, Format::Power(1)), "\u{2212}0.0015");
        assert_eq!(number(999.97, Format::Power(2)), "1.00e3");
        assert_eq!(number(0.00099, Format::Power(1)), "9.9e\u{2212}4");
        assert_eq!(number(f64::from(0.1_f32), Format::Typed), "0.1");
        assert_eq!(
            number(f64::NEG_INFINITY, Format::Fixed(2)),
            "\u{2212}\u{221e}"
        );
        assert_eq!(number(f64::NAN, Format::Count), "NaN");
        assert_eq!(number(0.4056, Format::Percent(1)), "40.6 %");
    }

    #[test]
    fn formats_round_trip() {
        for f in [
            Format::Fixed(3),
            Format::Count,
            Format::Power(1),
            Format::Typed,
            Format::Percent(0),
        ] {
            assert_eq!(f.to_string().parse::<Format>(), Ok(f));
        }
        assert!("fixedx".parse::<Format>().is_err());
        assert!("".parse::<Format>().is_err());
    }
}
