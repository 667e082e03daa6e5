//! Operations that move rows and columns, add or scale: each gradient returns to the element that
//! it belongs to.

use super::linear::add_rows;
use super::norm::add_products;
use super::tape::{Tape, Var, add};
use crate::error::{EngineError, Result};
use crate::nn::plain::{check_range, expect_columns, expect_multiple, expect_rows, take_rows};
use crate::shape::expect;
use ndarray::{Array, Array1, Dimension};
use std::ops::Range;

/// Rows of a parameter's table.
pub(super) fn lookup<D: Dimension>(
    tape: &mut Tape,
    table: &Array<f32, D>,
    width: usize,
    ids: &[usize],
) -> Result<Var> {
    // table [V, C], ids [T] -> [T, C]
    let leaf = tape.leaf(table);
    let numbers = crate::shape::contiguous(&table.view());
    crate::nn::embedding::expect_ids(ids, numbers.len() / width.max(1))?;
    let mut out = Vec::with_capacity(ids.len() * width);
    for &id in ids {
        out.extend_from_slice(&numbers[id * width..(id + 1) * width]);
    }
    let (ids, length) = (ids.to_vec(), numbers.len());
    let dim = (ids.len(), width);
    Ok(
        tape.push_with(dim, out, &[], &[leaf], move |_, grad, into| {
            if let Some(sum) = into.leaf(leaf, length) {
                add_rows_at(sum, &grad, width, &ids);
            }
        }),
    )
}

/// Adds row n of `rows` to row `to[n]` of `sum`.
fn add_rows_at(sum: &mut [f32], rows: &[f32], width: usize, to: &[usize]) {
    for (row, &to) in rows.chunks_exact(width.max(1)).zip(to) {
        add(&mut sum[to * width..(to + 1) * width], row);
    }
}

/// a + b.
pub(super) fn sum(tape: &mut Tape, a: Var, b: Var) -> Result<Var> {
    expect("add", "b", &a.shape(), &b.shape())?;
    let pairs = tape.numbers(a).iter().zip(tape.numbers(b));
    let out = pairs.map(|(a, b)| a + b).collect();
    Ok(tape.push(a.dim(), out, &[a, b], move |_, grad, into| {
        into.add(b, &grad);
        into.give(a, grad);
    }))
}

/// x + rows, the rows repeated until the end of `x`.
pub(super) fn add_repeated(tape: &mut Tape, x: Var, rows: Var) -> Result<Var> {
    expect("add_repeated", "rows", &[rows.rows, x.cols], &rows.shape())?;
    expect_multiple("add_repeated", x.rows, rows.rows)?;
    let mut out = tape.numbers(x).to_vec();
    for part in out.chunks_exact_mut(rows.len().max(1)) {
        add(part, tape.numbers(rows));
    }
    Ok(tape.push(x.dim(), out, &[x, rows], move |_, grad, into| {
        if let Some(sum) = into.at(rows) {
            add_rows(sum, &grad);
        }
        into.give(x, grad);
    }))
}

/// factor · x.
pub(super) fn scale(tape: &mut Tape, x: Var, factor: f32) -> Var {
    let out = tape.numbers(x).iter().map(|value| value * factor).collect();
    tape.push_like(x, out, move |_, _, grad| {
        grad.iter_mut().for_each(|value| *value *= factor);
    })
}

/// Each element times a constant of its own.
pub(super) fn mask(tape: &mut Tape, x: Var, mask: Vec<f32>) -> Var {
    let numbers = tape.numbers(x).iter().zip(&mask);
    let out = numbers.map(|(value, factor)| value * factor).collect();
    tape.push_like(x, out, move |_, _, grad| {
        for (value, factor) in grad.iter_mut().zip(&mask) {
            *value *= factor;
        }
    })
}

/// Each column times its own factor, a parameter.
pub(super) fn scale_columns(tape: &mut Tape, x: Var, factors: &Array1<f32>) -> Result<Var> {
    expect("layer_scale", "scale", &[x.cols], factors.shape())?;
    let (leaf, width) = (tape.leaf(factors), x.cols);
    let factors = factors.to_vec();
    let by_factors = move |values: &mut [f32]| {
        for row in values.chunks_exact_mut(width.max(1)) {
            for (value, factor) in row.iter_mut().zip(&factors) {
                *value *= factor;
            }
        }
    };
    let mut out = tape.numbers(x).to_vec();
    by_factors(&mut out);
    let dim = x.dim();
    Ok(
        tape.push_with(dim, out, &[x], &[leaf], move |past, mut grad, into| {
            if let Some(sum) = into.leaf(leaf, width) {
                add_products(sum, &grad, past.value(x));
            }
            by_factors(&mut grad);
            into.give(x, grad);
        }),
    )
}

/// The columns of a range.
pub(super) fn columns(tape: &mut Tape, x: Var, columns: Range<usize>) -> Result<Var> {
    expect_columns(&columns, x.dim())?;
    let width = columns.len();
    let mut out = Vec::with_capacity(x.rows * width);
    for row in tape.numbers(x).chunks_exact(x.cols.max(1)) {
        out.extend_from_slice(&row[columns.clone()]);
    }
    let dim = (x.rows, width);
    Ok(tape.push(dim, out, &[x], move |_, grad, into| {
        if let Some(sum) = into.at(x) {
            let rows = sum.chunks_exact_mut(x.cols.max(1));
            for (sum, grad) in rows.zip(grad.chunks_exact(width.max(1))) {
                add(&mut sum[columns.clone()], grad);
            }
        }
    }))
}

/// Columns one after the other.
pub(super) fn concat(tape: &mut Tape, parts: &[Var]) -> Result<Var> {
    let rows = parts.first().map_or(0, |part| part.rows);
    if parts.is_empty() || parts.iter().any(|part| part.rows != rows) {
        let shapes: Vec<_> = parts
            .iter()
            .map(|part| format!("{:?}", part.shape()))
            .collect();
        let found = shapes.join(" and ");
        return Err(EngineError::shape("concat", "the same rows", found));
    }
    let width: usize = parts.iter().map(|part| part.cols).sum();
    let mut out = Vec::with_capacity(rows * width);
    for row in 0..rows {
        for part in parts {
            out.extend_from_slice(&tape.numbers(*part)[row * part.cols..(row + 1) * part.cols]);
        }
    }
    let (from, dim) = (parts.to_vec(), (rows, width));
    Ok(tape.push(dim, out, parts, move |_, grad, into| {
        let mut start = 0;
        for part in from {
            if let Some(sum) = into.at(part) {
                let rows = sum.chunks_exact_mut(part.cols.max(1));
                for (sum, grad) in rows.zip(grad.chunks_exact(width.max(1))) {
                    add(sum, &grad[start..start + part.cols]);
                }
            }
            start += part.cols;
        }
    }))
}

/// The rows with these indices.
pub(super) fn gather(tape: &mut Tape, x: Var, rows: &[usize]) -> Result<Var> {
    expect_rows("gather", rows, x.rows)?;
    let (rows, width) = (rows.to_vec(), x.cols);
    let mut out = Vec::with_capacity(rows.len() * width);
    for &row in &rows {
        out.extend_from_slice(&tape.numbers(x)[row * width..(row + 1) * width]);
    }
    let dim = (rows.len(), width);
    Ok(tape.push(dim, out, &[x], move |_, grad, into| {
        if let Some(sum) = into.at(x) {
            add_rows_at(sum, &grad, width, &rows);
        }
    }))
}

/// Rows of several matrices, each to a row of the result that no other has.
pub(super) fn scatter(
    tape: &mut Tape,
    count: usize,
    width: usize,
    parts: &[(Var, Vec<usize>)],
) -> Result<Var> {
    let mut out = vec![0.0; count * width];
    let mut taken = vec![false; count];
    for (part, to) in parts {
        expect("scatter", "part", &[to.len(), width], &part.shape())?;
        take_rows(to, &mut taken)?;
        let rows = tape.numbers(*part).chunks_exact(width.max(1));
        for (row, &to) in rows.zip(to) {
            out[to * width..(to + 1) * width].copy_from_slice(row);
        }
    }
    let from: Vec<Var> = parts.iter().map(|(part, _)| *part).collect();
    let parts = parts.to_vec();
    let dim = (count, width);
    Ok(tape.push(dim, out, &from, move |_, grad, into| {
        for (part, to) in parts {
            if let Some(sum) = into.at(part) {
                for (row, to) in sum.chunks_exact_mut(width.max(1)).zip(to) {
                    add(row, &grad[to * width..(to + 1) * width]);
                }
            }
        }
    }))
}

/// The mean of each range of rows.
pub(super) fn mean_rows(tape: &mut Tape, x: Var, ranges: &[Range<usize>]) -> Result<Var> {
    let width = x.cols;
    let mut out = vec![0.0; ranges.len() * width];
    for (range, out) in ranges.iter().zip(out.chunks_exact_mut(width.max(1))) {
        check_range(range, x.rows)?;
        let rows = &tape.numbers(x)[range.start * width..range.end * width];
        add_rows(out, rows);
        let count = range.len() as f32;
        out.iter_mut().for_each(|value| *value /= count);
    }
    let (ranges, dim) = (ranges.to_vec(), (ranges.len(), width));
    Ok(tape.push(dim, out, &[x], move |_, grad, into| {
        let Some(sum) = into.at(x) else { return };
        for (range, grad) in ranges.iter().zip(grad.chunks_exact(width.max(1))) {
            let part: Vec<f32> = grad.iter().map(|g| g / range.len() as f32).collect();
            for row in sum[range.start * width..range.end * width].chunks_exact_mut(width) {
                add(row, &part);
            }
        }
    }))
}
