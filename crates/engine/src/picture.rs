//! Pictures as tensors: from bytes, cropped to a square, scaled, as grey values.
//!
//! ```text
//! from_rgb8: bytes [H · W · 3] -> [3, H, W], values in [0, 1]
//! centre_square: [C, H, W] -> [C, S, S] with S = min(H, W)
//! resize: [C, H, W] -> [C, H', W'];  x_in = (x_out + 1/2) · W / W' − 1/2, bilinear or bicubic; the weights within the picture are
//!         scaled to the sum 1; when shrinking, the filter widens to the step, so no pixel is skipped
//! grey: [3, H, W] -> [1, H, W],  0.299 R + 0.587 G + 0.114 B
//! ```
//!
//! ```
//! use engine::picture::{from_rgb8, resize};
//! let image = from_rgb8(&[0, 0, 0, 255, 255, 255], 2, 1)?;
//! assert_eq!(image.dim(), (3, 1, 2));
//! assert_eq!(resize(image.view(), 1, 1)?[[0, 0, 0]], 0.5);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Sources: `torch.nn.functional.interpolate` with `mode="bilinear"` or `"bicubic"`,
//! `antialias=True, align_corners=False`; ITU-R BT.601, section 2.5.1, for the grey weights.

use ndarray::{Array2, Array3, ArrayView3, Axis};

use crate::error::{EngineError, Result};
use crate::shape::product;

/// A picture from red, green and blue bytes, row by row.
///
/// # Errors
/// When there are not `3 · width · height` bytes, or a side is 0.
pub fn from_rgb8(bytes: &[u8], width: usize, height: usize) -> Result<Array3<f32>> {
    // bytes [H * W * 3] -> [3, H, W]
    if width == 0 || height == 0 || bytes.len() != 3 * width * height {
        let expected = format!("{} bytes for {width} x {height} pixels", 3 * width * height);
        let found = format!("{} bytes", bytes.len());
        return Err(EngineError::shape("from_rgb8", expected, found));
    }
    Ok(Array3::from_shape_fn((3, height, width), |(c, y, x)| {
        f32::from(bytes[3 * (y * width + x) + c]) / 255.0
    }))
}

/// The largest square in the middle of a picture.
pub fn centre_square(image: ArrayView3<'_, f32>) -> Array3<f32> {
    // image [C, H, W] -> [C, S, S]
    let (channels, height, width) = image.dim();
    let side = height.min(width);
    let (top, left) = ((height - side) / 2, (width - side) / 2);
    Array3::from_shape_fn((channels, side, side), |(c, y, x)| {
        image[[c, top + y, left + x]]
    })
}

/// A filter, the weights of pixels when a picture is scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// A triangle of two pixels.
    Bilinear,
    /// Keys' cubic of four pixels, with a = −1/2 (Keys 1981, equation 14), as in Pillow.
    Bicubic,
}

impl Filter {
    /// The largest distance of a pixel with a weight, in pixels.
    fn reach(self) -> f32 {
        match self {
            Self::Bilinear => 1.0,
            Self::Bicubic => 2.0,
        }
    }

    /// The weight of a pixel at a distance in pixels.
    fn weight(self, distance: f32) -> f32 {
        let x = distance.abs();
        match self {
            Self::Bilinear => (1.0 - x).max(0.0),
            Self::Bicubic if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
            Self::Bicubic if x < 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
            Self::Bicubic => 0.0,
        }
    }
}

/// The picture in another size, bilinear.
///
/// # Errors
/// When a side of either size is 0.
pub fn resize(image: ArrayView3<'_, f32>, height: usize, width: usize) -> Result<Array3<f32>> {
    resize_by(image, height, width, Filter::Bilinear)
}

/// The picture in another size.
///
/// # Errors
/// When a side of either size is 0.
pub fn resize_by(
    image: ArrayView3<'_, f32>,
    height: usize,
    width: usize,
    by: Filter,
) -> Result<Array3<f32>> {
    // image [C, H, W] -> [C, height, width]
    let (channels, rows, cols) = image.dim();
    if [rows, cols, height, width].contains(&0) {
        let sides = format!("{rows} x {cols} to {height} x {width}");
        return Err(EngineError::value("resize", "sides", "at least 1", sides));
    }
    if (rows, cols) == (height, width) {
        return Ok(image.to_owned());
    }
    let (down, across) = (weights(rows, height, by), weights(cols, width, by));
    let mut out = Array3::zeros((channels, height, width));
    for (plane, mut target) in image.axis_iter(Axis(0)).zip(out.axis_iter_mut(Axis(0))) {
        let lower = product("resize", down.view(), plane)?;
        target.assign(&product("resize", lower.view(), across.t())?);
    }
    Ok(out)
}

/// The weights `[to, from]` by which a line of `from` pixels becomes one of `to`; each row sums to
/// 1.
fn weights(from: usize, to: usize, by: Filter) -> Array2<f32> {
    let step = from as f32 / to as f32;
    let stretch = step.max(1.0);
    let mut weights = Array2::zeros((to, from));
    for (at, mut row) in weights.rows_mut().into_iter().enumerate() {
        let centre = (at as f32 + 0.5) * step;
        let first = (centre - by.reach() * stretch).floor().max(0.0) as usize;
        let last = (centre + by.reach() * stretch).ceil() as usize;
        for pixel in first..last.min(from) {
            row[pixel] = by.weight((pixel as f32 + 0.5 - centre) / stretch);
        }
        let total = row.sum();
        row /= total;
    }
    weights
}

/// The picture in grey; a picture with another number of channels than three is returned unchanged.
pub fn grey(image: ArrayView3<'_, f32>) -> Array3<f32> {
    // image [3, H, W] -> [1, H, W]
    let (channels, height, width) = image.dim();
    if channels != 3 {
        return image.to_owned();
    }
    Array3::from_shape_fn((1, height, width), |(_, y, x)| {
        0.299 * image[[0, y, x]] + 0.587 * image[[1, y, x]] + 0.114 * image[[2, y, x]]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_planes() {
        let image = from_rgb8(&[255, 0, 51, 0, 255, 102], 2, 1).unwrap();
        assert_eq!(
            image.iter().copied().collect::<Vec<_>>(),
            [1.0, 0.0, 0.0, 1.0, 0.2, 0.4]
        );
        assert!(from_rgb8(&[0; 5], 2, 1).is_err());
        assert!(from_rgb8(&[], 0, 0).is_err());
    }

    /// Values of `F.interpolate(arange(6).reshape(1, 1, 1, 6), (1, n), mode="bilinear",
    /// antialias=True)`.
    #[test]
    fn scaling_agrees_with_pytorch() {
        let line = Array3::from_shape_fn((1, 1, 6), |(_, _, x)| x as f32);
        for (to, expected) in [
            (3, vec![0.714_285_7, 2.5, 4.285_714]),
            (2, vec![1.25, 3.75]),
            (
                9,
                vec![
                    0.0,
                    0.5,
                    1.166_666_6,
                    1.833_333_3,
                    2.5,
                    3.166_666_7,
                    3.833_333_3,
                    4.5,
                    5.0,
                ],
            ),
        ] {
            let found = resize(line.view(), 1, to).unwrap();
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-5, "{to}: {found}");
            }
        }
    }

    /// Values of the same with `mode="bicubic"` on the squares of 0 to 5.
    #[test]
    fn bicubic_scaling_agrees_with_pytorch() {
        let line = Array3::from_shape_fn((1, 1, 6), |(_, _, x)| (x * x) as f32);
        for (to, expected) in [
            (3, vec![0.410_041_87, 6.530_534_3, 19.970_71]),
            (4, vec![0.158_574_36, 2.977_028_8, 10.886_677, 22.278_32]),
            (
                9,
                vec![
                    -0.065_789_32,
                    0.294_117_7,
                    1.361_110_8,
                    3.361_111_4,
                    6.25,
                    10.027_779,
                    14.694_445,
                    21.176_472,
                    25.592_106,
                ],
            ),
        ] {
            let found = resize_by(line.view(), 1, to, Filter::Bicubic).unwrap();
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-4, "{to}: {found}");
            }
        }
    }

    #[test]
    fn the_same_size_is_the_same_picture_and_a_plain_one_stays_plain() {
        let image = Array3::from_shape_fn((3, 5, 7), |(c, y, x)| (c * 35 + y * 7 + x) as f32);
        assert_eq!(resize(image.view(), 5, 7).unwrap(), image);
        let plain = Array3::from_elem((3, 9, 4), 0.25);
        assert!(
            resize(plain.view(), 3, 11)
                .unwrap()
                .iter()
                .all(|v| (v - 0.25).abs() < 1e-6)
        );
        assert!(resize(image.view(), 0, 3).is_err());
    }

    #[test]
    fn squares_and_grey() {
        let image = Array3::from_shape_fn((3, 2, 5), |(c, _, x)| (10 * c + x) as f32);
        let square = centre_square(image.view());
        assert_eq!(square.index_axis(Axis(0), 0).row(0).to_vec(), [1.0, 2.0]);
        let white = Array3::ones((3, 2, 2));
        assert!(grey(white.view()).iter().all(|v| (v - 1.0).abs() < 1e-6));
        assert_eq!(grey(image.view()).dim(), (1, 2, 5));
    }
}
