//! A padded batch without its padding: the tokens of all sequences one after the other.
//!
//! ```text
//! ids [B, T], mask [B, T] (true where there is a token) -> ids of the N tokens, their columns as positions, lengths [B]
//! unpack: rows [N, C] -> [B, T, C], 0 where there is padding
//! ```
//! Layers that work on each token alone take all N at once; attention takes each sequence by
//! itself.
//!
//! ```
//! use engine::nn::packed::Packed;
//! use ndarray::array;
//! let packed = Packed::new(array![[7, 8, 0], [0, 9, 6]].view(), array![[true, true, false], [false, true, true]].view())?;
//! assert_eq!((packed.ids.as_slice(), packed.lengths.as_slice()), (&[7, 8, 9, 6][..], &[2, 2][..]));
//! assert_eq!(packed.positions, [0, 1, 1, 2]);
//! # Ok::<(), engine::EngineError>(())
//! ```

use crate::error::Result;
use crate::shape::expect;
use ndarray::{Array3, ArrayView2, s};
use std::ops::Range;

/// The rows of each sequence, where sequences of these lengths follow each other.
pub fn ranges(lengths: &[usize]) -> impl Iterator<Item = Range<usize>> {
    lengths.iter().scan(0, |start, length| {
        let range = *start..*start + length;
        *start = range.end;
        Some(range)
    })
}

/// Refuses a number of rows other than that of all sequences together.
pub(super) fn expect_tokens(lengths: &[usize], rows: usize) -> Result<()> {
    let expected = [lengths.iter().sum()];
    expect("attention", "tokens of all sequences", &expected, &[rows])
}

/// The tokens of one or more sequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The ids of all sequences.
    pub ids: Vec<usize>,
    /// The column of each id.
    pub positions: Vec<usize>,
    /// Ids of each sequence.
    pub lengths: Vec<usize>,
    columns: usize,
}

impl Packed {
    /// One sequence without padding.
    pub fn one(ids: &[usize]) -> Self {
        Self {
            ids: ids.to_vec(),
            positions: (0..ids.len()).collect(),
            lengths: vec![ids.len()],
            columns: ids.len(),
        }
    }

    /// Sequences of `lengths[b]` ids one after the other, each from its position 0 on.
    ///
    /// # Errors
    /// When there are not as many ids as the lengths say.
    pub fn many(ids: Vec<usize>, lengths: Vec<usize>) -> Result<Self> {
        expect("packed", "ids", &[lengths.iter().sum()], &[ids.len()])?;
        Ok(Self {
            positions: lengths.iter().flat_map(|&length| 0..length).collect(),
            columns: lengths.iter().copied().max().unwrap_or(0),
            ids,
            lengths,
        })
    }

    /// A padded batch.
    ///
    /// # Errors
    /// When the mask has another shape than the ids.
    pub fn new(ids: ArrayView2<'_, usize>, mask: ArrayView2<'_, bool>) -> Result<Self> {
        // ids [B, T], mask [B, T]
        expect("packed", "mask", ids.shape(), mask.shape())?;
        let seen = || {
            let places = ids.indexed_iter().zip(mask);
            places.filter_map(|((place, &id), &see)| see.then_some((place, id)))
        };
        let count = |row: ndarray::ArrayView1<'_, bool>| row.iter().filter(|&&see| see).count();
        Ok(Self {
            ids: seen().map(|(_, id)| id).collect(),
            positions: seen().map(|((_, column), _)| column).collect(),
            lengths: mask.outer_iter().map(count).collect(),
            columns: ids.ncols(),
        })
    }

    /// The rows of each sequence.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        ranges(&self.lengths)
    }

    /// The padded batch of which these are the rows.
    ///
    /// # Errors
    /// When there is not one row for each id.
    pub fn unpack(&self, rows: ArrayView2<'_, f32>) -> Result<Array3<f32>> {
        // rows [N, C] -> [B, T, C]
        let width = rows.ncols();
        expect("unpack", "rows", &[self.ids.len(), width], rows.shape())?;
        let mut out = Array3::zeros((self.lengths.len(), self.columns, width));
        for (b, range) in self.ranges().enumerate() {
            for n in range {
                out.slice_mut(s![b, self.positions[n], ..])
                    .assign(&rows.row(n));
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn rows_go_back_to_their_places() {
        let mask = array![[false, true], [true, false], [false, false]];
        let packed = Packed::new(array![[0, 5], [6, 0], [0, 0]].view(), mask.view()).unwrap();
        let batch = packed.unpack(array![[1.0], [2.0]].view()).unwrap();
        assert_eq!(
            batch,
            array![[[0.0], [1.0]], [[2.0], [0.0]], [[0.0], [0.0]]]
        );
        assert_eq!(packed.ranges().collect::<Vec<_>>(), [0..1, 1..2, 2..2]);
        assert!(packed.unpack(array![[1.0]].view()).is_err());
        assert!(Packed::new(array![[0, 5]].view(), mask.view()).is_err());
        let mask = array![[true, true], [true, false]];
        let batch = Packed::new(array![[7, 8], [9, 0]].view(), mask.view());
        assert_eq!(Packed::many(vec![7, 8, 9], vec![2, 1]), batch);
        assert!(Packed::many(vec![7], vec![2]).is_err());
    }
}
