//! The pseudo-inverse of a matrix of full rank: the best way back from what it gives.
//!
//! ```text
//! A⁺ = Aᵀ (A Aᵀ)⁻¹    A [N, M], N ≤ M, independent rows    -> [M, N], A A⁺ = 1
//! A⁺ = (Aᵀ A)⁻¹ Aᵀ    A [N, M], N > M, independent columns -> [M, N], A⁺ A = 1
//! ```
//! For y = A x, A⁺ y is of all x that give this y the shortest, and of all x the one whose A x is
//! nearest to y. A Aᵀ is factored as L Lᵀ (Cholesky), in f64, and solved from both sides.
//!
//! ```
//! use explain::pseudo_inverse::pseudo_inverse;
//! use ndarray::array;
//! // Two numbers become their sum: the way back gives each of them half.
//! assert_eq!(pseudo_inverse(array![[1.0, 1.0]].view())?, array![[0.5], [0.5]]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Golub and Van Loan 2013, "Matrix computations", sections 4.2 (Cholesky) and 5.5.2.

use engine::error::{EngineError, Result};
use engine::math::double;
use ndarray::{Array2, ArrayView2};

/// Share of a row's squared length that must be new, not a mixture of the rows above, for the row to
/// count as independent of them.
const NEW: f64 = 1e-12;

/// The pseudo-inverse of a matrix whose rows, or whose columns where these are fewer, are
/// independent.
///
/// # Errors
/// When they are not.
pub fn pseudo_inverse(a: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
    // a [N, M] -> [M, N]
    let (rows, columns) = a.dim();
    if rows > columns {
        let turned = pseudo_inverse(a.t())?;
        return Ok(turned.t().as_standard_layout().into_owned());
    }
    let a: Vec<Vec<f64>> = a
        .rows()
        .into_iter()
        .map(|row| row.mapv(f64::from).to_vec())
        .collect();
    let lower = cholesky(&a)?;
    // L Lᵀ X = A: first L Y = A from the top, then Lᵀ X = Y from the bottom.
    let mut x = a;
    for i in 0..rows {
        let (above, rest) = x.split_at_mut(i);
        let factors = lower[i].iter().copied();
        reduce(&mut rest[0], above.iter().zip(factors), lower[i][i]);
    }
    for i in (0..rows).rev() {
        let (before, below) = x.split_at_mut(i + 1);
        let factors = lower[i + 1..].iter().map(|row| row[i]);
        reduce(&mut before[i], below.iter().zip(factors), lower[i][i]);
    }
    Ok(Array2::from_shape_fn((columns, rows), |(m, n)| {
        x[n][m] as f32
    }))
}

/// Subtracts multiples of other rows from a row, and divides what is left.
fn reduce<'a>(row: &mut [f64], others: impl Iterator<Item = (&'a Vec<f64>, f64)>, by: f64) {
    for (other, factor) in others {
        for (value, &known) in row.iter_mut().zip(other) {
            *value -= factor * known;
        }
    }
    for value in row {
        *value /= by;
    }
}

/// The lower triangle L of A Aᵀ = L Lᵀ, a row for each of A.
fn cholesky(a: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let mut lower: Vec<Vec<f64>> = Vec::with_capacity(a.len());
    for (i, row) in a.iter().enumerate() {
        let mut own = Vec::with_capacity(i + 1);
        for (above, known) in a.iter().zip(&lower) {
            let left = dot(row, above) - dot(&own, known);
            own.push(left / known[own.len()]);
        }
        let length = dot(row, row);
        let left = length - dot(&own, &own);
        if left.is_nan() || left <= NEW * length {
            let expected = "independent rows, or columns where these are fewer";
            let found = format!("row {i} is a mixture of those above");
            return Err(EngineError::value("pseudo_inverse", "a", expected, found));
        }
        own.push(double::sqrt(left));
        lower.push(own);
    }
    Ok(lower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// The four conditions of Penrose, for matrices that are wide, square and tall.
    #[test]
    fn the_pseudo_inverse_meets_the_conditions_of_penrose() {
        for (rows, columns) in [(1, 1), (3, 8), (8, 3), (12, 12), (48, 48), (20, 48)] {
            let a = engine::rng::normal_matrix(3, "penrose", rows, columns, 1.0).mapv(f64::from);
            let p = pseudo_inverse(a.mapv(|x| x as f32).view()).unwrap();
            assert_eq!(p.dim(), (columns, rows));
            let p = p.mapv(f64::from);
            let near = |x: &Array2<f64>, y: &Array2<f64>, what: &str| {
                let most = (x - y).mapv(f64::abs).fold(0.0, |a: f64, &b| a.max(b));
                assert!(most < 1e-4, "{rows} x {columns}, {what}: {most}");
            };
            near(&a.dot(&p).dot(&a), &a, "A P A = A");
            near(&p.dot(&a).dot(&p), &p, "P A P = P");
            let (ap, pa) = (a.dot(&p), p.dot(&a));
            near(&ap.t().to_owned(), &ap, "A P is symmetric");
            near(&pa.t().to_owned(), &pa, "P A is symmetric");
        }
    }

    #[test]
    fn dependent_rows_are_refused() {
        for a in [
            array![[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]],
            array![[0.0, 0.0], [1.0, 0.0]],
            array![[1.0, f32::NAN]],
        ] {
            let error = pseudo_inverse(a.view()).unwrap_err().to_string();
            assert!(error.contains("independent"), "{error}");
            assert!(pseudo_inverse(a.t()).is_err(), "its columns");
        }
        assert_eq!(
            pseudo_inverse(Array2::zeros((0, 3)).view()).unwrap().dim(),
            (3, 0)
        );
    }
}
