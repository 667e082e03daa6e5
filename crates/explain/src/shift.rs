//! Pictures that are moved by whole pixels, and tokens that are moved by whole patches.
//!
//! ```text
//! rolled(x)[y, x] = x[(y − down) mod H, (x − right) mod W]     what leaves on one side comes in on the other
//! moved(x)[y, x]  = x[y − down, x − right], 0 outside          what leaves is lost, paper comes in
//! rolled_rows     the same as rolled for a matrix with a row for each square of a grid
//! ```
//! A function f is *equivariant* to shifts when f(rolled(x)) = rolled(f(x)), and *invariant* when
//! f(rolled(x)) = f(x).
//!
//! ```
//! use explain::shift::{moved, rolled, rolled_rows};
//! use ndarray::array;
//! let image = array![[[1.0, 2.0, 3.0]]];
//! assert_eq!(rolled(image.view(), [0, 1]), array![[[3.0, 1.0, 2.0]]]);
//! assert_eq!(moved(image.view(), [0, -1]), array![[[2.0, 3.0, 0.0]]]);
//! let tokens = array![[1.0], [2.0], [3.0], [4.0]]; // a grid of 2 x 2
//! assert_eq!(rolled_rows(tokens.view(), (2, 2), [1, 0])?, array![[3.0], [4.0], [1.0], [2.0]]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: `torch.roll`; Cohen and Welling 2016, "Group equivariant convolutional networks", section 2,
//! for the words.

use engine::error::{EngineError, Result};
use engine::trace::Observer;
use ndarray::{Array2, Array3, ArrayView2, ArrayView3, ArrayViewD, ArrayViewMutD, Axis, Ix2};

/// Where the value at `at` comes from, on an axis of this length that is moved round by `by`.
fn source(at: usize, by: isize, length: usize) -> usize {
    let length = length as isize;
    (at as isize - by).rem_euclid(length) as usize
}

/// The picture moved down and to the right by so many pixels, round the border: what leaves on one side
/// comes in on the other.
pub fn rolled(image: ArrayView3<'_, f32>, [down, right]: [isize; 2]) -> Array3<f32> {
    // image [C, H, W] -> [C, H, W]
    let (_, height, width) = image.dim();
    Array3::from_shape_fn(image.dim(), |(c, y, x)| {
        image[[c, source(y, down, height), source(x, right, width)]]
    })
}

/// The picture moved down and to the right by so many pixels: what goes over the border is lost, and
/// paper, zeros, comes in.
pub fn moved(image: ArrayView3<'_, f32>, [down, right]: [isize; 2]) -> Array3<f32> {
    // image [C, H, W] -> [C, H, W]
    Array3::from_shape_fn(image.dim(), |(c, y, x)| {
        let from = [(y, down), (x, right)].map(|(at, by)| usize::try_from(at as isize - by));
        match from {
            [Ok(y), Ok(x)] => image.get((c, y, x)).copied().unwrap_or(0.0),
            _ => 0.0,
        }
    })
}

/// A matrix with a row for each square of a grid (rows, columns), moved round the grid by whole squares.
///
/// # Errors
/// When there is not one row for each square.
pub fn rolled_rows(
    tokens: ArrayView2<'_, f32>,
    grid: (usize, usize),
    [down, right]: [isize; 2],
) -> Result<Array2<f32>> {
    // tokens [N, C] -> [N, C]
    let (rows, columns) = grid;
    if rows == 0 || columns == 0 || tokens.nrows() != rows * columns {
        let expected = format!("a row for each square of {rows} x {columns}");
        let found = tokens.nrows().to_string();
        return Err(EngineError::shape("rolled_rows", expected, found));
    }
    let from =
        |n: usize| source(n / columns, down, rows) * columns + source(n % columns, right, columns);
    let order: Vec<usize> = (0..tokens.nrows()).map(from).collect();
    Ok(tokens.select(Axis(0), &order))
}

/// An observer that moves an intermediate of a model round its grid, by whole squares, before the model
/// continues with it: rows before the squares, such as a class token's, stay. An intermediate that has
/// not a row for each square stays as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Rolling {
    /// The name of the intermediate.
    pub name: String,
    /// Rows and columns of the grid.
    pub grid: (usize, usize),
    /// Squares down and to the right.
    pub by: [isize; 2],
}

impl Observer for Rolling {
    fn observe(&mut self, _: &str, _: ArrayViewD<'_, f32>) {}

    fn change(&mut self, name: &str, tensor: ArrayViewMutD<'_, f32>) {
        if name != self.name {
            return;
        }
        let squares = self.grid.0 * self.grid.1;
        let Ok(mut rows) = tensor.into_dimensionality::<Ix2>() else {
            return;
        };
        let Some(first) = rows.nrows().checked_sub(squares) else {
            return;
        };
        let (_, mut squares) = rows.view_mut().split_at(Axis(0), first);
        if let Ok(found) = rolled_rows(squares.view(), self.grid, self.by) {
            squares.assign(&found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::nn::patch::cut;

    fn image() -> Array3<f32> {
        Array3::from_shape_fn((2, 8, 12), |(c, y, x)| (c * 96 + y * 12 + x) as f32)
    }

    /// What leaves comes back; the way back undoes it.
    #[test]
    fn a_picture_is_rolled_round() {
        let image = image();
        let found = rolled(image.view(), [3, -2]);
        assert_eq!(found[[1, 3, 0]], image[[1, 0, 2]]);
        assert_eq!(found[[0, 0, 11]], image[[0, 5, 1]]);
        assert_eq!(rolled(found.view(), [-3, 2]), image);
        assert_eq!(rolled(image.view(), [8, -12]), image);
    }

    /// What leaves is lost, in all four directions.
    #[test]
    fn a_picture_is_moved_and_paper_comes_in() {
        let image = image();
        let found = moved(image.view(), [2, -3]);
        for ((c, y, x), &value) in found.indexed_iter() {
            let expected = if y >= 2 && x < 9 {
                image[[c, y - 2, x + 3]]
            } else {
                0.0
            };
            assert_eq!(value, expected);
        }
        assert_eq!(moved(image.view(), [-8, 0]).sum(), 0.0);
        assert_eq!(moved(image.view(), [0, 0]), image);
    }

    /// Patches of a picture that is rolled by whole patches are the patches, in another order.
    #[test]
    fn whole_patches_are_rolled_rows() {
        let image = image();
        let patches = cut(image.view(), 4).unwrap();
        let after = cut(rolled(image.view(), [4, -8]).view(), 4).unwrap();
        let expected = rolled_rows(patches.view(), (2, 3), [1, -2]).unwrap();
        assert_eq!(after, expected);
        assert!(rolled_rows(patches.view(), (2, 2), [1, 0]).is_err());
        assert!(rolled_rows(patches.view(), (0, 3), [1, 0]).is_err());
    }

    /// Only the named intermediate is moved, and what comes before its squares stays.
    #[test]
    fn an_intermediate_is_moved_behind_its_first_rows() {
        let rows = Array2::from_shape_fn((5, 2), |(n, c)| (2 * n + c) as f32);
        let mut rolling = Rolling {
            name: "positions".to_owned(),
            grid: (2, 2),
            by: [0, 1],
        };
        let mut other = rows.clone();
        rolling.change("input", other.view_mut().into_dyn());
        assert_eq!(other, rows);
        let mut found = rows.clone();
        rolling.change("positions", found.view_mut().into_dyn());
        assert_eq!(found, rows.select(Axis(0), &[0, 2, 1, 4, 3]));
        let few = rows.select(Axis(0), &[0, 1, 2]);
        let mut same = few.clone();
        rolling.change("positions", same.view_mut().into_dyn());
        assert_eq!(same, few);
    }
}
