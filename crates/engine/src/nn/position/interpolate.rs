//! A table of learned positions on a grid, stretched to another grid: how a picture model reads
//! pictures of other sizes.
//!
//! ```text
//! table [H·W, C], one vector for each patch, row by row -> [H'·W', C]
//! x_in = (x_out + 1/2) · W / W' − 1/2;   the four nearest entries of the row, then of the column, borders repeated, weighed by
//! |t| ≤ 1: (a + 2)|t|³ − (a + 3)|t|² + 1        1 < |t| < 2: a|t|³ − 5a|t|² + 8a|t| − 4a,      a = −3/4
//! ```
//! When the grid shrinks, entries are skipped, not averaged, as the models' own code does.
//!
//! ```
//! use engine::nn::position::interpolate::bicubic;
//! use ndarray::array;
//! let table = array![[0.0], [1.0], [2.0], [3.0]]; // 2 x 2
//! let found = bicubic(table.view(), (2, 2), (4, 4))?;
//! assert_eq!(found.dim(), (16, 1));
//! assert!((found[[0, 0]] + 0.316_406_25).abs() < 1e-6); // Cubics overshoot.
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Keys 1981, "Cubic convolution interpolation for digital image processing", equation 15;
//! `torch.nn.functional.interpolate(mode="bicubic", align_corners=False)`; Dosovitskiy et al. 2021,
//! section 3.2.

use crate::error::{EngineError, Result};
use crate::shape::expect;
use ndarray::{Array2, Array3, ArrayView2};

/// The cubic's free parameter.
const A: f64 = -0.75;

/// The table of another grid; grids are (rows, columns).
///
/// # Errors
/// When a side is 0, or the table has not one row for each cell of `from`.
pub fn bicubic(
    table: ArrayView2<'_, f32>,
    from: (usize, usize),
    to: (usize, usize),
) -> Result<Array2<f32>> {
    // table [H·W, C] -> [H'·W', C]
    let width = table.ncols();
    if from.0 == 0 || from.1 == 0 || to.0 == 0 || to.1 == 0 {
        let found = format!("{from:?} to {to:?}");
        return Err(EngineError::value("bicubic", "sides", "at least 1", found));
    }
    expect("bicubic", "table", &[from.0 * from.1, width], table.shape())?;
    if from == to {
        return Ok(table.to_owned());
    }
    let mut rows = Array3::<f32>::zeros((from.0, to.1, width));
    for x in 0..to.1 {
        for (source, weight) in taps(x, from.1, to.1) {
            for y in 0..from.0 {
                let mut entry = rows.slice_mut(ndarray::s![y, x, ..]);
                entry.scaled_add(weight, &table.row(y * from.1 + source));
            }
        }
    }
    let mut out = Array2::zeros((to.0 * to.1, width));
    for y in 0..to.0 {
        for (source, weight) in taps(y, from.0, to.0) {
            for x in 0..to.1 {
                let mut entry = out.row_mut(y * to.1 + x);
                entry.scaled_add(weight, &rows.slice(ndarray::s![source, x, ..]));
            }
        }
    }
    Ok(out)
}

/// The entries of a line of length `from` that contribute to entry `at` of a line of length `to`,
/// with their weights.
fn taps(at: usize, from: usize, to: usize) -> [(usize, f32); 4] {
    let centre = (at as f64 + 0.5) * from as f64 / to as f64 - 0.5;
    let first = centre.floor() - 1.0;
    [0.0, 1.0, 2.0, 3.0].map(|n| {
        let entry = (first + n).clamp(0.0, from as f64 - 1.0);
        (entry as usize, cubic((first + n - centre).abs()) as f32)
    })
}

fn cubic(t: f64) -> f64 {
    if t <= 1.0 {
        ((A + 2.0) * t - (A + 3.0)) * t * t + 1.0
    } else if t < 2.0 {
        ((A * t - 5.0 * A) * t + 8.0 * A) * t - 4.0 * A
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_of_every_place_add_to_one() {
        for (from, to) in [(37, 16), (14, 24), (3, 5), (1, 4)] {
            for at in 0..to {
                let total: f32 = taps(at, from, to).iter().map(|(_, weight)| weight).sum();
                assert!((total - 1.0).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn the_same_grid_is_the_same_table_and_nonsense_is_refused() {
        let table = Array2::from_shape_fn((6, 2), |(n, c)| (n * 10 + c) as f32);
        assert_eq!(bicubic(table.view(), (2, 3), (2, 3)).unwrap(), table);
        assert!(bicubic(table.view(), (2, 2), (2, 3)).is_err());
        assert!(bicubic(table.view(), (2, 3), (0, 3)).is_err());
    }
}
