//! How far attention reaches in a picture, in pixels: for each head, the mean distance between the
//! middle of a patch and the middles of the patches that it takes from, weighted by its attention.
//!
//! ```text
//! distance(l, h) = 1/N · Σ_i  Σ_j w_ij ‖p_i − p_j‖ / Σ_j w_ij       weights w [L, H, T, T] -> [L, H]
//! even           = 1/N² · Σ_i Σ_j ‖p_i − p_j‖                        of a head that takes the same from all
//! ```
//! i and j are patches. Tokens before the patches, such as the class token, have no position in the
//! picture and are left out; the weights of each patch are divided by what is left.
//!
//! ```
//! use explain::attention_distance::{distances, even};
//! use ndarray::Array4;
//! // Two patches side by side that look only at themselves, then only at each other.
//! let own = Array4::from_shape_fn((1, 1, 2, 2), |(_, _, i, j)| f32::from(u8::from(i == j)));
//! assert_eq!(distances(own.view(), (1, 2), 4)?[[0, 0]], 0.0);
//! let other = own.mapv(|weight| 1.0 - weight);
//! assert_eq!(distances(other.view(), (1, 2), 4)?[[0, 0]], 4.0);
//! assert_eq!(even((1, 2), 4)?, 2.0);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Dosovitskiy et al. 2021, section 4.5, figure 7 (right) and appendix D.7, there of pixels and
//! the mean of 128 pictures.

use engine::error::{EngineError, Result};
use engine::math;
use ndarray::{Array2, Array4, ArrayView4};

/// The distance between the middles of patches `i` and `j`, in pixels.
fn apart(i: usize, j: usize, columns: usize, patch: usize) -> f32 {
    let difference = |a: usize, b: usize| a.abs_diff(b) as f32 * patch as f32;
    let down = difference(i / columns, j / columns);
    let across = difference(i % columns, j % columns);
    math::sqrt(down * down + across * across)
}

/// The mean attention distance of each head, in pixels, for patches on a grid (rows, columns) with this
/// side. The patches are the last tokens.
///
/// # Errors
/// When there are fewer tokens than patches, or no patch.
pub fn distances(
    weights: ArrayView4<'_, f32>,
    grid: (usize, usize),
    patch: usize,
) -> Result<Array2<f32>> {
    // weights [L, H, T, T] -> [L, H]
    let (layers, heads, queries, keys) = weights.dim();
    let patches = grid.0 * grid.1;
    if patches == 0 || queries < patches || keys != queries {
        let expected = format!("weights between {patches} patches, at least 1");
        let found = format!("{queries} x {keys}");
        return Err(EngineError::shape("distances", expected, found));
    }
    let before = queries - patches;
    Ok(Array2::from_shape_fn((layers, heads), |(l, h)| {
        let mut total = 0.0;
        for i in 0..patches {
            let (mut reach, mut given) = (0.0, 0.0);
            for j in 0..patches {
                let weight = weights[[l, h, before + i, before + j]];
                given += weight;
                reach += weight * apart(i, j, grid.1, patch);
            }
            // A patch that gives all its weight to the class token reaches no other.
            if given > 0.0 {
                total += reach / given;
            }
        }
        total / patches as f32
    }))
}

/// The same of a head that takes the same from every patch.
///
/// # Errors
/// When there is no patch.
pub fn even(grid: (usize, usize), patch: usize) -> Result<f32> {
    // -> scalar
    let patches = grid.0 * grid.1;
    let all = Array4::ones((1, 1, patches, patches));
    Ok(distances(all.view(), grid, patch)?[[0, 0]])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All weight on a patch three to the right and four down: five patches away.
    #[test]
    fn the_distance_is_that_of_the_middles() {
        let grid = (5, 4);
        let mut weights = Array4::zeros((1, 1, 21, 21));
        for i in 0..20 {
            // The patch at the far end: itself for all but the first.
            let to = if i == 0 { 19 } else { i };
            weights[[0, 0, 1 + i, 1 + to]] = 0.25;
            weights[[0, 0, 1 + i, 0]] = 0.75;
        }
        let found = distances(weights.view(), grid, 2).unwrap();
        assert_eq!(found[[0, 0]], 10.0 / 20.0);
    }

    /// The class token's share changes nothing, and equal weights give the even distance.
    #[test]
    fn the_class_token_is_left_out() {
        let weights = Array4::from_shape_fn((2, 1, 10, 10), |(l, _, _, j)| match (l, j) {
            (0, _) => 0.1,
            (_, 0) => 0.91,
            _ => 0.01,
        });
        let found = distances(weights.view(), (3, 3), 4).unwrap();
        let even = even((3, 3), 4).unwrap();
        for layer in 0..2 {
            assert!((found[[layer, 0]] - even).abs() < 1e-5);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let weights = Array4::zeros((1, 1, 4, 4));
        assert!(distances(weights.view(), (2, 3), 4).is_err());
        assert!(distances(weights.view(), (0, 3), 4).is_err());
        assert!(even((0, 0), 4).is_err());
    }
}
