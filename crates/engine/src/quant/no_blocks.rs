//! What stands in for matrices in blocks in a build without them (feature `blocks`): the files of
//! the lessons' models have none, and what computes with them is 8 kB after gzip.

use std::ops::Range;

use super::{QuantError, Type};

/// No matrix at all.
#[derive(Debug, PartialEq)]
pub(super) enum Blocks {}

impl Blocks {
    pub(super) fn new(
        kind: Type,
        _rows: usize,
        _cols: usize,
        _bytes: Vec<u8>,
    ) -> Result<Self, QuantError> {
        Err(QuantError::Unsupported(kind.name().to_owned()))
    }

    pub(super) fn empty(_kind: Type, _rows: usize, _cols: usize) -> Option<Self> {
        None
    }

    pub(super) fn set_rows(&mut self, _first: usize, _bytes: &[u8]) {
        match *self {}
    }

    pub(super) fn kind(&self) -> Type {
        match *self {}
    }

    pub(super) fn dim(&self) -> (usize, usize) {
        match *self {}
    }

    pub(super) fn size(&self) -> usize {
        match *self {}
    }

    pub(super) fn activation_bits(&self) -> u32 {
        match *self {}
    }

    pub(super) fn unpack_row(&self, _row: usize, _numbers: &mut [f32]) {
        match *self {}
    }

    pub(super) fn fast_blocks(&self, _rows: Range<usize>) -> Option<Vec<u8>> {
        match *self {}
    }

    pub(super) fn product(&self, _x: &[f32], _tokens: usize) -> Vec<f32> {
        match *self {}
    }
}
