//! The executor of training: layers on a tape.

use super::attention::{Layout, attend};
use super::tape::{Sources, Tape, Var};
use super::{activation, linear, mixture, norm, picture, recurrent, rows};
use crate::error::{EngineError, Result};
use crate::nn::compute::Compute;
use crate::nn::feed_forward::Activation;
use crate::nn::grouped::GroupedAttention;
use crate::nn::kv_cache::KvCache;
use crate::nn::plain::{Plain, grid_side};
use crate::nn::position::rope::RotaryTable;
use crate::nn::unfold::Windows;
use crate::parameters::Weight;
use crate::shape::expect;
use ndarray::{Array1, Array2, ArrayView2};
use std::ops::Range;

/// Notifies no observer: an observed pass runs on [`crate::nn::plain::Plain`].
impl Compute for Tape {
    type Matrix = Var;
    type Memory = Sources;

    fn dim(&self, x: &Var) -> (usize, usize) {
        (x.rows, x.cols)
    }

    fn constant(&mut self, x: ArrayView2<'_, f32>) -> Var {
        self.push_constant(x)
    }

    fn trace(&mut self, _: &str, _: &mut Var) {}

    fn scope<R>(&mut self, _: impl FnOnce() -> String, run: impl FnOnce(&mut Self) -> R) -> R {
        run(self)
    }

    fn dropout(&mut self, x: Var) -> Var {
        match self.dropout_mask(x.len()) {
            Some(mask) => rows::mask(self, x, mask),
            None => x,
        }
    }

    fn linear(&mut self, x: &Var, weight: &Weight, bias: Option<&Array1<f32>>) -> Result<Var> {
        linear::linear(self, *x, weight, bias)
    }

    fn embed(&mut self, table: &Weight, ids: &[usize]) -> Result<Var> {
        match table {
            Weight::Dense(dense) => rows::lookup(self, dense, dense.ncols(), ids),
            Weight::Packed(packed) => Ok(self.push_constant(packed.rows(ids)?.view())),
        }
    }

    fn lookup(&mut self, table: &Array2<f32>, ids: &[usize]) -> Result<Var> {
        rows::lookup(self, table, table.ncols(), ids)
    }

    /// Accepts the table's own grid alone: pictures for training have the size that the model is
    /// for.
    fn interpolate_positions(
        &mut self,
        table: &Array2<f32>,
        first: usize,
        to: (usize, usize),
    ) -> Result<Var> {
        let side = grid_side(table.nrows(), first)?;
        let name = "patches of the model's size";
        expect("training", name, &[side; 2], &[to.0, to.1])?;
        let all: Vec<usize> = (0..table.nrows()).collect();
        rows::lookup(self, table, table.ncols(), &all)
    }

    fn add(&mut self, a: Var, b: &Var) -> Result<Var> {
        rows::sum(self, a, *b)
    }

    fn add_repeated(&mut self, x: Var, rows: &Var) -> Result<Var> {
        rows::add_repeated(self, x, *rows)
    }

    fn scale(&mut self, x: Var, factor: f32) -> Var {
        rows::scale(self, x, factor)
    }

    fn multiply(&mut self, a: Var, b: &Var) -> Result<Var> {
        mixture::multiply(self, a, *b)
    }

    fn scale_rows(&mut self, x: Var, factors: &Var) -> Result<Var> {
        mixture::scale_rows(self, x, *factors)
    }

    fn top_k_softmax(&mut self, x: &Var, k: usize) -> Result<Var> {
        mixture::top_k_softmax(self, *x, k)
    }

    fn nonzero_rows(&self, x: &Var, column: usize) -> Result<Vec<usize>> {
        Plain::silent().nonzero_rows(&self.value(x)?, column)
    }

    fn scale_columns(&mut self, x: Var, factors: &Array1<f32>) -> Result<Var> {
        rows::scale_columns(self, x, factors)
    }

    fn layer_norm(
        &mut self,
        x: &Var,
        gamma: &Array1<f32>,
        beta: &Array1<f32>,
        eps: f32,
    ) -> Result<Var> {
        norm::norm(self, *x, gamma, Some(beta), eps)
    }

    fn rms_norm(&mut self, x: &Var, gamma: &Array1<f32>, eps: f32) -> Result<Var> {
        norm::norm(self, *x, gamma, None, eps)
    }

    fn activate(&mut self, x: Var, activation: Activation) -> Var {
        activation::activate(self, x, activation)
    }

    fn tanh(&mut self, x: Var) -> Var {
        activation::tanh(self, x)
    }

    fn columns(&mut self, x: &Var, columns: Range<usize>) -> Result<Var> {
        rows::columns(self, *x, columns)
    }

    fn concat(&mut self, parts: &[&Var]) -> Result<Var> {
        let parts: Vec<Var> = parts.iter().map(|part| **part).collect();
        rows::concat(self, &parts)
    }

    fn gather(&mut self, x: &Var, rows: &[usize]) -> Result<Var> {
        rows::gather(self, *x, rows)
    }

    fn scatter(
        &mut self,
        count: usize,
        columns: usize,
        parts: &[(Var, Vec<usize>)],
    ) -> Result<Var> {
        rows::scatter(self, count, columns, parts)
    }

    fn prepend(&mut self, x: Var, first: &Array1<f32>, every: usize) -> Result<Var> {
        picture::prepend(self, x, first, every)
    }

    fn mean_rows(&mut self, x: &Var, ranges: &[Range<usize>]) -> Result<Var> {
        rows::mean_rows(self, *x, ranges)
    }

    fn unfold(&mut self, x: &Var, windows: &Windows) -> Result<Var> {
        picture::unfold(self, *x, windows)
    }

    fn apply_rotary(&mut self, x: Var, rotary: &RotaryTable, head_width: usize) -> Result<Var> {
        picture::apply_rotary(self, x, rotary, head_width)
    }

    fn attend(&mut self, qkv: [Var; 3], heads: usize, lengths: &[usize]) -> Result<Var> {
        attend(self, qkv, &Layout::full(heads, lengths, lengths))
    }

    fn attend_causally(
        &mut self,
        layer: &GroupedAttention,
        qkv: [Var; 3],
        lengths: &[usize],
        caches: &mut [KvCache],
    ) -> Result<Var> {
        if let Some(cache) = caches.iter().find(|cache| !cache.is_empty()) {
            let found = format!("a cache of {} tokens", cache.len());
            return Err(EngineError::shape("training", "whole texts", found));
        }
        let is_longer = |window: &usize| lengths.iter().any(|length| length > window);
        if let Some(window) = layer.window.filter(is_longer) {
            let found = format!("a window of {window} tokens");
            return Err(EngineError::shape(
                "training",
                "attention to all tokens",
                found,
            ));
        }
        let layout = Layout {
            kv_heads: layer.kv_heads,
            causal: true,
            ..Layout::full(layer.heads, lengths, lengths)
        };
        attend(self, qkv, &layout)
    }

    fn attend_with_bias(
        &mut self,
        qkv: [Var; 3],
        by_distance: &Var,
        lengths: &[usize],
    ) -> Result<Var> {
        let layout = Layout {
            causal: true,
            by_distance: Some(*by_distance),
            ..Layout::full(by_distance.rows, lengths, lengths)
        };
        attend(self, qkv, &layout)
    }

    fn cache_kv(&mut self, [k, v]: [Var; 2], _: usize, lengths: &[usize]) -> Result<Sources> {
        let lengths = lengths.to_vec();
        Ok(Sources { k, v, lengths })
    }

    fn cross_attention(
        &mut self,
        q: Var,
        heads: usize,
        lengths: &[usize],
        memory: &Sources,
    ) -> Result<Var> {
        let layout = Layout::full(heads, lengths, &memory.lengths);
        attend(self, [q, memory.k, memory.v], &layout)
    }

    fn gru_gates(&mut self, from_input: &Var, from_state: &Var, state: &Var) -> Result<Var> {
        recurrent::gru_gates(self, *from_input, *from_state, *state)
    }

    fn additive_attention(
        &mut self,
        queries: &Var,
        score: &Array1<f32>,
        keys: &Var,
        annotations: &Var,
        seen: &[Range<usize>],
    ) -> Result<Var> {
        recurrent::additive_attention(self, *queries, score, [*keys, *annotations], seen)
    }
}
