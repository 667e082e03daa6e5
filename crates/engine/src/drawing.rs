//! A drawing in the form of MNIST's digits: scaled into a box, then moved so that its centre of
//! mass is in the middle.
//!
//! ```text
//! box:     the rectangle around all ink, scaled so that its longer side is 20 pixels
//! centre:  Σ p · ink(p) / Σ ink(p), moved by whole pixels to the one nearest to (14, 14), counted from 0     [H, W] -> [1, 28, 28]
//! ```
//! MNIST's own digits are reproduced to the bit from any position in a picture, but for the very
//! few whose box is smaller.
//!
//! ```
//! use engine::drawing::{SIDE, centred};
//! use ndarray::Array2;
//! let mut ink = Array2::zeros((60, 80));
//! ink.slice_mut(ndarray::s![5..45, 60..64]).fill(1.0);
//! let digit = centred(ink.view())?;
//! assert_eq!(digit.dim(), (1, SIDE, SIDE));
//! let rows = digit.outer_iter().next().unwrap().rows().into_iter().filter(|row| row.sum() > 0.0).count();
//! assert_eq!(rows, 20);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: LeCun et al. 1998, "Gradient-based learning applied to document recognition", section
//! III.A.

use crate::error::{EngineError, Result};
use crate::picture::{grey, resize};
use ndarray::{Array2, Array3, ArrayView2, ArrayView3, Axis, s};
use std::ops::Range;

/// The side of a prepared drawing, in pixels.
pub const SIDE: usize = 28;

/// The longer side of the box that the ink is scaled into.
const BOX: usize = 20;

/// Half a step of a byte: smaller values are rounding errors of paper.
const PAPER: f32 = 0.5 / 255.0;

/// The row and the column of the centre of mass.
const MIDDLE: f64 = 14.0;

/// The ink of a picture, from 0 (paper) to 1. The picture's border decides whether paper is light
/// or dark, so dark ink on white and chalk on a board are both read.
pub fn ink(image: ArrayView3<'_, f32>) -> Array2<f32> {
    // image [C, H, W], from 0 to 1 -> [H, W]
    let one = grey(image).index_axis_move(Axis(0), 0);
    let (height, width) = one.dim();
    let last = (height.saturating_sub(1), width.saturating_sub(1));
    let border = one
        .indexed_iter()
        .filter(|((row, col), _)| [0, last.0].contains(row) || [0, last.1].contains(col));
    let (count, light) = border.fold((0, 0.0), |(count, light), (_, value)| {
        (count + 1, light + value)
    });
    match light > 0.5 * count as f32 {
        true => one.mapv(|value| 1.0 - value),
        false => one,
    }
}

/// A drawing in the position and size of the digits that the models were trained on.
///
/// # Errors
/// When there is no ink, or a number is not finite.
pub fn centred(ink: ArrayView2<'_, f32>) -> Result<Array3<f32>> {
    // ink [H, W], 0 paper to 1 -> [1, SIDE, SIDE]
    let wrong = |found: &str| EngineError::value("drawing", "ink", "some, and finite", found);
    if ink.iter().any(|value| !value.is_finite()) {
        return Err(wrong("a number that is not finite"));
    }
    let rows = inked(ink, Axis(0)).ok_or_else(|| wrong("none"))?;
    let cols = inked(ink, Axis(1)).ok_or_else(|| wrong("none"))?;
    let longer = rows.len().max(cols.len());
    let scaled = |side: usize| ((side * BOX + longer / 2) / longer).max(1);
    let (height, width) = (scaled(rows.len()), scaled(cols.len()));
    let part = ink.slice(s![rows, cols]).insert_axis(Axis(0));
    let part = resize(part, height, width)?;
    let part = part.index_axis(Axis(0), 0);
    let mut digit = Array3::zeros((1, SIDE, SIDE));
    let (top, left) = (corner(part, |at| at.0), corner(part, |at| at.1));
    for ((row, col), &value) in part.indexed_iter() {
        let (row, col) = (top + row as isize, left + col as isize);
        // A drawing with most of its ink at one end may reach beyond the border.
        if let (Ok(row), Ok(col)) = (usize::try_from(row), usize::try_from(col))
            && let Some(pixel) = digit.get_mut((0, row, col))
        {
            *pixel = value;
        }
    }
    Ok(digit)
}

/// A picture with half as many pixels in each row and column, each the mean of four; a last odd row
/// or column is left out.
pub fn halved(image: ArrayView3<'_, f32>) -> Array3<f32> {
    // image [C, H, W] -> [C, ⌊H/2⌋, ⌊W/2⌋]
    let (channels, height, width) = image.dim();
    Array3::from_shape_fn((channels, height / 2, width / 2), |(c, y, x)| {
        let four = image.slice(s![c, 2 * y..2 * y + 2, 2 * x..2 * x + 2]);
        four.sum() / 4.0
    })
}

/// Greys from 0 to 1, evenly apart, as colours to choose from
/// ([`crate::model::image_gpt::clusters`]).
pub fn greys(count: usize) -> Array2<f32> {
    // -> [count, 1]
    let last = count.saturating_sub(1).max(1) as f32;
    Array2::from_shape_fn((count, 1), |(n, _)| n as f32 / last)
}

/// The rows (or columns) from the first with ink to the last.
fn inked(ink: ArrayView2<'_, f32>, axis: Axis) -> Option<Range<usize>> {
    let lines = || ink.axis_iter(axis);
    let has = |line: ndarray::ArrayView1<'_, f32>| line.iter().any(|&value| value > PAPER);
    let first = lines().position(has)?;
    let after = lines().rev().position(has)?;
    Some(first..ink.len_of(axis) - after)
}

/// The first row (or column) of a part whose centre of mass is in the middle.
fn corner(part: ArrayView2<'_, f32>, index: fn((usize, usize)) -> usize) -> isize {
    let (mut weighted, mut total) = (0.0f64, 0.0f64);
    for (at, &value) in part.indexed_iter() {
        weighted += index(at) as f64 * f64::from(value);
        total += f64::from(value);
    }
    (MIDDLE - weighted / total).round() as isize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ink_differs_from_the_border() {
        let mut board = Array3::zeros((1, 6, 8));
        board[[0, 3, 4]] = 1.0;
        let chalk = ink(board.view());
        assert_eq!((chalk.sum(), chalk[[3, 4]]), (1.0, 1.0));
        let paper = board.mapv(|value| 1.0 - value);
        assert_eq!(ink(paper.view()), chalk);
        let colours = Array3::ones((3, 2, 2));
        assert!(ink(colours.view()).iter().all(|value| value.abs() < 1e-6));
    }

    #[test]
    fn size_and_position_do_not_matter() {
        // An L, whose centre of mass is not the middle of its box.
        let drawn = |side: usize, top: usize, left: usize, pen: usize| {
            let mut ink = Array2::zeros((200, 240));
            let (bottom, right) = (top + side, left + side / 2);
            ink.slice_mut(s![top..bottom, left..left + pen]).fill(1.0);
            ink.slice_mut(s![bottom - pen..bottom, left..right])
                .fill(1.0);
            centred(ink.view()).unwrap()
        };
        let first = drawn(40, 10, 10, 4);
        assert_eq!(drawn(40, 150, 190, 4), first);
        let large = drawn(160, 30, 100, 16);
        let apart = (&large - &first).mapv(f32::abs).sum() / first.sum();
        assert!(apart < 0.02, "{apart}");
        let total = first.sum();
        for axis in [1, 2] {
            let all = first.indexed_iter();
            let index = |at: (usize, usize, usize)| [at.0, at.1, at.2][axis] as f32;
            let mean = all.map(|(at, value)| index(at) * value).sum::<f32>() / total;
            assert!((mean - 14.0).abs() <= 0.5, "{mean}");
        }
    }

    #[test]
    fn small_pictures_of_few_greys() {
        let image = Array3::from_shape_fn((1, 3, 4), |(_, y, x)| (4 * y + x) as f32);
        let small = halved(image.view());
        assert_eq!(
            (small.dim(), small[[0, 0, 0]], small[[0, 0, 1]]),
            ((1, 1, 2), 2.5, 4.5)
        );
        assert_eq!(greys(3), ndarray::array![[0.0], [0.5], [1.0]]);
        assert_eq!(greys(1), ndarray::array![[0.0]]);
    }

    #[test]
    fn nothing_drawn_is_refused_and_a_dot_is_drawn() {
        assert!(centred(Array2::zeros((9, 9)).view()).is_err());
        assert!(centred(Array2::zeros((0, 9)).view()).is_err());
        assert!(centred(Array2::from_elem((9, 9), f32::NAN).view()).is_err());
        let mut dot = Array2::zeros((50, 50));
        dot[[0, 49]] = 1.0;
        assert_eq!(centred(dot.view()).unwrap().sum(), 400.0);
    }
}
