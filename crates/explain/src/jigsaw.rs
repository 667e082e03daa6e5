//! A picture whose patches lie in another order, as the pieces of a jigsaw puzzle do.
//!
//! ```text
//! rearranged(image, P, order) = uncut(cut(image)[order])       image [C, H, W], order [N] -> [C, H, W]
//! ```
//! At position i of the grid, row by row, lies the patch that was at position `order[i]`.
//!
//! ```
//! use explain::jigsaw::rearranged;
//! use ndarray::array;
//! let image = array![[[1.0, 2.0], [3.0, 4.0]]];
//! let found = rearranged(image.view(), 1, &[3, 1, 2, 0])?;
//! assert_eq!(found, array![[[4.0, 2.0], [3.0, 1.0]]]);
//! # Ok::<(), engine::EngineError>(())
//! ```

use engine::error::{EngineError, Result};
use engine::nn::patch::{cut, uncut};
use engine::rng::Rng;
use ndarray::{Array3, ArrayView3, Axis};

/// The picture with its patches of side `patch` in another order.
///
/// # Errors
/// When the patches do not fill the picture, or `order` does not name each of them once.
pub fn rearranged(
    image: ArrayView3<'_, f32>,
    patch: usize,
    order: &[usize],
) -> Result<Array3<f32>> {
    // image [C, H, W], order [N] -> [C, H, W]
    let (channels, height, width) = image.dim();
    let patches = cut(image, patch)?;
    let fills = height.is_multiple_of(patch) && width.is_multiple_of(patch);
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !fills || !sorted.into_iter().eq(0..patches.nrows()) {
        let expected = format!("each of {} patches once", patches.nrows());
        let found = format!("{} numbers", order.len());
        return Err(EngineError::value("rearranged", "order", expected, found));
    }
    let moved = patches.select(Axis(0), order);
    uncut(moved.view(), channels, height, width, patch)
}

/// The picture with some of its patches of side `patch` covered with paper, zeros.
///
/// # Errors
/// When the patches do not fill the picture, or there is no patch of such a number.
pub fn covered(image: ArrayView3<'_, f32>, patch: usize, hidden: &[usize]) -> Result<Array3<f32>> {
    // image [C, H, W] -> [C, H, W]
    let (channels, height, width) = image.dim();
    let mut patches = cut(image, patch)?;
    let fills = height.is_multiple_of(patch) && width.is_multiple_of(patch);
    let count = patches.nrows();
    if !fills || hidden.iter().any(|&n| n >= count) {
        let expected = format!("patches that fill the picture, numbers below {count}");
        let found = format!("{hidden:?}");
        return Err(EngineError::value("covered", "hidden", expected, found));
    }
    for &n in hidden {
        patches.row_mut(n).fill(0.0);
    }
    uncut(patches.view(), channels, height, width, patch)
}

/// The seed of [`shuffled`].
const SEED: u64 = 7;

/// Another order of the same patches: each shuffle moves what is there in the same random way, so the
/// next one differs from all before it.
pub fn shuffled(order: &[usize]) -> Vec<usize> {
    let moves = Rng::named(SEED, "jigsaw").permutation(order.len());
    moves.into_iter().map(|from| order[from]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Array3<f32> {
        Array3::from_shape_fn((2, 6, 9), |(c, y, x)| (c * 54 + y * 9 + x) as f32)
    }

    #[test]
    fn patches_move_whole() {
        let (image, order) = (image(), [5, 0, 1, 2, 3, 4]);
        let moved = rearranged(image.view(), 3, &order).unwrap();
        for (c, y, x) in [(0, 0, 0), (1, 2, 1), (0, 1, 2)] {
            assert_eq!(moved[[c, y, x]], image[[c, 3 + y, 6 + x]]);
            assert_eq!(moved[[c, 3 + y, x]], image[[c, y, 6 + x]]);
        }
        let whole = rearranged(image.view(), 3, &[0, 1, 2, 3, 4, 5]).unwrap();
        assert_eq!(whole, image);
    }

    /// A covered patch is paper; all others stay.
    #[test]
    fn covered_patches_are_paper() {
        let image = image();
        let found = covered(image.view(), 3, &[4, 0]).unwrap();
        for ((c, y, x), &value) in found.indexed_iter() {
            let is_covered = [4, 0].contains(&(y / 3 * 3 + x / 3));
            let expected = if is_covered { 0.0 } else { image[[c, y, x]] };
            assert_eq!(value, expected);
        }
        assert!(covered(image.view(), 3, &[6]).is_err());
        assert!(covered(image.view(), 4, &[0]).is_err());
    }

    #[test]
    fn what_is_no_order_of_all_patches_is_refused() {
        let image = image();
        for (patch, order) in [
            (3, &[0, 1, 2, 3, 4][..]),
            (3, &[0, 1, 2, 3, 4, 4]),
            (4, &[0, 1]),
            (0, &[]),
        ] {
            assert!(rearranged(image.view(), patch, order).is_err(), "{patch}");
        }
    }

    /// Pressing again and again gives a new order each time, until after many times the first returns.
    #[test]
    fn every_shuffle_is_another_order() {
        let whole: Vec<usize> = (0..49).collect();
        let mut seen = vec![whole];
        for _ in 0..20 {
            let next = shuffled(seen.last().unwrap());
            assert!(!seen.contains(&next), "{}", seen.len());
            let mut sorted = next.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, seen[0]);
            seen.push(next);
        }
    }
}
