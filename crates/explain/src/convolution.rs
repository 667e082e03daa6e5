//! Two-dimensional convolution as it is written on paper: a window slides over the picture.
//! Networks compute it as one product ([`engine::nn::unfold`], [`engine::nn::patch`]); tests and a
//! lesson compare them with this.
//!
//! ```text
//! out[o, y, x] = bias[o] + Σ_c Σ_i Σ_j weight[o, c, i, j] · image[c, y·stride + i, x·stride + j]
//! image [C_in, H, W], weight [C_out, C_in, P_h, P_w], bias [C_out]
//!   -> [C_out, (H − P_h)/stride + 1, (W − P_w)/stride + 1]   (rounded down: an incomplete window is left out)
//! ```
//!
//! ```
//! use explain::convolution::conv2d;
//! use ndarray::{array, Array4};
//! let image = array![[[1.0, 2.0], [3.0, 4.0]]];
//! let ones = Array4::ones((1, 1, 2, 2));
//! assert_eq!(conv2d(image.view(), ones.view(), None, 2)?, array![[[10.0]]]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: LeCun et al. 1998, "Gradient-based learning applied to document recognition", section
//! II.A; `torch.nn.Conv2d`.

use engine::error::{EngineError, Result};
use engine::kernel;
use engine::shape::{contiguous, expect, mismatch};
use ndarray::{Array3, ArrayView1, ArrayView3, ArrayView4};

/// Convolution (cross-correlation, as in every deep-learning library) with `stride` in both
/// directions.
///
/// # Errors
/// When channels differ, the window is larger than the picture or empty, the stride is 0, or the
/// bias does not fit.
pub fn conv2d(
    image: ArrayView3<'_, f32>,
    weight: ArrayView4<'_, f32>,
    bias: Option<ArrayView1<'_, f32>>,
    stride: usize,
) -> Result<Array3<f32>> {
    // image [C_in, H, W], weight [C_out, C_in, P_h, P_w], bias [C_out] -> [C_out, H', W']
    let (channels, height, width) = image.dim();
    let (outputs, channels_w, window_h, window_w) = weight.dim();
    if stride == 0 {
        return Err(EngineError::value("conv2d", "stride", "at least 1", stride));
    }
    let fits = (1..=height).contains(&window_h) && (1..=width).contains(&window_w);
    if channels != channels_w || !fits {
        let expected = "image [C_in, H, W] and weight [C_out, C_in, at most H, at most W]";
        return Err(mismatch("conv2d", expected, image.shape(), weight.shape()));
    }
    if let Some(bias) = bias {
        expect("conv2d", "bias", &[outputs], bias.shape())?;
    }
    let (pixels, filters) = (contiguous(&image), contiguous(&weight));
    let shape = (
        outputs,
        (height - window_h) / stride + 1,
        (width - window_w) / stride + 1,
    );
    Ok(Array3::from_shape_fn(shape, |(o, y, x)| {
        let mut total = bias.map_or(0.0, |bias| bias[o]);
        for c in 0..channels {
            for i in 0..window_h {
                let pixel = (c * height + y * stride + i) * width + x * stride;
                let filter = ((o * channels + c) * window_h + i) * window_w;
                total += kernel::dot(
                    &pixels[pixel..pixel + window_w],
                    &filters[filter..filter + window_w],
                );
            }
        }
        total
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::nn::unfold::Windows;
    use engine::rng::normal_matrix;
    use ndarray::{Array4, array};

    #[test]
    fn overlapping_windows_and_an_incomplete_last_one() {
        let image = array![[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]];
        let ones = Array4::ones((1, 1, 2, 2));
        assert_eq!(
            conv2d(image.view(), ones.view(), None, 1).unwrap(),
            array![[[14.0, 18.0, 22.0]]]
        );
        let wide = Array4::ones((1, 1, 1, 3));
        assert_eq!(
            conv2d(image.view(), wide.view(), None, 2).unwrap(),
            array![[[6.0]]]
        );
    }

    #[test]
    fn a_product_with_the_windows_is_the_convolution() {
        let windows = Windows {
            height: 5,
            width: 6,
            side: 3,
            stride: 2,
            padding: 0,
        };
        let x = normal_matrix(1, "x", 2 * 30, 2, 1.0);
        let kernel = normal_matrix(1, "k", 4, 18, 1.0);
        let found = windows.unfold(x.view()).unwrap().dot(&kernel.t());
        let kernel = Array4::from_shape_vec((4, 2, 3, 3), kernel.into_raw_vec_and_offset().0);
        let kernel = kernel.unwrap();
        for b in 0..2 {
            let image = Array3::from_shape_fn((2, 5, 6), |(c, row, column)| {
                x[[(b * 5 + row) * 6 + column, c]]
            });
            let expected = conv2d(image.view(), kernel.view(), None, 2).unwrap();
            let (_, height, width) = expected.dim();
            for ((o, row, column), value) in expected.indexed_iter() {
                let position = (b * height + row) * width + column;
                assert!((found[[position, o]] - value).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let image = Array3::zeros((3, 4, 4));
        assert!(conv2d(image.view(), Array4::zeros((1, 2, 2, 2)).view(), None, 1).is_err());
        assert!(conv2d(image.view(), Array4::zeros((1, 3, 5, 2)).view(), None, 1).is_err());
        assert!(conv2d(image.view(), Array4::zeros((1, 3, 2, 0)).view(), None, 1).is_err());
        assert!(conv2d(image.view(), Array4::zeros((1, 3, 2, 2)).view(), None, 0).is_err());
        assert!(
            conv2d(
                image.view(),
                Array4::zeros((1, 3, 2, 2)).view(),
                Some(array![0.0, 0.0].view()),
                1
            )
            .is_err()
        );
    }
}
