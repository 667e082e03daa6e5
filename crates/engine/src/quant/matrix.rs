//! A matrix that stays in blocks; a few of its rows at a time are unpacked, where they are multiplied.

use std::sync::Arc;

use ndarray::{Array2, ArrayView1, ArrayView2};

use super::{QuantError, Type};
use crate::error::Result;
use crate::kernel::{self, threads};
use crate::nn::embedding::expect_ids;
use crate::nn::shape::{contiguous, expect, matrix, mismatch};

/// How many numbers are unpacked at a time: 64 KiB, which stay in the cache while all tokens pass over them.
const PANEL: usize = 16_384;

/// A matrix `[rows, cols]` in blocks along its rows. A clone shares them.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix(Arc<Blocks>);

#[derive(Debug, PartialEq)]
struct Blocks {
    kind: Type,
    rows: usize,
    cols: usize,
    bytes: Vec<u8>,
}

impl Matrix {
    /// A matrix `[rows, cols]`.
    ///
    /// # Errors
    /// When its rows are not whole blocks, or the bytes are not those of such a matrix.
    pub fn new(
        kind: Type,
        rows: usize,
        cols: usize,
        bytes: Vec<u8>,
    ) -> std::result::Result<Self, QuantError> {
        let length = kind.bytes(cols).and_then(|row| row.checked_mul(rows));
        if length != Some(bytes.len()) {
            return Err(QuantError::Length {
                expected: format!("{:?} in {}", [rows, cols], kind.name()),
                found: format!("{} bytes", bytes.len()),
            });
        }
        Ok(Self(Arc::new(Blocks {
            kind,
            rows,
            cols,
            bytes,
        })))
    }

    /// The form of its numbers.
    pub fn kind(&self) -> Type {
        self.0.kind
    }

    /// `[rows, cols]`.
    pub fn dim(&self) -> (usize, usize) {
        (self.0.rows, self.0.cols)
    }

    /// The memory that its blocks take, in bytes.
    pub fn size(&self) -> usize {
        self.0.bytes.len()
    }

    /// The rows from `first` on, as many as fit into `numbers`.
    fn unpack(&self, first: usize, numbers: &mut [f32]) {
        // numbers [n · cols]
        let form = self.0.kind.form();
        let bytes = |numbers: usize| numbers / form.len * form.bytes;
        let start = bytes(first * self.0.cols);
        (form.unpack)(&self.0.bytes[start..start + bytes(numbers.len())], numbers);
    }

    /// The rows that `ids` name.
    ///
    /// # Errors
    /// When an id is not a row.
    pub fn rows(&self, ids: &[usize]) -> Result<Array2<f32>> {
        // ids [T] -> [T, cols]
        let (rows, cols) = self.dim();
        expect_ids(ids, rows)?;
        let mut out = vec![0.0; ids.len() * cols];
        for (&id, numbers) in ids.iter().zip(out.chunks_exact_mut(cols.max(1))) {
            self.unpack(id, numbers);
        }
        matrix("embed", ids.len(), cols, out)
    }

    /// x · selfᵀ + bias, as [`crate::nn::linear::linear`].
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
        let height = (PANEL / cols.max(1)).max(1);
        let mut panels = vec![0.0; tokens * rows];
        threads::chunks(&mut panels, tokens * height, 1, |n, product| {
            let height_here = product.len() / tokens;
            let mut panel = vec![0.0; height_here * cols];
            self.unpack(n * height, &mut panel);
            kernel::matmul_nt(&x, &panel, product, tokens, cols, height_here);
        });
        let out = if tokens == 1 {
            panels
        } else {
            side_by_side(&panels, tokens, rows, height)
        };
        let mut out = matrix("linear", tokens, rows, out)?;
        if let Some(bias) = bias {
            expect("linear", "bias", &[rows], bias.shape())?;
            out += &bias;
        }
        Ok(out)
    }
}

/// Products of `height` columns each, one after the other, as one matrix.
fn side_by_side(panels: &[f32], tokens: usize, cols: usize, height: usize) -> Vec<f32> {
    // panels [cols / height][T, height] -> [T, cols]
    let mut out = vec![0.0; panels.len()];
    for (n, panel) in panels.chunks((tokens * height).max(1)).enumerate() {
        let here = panel.len() / tokens;
        for (to, from) in out.chunks_exact_mut(cols).zip(panel.chunks_exact(here)) {
            to[n * height..n * height + here].copy_from_slice(from);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::linear::linear;
    use crate::quant::{dequantize, quantize};
    use ndarray::{Array1, array};

    /// Numbers without a pattern, between −1 and 1.
    fn numbers(count: usize) -> Vec<f32> {
        crate::formula::fill("numbers", 2, count, 3)
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
                assert_eq!(packed.dim(), (rows, cols));
                let x = Array2::from_shape_vec((tokens, cols), numbers(tokens * cols)).unwrap();
                let bias = Array1::from_vec(numbers(rows));
                let expected = linear(x.view(), plain.view(), Some(bias.view())).unwrap();
                assert_eq!(
                    packed.linear(x.view(), Some(bias.view())).unwrap(),
                    expected,
                    "{}",
                    kind.name()
                );
                let ids: Vec<usize> = (0..rows).rev().collect();
                assert_eq!(
                    packed.rows(&ids).unwrap(),
                    plain.select(ndarray::Axis(0), &ids)
                );
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
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
