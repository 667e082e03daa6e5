//! The gradient of attention, of several sequences and heads, full, causal or across.
//!
//! ```text
//! P = softmax(s Q Kᵀ),  O = P V,  s = 1/√D:
//! V̄ += Pᵀ Ō     P̄ = Ō Vᵀ     S̄ = P ⊙ (P̄ − Σ_keys P ⊙ P̄)     Q̄ += s S̄ K     K̄ += s S̄ᵀ Q
//! ```
//! Hidden pairs have weight 0, so no gradient goes through them. The values are those of
//! `nn/attention.rs`; the tests `grad_steps` compare them.

use super::linear::product;
use super::tape::{Adjoints, Tape, Values, Var};
use crate::error::{EngineError, Result};
use crate::kernel::Kernels;
use crate::nn::attention::scale;
use crate::nn::packed::ranges;
use crate::shape::{expect, mismatch};
use std::ops::Range;

/// Queries and the keys that they attend to: those of sequence b, and of head ⌊h G / H⌋ of G for
/// head h of H.
pub(super) struct Layout<'a> {
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
    /// Queries of each sequence.
    pub(super) lengths: &'a [usize],
    /// Keys of each sequence.
    pub(super) sources: &'a [usize],
    /// True when later keys are hidden.
    pub(super) causal: bool,
}

impl<'a> Layout<'a> {
    /// Heads with keys of their own, every key seen.
    pub(super) fn full(heads: usize, lengths: &'a [usize], sources: &'a [usize]) -> Self {
        Self {
            heads,
            kv_heads: heads,
            lengths,
            sources,
            causal: false,
        }
    }
}

/// One head of one sequence: its rows and columns in queries and in keys, and where its weights are
/// kept.
struct Part {
    queries: Range<usize>,
    keys: Range<usize>,
    column: usize,
    kv_column: usize,
    weights: Range<usize>,
}

fn parts(layout: &Layout<'_>, width: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (queries, keys) in ranges(layout.lengths).zip(ranges(layout.sources)) {
        for h in 0..layout.heads {
            let end = start + queries.len() * keys.len();
            parts.push(Part {
                queries: queries.clone(),
                keys: keys.clone(),
                column: h * width,
                kv_column: h * layout.kv_heads / layout.heads * width,
                weights: start..end,
            });
            start = end;
        }
    }
    parts
}

/// softmax(Q Kᵀ/√D) V, heads side by side.
pub(super) fn attend(tape: &mut Tape, [q, k, v]: [Var; 3], layout: &Layout<'_>) -> Result<Var> {
    // q [T, H·D], k and v [S, G·D] -> [T, H·D]
    let width = check([q, k, v], layout)?;
    let parts = parts(layout, width);
    let kernels = tape.kernels;
    let mut weights = vec![0.0; parts.last().map_or(0, |part| part.weights.end)];
    let mut out = vec![0.0; q.len()];
    for part in &parts {
        let (tokens, sources) = (part.queries.len(), part.keys.len());
        let queries = head(tape.numbers(q), q.cols, &part.queries, part.column, width);
        let keys = head_transposed(tape.numbers(k), k.cols, &part.keys, part.kv_column, width);
        let values = head(tape.numbers(v), v.cols, &part.keys, part.kv_column, width);
        let weights = &mut weights[part.weights.clone()];
        kernels.matmul(&queries, &keys, weights, tokens, width, sources);
        masked_softmax(kernels, weights, sources, scale(width), layout.causal);
        let mixed = product(kernels, weights, &values, [tokens, sources, width]);
        let to = (&part.queries, part.column, width);
        put(&mixed, &mut out, q.cols, to);
    }
    let from = [q, k, v];
    Ok(tape.push(q.dim(), out, &from, move |past, grad, into| {
        for part in &parts {
            let weights = &weights[part.weights.clone()];
            back(past, from, part, weights, width, &grad, into);
        }
    }))
}

fn check([q, k, v]: [Var; 3], layout: &Layout<'_>) -> Result<usize> {
    let (heads, kv_heads) = (layout.heads, layout.kv_heads);
    if heads == 0 || !q.cols.is_multiple_of(heads) || kv_heads == 0 || heads % kv_heads != 0 {
        let expected = format!("a divisor of the width {}", q.cols);
        return Err(EngineError::value("attention", "heads", expected, heads));
    }
    let width = q.cols / heads;
    if k.shape() != v.shape() || k.cols != kv_heads * width {
        let expected = "keys and values [S, G·D]";
        return Err(mismatch("attention", expected, &k.shape(), &v.shape()));
    }
    let (tokens, sources) = (layout.lengths.iter().sum(), layout.sources.iter().sum());
    let whole = "tokens of all sequences";
    expect("attention", whole, &[tokens, sources], &[q.rows, k.rows])?;
    let (asking, answering) = (layout.lengths.len(), layout.sources.len());
    expect("attention", "sources", &[asking], &[answering])?;
    Ok(width)
}

/// The weights of scores, in place: scaled, later keys hidden, softmax of each row.
fn masked_softmax(kernels: &Kernels, scores: &mut [f32], sources: usize, scale: f32, causal: bool) {
    for (t, row) in scores.chunks_exact_mut(sources.max(1)).enumerate() {
        let seen = if causal { t + 1 } else { sources };
        let (seen, hidden) = row.split_at_mut(seen.min(sources));
        seen.iter_mut().for_each(|score| *score *= scale);
        kernels.softmax(seen);
        hidden.fill(0.0);
    }
}

/// One head's share of the gradients.
fn back(
    past: &Values<'_>,
    [q, k, v]: [Var; 3],
    part: &Part,
    weights: &[f32],
    width: usize,
    grad: &[f32],
    into: &mut Adjoints,
) {
    // weights [T, S], grad [T, H·D]
    let (kernels, tokens, sources) = (past.kernels, part.queries.len(), part.keys.len());
    let queries = head(past.value(q), q.cols, &part.queries, part.column, width);
    let keys = head(past.value(k), k.cols, &part.keys, part.kv_column, width);
    let values = head_transposed(past.value(v), v.cols, &part.keys, part.kv_column, width);
    let grad = head(grad, q.cols, &part.queries, part.column, width);
    let mut scores = product(kernels, &grad, &values, [tokens, width, sources]);
    let scale = scale(width);
    let step = sources.max(1);
    for (row, weights) in scores
        .chunks_exact_mut(step)
        .zip(weights.chunks_exact(step))
    {
        let along = kernels.dot(row, weights);
        for (score, weight) in row.iter_mut().zip(weights) {
            *score = scale * weight * (*score - along);
        }
    }
    let from_keys = (&part.keys, part.kv_column, width);
    if let Some(sum) = into.at(q) {
        let part_grad = product(kernels, &scores, &keys, [tokens, sources, width]);
        add(&part_grad, sum, q.cols, (&part.queries, part.column, width));
    }
    let mut part_grad = vec![0.0; sources * width];
    if let Some(sum) = into.at(k) {
        kernels.matmul_tn(&scores, &queries, &mut part_grad, sources, tokens, width);
        add(&part_grad, sum, k.cols, from_keys);
    }
    if let Some(sum) = into.at(v) {
        kernels.matmul_tn(weights, &grad, &mut part_grad, sources, tokens, width);
        add(&part_grad, sum, v.cols, from_keys);
    }
}

/// Rows and columns of one head, row by row.
fn head(x: &[f32], cols: usize, rows: &Range<usize>, column: usize, width: usize) -> Vec<f32> {
    // x [N, cols] -> [rows, width]
    let mut out = Vec::with_capacity(rows.len() * width);
    for row in rows.clone() {
        out.extend_from_slice(&x[row * cols + column..row * cols + column + width]);
    }
    out
}

/// The same, column by column.
fn head_transposed(
    x: &[f32],
    cols: usize,
    rows: &Range<usize>,
    column: usize,
    width: usize,
) -> Vec<f32> {
    // x [N, cols] -> [width, rows]
    let count = rows.len();
    let mut out = vec![0.0; count * width];
    for (n, row) in rows.clone().enumerate() {
        let from = &x[row * cols + column..row * cols + column + width];
        for (d, &value) in from.iter().enumerate() {
            out[d * count + n] = value;
        }
    }
    out
}

/// Copies a head's numbers into the columns that they came from.
fn put(
    head: &[f32],
    out: &mut [f32],
    cols: usize,
    (rows, column, width): (&Range<usize>, usize, usize),
) {
    for (row, from) in rows.clone().zip(head.chunks_exact(width.max(1))) {
        out[row * cols + column..row * cols + column + width].copy_from_slice(from);
    }
}

/// As [`put`], but adds to the old values.
fn add(
    head: &[f32],
    out: &mut [f32],
    cols: usize,
    (rows, column, width): (&Range<usize>, usize, usize),
) {
    for (row, from) in rows.clone().zip(head.chunks_exact(width.max(1))) {
        let at = row * cols + column;
        super::tape::add(&mut out[at..at + width], from);
    }
}
