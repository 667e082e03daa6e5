//! Differences and extremes for readouts such as "largest error", and checks that several cells
//! share.

use ndarray::ArrayView2;

use crate::error::CellError;
use crate::input::Inputs;

/// The largest of some non-negative numbers, 0 where there are none; NaN wins, so that it is not
/// overlooked.
pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(
        0.0,
        |most, &x| if x.is_nan() || x > most { x } else { most },
    )
}

/// For each row, the largest absolute difference between two matrices of one shape.
pub(crate) fn row_differences(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>) -> Vec<f64> {
    a.rows()
        .into_iter()
        .zip(b.rows())
        .map(|(a, b)| {
            let differences: Vec<f64> = a
                .iter()
                .zip(b)
                .map(|(&x, &y)| (f64::from(x) - f64::from(y)).abs())
                .collect();
            largest(&differences)
        })
        .collect()
}

/// For each row, how many entries of two matrices of one shape differ in any bit; 0 and −0 differ,
/// a NaN equals itself.
pub(crate) fn bits_changed(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>) -> Vec<f64> {
    a.rows()
        .into_iter()
        .zip(b.rows())
        .map(|(a, b)| {
            a.iter()
                .zip(b)
                .filter(|(x, y)| x.to_bits() != y.to_bits())
                .count() as f64
        })
        .collect()
}

/// For each diagonal of a square matrix, from the lower left corner to the upper right, the largest
/// entry minus the smallest: all zeros where the entries depend on the distance to the main
/// diagonal only.
pub(crate) fn diagonal_spreads(m: ArrayView2<'_, f32>) -> Vec<f64> {
    let n = m.nrows();
    let mut bounds = vec![(f64::INFINITY, f64::NEG_INFINITY); (2 * n).saturating_sub(1)];
    for ((i, j), &x) in m.indexed_iter() {
        let (low, high) = &mut bounds[j + n - 1 - i];
        *low = low.min(f64::from(x));
        *high = high.max(f64::from(x));
    }
    bounds.into_iter().map(|(low, high)| high - low).collect()
}

/// A number that must be even and at least 2, such as a width made of pairs.
///
/// # Errors
/// [`CellError::Input`] where it is not; [`CellError::Missing`].
pub(crate) fn even(inputs: &Inputs, name: &str, label: &str) -> Result<usize, CellError> {
    let value = inputs.number(name)?;
    if value < 2.0 || value % 2.0 != 0.0 {
        let message = format!(
            "the numbers come in pairs, so it must be even and at least 2; {value} is not."
        );
        return Err(CellError::input(name, label, message));
    }
    inputs.count(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr2;

    #[test]
    fn measures() {
        assert_eq!(largest(&[]), 0.0);
        assert_eq!(largest(&[0.5, 2.0, 1.0]), 2.0);
        assert!(largest(&[1.0, f64::NAN, 2.0]).is_nan());
        let (a, b) = (
            arr2(&[[1.0, 2.0], [3.0, 4.0]]),
            arr2(&[[1.0, 2.5], [0.0, 4.0]]),
        );
        assert_eq!(row_differences(a.view(), b.view()), [0.5, 3.0]);
        assert_eq!(bits_changed(a.view(), b.view()), [1.0, 1.0]);
        assert_eq!(diagonal_spreads(a.view()), [0.0, 3.0, 0.0]);
    }
}
