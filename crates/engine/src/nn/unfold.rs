//! Convolution as one product: every window of every picture becomes a row.
//!
//! ```text
//! x [B·H·W, C], one row for each pixel, pictures one after the other, row by row
//! unfold: -> [B·H'·W', C·P·P], columns in the order of a kernel [C_out, C, P, P]: channel, row, column
//! conv(x) = unfold(x) · weightᵀ + bias                    H' = ⌊(H + 2·padding − P)/stride⌋ + 1, W' likewise
//! ```
//! Outside the picture there are zeros. `explain::convolution::conv2d` computes the same
//! without rearranging.
//!
//! ```
//! use engine::nn::unfold::Windows;
//! use ndarray::array;
//! let windows = Windows { height: 2, width: 2, side: 2, stride: 1, padding: 0 };
//! let picture = array![[1.0], [2.0], [3.0], [4.0]];
//! assert_eq!(windows.unfold(picture.view())?, array![[1.0, 2.0, 3.0, 4.0]]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Chellapilla, Puri and Simard 2006, "High performance convolutional neural networks for
//! document processing", section 4; `torch.nn.functional.unfold`.

use crate::error::{EngineError, Result};
use crate::shape::{contiguous, matrix};
use ndarray::{Array2, ArrayView2};

/// The windows of a picture that a convolution reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// H.
    pub height: usize,
    /// W.
    pub width: usize,
    /// P, the side of a window.
    pub side: usize,
    /// Pixels from a window to the next.
    pub stride: usize,
    /// Rows and columns of zeros around the picture.
    pub padding: usize,
}

impl Windows {
    /// H' and W'.
    ///
    /// # Errors
    /// When a window is empty or larger than the padded picture, or the stride is 0.
    pub fn out(&self) -> Result<(usize, usize)> {
        let (h, w) = (
            self.height + 2 * self.padding,
            self.width + 2 * self.padding,
        );
        if self.stride == 0 || self.side == 0 || self.side > h.min(w) {
            let expected = format!("windows that fit {h} x {w}, a stride of at least 1");
            let found = format!("side {}, stride {}", self.side, self.stride);
            return Err(EngineError::shape("unfold", expected, found));
        }
        Ok((
            (h - self.side) / self.stride + 1,
            (w - self.side) / self.stride + 1,
        ))
    }

    /// The number of pictures in `rows` pixels.
    ///
    /// # Errors
    /// When they are no whole pictures.
    pub fn pictures(&self, rows: usize) -> Result<usize> {
        let pixels = self.height * self.width;
        if pixels == 0 || !rows.is_multiple_of(pixels) {
            let expected = format!("whole pictures of {pixels} rows");
            return Err(EngineError::shape("unfold", expected, format!("{rows}")));
        }
        Ok(rows / pixels)
    }

    /// Calls `visit` with row and column of each element of the unfolded matrix and row and column
    /// of its pixel.
    pub(crate) fn places(
        &self,
        pictures: usize,
        channels: usize,
        mut visit: impl FnMut([usize; 2], [usize; 2]),
    ) -> Result<()> {
        let (out_h, out_w) = self.out()?;
        let side = self.side;
        for n in 0..pictures * out_h * out_w {
            let (picture, y, x) = (n / (out_h * out_w), n / out_w % out_h, n % out_w);
            for i in 0..side {
                // In a picture with padding; `None` in the padding.
                let row = (y * self.stride + i).checked_sub(self.padding);
                let Some(row) = row.filter(|&row| row < self.height) else {
                    continue;
                };
                for j in 0..side {
                    let column = (x * self.stride + j).checked_sub(self.padding);
                    let Some(column) = column.filter(|&column| column < self.width) else {
                        continue;
                    };
                    let pixel = (picture * self.height + row) * self.width + column;
                    for c in 0..channels {
                        visit([n, (c * side + i) * side + j], [pixel, c]);
                    }
                }
            }
        }
        Ok(())
    }

    /// The windows, one a row.
    ///
    /// # Errors
    /// When the rows are no whole pictures, or the windows do not fit them.
    pub fn unfold(&self, x: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        // x [B·H·W, C] -> [B·H'·W', C·P·P]
        let (rows, channels) = x.dim();
        let (pictures, (out_h, out_w)) = (self.pictures(rows)?, self.out()?);
        let columns = channels * self.side * self.side;
        let data = contiguous(&x);
        let mut out = vec![0.0; pictures * out_h * out_w * columns];
        self.places(pictures, channels, |[n, at], [pixel, c]| {
            out[n * columns + at] = data[pixel * channels + c];
        })?;
        matrix("unfold", pictures * out_h * out_w, columns, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_zeros_and_nonsense_is_refused() {
        let windows = Windows {
            height: 1,
            width: 1,
            side: 3,
            stride: 1,
            padding: 1,
        };
        let one = ndarray::array![[7.0]];
        let found = windows.unfold(one.view()).unwrap();
        assert_eq!(found.sum(), 7.0);
        assert_eq!(found[[0, 4]], 7.0);
        assert!(
            Windows {
                padding: 0,
                ..windows
            }
            .unfold(one.view())
            .is_err()
        );
        assert!(
            Windows {
                stride: 0,
                ..windows
            }
            .unfold(one.view())
            .is_err()
        );
        let two = Windows {
            width: 2,
            ..windows
        };
        assert!(two.unfold(one.view()).is_err());
    }
}
