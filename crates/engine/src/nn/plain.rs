//! The executor of inference: arrays, an optional observer, and the fastest kernels.

use super::compute::Compute;
use super::feed_forward::Activation;
use super::grouped::GroupedAttention;
use super::kv_cache::KvCache;
use super::packed::ranges;
use super::position::{interpolate::bicubic, rope::RotaryTable};
use super::unfold::Windows;
use super::{bahdanau, biased, cross_attention, full_attention, gru, norm, pooling, softmax};
use crate::error::{EngineError, Result};
use crate::math;
use crate::nn::cross_attention::CrossMemory;
use crate::nn::embedding::embed;
use crate::parameters::Weight;
use crate::shape::{self, contiguous, elements_mut, expect, matrix};
use crate::trace::{Observer, observe, reborrow, scope};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use std::ops::Range;

/// Computes arrays and notifies an observer, if it has one.
pub struct Plain<'a> {
    observer: Option<&'a mut (dyn Observer + 'a)>,
    /// Prefix of every name; empty without an observer.
    prefix: String,
}

impl<'a> Plain<'a> {
    /// Notifies the observer that the caller of a layer or model passed.
    pub fn new(trace: &'a mut Option<&mut dyn Observer>) -> Self {
        Self {
            observer: reborrow(trace),
            prefix: String::new(),
        }
    }

    /// Notifies no observer.
    pub fn silent() -> Self {
        Self {
            observer: None,
            prefix: String::new(),
        }
    }

    /// Runs a function that takes an observer, under the current prefix.
    fn traced<R>(&mut self, run: impl FnOnce(&mut Option<&mut dyn Observer>) -> R) -> R {
        scope(&mut self.observer, || self.prefix.clone(), run)
    }
}

/// Refuses rows that are not below `count`.
pub(crate) fn expect_rows(operation: &'static str, rows: &[usize], count: usize) -> Result<()> {
    match rows.iter().find(|&&row| row >= count) {
        Some(row) => Err(EngineError::value(
            operation,
            "row",
            format!("below {count}"),
            row,
        )),
        None => Ok(()),
    }
}

/// Refuses rows that are not below the length of `taken` or were taken before, and takes them.
pub(crate) fn take_rows(rows: &[usize], taken: &mut [bool]) -> Result<()> {
    for &row in rows {
        match taken.get_mut(row) {
            Some(taken) if !*taken => *taken = true,
            _ => {
                let expected = format!("below {} and free", taken.len());
                return Err(EngineError::value("scatter", "row", expected, row));
            }
        }
    }
    Ok(())
}

/// Refuses a number of rows that is not a multiple of `every`.
pub(crate) fn expect_multiple(operation: &'static str, rows: usize, every: usize) -> Result<()> {
    if every > 0 && rows.is_multiple_of(every) {
        return Ok(());
    }
    let expected = format!("a multiple of {every} rows");
    Err(EngineError::shape(operation, expected, rows.to_string()))
}

/// Refuses columns that a matrix of this shape does not have.
pub(crate) fn expect_columns(columns: &Range<usize>, dim: (usize, usize)) -> Result<()> {
    if columns.start <= columns.end && columns.end <= dim.1 {
        return Ok(());
    }
    let expected = format!("at least {} columns", columns.end);
    Err(EngineError::shape("columns", expected, format!("{dim:?}")))
}

/// Refuses an empty range and one that goes beyond `rows`.
pub(crate) fn check_range(range: &Range<usize>, rows: usize) -> Result<()> {
    if !range.is_empty() && range.end <= rows {
        return Ok(());
    }
    let (expected, found) = (format!("below {rows}, at least 1"), format!("{range:?}"));
    Err(EngineError::value("mean", "rows", expected, found))
}

/// The side of the square grid that a position table without its `first` rows is for.
pub(crate) fn grid_side(rows: usize, first: usize) -> Result<usize> {
    let count = rows.saturating_sub(first);
    let side = count.isqrt();
    if side == 0 || side * side != count {
        let expected = "a square number of patches";
        return Err(EngineError::value("picture", "positions", expected, count));
    }
    Ok(side)
}

impl Compute for Plain<'_> {
    type Matrix = Array2<f32>;
    type Memory = Vec<CrossMemory>;

    fn dim(&self, x: &Array2<f32>) -> (usize, usize) {
        x.dim()
    }

    fn constant(&mut self, x: ArrayView2<'_, f32>) -> Array2<f32> {
        x.to_owned()
    }

    fn trace(&mut self, name: &str, x: &mut Array2<f32>) {
        if self.observer.is_some() {
            self.traced(|trace| observe(trace, name, x));
        }
    }

    fn scope<R>(&mut self, prefix: impl FnOnce() -> String, run: impl FnOnce(&mut Self) -> R) -> R {
        let length = self.prefix.len();
        if self.observer.is_some() {
            self.prefix.push_str(&prefix());
        }
        let result = run(self);
        self.prefix.truncate(length);
        result
    }

    fn linear(
        &mut self,
        x: &Array2<f32>,
        weight: &Weight,
        bias: Option<&Array1<f32>>,
    ) -> Result<Array2<f32>> {
        weight.linear(x.view(), bias.map(|bias| bias.view()))
    }

    fn embed(&mut self, table: &Weight, ids: &[usize]) -> Result<Array2<f32>> {
        table.rows(ids)
    }

    fn lookup(&mut self, table: &Array2<f32>, ids: &[usize]) -> Result<Array2<f32>> {
        embed(table.view(), ids)
    }

    fn interpolate_positions(
        &mut self,
        table: &Array2<f32>,
        first: usize,
        to: (usize, usize),
    ) -> Result<Array2<f32>> {
        let side = grid_side(table.nrows(), first)?;
        let (class, grid) = table.view().split_at(Axis(0), first);
        let grid = bicubic(grid, (side, side), to)?;
        let mut all = contiguous(&class).into_owned();
        all.extend_from_slice(&contiguous(&grid.view()));
        matrix("picture", first + grid.nrows(), table.ncols(), all)
    }

    fn add(&mut self, mut a: Array2<f32>, b: &Array2<f32>) -> Result<Array2<f32>> {
        expect("add", "b", a.shape(), b.shape())?;
        a += b;
        Ok(a)
    }

    fn add_repeated(&mut self, mut x: Array2<f32>, rows: &Array2<f32>) -> Result<Array2<f32>> {
        let (count, width) = rows.dim();
        expect_multiple("add_repeated", x.nrows(), count)?;
        expect("add_repeated", "rows", &[count, x.ncols()], &[count, width])?;
        let rows = contiguous(&rows.view()).into_owned();
        let all = elements_mut("add_repeated", &mut x)?;
        for part in all.chunks_exact_mut(rows.len().max(1)) {
            for (x, row) in part.iter_mut().zip(&rows) {
                *x += row;
            }
        }
        Ok(x)
    }

    fn scale(&mut self, mut x: Array2<f32>, factor: f32) -> Array2<f32> {
        x *= factor;
        x
    }

    fn multiply(&mut self, mut a: Array2<f32>, b: &Array2<f32>) -> Result<Array2<f32>> {
        expect("multiply", "b", a.shape(), b.shape())?;
        a *= b;
        Ok(a)
    }

    fn scale_rows(&mut self, mut x: Array2<f32>, factors: &Array2<f32>) -> Result<Array2<f32>> {
        expect("scale_rows", "factors", &[x.nrows(), 1], factors.shape())?;
        x *= factors;
        Ok(x)
    }

    fn top_k_softmax(&mut self, x: &Array2<f32>, k: usize) -> Result<Array2<f32>> {
        softmax::top_k(x.view(), k)
    }

    fn nonzero_rows(&self, x: &Array2<f32>, column: usize) -> Result<Vec<usize>> {
        expect_rows("nonzero_rows", &[column], x.ncols())?;
        let column = x.column(column);
        Ok((0..x.nrows()).filter(|&row| column[row] != 0.0).collect())
    }

    fn scale_columns(&mut self, mut x: Array2<f32>, factors: &Array1<f32>) -> Result<Array2<f32>> {
        expect("layer_scale", "scale", &[x.ncols()], factors.shape())?;
        x *= factors;
        Ok(x)
    }

    fn layer_norm(
        &mut self,
        x: &Array2<f32>,
        gamma: &Array1<f32>,
        beta: &Array1<f32>,
        eps: f32,
    ) -> Result<Array2<f32>> {
        norm::layer_norm(x.view(), gamma.view(), beta.view(), eps)
    }

    fn rms_norm(&mut self, x: &Array2<f32>, gamma: &Array1<f32>, eps: f32) -> Result<Array2<f32>> {
        norm::rms_norm(x.view(), gamma.view(), eps)
    }

    fn activate(&mut self, mut x: Array2<f32>, activation: Activation) -> Array2<f32> {
        activation.apply(&mut x);
        x
    }

    fn tanh(&mut self, x: Array2<f32>) -> Array2<f32> {
        x.mapv_into(math::tanh)
    }

    fn columns(&mut self, x: &Array2<f32>, columns: Range<usize>) -> Result<Array2<f32>> {
        expect_columns(&columns, x.dim())?;
        Ok(x.slice(s![.., columns]).to_owned())
    }

    fn concat(&mut self, parts: &[&Array2<f32>]) -> Result<Array2<f32>> {
        let rows = parts.first().map_or(0, |part| part.nrows());
        if parts.iter().any(|part| part.nrows() != rows) || parts.is_empty() {
            let shapes: Vec<_> = parts.iter().map(|x| format!("{:?}", x.shape())).collect();
            let found = shapes.join(" and ");
            return Err(EngineError::shape("concat", "the same rows", found));
        }
        let mut joined = Array2::zeros((rows, parts.iter().map(|part| part.ncols()).sum()));
        let mut end = 0;
        for part in parts {
            let columns = end..end + part.ncols();
            end = columns.end;
            joined.slice_mut(s![.., columns]).assign(part);
        }
        Ok(joined)
    }

    fn gather(&mut self, x: &Array2<f32>, rows: &[usize]) -> Result<Array2<f32>> {
        expect_rows("gather", rows, x.nrows())?;
        shape::rows("gather", x.view(), rows)
    }

    fn scatter(
        &mut self,
        count: usize,
        columns: usize,
        parts: &[(Array2<f32>, Vec<usize>)],
    ) -> Result<Array2<f32>> {
        let mut out = Array2::zeros((count, columns));
        let mut taken = vec![false; count];
        for (part, to) in parts {
            expect("scatter", "part", &[to.len(), columns], part.shape())?;
            take_rows(to, &mut taken)?;
            for (row, &to) in part.outer_iter().zip(to) {
                out.row_mut(to).assign(&row);
            }
        }
        Ok(out)
    }

    fn prepend(
        &mut self,
        x: Array2<f32>,
        first: &Array1<f32>,
        every: usize,
    ) -> Result<Array2<f32>> {
        let (rows, width) = x.dim();
        expect("picture", "class token", &[width], first.shape())?;
        expect_multiple("picture", rows, every)?;
        let longer = rows / every * (every + 1);
        let mut out = Vec::with_capacity(longer * width);
        for part in contiguous(&x.view()).chunks_exact((every * width).max(1)) {
            out.extend(first);
            out.extend_from_slice(part);
        }
        matrix("picture", longer, width, out)
    }

    fn mean_rows(&mut self, x: &Array2<f32>, ranges: &[Range<usize>]) -> Result<Array2<f32>> {
        let mut out = Array2::zeros((ranges.len(), x.ncols()));
        for (range, mut to) in ranges.iter().zip(out.rows_mut()) {
            check_range(range, x.nrows())?;
            to.assign(&pooling::mean(x.slice(s![range.clone(), ..]))?);
        }
        Ok(out)
    }

    fn unfold(&mut self, x: &Array2<f32>, windows: &Windows) -> Result<Array2<f32>> {
        windows.unfold(x.view())
    }

    fn apply_rotary(
        &mut self,
        mut x: Array2<f32>,
        rotary: &RotaryTable,
        head_width: usize,
    ) -> Result<Array2<f32>> {
        rotary.apply(&mut x, head_width)?;
        Ok(x)
    }

    fn attend(
        &mut self,
        [q, k, v]: [Array2<f32>; 3],
        heads: usize,
        lengths: &[usize],
    ) -> Result<Array2<f32>> {
        self.traced(|trace| full_attention::attend_each(&q, &k, &v, heads, lengths, trace))
    }

    fn attend_causally(
        &mut self,
        layer: &GroupedAttention,
        [q, k, v]: [Array2<f32>; 3],
        lengths: &[usize],
        caches: &mut [KvCache],
    ) -> Result<Array2<f32>> {
        self.traced(|trace| layer.attend_each(&q, &k, &v, lengths, caches, trace))
    }

    fn attend_with_bias(
        &mut self,
        [q, k, v]: [Array2<f32>; 3],
        by_distance: &Array2<f32>,
        lengths: &[usize],
    ) -> Result<Array2<f32>> {
        let bias = by_distance.view();
        self.traced(|trace| biased::attend_each(&q, &k, &v, bias, lengths, trace))
    }

    fn cache_kv(
        &mut self,
        [k, v]: [Array2<f32>; 2],
        heads: usize,
        lengths: &[usize],
    ) -> Result<Vec<CrossMemory>> {
        self.traced(|trace| {
            let one = |rows: Range<usize>| {
                let rows = s![rows, ..];
                CrossMemory::new(k.slice(rows), v.slice(rows), heads, trace)
            };
            ranges(lengths).map(one).collect()
        })
    }

    fn cross_attention(
        &mut self,
        q: Array2<f32>,
        heads: usize,
        lengths: &[usize],
        memory: &Vec<CrossMemory>,
    ) -> Result<Array2<f32>> {
        self.traced(|trace| cross_attention::attend_each(&q, heads, lengths, memory, trace))
    }

    fn gru_gates(
        &mut self,
        from_input: &Array2<f32>,
        from_state: &Array2<f32>,
        state: &Array2<f32>,
    ) -> Result<Array2<f32>> {
        gru::check_gates(from_input.dim(), from_state.dim(), state.dim())?;
        let (input, recurrent) = (from_input.view(), from_state.view());
        Ok(self.traced(|trace| gru::gates(input, recurrent, state.view(), trace)))
    }

    fn additive_attention(
        &mut self,
        queries: &Array2<f32>,
        score: &Array1<f32>,
        keys: &Array2<f32>,
        annotations: &Array2<f32>,
        seen: &[Range<usize>],
    ) -> Result<Array2<f32>> {
        let dims = [queries, keys, annotations].map(Array2::dim);
        bahdanau::check(dims, score.len(), seen)?;
        let mut contexts = Array2::zeros((seen.len(), annotations.ncols()));
        for (n, rows) in seen.iter().enumerate() {
            let rows = s![rows.clone(), ..];
            let (keys, annotations) = (keys.slice(rows), annotations.slice(rows));
            let query = queries.row(n);
            let found = self.traced(|trace| {
                bahdanau::additive_attention(query, score.view(), keys, annotations, trace)
            });
            contexts.row_mut(n).assign(&found.context);
        }
        Ok(contexts)
    }
}
