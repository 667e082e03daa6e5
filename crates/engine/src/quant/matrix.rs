//! Weight matrices in the form that their products read, packed once, when they are loaded.
//!
//! F32 is in [`PackedF32`], the other types in [`Blocks`].

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ndarray::{Array2, ArrayView1, ArrayView2};

use super::blocks::Blocks;
use super::{QuantError, Type, dequantize, quantize};
use crate::error::Result;
use crate::kernel::{self, PackedF32, threads};
use crate::nn::embedding::expect_ids;
use crate::shape::{contiguous, elements_mut, expect, matrix, mismatch};

/// The number of elements that are unpacked at a time: 64 KiB, which stay in the cache while all
/// tokens are multiplied with them.
pub(super) const PANEL: usize = 16_384;

/// Bytes of the rows that are read at a time where a matrix is packed as they come: 4 MiB.
const PIECE: usize = 4 << 20;

/// A weight matrix `[rows, cols]`. A clone shares its elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix(Arc<Packed>);

/// Checks that so many bytes are a matrix `[rows, cols]` of a type.
///
/// # Errors
/// When they are not, or its rows are not whole blocks.
fn check_length(
    kind: Type,
    [rows, cols]: [usize; 2],
    bytes: usize,
) -> std::result::Result<(), QuantError> {
    let length = kind.bytes(cols).and_then(|row| row.checked_mul(rows));
    if length == Some(bytes) {
        return Ok(());
    }
    Err(wrong_length(kind, [rows, cols], format!("{bytes} bytes")))
}

/// The error of bytes that are not a matrix of a shape and type.
fn wrong_length(kind: Type, shape: [usize; 2], found: String) -> QuantError {
    QuantError::Length {
        expected: format!("{shape:?} in {}", kind.name()),
        found,
    }
}

/// The storage of a matrix.
#[derive(Debug, PartialEq)]
enum Packed {
    /// Numbers in `f32`.
    Plain(PackedF32),
    /// Numbers of another type.
    Blocks(Blocks),
}

impl Matrix {
    /// A matrix `[rows, cols]` from its blocks, which follow each other along its rows.
    ///
    /// # Errors
    /// When its rows are not whole blocks, or the number of bytes is not that of such a matrix.
    pub fn new(
        kind: Type,
        rows: usize,
        cols: usize,
        bytes: Vec<u8>,
    ) -> std::result::Result<Self, QuantError> {
        check_length(kind, [rows, cols], bytes.len())?;
        let packed = match kind {
            Type::F32 => {
                let mut plain = PackedF32::zeros(rows, cols);
                // Without rows there may be any number of columns.
                let mut row = vec![0.0; if rows > 0 { cols } else { 0 }];
                for (n, bytes) in bytes.chunks_exact((4 * cols).max(1)).enumerate() {
                    dequantize(kind, bytes, &mut row)?;
                    plain.set_row(n, &row);
                }
                Packed::Plain(plain)
            }
            _ => Packed::Blocks(Blocks::new(kind, rows, cols, bytes)?),
        };
        Ok(Self(Arc::new(packed)))
    }

    /// A matrix `[rows, cols]` whose blocks `read` returns for a range of rows. A type with a kernel
    /// for blocks is packed a few rows at a time, so the blocks of all rows are never in memory
    /// beside the matrix.
    ///
    /// # Errors
    /// Those of `read`; and as [`Self::new`], made by `wrong`.
    pub fn by_rows<'a, E>(
        kind: Type,
        [rows, cols]: [usize; 2],
        mut read: impl FnMut(Range<usize>) -> std::result::Result<Cow<'a, [u8]>, E>,
        wrong: impl Fn(QuantError) -> E,
    ) -> std::result::Result<Self, E> {
        let row_bytes = kind.bytes(cols).unwrap_or_default();
        let bytes = row_bytes.checked_mul(rows);
        if bytes.is_none_or(|bytes| bytes > isize::MAX as usize) {
            return Err(wrong(wrong_length(
                kind,
                [rows, cols],
                "too many rows".to_owned(),
            )));
        }
        let empty = match row_bytes {
            0 => None,
            _ => Blocks::empty(kind, rows, cols),
        };
        let Some(mut packed) = empty else {
            let bytes = read(0..rows)?.into_owned();
            return Self::new(kind, rows, cols, bytes).map_err(wrong);
        };
        // Whole panels are packed faster than single rows.
        let height = (PIECE / row_bytes / kernel::PANEL_ROWS).max(1) * kernel::PANEL_ROWS;
        for first in (0..rows).step_by(height) {
            let range = first..rows.min(first + height);
            let bytes = read(range.clone())?;
            if bytes.len() != range.len() * row_bytes {
                let found = format!("{} bytes for rows {range:?}", bytes.len());
                return Err(wrong(wrong_length(kind, [rows, cols], found)));
            }
            packed.set_rows(first, &bytes);
        }
        Ok(Self(Arc::new(Packed::Blocks(packed))))
    }

    /// A matrix of numbers in `f32`.
    pub fn plain(matrix: ArrayView2<'_, f32>) -> Self {
        let (rows, cols) = matrix.dim();
        let packed = PackedF32::new(&contiguous(&matrix), rows, cols);
        Self(Arc::new(Packed::Plain(packed)))
    }

    /// A matrix of plain numbers in a type that holds each of them; `None` where it does not.
    ///
    /// # Errors
    /// When its rows are not whole blocks of that type, or the build has no blocks.
    pub fn exact(
        kind: Type,
        matrix: ArrayView2<'_, f32>,
    ) -> std::result::Result<Option<Self>, QuantError> {
        let (rows, cols) = matrix.dim();
        let numbers = contiguous(&matrix);
        let bytes = quantize(kind, &numbers)?;
        let row_bytes = kind.bytes(cols).unwrap_or_default().max(1);
        let mut back = vec![0.0; if rows > 0 { cols } else { 0 }];
        for (bytes, row) in bytes
            .chunks_exact(row_bytes)
            .zip(numbers.chunks_exact(cols.max(1)))
        {
            dequantize(kind, bytes, &mut back)?;
            if back != row {
                return Ok(None);
            }
        }
        Self::new(kind, rows, cols, bytes).map(Some)
    }

    /// The same matrix in another type, unpacked and packed a panel of rows at a time.
    ///
    /// # Errors
    /// When its rows are not whole blocks of that type.
    pub fn repacked(&self, kind: Type) -> std::result::Result<Self, QuantError> {
        let (rows, cols) = self.dim();
        let height = (PANEL / cols.max(1)).max(1);
        let mut panel = vec![0.0; height * cols];
        let read = |range: Range<usize>| {
            let mut bytes = Vec::with_capacity(kind.bytes(range.len() * cols).unwrap_or_default());
            for first in range.clone().step_by(height) {
                let here = height.min(range.end - first);
                for (n, numbers) in panel.chunks_exact_mut(cols.max(1)).take(here).enumerate() {
                    self.unpack_row(first + n, numbers);
                }
                bytes.extend(quantize(kind, &panel[..here * cols])?);
            }
            Ok(Cow::Owned(bytes))
        };
        Self::by_rows(kind, [rows, cols], read, |error| error)
    }

    /// The same matrix in the type that stands for its own where that has no fast product, see
    /// [`Type::fast`]: all numbers stay as they are, and scales are rounded to half precision.
    /// Where this does not hold a scale, the matrix becomes one of Q8_0.
    ///
    /// # Errors
    /// When its rows are not whole blocks of that type.
    pub fn fast(&self) -> std::result::Result<Self, QuantError> {
        let kind = self.kind().fast();
        if kind == self.kind() {
            return Ok(self.clone());
        }
        let (rows, cols) = self.dim();
        let read = |range| match &*self.0 {
            Packed::Blocks(blocks) => blocks.fast_blocks(range).map(Cow::Owned).ok_or(()),
            Packed::Plain(_) => Err(()),
        };
        Self::by_rows(kind, [rows, cols], read, drop).or_else(|()| self.repacked(Type::Q8_0))
    }

    /// The type of its elements.
    pub fn kind(&self) -> Type {
        match &*self.0 {
            Packed::Plain(_) => Type::F32,
            Packed::Blocks(blocks) => blocks.kind(),
        }
    }

    /// The shape, (rows, cols).
    pub fn dim(&self) -> (usize, usize) {
        match &*self.0 {
            Packed::Plain(packed) => (packed.rows(), packed.cols()),
            Packed::Blocks(blocks) => blocks.dim(),
        }
    }

    /// The memory that its elements take, in bytes.
    pub fn size(&self) -> usize {
        match &*self.0 {
            Packed::Plain(packed) => packed.bytes(),
            Packed::Blocks(blocks) => blocks.size(),
        }
    }

    /// The bits of the activations that it multiplies: 32, or 8 where they are rounded first.
    pub fn activation_bits(&self) -> u32 {
        match &*self.0 {
            Packed::Plain(_) => u32::BITS,
            Packed::Blocks(blocks) => blocks.activation_bits(),
        }
    }

    /// The rows `ids`, `[T, cols]`: an embedding lookup.
    ///
    /// # Errors
    /// When an id is not a row.
    pub fn rows(&self, ids: &[usize]) -> Result<Array2<f32>> {
        // ids [T] -> [T, cols]
        let (rows, cols) = self.dim();
        expect_ids(ids, rows)?;
        let mut out = vec![0.0; ids.len() * cols];
        for (&id, numbers) in ids.iter().zip(out.chunks_exact_mut(cols.max(1))) {
            self.unpack_row(id, numbers);
        }
        matrix("embed", ids.len(), cols, out)
    }

    /// The numbers of row `row`.
    fn unpack_row(&self, row: usize, numbers: &mut [f32]) {
        match &*self.0 {
            Packed::Plain(packed) => packed.unpack_row(row, numbers),
            Packed::Blocks(blocks) => blocks.unpack_row(row, numbers),
        }
    }

    /// The linear layer x · selfᵀ + bias, `[T, rows]`; see [`crate::nn::linear::linear`].
    ///
    /// # Errors
    /// When the columns of `x` and the matrix differ, or the bias is not one number for each row.
    pub fn linear(
        &self,
        x: ArrayView2<'_, f32>,
        bias: Option<ArrayView1<'_, f32>>,
    ) -> Result<Array2<f32>> {
        // x [T, C_in], self [C_out, C_in], bias [C_out] -> [T, C_out]
        let ((rows, cols), tokens) = (self.dim(), x.nrows());
        if x.ncols() != cols {
            let expected = "[T, K] · [N, K] transposed";
            return Err(mismatch("linear", expected, x.shape(), &[rows, cols]));
        }
        let x = contiguous(&x);
        let out = match &*self.0 {
            Packed::Plain(packed) => {
                let mut out = vec![0.0; tokens * rows];
                kernel::matmul_f32(packed, &x, &mut out);
                out
            }
            Packed::Blocks(blocks) => blocks.product(&x, tokens),
        };
        let mut out = matrix("linear", tokens, rows, out)?;
        if let Some(bias) = bias {
            expect("linear", "bias", &[rows], bias.shape())?;
            let least = threads::LEAST_ELEMENTS / rows.max(1) + 1;
            threads::chunks(elements_mut("linear", &mut out)?, rows, least, |_, row| {
                row.iter_mut().zip(bias).for_each(|(x, bias)| *x += bias);
            });
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::QuantizedActivations;
    use crate::nn::linear::linear;
    use ndarray::{Array1, array};

    /// Numbers between −1 and 1 without a pattern.
    fn numbers(count: usize) -> Vec<f32> {
        crate::formula::fill("numbers", 2, count, 3)
    }

    /// The activations of a product with `kind`, after rounding.
    fn rounded(kind: Type, x: &Array2<f32>) -> Array2<f32> {
        if !matches!(kind, Type::Q8_0 | Type::Q4_0 | Type::Q4_1 | Type::Q5_1) {
            return x.clone();
        }
        let mut q = QuantizedActivations::new();
        q.quantize(&contiguous(&x.view()), x.ncols());
        let number = |(n, &number): (usize, &i8)| f32::from(number) * q.scales()[n / 32];
        let numbers = q.numbers().iter().enumerate().map(number).collect();
        Array2::from_shape_vec(x.dim(), numbers).unwrap()
    }

    #[test]
    fn a_product_is_that_of_the_unpacked_matrix() {
        for kind in Type::ALL {
            for (tokens, rows, cols) in [
                (1, 1, 256),
                (1, 130, 256),
                (5, 67, 512),
                (0, 3, 256),
                (2, 0, 256),
            ] {
                let bytes = quantize(kind, &numbers(rows * cols)).unwrap();
                let mut plain = vec![0.0; rows * cols];
                dequantize(kind, &bytes, &mut plain).unwrap();
                let plain = Array2::from_shape_vec((rows, cols), plain).unwrap();
                let packed = Matrix::new(kind, rows, cols, bytes).unwrap();
                assert_eq!((packed.dim(), packed.kind()), ((rows, cols), kind));
                let ids: Vec<usize> = (0..rows).rev().collect();
                assert_eq!(
                    packed.rows(&ids).unwrap(),
                    plain.select(ndarray::Axis(0), &ids)
                );

                let x = Array2::from_shape_vec((tokens, cols), numbers(tokens * cols)).unwrap();
                let bias = Array1::from_vec(numbers(rows));
                let found = packed.linear(x.view(), Some(bias.view())).unwrap();
                let x = rounded(kind, &x);
                let expected = linear(x.view(), plain.view(), Some(bias.view())).unwrap();
                for (found, expected) in found.iter().zip(&expected) {
                    let difference = (found - expected).abs();
                    assert!(difference < 1e-6, "{}: {found}, {expected}", kind.name());
                }
            }
        }
    }

    #[test]
    fn a_matrix_becomes_another_type_only_where_nothing_is_lost() {
        let bytes = quantize(Type::F16, &numbers(9 * 5)).unwrap();
        let half = Matrix::new(Type::F16, 9, 5, bytes).unwrap();
        let mut plain = half.rows(&[0, 1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        assert_eq!(Matrix::exact(Type::F16, plain.view()), Ok(Some(half)));
        assert_eq!(Matrix::exact(Type::Bf16, plain.view()), Ok(None));
        plain[[8, 4]] = 1.0 / 3.0;
        assert_eq!(Matrix::exact(Type::F16, plain.view()), Ok(None));
        let empty = Array2::zeros((0, 7));
        let exact = Matrix::exact(Type::F16, empty.view()).unwrap();
        assert_eq!(exact.map(|matrix| matrix.dim()), Some((0, 7)));
    }

    #[test]
    fn a_product_with_16_bits_has_the_bits_of_f32() {
        for kind in [Type::F16, Type::Bf16] {
            for (tokens, rows, cols) in [(1, 131, 70), (1, 7, 3), (6, 67, 33), (17, 40, 256)] {
                let bytes = quantize(kind, &numbers(rows * cols)).unwrap();
                let half = Matrix::new(kind, rows, cols, bytes).unwrap();
                let all: Vec<usize> = (0..rows).collect();
                let plain = Matrix::plain(half.rows(&all).unwrap().view());
                assert_eq!((half.activation_bits(), half.kind()), (32, kind));
                assert_eq!(2 * half.size(), plain.size());
                let x = Array2::from_shape_vec((tokens, cols), numbers(tokens * cols)).unwrap();
                let bits = |matrix: &Matrix| -> Vec<u32> {
                    let product = matrix.linear(x.view(), None).unwrap();
                    product.iter().map(|x| x.to_bits()).collect()
                };
                assert_eq!(bits(&half), bits(&plain), "{} by {tokens}", kind.name());
            }
        }
    }

    #[test]
    fn a_repacked_matrix_keeps_its_numbers_to_half_a_step() {
        // More rows than one panel has, and fewer.
        for (rows, cols) in [(70, 512), (3, 256), (0, 256)] {
            let bytes = quantize(Type::Q6K, &numbers(rows * cols)).unwrap();
            let stored = Matrix::new(Type::Q6K, rows, cols, bytes).unwrap();
            let repacked = stored.repacked(Type::Q8_0).unwrap();
            assert_eq!(
                (repacked.dim(), repacked.kind()),
                ((rows, cols), Type::Q8_0)
            );
            let ids: Vec<usize> = (0..rows).collect();
            let (old, new) = (stored.rows(&ids).unwrap(), repacked.rows(&ids).unwrap());
            for (old, new) in old.iter().zip(&new) {
                // Numbers lie between −1 and 1; the scale is a half.
                assert!((old - new).abs() < 1.05 / 254.0 + 1e-3, "{old} {new}");
            }
        }
        let odd = Matrix::plain(Array2::zeros((2, 31)).view());
        assert!(odd.repacked(Type::Q8_0).is_err());
    }

    #[test]
    fn blocks_become_those_of_a_fast_type_with_the_same_numbers() {
        let (rows, cols) = (19, 512);
        let ids: Vec<usize> = (0..rows).collect();
        for kind in Type::ALL {
            let bytes = quantize(kind, &numbers(rows * cols)).unwrap();
            let stored = Matrix::new(kind, rows, cols, bytes).unwrap();
            let fast = stored.fast().unwrap();
            assert_eq!(fast.kind(), kind.fast());
            assert!(fast.kind().has_fast_product());
            if kind == kind.fast() {
                assert_eq!(fast, stored);
            }
            let (old, new) = (stored.rows(&ids).unwrap(), fast.rows(&ids).unwrap());
            // Numbers lie between −1 and 1: of K-blocks, at most all steps of a scale and one
            // offset are rounded.
            let most = match kind {
                Type::Q4K | Type::Q5K => 3.0 / 2048.0,
                Type::Q6K => 1.1 / 2048.0,
                _ => 0.0,
            };
            for (old, new) in old.iter().zip(&new) {
                assert!((old - new).abs() <= most, "{}: {old} {new}", kind.name());
            }
        }
    }

    #[test]
    fn a_product_of_a_fast_type_is_that_of_the_unpacked_matrix() {
        for kind in Type::ALL {
            for (tokens, rows, cols) in [(1, 130, 256), (7, 67, 512), (2, 0, 256)] {
                let bytes = quantize(kind, &numbers(rows * cols)).unwrap();
                let fast = Matrix::new(kind, rows, cols, bytes)
                    .unwrap()
                    .fast()
                    .unwrap();
                let ids: Vec<usize> = (0..rows).collect();
                let plain = fast.rows(&ids).unwrap();
                let x = Array2::from_shape_vec((tokens, cols), numbers(tokens * cols)).unwrap();
                let found = fast.linear(x.view(), None).unwrap();
                let x = match fast.activation_bits() {
                    8 => rounded(Type::Q8_0, &x),
                    _ => x,
                };
                let expected = linear(x.view(), plain.view(), None).unwrap();
                for (found, expected) in found.iter().zip(&expected) {
                    let difference = (found - expected).abs();
                    assert!(difference < 1e-6, "{}: {found}, {expected}", kind.name());
                }
            }
        }
    }

    #[test]
    fn scales_that_half_precision_does_not_hold_make_a_matrix_of_bytes() {
        // The largest scale, which the scales of groups multiply: number of its byte in a block.
        for (kind, numbers, at) in [
            (Type::Q4K, numbers(256), 0),
            (Type::Q5K, numbers(256), 0),
            (Type::Q5_0, numbers(32), 0),
            (Type::Q6K, numbers(256), 208),
        ] {
            let mut bytes = quantize(kind, &numbers).unwrap();
            bytes[at..at + 2].copy_from_slice(&0x7bff_u16.to_le_bytes());
            let huge = Matrix::new(kind, 1, numbers.len(), bytes).unwrap();
            assert_eq!(huge.fast().unwrap().kind(), Type::Q8_0, "{}", kind.name());
        }
    }

    #[test]
    fn numbers_of_6_bits_are_nearer_than_in_8_bits() {
        let (rows, cols) = (64, 512);
        let bytes = quantize(Type::Q6K, &numbers(rows * cols)).unwrap();
        let stored = Matrix::new(Type::Q6K, rows, cols, bytes).unwrap();
        let ids: Vec<usize> = (0..rows).collect();
        let exact = stored.rows(&ids).unwrap();
        let error = |matrix: Matrix| {
            let difference = matrix.rows(&ids).unwrap() - &exact;
            difference.mapv(|x| x * x).mean().unwrap().sqrt()
        };
        let kept = error(stored.fast().unwrap());
        let in_bytes = error(stored.repacked(Type::Q8_0).unwrap());
        println!("root mean square errors: {kept} in Q6, {in_bytes} in Q8_0");
        assert!(6.0 * kept < in_bytes, "{kept} {in_bytes}");
    }

    #[test]
    fn a_matrix_reports_its_size() {
        let plain = Array2::from_shape_vec((9, 64), numbers(9 * 64)).unwrap();
        let matrix = Matrix::plain(plain.view());
        assert_eq!((matrix.kind(), matrix.activation_bits()), (Type::F32, 32));
        // Rows are packed by eight.
        assert_eq!(matrix.size(), 16 * 64 * 4);
        let bytes = quantize(Type::F32, &numbers(9 * 64)).unwrap();
        assert_eq!(Matrix::new(Type::F32, 9, 64, bytes).unwrap(), matrix);
        for (kind, size) in [
            (Type::Q8_0, 16 * 2 * 34),
            (Type::Q4_0, 16 * 2 * 18),
            (Type::Q4_1, 16 * 2 * 20),
            (Type::Q5_1, 16 * 2 * 24),
            (Type::Q5_0, 9 * 2 * 22),
            (Type::F16, 16 * 64 * 2),
            (Type::Bf16, 16 * 64 * 2),
        ] {
            let bytes = quantize(kind, &numbers(9 * 64)).unwrap();
            let matrix = Matrix::new(kind, 9, 64, bytes).unwrap();
            assert_eq!(matrix.size(), size, "{}", kind.name());
        }
        for (kind, size) in [
            (Type::Q5_0, 16 * 8 * 24),
            (Type::Q5K, 16 * 8 * 24),
            (Type::Q6K, 16 * 8 * 28),
        ] {
            let bytes = quantize(kind, &numbers(9 * 256)).unwrap();
            let matrix = Matrix::new(kind, 9, 256, bytes).unwrap();
            assert_eq!(matrix.fast().unwrap().size(), size, "{}", kind.name());
        }
    }

    /// Rows that come in three pieces make the same matrix as all of them; types without such a
    /// kernel are asked for once.
    #[test]
    fn a_matrix_is_packed_as_its_rows_come() {
        let (rows, cols) = (3 * PIECE / 1100, 1024);
        for kind in [Type::Q8_0, Type::Q6K, Type::F16] {
            let bytes = quantize(kind, &numbers(rows * cols)).unwrap();
            let row_bytes = kind.bytes(cols).unwrap();
            let mut asked = Vec::new();
            let read = |range: Range<usize>| {
                let part = &bytes[range.start * row_bytes..range.end * row_bytes];
                asked.push(range);
                Ok(Cow::Borrowed(part))
            };
            let found = Matrix::by_rows(kind, [rows, cols], read, |error| error);
            let matrix = Matrix::new(kind, rows, cols, bytes.clone()).unwrap();
            assert_eq!(found.unwrap(), matrix);
            let count = if kind == Type::Q8_0 { 3 } else { 1 };
            assert_eq!(asked.len(), count, "{asked:?}");
            // In the type that stands for its own, whose scales are rounded.
            let ids = [0, rows / 2, rows - 1];
            let [own, fast] = [&matrix, &matrix.fast().unwrap()].map(|one| one.rows(&ids).unwrap());
            let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-3 * a.abs();
            assert!(own.iter().zip(&fast).all(close), "{}", kind.name());
            let again = matrix.repacked(Type::Q8_0).unwrap();
            assert_eq!(again.dim(), matrix.dim());
            if kind == Type::Q8_0 {
                assert_eq!(again, matrix);
            }
        }
    }

    /// Scales tell whether all numbers of blocks are finite: where an infinity in half precision is
    /// written to each place in turn, and everything else is as large as it can be.
    #[test]
    fn finite_scales_have_finite_numbers() {
        for kind in Type::ALL {
            // The largest finite number in half precision, at even places, and the largest numbers.
            let largest = [0xff, 0x7b].repeat(2 * kind.block_bytes());
            let bytes = &largest[..2 * kind.block_bytes()];
            let mut infinite = 0;
            for at in kind.block_bytes()..2 * kind.block_bytes() - 1 {
                let mut bytes = bytes.to_vec();
                bytes[at..at + 2].copy_from_slice(&0x7c00_u16.to_le_bytes());
                let mut numbers = vec![0.0; 2 * kind.block_len()];
                dequantize(kind, &bytes, &mut numbers).unwrap();
                let is_finite = numbers.iter().all(|x| x.is_finite());
                infinite += usize::from(!is_finite);
                if kind.block_len() > 1 {
                    let found = kind.has_finite_scales(&bytes);
                    assert_eq!(found, is_finite, "{} at {at}", kind.name());
                } else {
                    assert!(!kind.has_finite_scales(&bytes));
                }
            }
            assert!(
                infinite > 0 || kind == Type::F32 || kind == Type::Bf16,
                "{}",
                kind.name()
            );
        }
    }

    /// A scale that half precision does not hold, in the last of several pieces.
    #[test]
    fn a_matrix_whose_last_scale_does_not_fit_becomes_q8_0() {
        let (rows, cols) = (2 * PIECE / 896, 1024);
        let mut bytes = quantize(Type::Q6K, &vec![0.25; rows * cols]).unwrap();
        // The scale of the last block times those of its groups, in signed bytes, is too large.
        let last = bytes.len() - Type::Q6K.block_bytes();
        bytes[last + 192..last + 208].fill(127);
        bytes[last + 208..].copy_from_slice(&0x7bff_u16.to_le_bytes());
        let stored = Matrix::new(Type::Q6K, rows, cols, bytes).unwrap();
        let fast = stored.fast().unwrap();
        assert_eq!((fast.kind(), fast.dim()), (Type::Q8_0, (rows, cols)));
        let [a, b] = [&stored, &fast].map(|one| one.rows(&[0]).unwrap());
        assert!(
            a.iter()
                .zip(&b)
                .all(|(a, b)| (a - b).abs() < 1e-2 * a.abs())
        );
    }

    #[test]
    fn rows_that_do_not_come_are_errors() {
        let by_rows = |kind, cols, bytes: Result<usize, &str>| {
            let read = |_| {
                bytes
                    .map(|count| Cow::Owned(vec![0; count]))
                    .map_err(str::to_owned)
            };
            Matrix::by_rows(kind, [2, cols], read, |error| error.to_string())
        };
        // A second piece that is shorter than its rows, and more rows than there are addresses.
        let (rows, cols) = (2 * PIECE / 1088, 1024);
        let read = |range: Range<usize>| {
            let missing = if range.start > 0 { 34 } else { 0 };
            Ok(Cow::Owned(vec![0; 1088 * range.len() - missing]))
        };
        let found = Matrix::by_rows(Type::Q8_0, [rows, cols], read, |error| error).unwrap_err();
        let found = found.to_string();
        assert!(
            found.starts_with(&format!("expected [{rows}, {cols}] in Q8_0, found "))
                && found.ends_with(" bytes for rows 3848..7696"),
            "{found}"
        );
        let read = |_| Ok(Cow::Borrowed(&[][..]));
        let found = Matrix::by_rows(Type::Q8_0, [usize::MAX, 32], read, |error| error);
        assert!(found.unwrap_err().to_string().ends_with("too many rows"));

        assert!(by_rows(Type::Q8_0, 32, Ok(68)).is_ok());
        for (kind, cols, bytes, expected) in [
            (Type::Q8_0, 32, Err("the disk is gone"), "the disk is gone"),
            (Type::F32, 32, Err("the disk is gone"), "the disk is gone"),
            (
                Type::Q8_0,
                32,
                Ok(67),
                "expected [2, 32] in Q8_0, found 67 bytes for rows 0..2",
            ),
            (
                Type::Q8_0,
                16,
                Ok(34),
                "expected [2, 16] in Q8_0, found 34 bytes",
            ),
            (
                Type::F32,
                2,
                Ok(15),
                "expected [2, 2] in F32, found 15 bytes",
            ),
        ] {
            assert_eq!(by_rows(kind, cols, bytes).unwrap_err(), expected);
        }
    }

    #[test]
    fn errors_name_sizes_that_do_not_fit() {
        let error =
            |rows, cols, bytes| Matrix::new(Type::Q8_0, rows, cols, vec![0; bytes]).unwrap_err();
        assert_eq!(
            error(2, 32, 34).to_string(),
            "expected [2, 32] in Q8_0, found 34 bytes"
        );
        // Two rows of 16 are one block, but no row is whole.
        assert_eq!(
            error(2, 16, 34).to_string(),
            "expected [2, 16] in Q8_0, found 34 bytes"
        );
        error(usize::MAX, 32, 34);
        error(1, usize::MAX, 34);
        let packed = Matrix::new(Type::Q8_0, 2, 32, vec![0; 68]).unwrap();
        let error = packed.linear(array![[1.0, 2.0]].view(), None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "linear: expected [T, K] · [N, K] transposed, found [1, 2] and [2, 32]"
        );
        let x = Array2::zeros((1, 32));
        let error = packed
            .linear(x.view(), Some(array![1.0].view()))
            .unwrap_err();
        assert_eq!(error.to_string(), "linear: expected bias [2], found [1]");
        let error = packed.rows(&[2]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "embed: id must be below the vocabulary size 2, found 2"
        );
    }
}
