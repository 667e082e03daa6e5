//! Conversions between ndarray views (any strides) and the kernels' contiguous slices.

use crate::error::{EngineError, Result};
use crate::kernel::{self, threads};
use ndarray::{Array, Array1, Array2, ArrayView, ArrayView1, ArrayView2, Dimension};
use std::borrow::Cow;

/// The elements in row-major order: borrowed where memory has this order, copied otherwise.
pub fn contiguous<'a, D: Dimension>(view: &ArrayView<'a, f32, D>) -> Cow<'a, [f32]> {
    match view.to_slice() {
        Some(slice) => Cow::Borrowed(slice),
        None => Cow::Owned(view.iter().copied().collect()),
    }
}

/// The elements of an array in row-major order, to write into.
pub(crate) fn elements_mut<'a, D: Dimension>(
    operation: &'static str,
    array: &'a mut Array<f32, D>,
) -> Result<&'a mut [f32]> {
    let found = format!("strides {:?}", array.strides());
    let slice = array.as_slice_mut();
    slice.ok_or_else(|| EngineError::shape(operation, "rows one after the other", found))
}

/// The rows with these indices, in their order; panics where one is missing.
pub(crate) fn rows(
    operation: &'static str,
    x: ArrayView2<'_, f32>,
    indices: &[usize],
) -> Result<Array2<f32>> {
    // x [N, C], indices [T] -> [T, C]
    let mut out = Vec::with_capacity(indices.len() * x.ncols());
    for &index in indices {
        out.extend_from_slice(&contiguous(&x.row(index)));
    }
    matrix(operation, indices.len(), x.ncols(), out)
}

/// A matrix from its elements in row-major order.
pub fn matrix(
    operation: &'static str,
    rows: usize,
    cols: usize,
    data: Vec<f32>,
) -> Result<Array2<f32>> {
    let found = data.len().to_string();
    let expected = || format!("{rows} x {cols} elements");
    Array2::from_shape_vec((rows, cols), data)
        .map_err(|_| EngineError::shape(operation, expected(), found))
}

/// An array of the same shape whose rows are those of `x` after `change`.
pub(crate) fn map_rows(x: ArrayView2<'_, f32>, mut change: impl FnMut(&mut [f32])) -> Array2<f32> {
    let mut out = Array2::zeros(x.raw_dim());
    let mut buffer = vec![0.0; x.ncols()];
    for (row, mut target) in x.rows().into_iter().zip(out.rows_mut()) {
        buffer
            .iter_mut()
            .zip(row)
            .for_each(|(to, from)| *to = *from);
        change(&mut buffer);
        target.assign(&ArrayView1::from(&buffer));
    }
    out
}

/// A vector that is `x` after `change`.
pub(crate) fn map_vector(x: ArrayView1<'_, f32>, change: impl FnOnce(&mut [f32])) -> Array1<f32> {
    let mut data = x.to_vec();
    change(&mut data);
    Array1::from_vec(data)
}

/// Refuses a shape that differs from the expected one; `name` is the argument's name.
pub fn expect(
    operation: &'static str,
    name: &str,
    expected: &[usize],
    found: &[usize],
) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let expected = format!("{name} {expected:?}");
    Err(EngineError::shape(
        operation,
        expected,
        format!("{found:?}"),
    ))
}

/// A · B for views of any strides; both shapes are checked.
pub(crate) fn product(
    operation: &'static str,
    a: ArrayView2<'_, f32>,
    b: ArrayView2<'_, f32>,
) -> Result<Array2<f32>> {
    let ((rows, inner), (inner_b, cols)) = (a.dim(), b.dim());
    if inner != inner_b {
        return Err(mismatch(operation, "[T, K] · [K, N]", a.shape(), b.shape()));
    }
    let mut out = vec![0.0; rows * cols];
    let (a, b) = (contiguous(&a), contiguous(&b));
    kernel::matmul(&a, &b, &mut out, rows, inner, cols);
    matrix(operation, rows, cols, out)
}

/// A · Bᵀ for views of any strides; both shapes are checked.
pub(crate) fn product_nt(
    operation: &'static str,
    a: ArrayView2<'_, f32>,
    b: ArrayView2<'_, f32>,
) -> Result<Array2<f32>> {
    let ((rows, inner), (cols, inner_b)) = (a.dim(), b.dim());
    if inner != inner_b {
        let expected = "[T, K] · [N, K] transposed";
        return Err(mismatch(operation, expected, a.shape(), b.shape()));
    }
    let mut out = vec![0.0; rows * cols];
    let (a, b) = (contiguous(&a), contiguous(&b));
    shared_product_nt(&a, &b, &mut out, rows, inner, cols);
    matrix(operation, rows, cols, out)
}

/// The fewest multiplications for which waking a thread pays.
const LEAST_WORK: usize = 1 << 16;

/// C = A · Bᵀ on all threads: each computes rows, or columns where there is one row.
pub(crate) fn shared_product_nt(
    a: &[f32],
    b: &[f32],
    out: &mut [f32],
    rows: usize,
    inner: usize,
    cols: usize,
) {
    // a [M, K], b [N, K], out [M, N]
    if rows == 1 {
        let least = LEAST_WORK / inner.max(1) + 1;
        return threads::spans(out, 1, least, |first, out| {
            let b = &b[first * inner..(first + out.len()) * inner];
            kernel::matmul_nt(a, b, out, 1, inner, out.len());
        });
    }
    let least = LEAST_WORK / (inner * cols).max(1) + 1;
    threads::spans(out, cols, least, |first, out| {
        let rows = out.len() / cols;
        let a = &a[first * inner..(first + rows) * inner];
        kernel::matmul_nt(a, b, out, rows, inner, cols);
    });
}

/// The error for two shapes that do not fit each other.
pub fn mismatch(operation: &'static str, expected: &str, a: &[usize], b: &[usize]) -> EngineError {
    EngineError::shape(operation, expected, format!("{a:?} and {b:?}"))
}
