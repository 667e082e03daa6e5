//! Pictures as sequences: cut into square patches, each flattened to one vector, then embedded.
//!
//! ```text
//! count(H, W, P) = ⌊H/P⌋ · ⌊W/P⌋ = N
//! cut:    image [C, H, W] -> [N, C·P·P]; patches row by row; inside a patch channel, row, column
//! uncut:  [N, C·P·P] -> [C, H, W]
//! embed:  patches [N, C·P·P] · weightᵀ + bias, weight [C_out, C·P·P] -> [N, C_out]
//! ```
//! Where P does not divide the picture, the rest at the right and at the bottom is left out, as a
//! convolution with stride P does. A convolution's weight `[C_out, C, P, P]` flattened to `[C_out,
//! C·P·P]` gives the same embedding as `explain::convolution::conv2d`.
//!
//! ```
//! use engine::nn::patch::{count, cut, uncut};
//! use ndarray::Array3;
//! assert_eq!(count(224, 224, 16), 196);
//! let picture = Array3::from_shape_fn((1, 4, 4), |(_, y, x)| (4 * y + x) as f32);
//! let patches = cut(picture.view(), 2)?;
//! assert_eq!(patches.row(1).to_vec(), [2.0, 3.0, 6.0, 7.0]);
//! assert_eq!(uncut(patches.view(), 1, 4, 4, 2)?, picture);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Dosovitskiy et al. 2021, "An image is worth 16x16 words", section 3.1, equation 1.

use super::linear::linear;
use crate::error::{EngineError, Result};
use crate::shape::expect;
use ndarray::{Array2, Array3, ArrayView1, ArrayView2, ArrayView3};

/// The whole patches of side `patch` in a picture; 0 when `patch` is 0.
pub fn count(height: usize, width: usize, patch: usize) -> usize {
    height.checked_div(patch).unwrap_or(0) * width.checked_div(patch).unwrap_or(0)
}

/// The patches of a picture, one a row.
///
/// # Errors
/// When `patch` is 0 or larger than the picture.
pub fn cut(image: ArrayView3<'_, f32>, patch: usize) -> Result<Array2<f32>> {
    // image [C, H, W] -> [N, C * P * P]
    let (channels, height, width) = image.dim();
    check("patch cut", height, width, patch)?;
    let across = width / patch;
    let shape = (count(height, width, patch), channels * patch * patch);
    Ok(Array2::from_shape_fn(shape, |(n, at)| {
        let (c, row, col) = inside(at, patch);
        image[[c, n / across * patch + row, n % across * patch + col]]
    }))
}

/// The picture that was cut; pixels outside every whole patch are 0.
///
/// # Errors
/// When `patch` is 0 or larger than the picture, or the patches are not those of such a picture.
pub fn uncut(
    patches: ArrayView2<'_, f32>,
    channels: usize,
    height: usize,
    width: usize,
    patch: usize,
) -> Result<Array3<f32>> {
    // patches [N, C * P * P] -> [C, H, W]
    check("patch uncut", height, width, patch)?;
    let across = width / patch;
    let shape = [count(height, width, patch), channels * patch * patch];
    expect("patch uncut", "patches", &shape, patches.shape())?;
    let mut image = Array3::zeros((channels, height, width));
    for ((n, at), &value) in patches.indexed_iter() {
        let (c, row, col) = inside(at, patch);
        image[[c, n / across * patch + row, n % across * patch + col]] = value;
    }
    Ok(image)
}

/// The patches as tokens of width C_out.
///
/// # Errors
/// When the weight does not fit a patch's length, or the bias not the weight.
pub fn embed(
    patches: ArrayView2<'_, f32>,
    weight: ArrayView2<'_, f32>,
    bias: Option<ArrayView1<'_, f32>>,
) -> Result<Array2<f32>> {
    // patches [N, C * P * P], weight [C_out, C * P * P], bias [C_out] -> [N, C_out]
    linear(patches, weight, bias)
}

/// Channel, row and column of element `at` of a flattened patch.
fn inside(at: usize, patch: usize) -> (usize, usize, usize) {
    (at / (patch * patch), at / patch % patch, at % patch)
}

fn check(operation: &'static str, height: usize, width: usize, patch: usize) -> Result<()> {
    let side = height.min(width);
    if patch == 0 || patch > side {
        let expected = format!("between 1 and the picture's side {side}");
        return Err(EngineError::value(operation, "patch", expected, patch));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_the_curriculum() {
        assert_eq!([32, 16, 14].map(|p| count(224, 224, p)), [49, 196, 256]);
        assert_eq!(count(8, 8, 4), 4);
        let picture = Array3::<f32>::zeros((3, 224, 224));
        assert_eq!(cut(picture.view(), 16).unwrap().dim(), (196, 768));
    }

    #[test]
    fn a_remainder_is_left_out_and_nonsense_is_refused() {
        let picture = Array3::from_shape_fn((2, 5, 7), |(c, y, x)| (100 * c + 10 * y + x) as f32);
        let patches = cut(picture.view(), 2).unwrap();
        assert_eq!(patches.dim(), (6, 8));
        assert_eq!(
            patches.row(5).to_vec(),
            [24.0, 25.0, 34.0, 35.0, 124.0, 125.0, 134.0, 135.0]
        );
        assert!(cut(picture.view(), 0).is_err());
        assert!(cut(picture.view(), 6).is_err());
        assert!(uncut(patches.view(), 2, 5, 9, 2).is_err());
    }
}
