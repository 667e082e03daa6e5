//! The gates of a GRU, and additive attention.
//!
//! ```text
//! GRU:  h' = n + z (h − n),  n = tanh(i_n + r s_n),  r = σ(i_r + s_r),  z = σ(i_z + s_z):
//!       n̄ = h̄' (1 − z)   z̄ = h̄' (h − n)   h̄ += h̄' z     ā_n = n̄ (1 − n²)   ā_r = ā_n s_n r (1 − r)   ā_z = z̄ z (1 − z)
//!       ī += [ā_r, ā_z, ā_n]                 s̄ += [ā_r, ā_z, ā_n r]
//! attention:  e_s = v · t_s,  t_s = tanh(q + k_s),  w = softmax(e),  c = Σ w_s a_s:
//!       ā_s += w_s c̄   w̄_s = a_s · c̄   ē = w (w̄ − Σ w w̄)   v̄ += Σ ē_s t_s   k̄_s += ē_s v (1 − t_s²)   q̄ += Σ_s of the same
//! ```

use super::activation::{sigmoid_in_place, tanh_in_place};
use super::mixture::softmax_back;
use super::tape::{Adjoints, Tape, Values, Var, add};
use crate::error::Result;
use crate::nn::{bahdanau, gru};
use ndarray::Array1;
use std::ops::Range;

/// The next states.
pub(super) fn gru_gates(tape: &mut Tape, input: Var, recurrent: Var, state: Var) -> Result<Var> {
    // input, recurrent [B, 3C], state [B, C] -> [B, C]
    gru::check_gates(input.dim(), recurrent.dim(), state.dim())?;
    let (rows, width) = state.dim();
    let kernels = tape.kernels;
    // Reset and update of each row, side by side.
    let mut gates = Vec::with_capacity(rows * 2 * width);
    let all = tape.numbers(input).chunks_exact(3 * width.max(1));
    for (input, recurrent) in all.zip(tape.numbers(recurrent).chunks_exact(3 * width.max(1))) {
        let sums = input.iter().zip(recurrent).take(2 * width);
        gates.extend(sums.map(|(input, recurrent)| input + recurrent));
    }
    sigmoid_in_place(kernels, &mut gates);
    let mut candidate = Vec::with_capacity(rows * width);
    for row in 0..rows {
        let at = 3 * width * row + 2 * width;
        let input = &tape.numbers(input)[at..at + width];
        let recurrent = &tape.numbers(recurrent)[at..at + width];
        let reset = &gates[2 * width * row..][..width];
        let parts = input.iter().zip(recurrent).zip(reset);
        candidate.extend(parts.map(|((input, recurrent), reset)| input + reset * recurrent));
    }
    tanh_in_place(kernels, &mut candidate);
    let mut next = candidate.clone();
    let before = tape.numbers(state);
    for row in 0..rows {
        let update = &gates[2 * width * row + width..][..width];
        let at = row * width..(row + 1) * width;
        let parts = next[at.clone()].iter_mut().zip(&before[at]).zip(update);
        for ((next, before), update) in parts {
            *next += update * (before - *next);
        }
    }
    let from = [input, recurrent, state];
    Ok(
        tape.push(state.dim(), next, &from, move |past, grad, into| {
            gru_gates_back(past, from, [&gates, &candidate], &grad, into);
        }),
    )
}

fn gru_gates_back(
    past: &Values<'_>,
    [input, recurrent, state]: [Var; 3],
    [gates, candidate]: [&[f32]; 2],
    grad: &[f32],
    into: &mut Adjoints,
) {
    let (rows, width) = (state.rows, state.cols);
    let before = past.value(state);
    let mut to_input = vec![0.0; input.len()];
    let mut to_recurrent = vec![0.0; input.len()];
    let mut to_state = vec![0.0; state.len()];
    for row in 0..rows {
        let wide = 3 * width * row;
        let from_state = &past.value(recurrent)[wide + 2 * width..][..width];
        let (reset, update) = gates[2 * width * row..][..2 * width].split_at(width);
        for c in 0..width {
            let at = row * width + c;
            let (grad, n, r, z) = (grad[at], candidate[at], reset[c], update[c]);
            let to_n = grad * (1.0 - z) * (1.0 - n * n);
            let to_r = to_n * from_state[c] * r * (1.0 - r);
            let to_z = grad * (before[at] - n) * z * (1.0 - z);
            to_state[at] = grad * z;
            to_input[wide + c] = to_r;
            to_input[wide + width + c] = to_z;
            to_input[wide + 2 * width + c] = to_n;
            to_recurrent[wide + c] = to_r;
            to_recurrent[wide + width + c] = to_z;
            to_recurrent[wide + 2 * width + c] = to_n * r;
        }
    }
    into.give(input, to_input);
    into.give(recurrent, to_recurrent);
    into.give(state, to_state);
}

/// The network's inner activations `[Σ S, A]` for every query and key that it sees, and the
/// weights `[Σ S]`.
fn softmax_weights(
    tape: &Tape,
    queries: Var,
    score: &[f32],
    keys: Var,
    seen: &[Range<usize>],
) -> (Vec<f32>, Vec<f32>) {
    let (kernels, inner) = (tape.kernels, score.len());
    let mut inners = Vec::new();
    let all = tape.numbers(queries).chunks_exact(inner.max(1));
    for (query, rows) in all.zip(seen) {
        let keys = &tape.numbers(keys)[rows.start * inner..rows.end * inner];
        for key in keys.chunks_exact(inner.max(1)) {
            let pairs = key.iter().zip(query);
            inners.extend(pairs.map(|(key, query)| key + query));
        }
    }
    tanh_in_place(kernels, &mut inners);
    let mut weights = vec![0.0; inners.len() / inner.max(1)];
    kernels.matvec(&inners, score, &mut weights);
    let mut start = 0;
    for rows in seen {
        kernels.softmax(&mut weights[start..start + rows.len()]);
        start += rows.len();
    }
    (inners, weights)
}

/// The contexts of some queries.
pub(super) fn additive_attention(
    tape: &mut Tape,
    queries: Var,
    score: &Array1<f32>,
    [keys, annotations]: [Var; 2],
    seen: &[Range<usize>],
) -> Result<Var> {
    // queries [R, A], score [A], keys [N, A], annotations [N, K], seen [R] -> [R, K]
    let dims = [queries, keys, annotations].map(Var::dim);
    bahdanau::check(dims, score.len(), seen)?;
    let leaf = tape.leaf(score);
    let (score, inner, width) = (score.to_vec(), keys.cols, annotations.cols);
    let (inners, weights) = softmax_weights(tape, queries, &score, keys, seen);
    let mut contexts = vec![0.0; seen.len() * width];
    let mut start = 0;
    for (rows, context) in seen.iter().zip(contexts.chunks_exact_mut(width.max(1))) {
        let weights = &weights[start..start + rows.len()];
        let annotations = &tape.numbers(annotations)[rows.start * width..rows.end * width];
        let kernels = tape.kernels;
        kernels.matmul(weights, annotations, context, 1, rows.len(), width);
        start += rows.len();
    }
    let seen = seen.to_vec();
    let dim = (seen.len(), width);
    let from = [queries, keys, annotations];
    let leaves = [leaf];
    Ok(
        tape.push_with(dim, contexts, &from, &leaves, move |past, grad, into| {
            let mut to_score = vec![0.0; inner];
            let mut start = 0;
            for (n, rows) in seen.iter().enumerate() {
                let score = &score;
                let one = Question { n, rows, score };
                let end = start + rows.len();
                let known = [&weights[start..end], &inners[start * inner..end * inner]];
                let grad = &grad[n * width..(n + 1) * width];
                one.back(past, from, known, grad, &mut to_score, into);
                start = end;
            }
            if let Some(sum) = into.leaf(leaf, inner) {
                add(sum, &to_score);
            }
        }),
    )
}

/// Question `n`, which sees `rows`.
struct Question<'a> {
    n: usize,
    rows: &'a Range<usize>,
    score: &'a [f32],
}

impl Question<'_> {
    /// Adds the query's share of the gradients.
    fn back(
        &self,
        past: &Values<'_>,
        [queries, keys, annotations]: [Var; 3],
        [weights, inners]: [&[f32]; 2],
        grad: &[f32],
        to_score: &mut [f32],
        into: &mut Adjoints,
    ) {
        // weights [S], inners [S, A], grad [K]
        let (width, inner, start) = (grad.len(), self.score.len(), self.rows.start);
        let seen = start * width..self.rows.end * width;
        let mut slopes = vec![0.0; weights.len()];
        past.kernels
            .matvec(&past.value(annotations)[seen.clone()], grad, &mut slopes);
        if let Some(sum) = into.at(annotations) {
            for (row, &weight) in sum[seen].chunks_exact_mut(width.max(1)).zip(weights) {
                past.kernels.axpy(weight, grad, row);
            }
        }
        softmax_back(past.kernels, weights, &mut slopes);
        let mut to_query = vec![0.0; inner];
        let mut to_key = vec![0.0; inner];
        for (s, (inners, &slope)) in inners.chunks_exact(inner.max(1)).zip(&slopes).enumerate() {
            for a in 0..inner {
                to_score[a] += slope * inners[a];
                to_key[a] = slope * self.score[a] * (1.0 - inners[a] * inners[a]);
                to_query[a] += to_key[a];
            }
            if let Some(sum) = into.at(keys) {
                add(&mut sum[(start + s) * inner..][..inner], &to_key);
            }
        }
        if let Some(sum) = into.at(queries) {
            add(&mut sum[self.n * inner..][..inner], &to_query);
        }
    }
}
