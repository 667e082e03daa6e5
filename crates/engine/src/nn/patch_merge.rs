//! Patch merging: four neighbours of a map become one token of twice the width.
//!
//! ```text
//! map [H·W, C] -> [x(2y, 2x); x(2y+1, 2x); x(2y, 2x+1); x(2y+1, 2x+1)] [H/2·W/2, 4C] · weightᵀ -> norm -> [H/2·W/2, 2C]
//! ```
//!
//! ```
//! use engine::nn::patch_merge::gather;
//! use ndarray::array;
//! let map = array![[1.0], [2.0], [3.0], [4.0]]; // 2 x 2
//! assert_eq!(gather(map.view(), (2, 2))?, array![[1.0, 3.0, 2.0, 4.0]]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Liu et al. 2021, "Swin Transformer", section 3.1; the norm after the map as in Swin V2
//! (Liu et al. 2022, figure 1).

use super::norm::LayerNorm;
use super::projection::Projection;
use crate::error::{EngineError, Result};
use crate::shape::expect;
use crate::trace::{Observer, observe};
use ndarray::{Array2, ArrayView2, s};

/// (row, column) of each quarter of the gathered vector.
const NEIGHBOURS: [(usize, usize); 4] = [(0, 0), (1, 0), (0, 1), (1, 1)];

/// The four neighbours side by side.
///
/// # Errors
/// When a side of the map is odd, or the map has another size.
pub fn gather(map: ArrayView2<'_, f32>, size: (usize, usize)) -> Result<Array2<f32>> {
    // map [H·W, C] -> [H/2·W/2, 4C]
    let ((height, width), channels) = (size, map.ncols());
    if height % 2 != 0 || width % 2 != 0 {
        let (expected, found) = ("a map of even sides", format!("{height} x {width}"));
        return Err(EngineError::shape("patch_merge", expected, found));
    }
    let expected = [height * width, channels];
    expect("patch_merge", "map", &expected, map.shape())?;
    let mut out = Array2::zeros((height / 2 * (width / 2), 4 * channels));
    for (n, mut row) in out.rows_mut().into_iter().enumerate() {
        let (y, x) = (2 * (n / (width / 2)), 2 * (n % (width / 2)));
        for (part, (down, right)) in NEIGHBOURS.into_iter().enumerate() {
            row.slice_mut(s![part * channels..(part + 1) * channels])
                .assign(&map.row((y + down) * width + x + right));
        }
    }
    Ok(out)
}

/// The parameters of the layer.
#[derive(Debug, Clone, PartialEq)]
pub struct PatchMerge {
    /// 4C to 2C.
    pub reduction: Projection,
    /// The norm after the reduction.
    pub norm: LayerNorm,
}

impl PatchMerge {
    /// The smaller map. The observer gets `merge.gathered`, `merge.reduced` and `merge.output`.
    ///
    /// # Errors
    /// When a side of the map is odd, or a shape does not fit.
    pub fn forward(
        &self,
        map: ArrayView2<'_, f32>,
        size: (usize, usize),
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // map [H·W, C] -> [H/2·W/2, 2C]
        let mut gathered = gather(map, size)?;
        observe(trace, "merge.gathered", &mut gathered);
        let mut reduced = self.reduction.forward(gathered.view())?;
        observe(trace, "merge.reduced", &mut reduced);
        let mut output = self.norm.forward(reduced.view())?;
        observe(trace, "merge.output", &mut output);
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_maps_are_refused() {
        let map = Array2::zeros((6, 2));
        assert!(gather(map.view(), (2, 3)).is_err());
        assert!(gather(map.view(), (2, 2)).is_err());
    }
}
