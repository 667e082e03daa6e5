//! Principal components of rows: the directions in which rows differ most.
//!
//! ```text
//! C = (1/M) Σ_m (x_m - mean)(x_m - mean)ᵀ    x [M, N] -> [N, N]
//! C v_k = λ_k v_k                            v [N, N], a direction in each row, λ_0 ≥ λ_1 ≥ …
//! share_k = λ_k / Σ_j λ_j                    [N]
//! ```
//! The eigenvalues λ are found by Jacobi's rotations, in f64. Of v_k and -v_k, which are one
//! direction, the one is given whose largest number by magnitude is positive.
//!
//! ```
//! use explain::principal_components::principal_components;
//! use ndarray::array;
//! // Points on a line: one direction tells all.
//! let found = principal_components(array![[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]].view())?;
//! assert!((found.directions[[0, 0]] - 0.6).abs() < 1e-6 && (found.shares[0] - 1.0).abs() < 1e-6);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Golub and Van Loan 2013, "Matrix computations", section 8.5 (Jacobi); Dosovitskiy et al. 2021,
//! figure 7 (left), draws these directions for the filters of a ViT's patch embedding.

use engine::error::{EngineError, Result};
use engine::math::double;
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// Rounds over all pairs: each at least squares the part that is left, so a few are enough.
const ROUNDS: usize = 50;

/// Share of the whole that may be left off the diagonal.
const LEFT: f64 = 1e-28;

/// Directions, and how much of the variance each holds.
#[derive(Debug, Clone)]
pub struct Components {
    /// Directions of length 1 at right angles to each other, one in each row, `[N, N]`.
    pub directions: Array2<f32>,
    /// Share of the variance along each, largest first, `[N]`.
    pub shares: Array1<f32>,
}

/// The principal components of rows.
///
/// # Errors
/// When all rows are equal, or there is none, or a number is not finite.
pub fn principal_components(rows: ArrayView2<'_, f32>) -> Result<Components> {
    // rows [M, N]
    let x = rows.mapv(f64::from);
    let mean = x.mean_axis(Axis(0)).unwrap_or_default();
    let variance = |x: &Array2<f64>| x.iter().map(|x| x * x).sum::<f64>();
    let apart = if x.nrows() == 0 { x } else { x - mean };
    let total = variance(&apart);
    if !total.is_finite() || total <= 0.0 {
        return Err(EngineError::value(
            "principal_components",
            "variance of the rows",
            "more than 0, and finite",
            total,
        ));
    }
    let mut left = apart.t().dot(&apart);
    let count = left.nrows();
    let mut directions = Array2::<f64>::eye(count);
    for _ in 0..ROUNDS {
        let off: f64 = left
            .indexed_iter()
            .filter(|((i, j), _)| i != j)
            .map(|(_, x)| x * x)
            .sum();
        if off <= LEFT * total * total {
            break;
        }
        for p in 0..count {
            for q in p + 1..count {
                rotate(&mut left, &mut directions, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| left[[b, b]].total_cmp(&left[[a, a]]));
    let found = directions.select(Axis(0), &order);
    let mut directions = Array2::zeros(found.dim());
    for (mut row, found) in directions.rows_mut().into_iter().zip(found.rows()) {
        let largest = found.iter().fold(
            0.0f64,
            |most, &x| if x.abs() > most.abs() { x } else { most },
        );
        row.assign(&found.mapv(|x| (x * largest.signum()) as f32));
    }
    Ok(Components {
        directions,
        shares: order
            .iter()
            .map(|&k| (left[[k, k]].max(0.0) / total) as f32)
            .collect(),
    })
}

/// Turns the plane of axes p and q so that the number that joins them becomes zero.
fn rotate(left: &mut Array2<f64>, directions: &mut Array2<f64>, p: usize, q: usize) {
    let joins = left[[p, q]];
    if joins == 0.0 {
        return;
    }
    let slope = (left[[q, q]] - left[[p, p]]) / (2.0 * joins);
    let sign = if slope < 0.0 { -1.0 } else { 1.0 };
    let tangent = sign / (slope.abs() + double::sqrt(1.0 + slope * slope));
    let cosine = 1.0 / double::sqrt(1.0 + tangent * tangent);
    let sine = tangent * cosine;
    let turned = |a: f64, b: f64| (cosine * a - sine * b, sine * a + cosine * b);
    let count = left.nrows();
    for k in 0..count {
        let (a, b) = turned(left[[k, p]], left[[k, q]]);
        (left[[k, p]], left[[k, q]]) = (a, b);
    }
    for k in 0..count {
        let (a, b) = turned(left[[p, k]], left[[q, k]]);
        (left[[p, k]], left[[q, k]]) = (a, b);
        let (a, b) = turned(directions[[p, k]], directions[[q, k]]);
        (directions[[p, k]], directions[[q, k]]) = (a, b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Directions have length 1 and right angles, and with their shares they give the covariance back.
    #[test]
    fn directions_give_the_covariance_back() {
        let mut rng = engine::rng::Rng::new(3);
        let rows = Array2::from_shape_fn((40, 9), |(_, n)| rng.uniform() * (n as f32 + 1.0));
        let found = principal_components(rows.view()).unwrap();
        let v = found.directions.mapv(f64::from);
        let right = v.dot(&v.t());
        assert!(
            right
                .indexed_iter()
                .all(|((i, j), x)| (x - f64::from(u8::from(i == j))).abs() < 1e-6)
        );
        assert!(found.shares.windows(2).into_iter().all(|w| w[0] >= w[1]));
        assert!((found.shares.sum() - 1.0).abs() < 1e-5);
        let x = rows.mapv(f64::from);
        let x = &x - &x.mean_axis(Axis(0)).unwrap();
        let covariance = x.t().dot(&x);
        let total = covariance.diag().sum();
        let shares = found.shares.mapv(f64::from);
        let back = v.t().dot(&Array2::from_diag(&shares)).dot(&v) * total;
        assert!((&back - &covariance).iter().all(|x| x.abs() < 1e-4 * total));
    }

    /// A plane of two axes at 45 degrees, by hand: variances 4 and 1.
    #[test]
    fn two_axes_are_found() {
        let r = 0.5f32.sqrt();
        let (a, b) = (array![r, r], array![r, -r]);
        let rows = ndarray::stack![Axis(0), &a * 2.0, &a * -2.0, b.clone(), -b];
        let found = principal_components(rows.view()).unwrap();
        assert!((found.shares[0] - 0.8).abs() < 1e-6 && (found.shares[1] - 0.2).abs() < 1e-6);
        assert!((found.directions[[0, 0]] - r).abs() < 1e-6);
        assert!((found.directions[[0, 1]] - r).abs() < 1e-6);
    }

    #[test]
    fn equal_rows_have_no_direction() {
        assert!(principal_components(array![[1.0, 2.0], [1.0, 2.0]].view()).is_err());
        assert!(principal_components(Array2::zeros((0, 3)).view()).is_err());
        assert!(principal_components(array![[1.0, f32::NAN], [0.0, 2.0]].view()).is_err());
    }
}
