//! Strokes of a round pen as ink on a square canvas.
//!
//! ```text
//! ink = clamp(radius + ½ − distance of the pixel's centre to the nearest line, 0, 1)
//! points [N, 2] in pixels, x to the right and y down; stroke s has lengths[s] of them   -> [SIDE, SIDE]
//! ```
//! The edge of a line is soft, one pixel wide. A stroke of a single point is a dot. The ink has the same
//! bits natively and in wasm.
//!
//! ```
//! use explain::pen::{SIDE, ink};
//! use ndarray::array;
//! let points = array![[10.5, 20.5], [30.5, 20.5], [40.5, 40.5]];
//! let canvas = ink(points.view(), &[2, 1], 1.75)?; // A line, and a dot.
//! assert_eq!(canvas.dim(), (SIDE, SIDE));
//! assert_eq!((canvas[[20, 20]], canvas[[18, 20]], canvas[[40, 40]], canvas[[30, 30]]), (1.0, 0.25, 1.0, 0.0));
//! # Ok::<(), engine::EngineError>(())
//! ```

use engine::error::{EngineError, Result};
use engine::math::double;
use ndarray::{Array2, ArrayView2};

/// The side of the canvas, in pixels.
pub const SIDE: usize = 56;

/// A point of the canvas, or a vector: columns, rows.
pub(crate) type Point = [f64; 2];

/// The ink of strokes, 0 paper to 1.
///
/// # Errors
/// When the points have not two coordinates, or the lengths are not those of all points.
pub fn ink(points: ArrayView2<'_, f32>, lengths: &[usize], radius: f32) -> Result<Array2<f32>> {
    // points [N, 2] -> [SIDE, SIDE]
    if points.ncols() != 2 || lengths.iter().sum::<usize>() != points.nrows() {
        let expected = format!("[{}, 2]", lengths.iter().sum::<usize>());
        return Err(EngineError::shape(
            "pen",
            expected,
            format!("{:?}", points.dim()),
        ));
    }
    let mut canvas = Array2::zeros((SIDE, SIDE));
    let mut all = points.rows().into_iter();
    for &length in lengths {
        let stroke: Vec<Point> = (all.by_ref().take(length))
            .map(|point| [f64::from(point[0]), f64::from(point[1])])
            .collect();
        if let &[dot] = &stroke[..] {
            line(&mut canvas, dot, dot, f64::from(radius));
        }
        for ends in stroke.windows(2) {
            line(&mut canvas, ends[0], ends[1], f64::from(radius));
        }
    }
    Ok(canvas)
}

/// Draws a straight line with a round pen.
pub(crate) fn line(canvas: &mut Array2<f32>, from: Point, to: Point, radius: f64) {
    let along = [to[0] - from[0], to[1] - from[1]];
    let squared = along[0] * along[0] + along[1] * along[1];
    let reach = radius + 0.5;
    // The pixels that the pen can touch, in one direction.
    let range = |axis: usize| {
        let first = from[axis].min(to[axis]) - reach;
        let after = from[axis].max(to[axis]) + reach + 1.0;
        first.max(0.0) as usize..(after.max(0.0) as usize).min(SIDE)
    };
    let all = range(1).flat_map(|row| range(0).map(move |col| (row, col)));
    for (row, col) in all {
        let at = [col as f64 + 0.5 - from[0], row as f64 + 0.5 - from[1]];
        // The nearest point of the line, as a share of its length.
        let share = match squared > 0.0 {
            true => ((at[0] * along[0] + at[1] * along[1]) / squared).clamp(0.0, 1.0),
            false => 0.0,
        };
        let apart = [0, 1].map(|axis| at[axis] - share * along[axis]);
        let distance = double::sqrt(apart[0] * apart[0] + apart[1] * apart[1]);
        let ink = (reach - distance).clamp(0.0, 1.0) as f32;
        let pixel = &mut canvas[[row, col]];
        *pixel = pixel.max(ink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Ink at the pixels of a line is 1, half a pixel beyond the pen's edge 0, and between them a share.
    #[test]
    fn a_pen_has_a_soft_edge() {
        let mut canvas = Array2::zeros((SIDE, SIDE));
        line(&mut canvas, [10.5, 20.5], [30.5, 20.5], 1.75);
        let column: Vec<f32> = (17..25).map(|row| canvas[[row, 20]]).collect();
        assert_eq!(column, [0.0, 0.25, 1.0, 1.0, 1.0, 0.25, 0.0, 0.0]);
        assert_eq!([8, 7].map(|col| canvas[[20, col]]), [0.25, 0.0]);
    }

    /// Between two strokes there is no ink, and lengths that are not those of the points are refused.
    #[test]
    fn a_pen_is_lifted_between_strokes() {
        let points = array![[5.5, 5.5], [15.5, 5.5], [40.5, 40.5], [50.5, 40.5]];
        let two = ink(points.view(), &[2, 2], 2.0).unwrap();
        let one = ink(points.view(), &[4], 2.0).unwrap();
        assert_eq!((two[[22, 28]], two[[40, 45]]), (0.0, 1.0));
        assert!(one[[22, 27]] > 0.0 && one.sum() > two.sum());
        assert!(ink(points.view(), &[3], 2.0).is_err());
        assert_eq!(
            ink(Array2::zeros((0, 2)).view(), &[], 2.0).unwrap().sum(),
            0.0
        );
    }
}
