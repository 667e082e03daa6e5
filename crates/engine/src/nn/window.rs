//! Windows: a map of tokens cut into squares with attention within each square, and shifted so the
//! borders of the squares move.
//!
//! ```text
//! partition: map [H, W, C] -> [N, M·M, C]     N = H/M · W/M windows of side M, row by row; uncut is the inverse
//! shifted by s: element (y, x) of the result is element (y + s, x + s) of the map, around its edges
//! shift_mask: [N, M·M, M·M], −200 between tokens that are neighbours only around an edge, else 0
//! ```
//!
//! ```
//! use engine::nn::window::{partition, shift_mask, uncut};
//! use ndarray::Array2;
//! let map = Array2::from_shape_fn((16, 1), |(n, _)| n as f32); // 4 x 4
//! let windows = partition(map.view(), (4, 4), 2, 1)?;
//! assert_eq!(windows.row(0)[0], 5.0); // Shifted by one row and one column.
//! assert_eq!(uncut(windows.view(), (4, 4), 2, 1)?, map);
//! assert!(shift_mask((4, 4), 2, 1)?.outer_iter().next().is_some_and(|first| first.iter().all(|&m| m == 0.0)));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Liu et al. 2021, "Swin Transformer", section 3.2 and figure 4. The mask's −200 is what
//! Swin V2 in Hugging Face's `transformers` comes to, which adds −100 twice.

use crate::error::{EngineError, Result};
use crate::shape::expect;
use ndarray::{Array2, Array3, ArrayView2};

/// Added to a score between tokens that are not neighbours.
const APART: f32 = -200.0;

/// For each row of the windows, one after the other, its row in the map.
fn order(
    (height, width): (usize, usize),
    window: usize,
    shift: usize,
) -> Result<impl Iterator<Item = usize>> {
    let fits = |side: usize| window > 0 && side > 0 && side.is_multiple_of(window);
    if !fits(height) || !fits(width) || shift >= window {
        return Err(EngineError::shape(
            "window",
            "a map of whole windows, and a shift smaller than a window",
            format!("map {height} x {width}, window {window}, shift {shift}"),
        ));
    }
    let across = width / window;
    Ok((0..height * width).map(move |n| {
        let (square, inside) = (n / (window * window), n % (window * window));
        let y = square / across * window + inside / window;
        let x = square % across * window + inside % window;
        (y + shift) % height * width + (x + shift) % width
    }))
}

/// The tokens of all windows, one window after the other, of the map shifted by `shift`.
///
/// # Errors
/// When the map is not made of whole windows, or the shift is not smaller than one.
pub fn partition(
    map: ArrayView2<'_, f32>,
    size: (usize, usize),
    window: usize,
    shift: usize,
) -> Result<Array2<f32>> {
    // map [H·W, C] -> [N·M·M, C]
    let shape = [size.0 * size.1, map.ncols()];
    expect("window partition", "map", &shape, map.shape())?;
    let mut out = Array2::zeros(map.raw_dim());
    for (mut row, from) in out.rows_mut().into_iter().zip(order(size, window, shift)?) {
        row.assign(&map.row(from));
    }
    Ok(out)
}

/// The map of which these are the windows.
///
/// # Errors
/// As [`partition`].
pub fn uncut(
    windows: ArrayView2<'_, f32>,
    size: (usize, usize),
    window: usize,
    shift: usize,
) -> Result<Array2<f32>> {
    // windows [N·M·M, C] -> [H·W, C]
    let shape = [size.0 * size.1, windows.ncols()];
    expect("window uncut", "windows", &shape, windows.shape())?;
    let mut out = Array2::zeros(windows.raw_dim());
    for (row, to) in windows.rows().into_iter().zip(order(size, window, shift)?) {
        out.row_mut(to).assign(&row);
    }
    Ok(out)
}

/// The numbers added to the scores of each window of a shifted map.
///
/// # Errors
/// As [`partition`].
pub fn shift_mask(size: (usize, usize), window: usize, shift: usize) -> Result<Array3<f32>> {
    // -> [N, M·M, M·M]
    let (height, width) = size;
    // In the shifted map, the last `shift` rows and columns come from the other edge.
    let region = |at: usize| {
        let (y, x) = (at / width, at % width);
        (y < shift, x < shift)
    };
    let regions: Vec<_> = order(size, window, shift)?.map(region).collect();
    let area = window * window;
    let shape = (height * width / area, area, area);
    Ok(Array3::from_shape_fn(shape, |(n, a, b)| {
        let same = regions[n * area + a] == regions[n * area + b];
        if same { 0.0 } else { APART }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_neighbours_of_the_picture_see_each_other() {
        let mask = shift_mask((4, 4), 2, 1).unwrap();
        // The last window holds the four corners of the map.
        let last = mask.outer_iter().last().unwrap();
        assert!(
            last.indexed_iter()
                .all(|((a, b), &m)| (m == 0.0) == (a == b))
        );
        // The second one the right edge and the left edge.
        let second = mask.outer_iter().nth(1).unwrap();
        assert_eq!(second.row(0).to_vec(), [0.0, APART, 0.0, APART]);
    }

    #[test]
    fn maps_of_broken_windows_are_refused() {
        let map = Array2::zeros((15, 2));
        assert!(partition(map.view(), (3, 5), 2, 0).is_err());
        assert!(partition(map.view(), (4, 4), 2, 0).is_err());
        assert!(shift_mask((4, 4), 2, 2).is_err());
        assert!(shift_mask((4, 4), 0, 0).is_err());
    }
}
