//! The similarity of two vectors.
//!
//! ```text
//! dot(a, b)    = Σᵢ aᵢ bᵢ                 a [N], b [N] -> scalar, grows with both lengths
//! cosine(a, b) = dot(a, b) / (|a| |b|)    a [N], b [N] -> −1 … 1, direction alone
//! angle(a, b)  = arccos(cosine(a, b))     a [N], b [N] -> 0 … 180 degrees
//! ```
//!
//! ```
//! use explain::similarity::{cosine, dot};
//! use ndarray::array;
//! assert_eq!(dot(array![3.0, 4.0].view(), array![6.0, 8.0].view())?, 50.0);
//! assert_eq!(cosine(array![3.0, 4.0].view(), array![6.0, 8.0].view())?, 1.0);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Salton and McGill 1983, "Introduction to modern information retrieval", section 4.

use engine::error::Result;
use engine::shape::{contiguous, mismatch};
use engine::{kernel, math};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

/// Σᵢ aᵢ bᵢ.
///
/// # Errors
/// When the lengths differ.
pub fn dot(a: ArrayView1<'_, f32>, b: ArrayView1<'_, f32>) -> Result<f32> {
    // a [N], b [N] -> scalar
    if a.len() != b.len() {
        let expected = "two vectors of one length";
        return Err(mismatch("similarity", expected, a.shape(), b.shape()));
    }
    Ok(kernel::dot(&contiguous(&a), &contiguous(&b)))
}

/// aᵢ bᵢ for each i: the terms of the dot product.
///
/// # Errors
/// When the lengths differ.
pub fn products(a: ArrayView1<'_, f32>, b: ArrayView1<'_, f32>) -> Result<Array1<f32>> {
    // a [N], b [N] -> [N]
    if a.len() != b.len() {
        let expected = "two vectors of one length";
        return Err(mismatch("products", expected, a.shape(), b.shape()));
    }
    Ok(&a * &b)
}

/// scale · Σᵢ aᵢ bᵢ for each row of `a` with the same row of `b`: N separate scores, where
/// [`engine::nn::attention::scores`] gives all pairs.
///
/// # Errors
/// When the shapes differ.
pub fn scaled_dot_rows(
    a: ArrayView2<'_, f32>,
    b: ArrayView2<'_, f32>,
    scale: f32,
) -> Result<Array1<f32>> {
    // a [T, N], b [T, N] -> [T]
    if a.dim() != b.dim() {
        let expected = "two matrices of one shape";
        return Err(mismatch("scaled_dot_rows", expected, a.shape(), b.shape()));
    }
    let rows = a.rows().into_iter().zip(b.rows());
    rows.map(|(a, b)| Ok(dot(a, b)? * scale)).collect()
}

/// The cosine of the angle between two vectors; 0 when one of them is all 0 and has no direction.
///
/// # Errors
/// When the lengths differ.
pub fn cosine(a: ArrayView1<'_, f32>, b: ArrayView1<'_, f32>) -> Result<f32> {
    // a [N], b [N] -> scalar
    let product = dot(a, b)?;
    let lengths = math::sqrt(dot(a, a)?) * math::sqrt(dot(b, b)?);
    match lengths == 0.0 {
        true => Ok(0.0),
        false => Ok(product / lengths),
    }
}

/// The angle between two vectors in degrees; NaN when one of them is all 0 and has no direction.
///
/// # Errors
/// When the lengths differ.
pub fn angle(a: ArrayView1<'_, f32>, b: ArrayView1<'_, f32>) -> Result<f32> {
    // a [N], b [N] -> scalar
    if dot(a, a)? == 0.0 || dot(b, b)? == 0.0 {
        return Ok(f32::NAN);
    }
    // Rounding may lead beyond the ends.
    let cosine = cosine(a, b)?.clamp(-1.0, 1.0);
    Ok(math::acos(cosine).to_degrees())
}

/// The cosine of every row of `a` with every row of `b`.
///
/// # Errors
/// When the widths differ.
pub fn cosine_rows(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
    // a [T, N], b [S, N] -> [T, S]
    let mut out = Array2::zeros((a.nrows(), b.nrows()));
    for ((t, s), value) in out.indexed_iter_mut() {
        *value = cosine(a.row(t), b.row(s))?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn rows_are_multiplied_in_pairs() {
        let (a, b) = (
            array![[1.0, 2.0], [3.0, 4.0]],
            array![[5.0, 6.0], [7.0, 8.0]],
        );
        assert_eq!(
            scaled_dot_rows(a.view(), b.view(), 0.5),
            Ok(array![8.5, 26.5])
        );
        assert!(scaled_dot_rows(a.view(), array![[1.0, 2.0]].view(), 1.0).is_err());
    }

    #[test]
    fn the_terms_add_up_to_the_dot_product() {
        let (a, b) = (array![1.0, 2.0, -1.0], array![3.0, 0.5, 4.0]);
        let terms = products(a.view(), b.view()).unwrap();
        assert_eq!(terms, array![3.0, 1.0, -4.0]);
        assert_eq!(dot(a.view(), b.view()), Ok(terms.sum()));
        assert!(products(a.view(), array![1.0].view()).is_err());
    }

    #[test]
    fn angles_in_degrees() {
        let right = array![2.0, 0.0];
        for (other, degrees) in [
            (array![3.0, 0.0], 0.0),
            (array![1.0, 1.0], 45.0),
            (array![0.0, -5.0], 90.0),
            (array![-1.0, 0.0], 180.0),
        ] {
            let found = angle(right.view(), other.view()).unwrap();
            assert!((found - degrees).abs() < 1e-4, "{found} {degrees}");
        }
        assert!(
            angle(right.view(), array![0.0, 0.0].view())
                .unwrap()
                .is_nan()
        );
        assert!(angle(right.view(), array![1.0].view()).is_err());
    }

    #[test]
    fn cosines_of_all_pairs() {
        let a = array![[1.0, 0.0], [0.0, 0.0]];
        let b = array![[2.0, 0.0], [0.0, 5.0], [-1.0, 0.0]];
        assert_eq!(
            cosine_rows(a.view(), b.view()),
            Ok(array![[1.0, 0.0, -1.0], [0.0, 0.0, 0.0]])
        );
        assert!(cosine_rows(a.view(), array![[1.0]].view()).is_err());
    }
}
