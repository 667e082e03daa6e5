//! A power law through measured points, with the error of its exponent.
//!
//! ```text
//! y = a · x^b      so      ln y = ln a + b ln x          x, y [N]
//! b = Σ (u − ū)(w − w̄) / Σ (u − ū)²                      u = ln x, w = ln y
//! standard error of b = √( Σ residual² / (N − 2) / Σ (u − ū)² )
//! ```
//!
//! ```
//! use explain::power_law::fit;
//! let law = fit(&[1.0, 2.0, 4.0], &[3.0, 12.0, 48.0])?; // 3 x²
//! assert!((law.exponent - 2.0).abs() < 1e-12 && law.standard_error < 1e-7);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: the straight line of least squares on logarithms; Draper and Smith 1998, "Applied
//! regression analysis", chapter 1.

use engine::error::{EngineError, Result};
use engine::math::double;

/// y = factor · x^exponent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerLaw {
    /// b.
    pub exponent: f64,
    /// The standard error of b.
    pub standard_error: f64,
    /// a.
    pub factor: f64,
}

impl PowerLaw {
    /// Its value at `x`.
    pub fn at(self, x: f64) -> f64 {
        self.factor * double::pow(x, self.exponent)
    }
}

/// The power law that is nearest on logarithmic axes.
///
/// # Errors
/// When there are fewer than three points, not as many of both, all at one x, or any is not positive.
pub fn fit(x: &[f64], y: &[f64]) -> Result<PowerLaw> {
    // x, y [N]
    let refuse = |what, expected: &str| EngineError::value("power_law", what, expected, x.len());
    if x.len() < 3 || x.len() != y.len() {
        return Err(refuse("points", "at least 3, an y for each x"));
    }
    if !x
        .iter()
        .chain(y)
        .all(|&value| value > 0.0 && value.is_finite())
    {
        return Err(refuse("points", "positive numbers"));
    }
    let logs = |values: &[f64]| {
        values
            .iter()
            .map(|&value| double::ln(value))
            .collect::<Vec<_>>()
    };
    let (u, w) = (logs(x), logs(y));
    let count = x.len() as f64;
    let middle = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (u_mean, w_mean) = (middle(&u), middle(&w));
    let spread: f64 = u.iter().map(|u| (u - u_mean) * (u - u_mean)).sum();
    if spread <= 0.0 {
        return Err(refuse("x", "more than one value"));
    }
    let together: f64 = u
        .iter()
        .zip(&w)
        .map(|(u, w)| (u - u_mean) * (w - w_mean))
        .sum();
    let exponent = together / spread;
    let left = |(u, w): (&f64, &f64)| w - w_mean - exponent * (u - u_mean);
    let squares: f64 = u.iter().zip(&w).map(left).map(|r| r * r).sum();
    Ok(PowerLaw {
        exponent,
        standard_error: double::sqrt(squares / (count - 2.0) / spread),
        factor: double::exp(w_mean - exponent * u_mean),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_law_has_no_error() {
        let x: Vec<f64> = (1..9).map(f64::from).collect();
        for (factor, exponent) in [(3.0, 2.0), (0.5, 1.0), (7.0, -0.73)] {
            let y: Vec<f64> = x
                .iter()
                .map(|&x| factor * double::pow(x, exponent))
                .collect();
            let law = fit(&x, &y).unwrap();
            assert!((law.exponent - exponent).abs() < 1e-12 && law.standard_error < 1e-7);
            assert!((law.factor - factor).abs() < 1e-9);
            assert!((law.at(5.0) - y[4]).abs() < 1e-9);
        }
    }

    /// Given points: ln x = 0, 1, 2 and ln y = 0, 3, 3. The line rises by 1.5, and the residuals are
    /// −0.5, 1 and −0.5, so the error is √(1.5 / 1 / 2).
    #[test]
    fn given_points_have_this_exponent_and_error() {
        let e = std::f64::consts::E;
        let law = fit(&[1.0, e, e * e], &[1.0, e * e * e, e * e * e]).unwrap();
        assert!((law.exponent - 1.5).abs() < 1e-12);
        assert!((law.standard_error - 0.75_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn points_that_fit_no_law_are_refused() {
        assert!(fit(&[1.0, 2.0], &[1.0, 2.0]).is_err());
        assert!(fit(&[1.0, 2.0, 3.0], &[1.0, 2.0]).is_err());
        assert!(fit(&[1.0, 2.0, 3.0], &[1.0, 0.0, 2.0]).is_err());
        assert!(fit(&[2.0, 2.0, 2.0], &[1.0, 2.0, 3.0]).is_err());
    }
}
