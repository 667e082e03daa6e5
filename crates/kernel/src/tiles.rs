//! How tokens are divided into tiles, whose totals stay in registers, and a number that keeps the
//! compiler from loading more than the registers hold.

/// The same number, hidden from the compiler. It would unroll a loop of known length and first load
/// the values that all turns share.
#[inline(always)]
pub(crate) fn opaque(number: usize) -> usize {
    // SAFETY: a reference is valid to read.
    unsafe { std::ptr::read_volatile(&number) }
}

/// The tokens of the next tile where `left` tokens are left, at least one, and a tile has at most
/// `most`. Tiles of five are mixed with some of four, so that from 12 tokens on none is alone.
#[inline(always)]
pub(crate) fn next_tile(most: usize, left: usize) -> usize {
    let fours = if most == 5 { (5 - left % 5) % 5 } else { 0 };
    if fours > 0 && 4 * fours <= left {
        4
    } else if left >= most {
        most
    } else if left >= 4 {
        4
    } else {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::next_tile;

    /// The tiles of some tokens.
    fn tiles(most: usize, mut left: usize) -> Vec<usize> {
        let mut tiles = Vec::new();
        while left > 0 {
            tiles.push(next_tile(most, left));
            left -= tiles[tiles.len() - 1];
        }
        tiles
    }

    #[test]
    fn few_tokens_are_alone() {
        assert_eq!(tiles(5, 3), [1, 1, 1]);
        assert_eq!(tiles(5, 7), [5, 1, 1]);
        assert_eq!(tiles(5, 9), [4, 5]);
        assert_eq!(tiles(5, 13), [4, 4, 5]);
        assert_eq!(tiles(12, 18), [12, 4, 1, 1]);
        for count in 12..200 {
            let tiles = tiles(5, count);
            assert_eq!(tiles.iter().sum::<usize>(), count);
            assert!(!tiles.contains(&1), "{count} tokens");
        }
    }
}
