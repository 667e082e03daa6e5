//! A picture as the input of an encoder: patches, a class token before them, positions.
//!
//! ```text
//! x = [class; cut(image) · weightᵀ + bias] + positions       image [C_0, H, W] -> [1 + N, C], N = ⌊H/P⌋ · ⌊W/P⌋
//! ```
//! A model without a table of positions leaves the last term out. The position table is for one grid of patches; for another, its part for the patches is
//! stretched (`bicubic`).
//!
//! ```
//! use engine::nn::{picture_tokens::PictureTokens, projection::Projection};
//! use engine::{parameters::Weight, rng::normal_matrix};
//! use ndarray::{array, Array2, Array3};
//! let patches = Projection { weight: Weight::Dense(normal_matrix(7, "w", 4, 12, 0.3)), bias: None };
//! let class = Some(array![9.0, 9.0, 9.0, 9.0]);
//! let tokens = PictureTokens { patch: 2, patches, class, positions: Some(Array2::zeros((1 + 4, 4))) };
//! let x = tokens.forward(Array3::zeros((3, 4, 4)).view(), &mut None)?;
//! assert_eq!((x.dim(), x[[0, 0]], x[[1, 0]]), ((5, 4), 9.0, 0.0));
//! assert_eq!(tokens.forward(Array3::zeros((3, 8, 6)).view(), &mut None)?.dim(), (13, 4));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Dosovitskiy et al. 2021, section 3.1, equation 1, and section 3.2 (other resolutions).

use super::compute::Compute;
use super::patch::cut;
use super::plain::Plain;
use super::projection::Projection;
use crate::error::{EngineError, Result};
use crate::parameters::{Parameters, Weight, tensor, vector};
use crate::quant::Matrix;
use crate::shape::{contiguous, expect, matrix};
use crate::trace::Observer;
use ndarray::{Array1, Array2, ArrayView3, ArrayView4, Axis};

/// The parameters of the embedding.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureTokens {
    /// P.
    pub patch: usize,
    /// C_0·P·P to C; C_0 is 3 for colours, 1 for grey.
    pub patches: Projection,
    /// `[C]`, before the patches, where the model has one.
    pub class: Option<Array1<f32>>,
    /// `[N, C]`, with a class token `[1 + N, C]`, where the model has a table; N is a square number.
    pub positions: Option<Array2<f32>>,
}

impl PictureTokens {
    /// C_0.
    pub fn channels(&self) -> usize {
        let pixels = self.patch * self.patch;
        self.patches.weight.dim().1.checked_div(pixels).unwrap_or(0)
    }

    /// x as above. The observer gets `patches` `[N, C_0·P·P]`, `embedding` `[N, C]`, `positions`
    /// (where the model has them) and `input` `[1 + N, C]`.
    ///
    /// # Errors
    /// When the picture has not C_0 channels or is smaller than a patch, or the positions are not
    /// those of a square grid.
    pub fn forward(
        &self,
        image: ArrayView3<'_, f32>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // image [C_0, H, W] -> [1 + N, C]
        self.run(&mut Plain::new(trace), image.insert_axis(Axis(0)))
    }

    /// As [`Self::forward`] for several pictures of one size, one after the other, generic over the
    /// executor.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        images: ArrayView4<'_, f32>,
    ) -> Result<C::Matrix> {
        // images [B, C_0, H, W] -> [B·(1 + N), C]
        let (count, channels, height, width) = images.dim();
        expect("picture", "channels", &[self.channels()], &[channels])?;
        let grid = (height / self.patch.max(1), width / self.patch.max(1));
        let each = grid.0 * grid.1;
        let pixels = channels * self.patch * self.patch;
        let mut cuts = Vec::with_capacity(count * each * pixels);
        for n in 0..count {
            let image = cut(images.index_axis(Axis(0), n), self.patch)?;
            cuts.extend_from_slice(&contiguous(&image.view()));
        }
        let cuts = matrix("picture", count * each, pixels, cuts)?;
        let mut patches = compute.constant(cuts.view());
        compute.trace("patches", &mut patches);
        let mut embedded = self.patches.run(compute, &patches)?;
        compute.trace("embedding", &mut embedded);
        let first = usize::from(self.class.is_some());
        let mut x = match &self.class {
            Some(class) => compute.prepend(embedded, class, each)?,
            None => embedded,
        };
        if let Some(table) = &self.positions {
            let mut positions = compute.interpolate_positions(table, first, grid)?;
            compute.trace("positions", &mut positions);
            let (found, width) = compute.dim(&positions);
            let columns = compute.dim(&x).1;
            let expected = [first + each, columns];
            expect("picture", "positions", &expected, &[found, width])?;
            x = compute.add_repeated(x, &positions)?;
        }
        compute.trace("input", &mut x);
        Ok(x)
    }
}

/// A patch embedding stored as a convolution: `NAME.weight` `[C, C_0, P, P]` and `NAME.bias` `[C]`.
///
/// # Errors
/// When the source has no such parameters in these shapes.
pub fn load_patches(
    source: &mut dyn Parameters,
    name: &str,
    width: usize,
    channels: usize,
    patch: usize,
) -> Result<Projection> {
    let shape = [width, channels, patch, patch];
    let stored = tensor(source, &format!("{name}.weight"), &shape)?;
    let flat = stored.into_shape_with_order((width, channels * patch * patch));
    let weight = flat.map_err(|error| EngineError::shape("patches", "rows", error.to_string()))?;
    Ok(Projection {
        // A convolution's kernel, not a matrix: it keeps plain numbers where matrices are packed.
        // The whole input passes through it, and it is a hundredth of the work.
        weight: Weight::Packed(Matrix::plain(weight.view())),
        bias: Some(vector(source, &format!("{name}.bias"), width)?),
    })
}
