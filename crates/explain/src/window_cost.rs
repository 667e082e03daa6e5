//! The cost of attention in windows beside that of attention among all patches, stage by stage.
//!
//! ```text
//! stage s:  side = ⌈side / 2⌉ of the stage before,  C_s = 2ˢ C,  N = side²,  windows = ⌈side / M⌉²,  M at most side
//! pairs:            all N²                    windows · M⁴, which is N M² where M divides the side
//! multiplications:  4 N C² + 2 N² C           4 N' C² + 2 N' M² C        N' = windows · M², with what is filled up
//! ```
//! The projections to Q, K, V and the output are the first term; the scores and the weighted sum of
//! the values are the second.
//!
//! ```
//! use explain::window_cost::{Sizes, stage};
//! let first = stage(Sizes { picture: 256, patch: 4, window: 8, width: 96 }, 0)?;
//! assert_eq!((first.side, first.windows), (64, 64));
//! assert_eq!((first.all_pairs, first.pairs), (16_777_216, 262_144));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Liu et al. 2021, "Swin Transformer", section 3.2, equations 1 and 2; section 3.1 for the
//! stages.

use engine::error::{EngineError, Result};

/// The sizes that all stages follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Side of the picture in pixels.
    pub picture: usize,
    /// P, in pixels.
    pub patch: usize,
    /// M, in patches.
    pub window: usize,
    /// C of the first stage.
    pub width: usize,
}

/// One stage, and what a layer of attention costs there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// Tokens along a side of the map.
    pub side: usize,
    /// C.
    pub width: usize,
    /// M, at most the side.
    pub window: usize,
    /// Number of windows.
    pub windows: usize,
    /// Pairs of query and key that attention among all tokens compares.
    pub all_pairs: u64,
    /// Pairs that attention in windows compares.
    pub pairs: u64,
    /// Multiplications of a layer of attention among all tokens.
    pub all_multiplications: u64,
    /// Multiplications of a layer of attention in windows.
    pub multiplications: u64,
}

/// Stage `n`, counted from 0. A side that a patch, a merge or a window does not divide is filled up.
///
/// # Errors
/// When a size is 0.
pub fn stage(sizes: Sizes, n: u32) -> Result<Stage> {
    let Sizes {
        picture,
        patch,
        window,
        width,
    } = sizes;
    if [picture, patch, window, width].contains(&0) {
        let found = format!("{sizes:?}");
        return Err(EngineError::value("window cost", "sizes", "above 0", found));
    }
    let side = (0..n).fold(picture.div_ceil(patch), |side, _| side.div_ceil(2));
    let (window, width) = (window.min(side), width << n);
    let windows = side.div_ceil(window).pow(2);
    let area = (window * window) as u64;
    let (tokens, filled, c) = ((side * side) as u64, windows as u64 * area, width as u64);
    Ok(Stage {
        side,
        width,
        window,
        windows,
        all_pairs: tokens * tokens,
        pairs: filled * area,
        all_multiplications: 4 * tokens * c * c + 2 * tokens * tokens * c,
        multiplications: 4 * filled * c * c + 2 * filled * area * c,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: Sizes = Sizes {
        picture: 256,
        patch: 4,
        window: 8,
        width: 96,
    };

    /// Swin V2-T at 256 pixels with windows of 8 (table 1 of Swin V2 and section 3.1 of Swin).
    #[test]
    fn the_stages_of_the_smallest_model() {
        let stages: Vec<Stage> = (0..4).map(|n| stage(TINY, n).unwrap()).collect();
        let of = |get: fn(&Stage) -> usize| stages.iter().map(get).collect::<Vec<_>>();
        assert_eq!(of(|s| s.side), [64, 32, 16, 8]);
        assert_eq!(of(|s| s.width), [96, 192, 384, 768]);
        assert_eq!(of(|s| s.windows), [64, 16, 4, 1]);
        for s in &stages {
            let tokens = (s.side * s.side) as u64;
            assert_eq!(s.pairs, tokens * 64);
            assert_eq!(s.all_pairs / s.pairs, tokens / 64);
        }
        // In the last stage the one window is the map.
        assert_eq!(stages[3].pairs, stages[3].all_pairs);
        assert_eq!(stages[3].multiplications, stages[3].all_multiplications);
    }

    /// Doubling the side makes four times as many pairs in windows, and sixteen times as many among all.
    #[test]
    fn windows_grow_with_the_picture() {
        let at = |picture| stage(Sizes { picture, ..TINY }, 0).unwrap();
        let (small, large) = (at(256), at(512));
        assert_eq!(large.pairs, 4 * small.pairs);
        assert_eq!(large.all_pairs, 16 * small.all_pairs);
    }

    #[test]
    fn what_is_not_divided_is_filled_up() {
        let found = stage(
            Sizes {
                picture: 250,
                ..TINY
            },
            0,
        )
        .unwrap();
        assert_eq!((found.side, found.windows), (63, 64));
        assert_eq!(found.pairs, 64 * 64 * 64);
        let tiny = stage(Sizes { picture: 8, ..TINY }, 3).unwrap();
        assert_eq!((tiny.side, tiny.window, tiny.pairs), (1, 1, 1));
        assert!(stage(Sizes { window: 0, ..TINY }, 0).is_err());
    }
}
