//! The gradient of attention, of several sequences and heads, full, causal or across.
//!
//! ```text
//! P = softmax(s Q Kᵀ),  O = P V,  s = 1/√D:
//! V̄ += Pᵀ Ō     P̄ = Ō Vᵀ     S̄ = P ⊙ (P̄ − Σ_keys P ⊙ P̄)     Q̄ += s S̄ K     K̄ += s S̄ᵀ Q
//! b[d] added to the scores of distance d:     b̄[d] += Σ of S̄ over the pairs of that distance
//! ```
//! Hidden pairs have weight 0, so no gradient goes through them. The values are those of
//! `nn/attention.rs`; the tests `grad_steps` compare them.

use super::tape::{Adjoints, Tape, Values, Var, add, transpose};
use crate::error::{EngineError, Result};
use crate::kernel::{Kernels, ProductShape, threads};
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
    /// `[H, R + 1]`: added to the score of a key `min(distance, R)` tokens back; causal only.
    pub(super) by_distance: Option<Var>,
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
            by_distance: None,
        }
    }
}

/// One sequence: its rows in queries and in keys.
struct Sequence {
    queries: Range<usize>,
    keys: Range<usize>,
}

impl Sequence {
    /// The number of weights of one head.
    fn pairs(&self) -> usize {
        self.queries.len() * self.keys.len()
    }
}

/// The widths and steps that all heads share.
#[derive(Clone, Copy)]
struct Heads {
    heads: usize,
    kv_heads: usize,
    width: usize,
    /// Columns of queries, and of keys and values.
    q_cols: usize,
    kv_cols: usize,
    causal: bool,
}

impl Heads {
    /// The first columns of head `h` in queries, and in keys and values.
    fn columns(self, h: usize) -> [usize; 2] {
        [h * self.width, h * self.kv_heads / self.heads * self.width]
    }

    /// True for the first of the heads that share keys and values.
    fn is_first(self, h: usize) -> bool {
        h.is_multiple_of(self.heads / self.kv_heads)
    }

    /// From the queries' rows and keys: scores, or the gradient of weights.
    fn to_pairs(self, sequence: &Sequence) -> ProductShape {
        ProductShape {
            a_row: self.q_cols,
            ..ProductShape::new([sequence.queries.len(), self.width, sequence.keys.len()])
        }
    }

    /// From weights and the keys' rows to the queries' rows.
    fn to_queries(self, sequence: &Sequence) -> ProductShape {
        ProductShape {
            b_row: self.kv_cols,
            out_row: self.q_cols,
            ..ProductShape::new([sequence.queries.len(), sequence.keys.len(), self.width])
        }
    }

    /// From weights and the queries' rows to the keys' rows, for head `h`.
    fn to_keys(self, sequence: &Sequence, h: usize) -> ProductShape {
        let sizes = [sequence.keys.len(), sequence.queries.len(), self.width];
        ProductShape {
            b_row: self.q_cols,
            out_row: self.kv_cols,
            add: !self.is_first(h),
            ..ProductShape::transposed(sizes)
        }
    }
}

/// Cuts a matrix into the rows of each sequence.
fn cut(
    mut rows: &mut [f32],
    lengths: impl Iterator<Item = usize>,
    cols: usize,
) -> impl Iterator<Item = &mut [f32]> {
    lengths.map(move |length| {
        let (part, rest) = std::mem::take(&mut rows).split_at_mut(length * cols);
        rows = rest;
        part
    })
}

/// softmax(Q Kᵀ/√D) V, heads side by side.
pub(super) fn attend(tape: &mut Tape, [q, k, v]: [Var; 3], layout: &Layout<'_>) -> Result<Var> {
    // q [T, H·D], k and v [S, G·D] -> [T, H·D]
    let width = check([q, k, v], layout)?;
    let heads = Heads {
        heads: layout.heads,
        kv_heads: layout.kv_heads,
        width,
        q_cols: q.cols,
        kv_cols: k.cols,
        causal: layout.causal,
    };
    let sequences: Vec<Sequence> = ranges(layout.lengths)
        .zip(ranges(layout.sources))
        .map(|(queries, keys)| Sequence { queries, keys })
        .collect();
    let kernels = tape.kernels;
    let pairs: usize = sequences.iter().map(Sequence::pairs).sum();
    // Those of each sequence and head.
    let mut weights: Vec<Vec<f32>> = vec![Vec::new(); sequences.len() * heads.heads];
    let mut out = vec![0.0; q.len()];
    let outs = cut(&mut out, layout.lengths.iter().copied(), q.cols);
    let all = outs.zip(weights.chunks_mut(heads.heads));
    let mut parts: Vec<_> = sequences.iter().zip(all).collect();
    let (queries, keys, values) = (tape.numbers(q), tape.numbers(k), tape.numbers(v));
    let reach = layout.by_distance.map_or(0, |bias| bias.cols);
    let biases = (layout.by_distance).map_or(&[][..], |bias| tape.numbers(bias));
    let least = least(&heads, pairs, sequences.len());
    threads::chunks(&mut parts, 1, least, |_, part| {
        for (sequence, (out, weights)) in part {
            if sequence.pairs() == 0 {
                continue;
            }
            let sources = sequence.keys.len();
            let mut turned = vec![0.0; sources * width];
            for (h, weights) in weights.iter_mut().enumerate() {
                let [column, kv_column] = heads.columns(h);
                let at = sequence.keys.start * heads.kv_cols + kv_column;
                transpose(&keys[at..], heads.kv_cols, sources, &mut turned);
                let queries = &queries[sequence.queries.start * heads.q_cols + column..];
                *weights = kernels.new_product(queries, &turned, &heads.to_pairs(sequence));
                let bias = &biases[h * reach..(h + 1) * reach];
                masked_softmax(
                    kernels,
                    weights,
                    sources,
                    (scale(width), bias),
                    heads.causal,
                );
                let to = heads.to_queries(sequence);
                kernels.product(weights, &values[at..], &mut out[column..], &to);
            }
        }
    });
    let (from, by_distance) = ([q, k, v], layout.by_distance);
    let all: Vec<Var> = from.into_iter().chain(by_distance).collect();
    Ok(tape.push(q.dim(), out, &all, move |past, grad, into| {
        let by_distance = by_distance.filter(|&bias| into.wants(bias));
        let seen = (&weights[..], &grad[..]);
        back(past, (from, by_distance), &sequences, &heads, seen, into);
    }))
}

/// The fewest sequences for which waking a thread pays, of `count` with so many pairs.
fn least(heads: &Heads, pairs: usize, count: usize) -> usize {
    const LEAST_WORK: usize = 1 << 16;
    let work = pairs * heads.heads * heads.width / count.max(1);
    LEAST_WORK.div_ceil(work.max(1))
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
    if let Some(bias) = layout.by_distance {
        let shape = [heads, bias.cols.max(1)];
        expect("attention", "bias by distance", &shape, &bias.shape())?;
    }
    Ok(width)
}

/// The weights of scores, in place: scaled, the bias of each distance added, later keys hidden,
/// softmax of each row.
fn masked_softmax(
    kernels: &Kernels,
    scores: &mut [f32],
    sources: usize,
    (scale, by_distance): (f32, &[f32]),
    causal: bool,
) {
    for (t, row) in scores.chunks_exact_mut(sources.max(1)).enumerate() {
        let seen = if causal { t + 1 } else { sources };
        let (seen, hidden) = row.split_at_mut(seen.min(sources));
        seen.iter_mut().for_each(|score| *score *= scale);
        if let Some(farthest) = by_distance.len().checked_sub(1) {
            for (distance, score) in seen.iter_mut().rev().enumerate() {
                *score += by_distance[distance.min(farthest)];
            }
        }
        kernels.softmax(seen);
        hidden.fill(0.0);
    }
}

/// The gradients of queries, keys and values, and of the bias by distance where one is asked for.
fn back(
    past: &Values<'_>,
    ([q, k, v], by_distance): ([Var; 3], Option<Var>),
    sequences: &[Sequence],
    heads: &Heads,
    (weights, grad): (&[Vec<f32>], &[f32]),
    into: &mut Adjoints,
) {
    let kernels = past.kernels;
    let (queries, keys, values) = (past.value(q), past.value(k), past.value(v));
    let mut sums = [q, k, v].map(|var| vec![0.0; var.len()]);
    let [to_q, to_k, to_v] = &mut sums;
    let lengths = || sequences.iter().map(|sequence| sequence.queries.len());
    let sources = || sequences.iter().map(|sequence| sequence.keys.len());
    let to = cut(to_k, sources(), heads.kv_cols).zip(cut(to_v, sources(), heads.kv_cols));
    let to = cut(to_q, lengths(), heads.q_cols).zip(to);
    let all = sequences.iter().zip(weights.chunks(heads.heads));
    // Each sequence adds to sums of its own, which are added in order.
    let reach = by_distance.map_or(0, |bias| bias.cols);
    let mut biases = vec![vec![0.0; heads.heads * reach]; sequences.len()];
    let mut parts: Vec<_> = all.zip(to).zip(&mut biases).collect();
    let pairs = sequences.iter().map(Sequence::pairs).sum();
    let least = least(heads, pairs, sequences.len());
    threads::chunks(&mut parts, 1, least, |_, part| {
        for (((sequence, weights), (to_q, (to_k, to_v))), to_bias) in part {
            let (pairs, sources) = (sequence.pairs(), sequence.keys.len());
            if pairs == 0 {
                continue;
            }
            let mut turned = vec![0.0; sources * heads.width];
            let mut scores = vec![0.0; pairs];
            for (h, weights) in weights.iter().enumerate() {
                let [column, kv_column] = heads.columns(h);
                let q_at = sequence.queries.start * heads.q_cols + column;
                let kv_at = sequence.keys.start * heads.kv_cols + kv_column;
                let grad = &grad[q_at..];
                transpose(&values[kv_at..], heads.kv_cols, sources, &mut turned);
                kernels.product(grad, &turned, &mut scores, &heads.to_pairs(sequence));
                slopes(kernels, &mut scores, weights, sources, scale(heads.width));
                add_by_distance(&mut to_bias[h * reach..(h + 1) * reach], &scores, sources);
                let (to_q, keys) = (&mut to_q[column..], &keys[kv_at..]);
                kernels.product(&scores, keys, to_q, &heads.to_queries(sequence));
                let (to_k, to_keys) = (&mut to_k[kv_column..], heads.to_keys(sequence, h));
                kernels.product(&scores, &queries[q_at..], to_k, &to_keys);
                kernels.product(weights, grad, &mut to_v[kv_column..], &to_keys);
            }
        }
    });
    for (var, sum) in [q, k, v].into_iter().zip(sums) {
        into.give(var, sum);
    }
    if let Some(sum) = by_distance.and_then(|bias| into.at(bias)) {
        // Scores before scaling have `scale` times the gradient of those that the bias is added to.
        let scale = scale(heads.width);
        for bias in &mut biases {
            bias.iter_mut().for_each(|slope| *slope /= scale);
            add(sum, bias);
        }
    }
}

/// Adds the gradient of each causal pair's score to the sum of its distance.
fn add_by_distance(sums: &mut [f32], scores: &[f32], sources: usize) {
    let Some(farthest) = sums.len().checked_sub(1) else {
        return;
    };
    for (t, row) in scores.chunks_exact(sources.max(1)).enumerate() {
        for (distance, score) in row[..sources.min(t + 1)].iter().rev().enumerate() {
            sums[distance.min(farthest)] += score;
        }
    }
}

/// The gradient of scores before scaling, from that of weights, which it replaces.
fn slopes(kernels: &Kernels, scores: &mut [f32], weights: &[f32], sources: usize, scale: f32) {
    let step = sources.max(1);
    let rows = scores.chunks_exact_mut(step);
    for (row, weights) in rows.zip(weights.chunks_exact(step)) {
        let along = kernels.dot(row, weights);
        for (score, weight) in row.iter_mut().zip(weights) {
            *score = scale * weight * (*score - along);
        }
    }
}
