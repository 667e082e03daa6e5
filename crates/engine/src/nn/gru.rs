//! The gated recurrent unit: a state that each token may overwrite in part.
//!
//! ```text
//! r = σ(W_ir x + b_ir + W_hr h + b_hr)                 reset: how much of the state the candidate sees
//! z = σ(W_iz x + b_iz + W_hz h + b_hz)                 update: how much of the state stays
//! n = tanh(W_in x + b_in + r ∘ (W_hn h + b_hn))        candidate
//! h' = (1 − z) ∘ n + z ∘ h                             x [E], h, r, z, n [C]; W_i [3C, E], W_h [3C, C], rows r, z, n
//! ```
//! Cho et al. apply r to h before the matrix and let 1 − z keep the state; PyTorch, whose weights these are, does as above.
//!
//! ```
//! use engine::nn::gru::Gru;
//! use engine::{formula::Formula, rng::normal_matrix};
//! let mut source = Formula::new(1, Gru::shapes("gru", 4, 6, 2));
//! let gru = Gru::load(&mut source, "gru", 4, 6, 2)?;
//! let mut states = gru.start();
//! let outputs = gru.forward(normal_matrix(7, "x", 5, 4, 1.0).view(), &mut states, &mut None)?;
//! assert_eq!(outputs.dim(), (5, 6));
//! assert_eq!(outputs.row(4), states[1]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Cho et al. 2014, "Learning phrase representations using RNN encoder-decoder", section 2.3; `torch.nn.GRU`.

use super::packed::ranges;
use super::shape::expect;
use crate::error::Result;
use crate::math;
use crate::parameters::{Parameters, Weight, vector};
use crate::trace::{Observer, tell, within};
use ndarray::{Array, Array1, Array2, ArrayView, ArrayView1, ArrayView2, Axis, Dimension, Slice};

/// One layer in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct GruCell {
    /// `[3C, E]`: from the input to reset, update and candidate.
    pub weight_ih: Weight,
    /// `[3C, C]`: from the state to the same.
    pub weight_hh: Weight,
    /// `[3C]`.
    pub bias_ih: Array1<f32>,
    /// `[3C]`.
    pub bias_hh: Array1<f32>,
}

impl GruCell {
    /// `NAME.weight_ih_SUFFIX` and its kind; PyTorch's suffixes are `l0`, `l1` … and `l0_reverse` for the way back.
    ///
    /// # Errors
    /// When the source has no such parameters in these shapes.
    pub fn load(
        source: &mut dyn Parameters,
        name: &str,
        suffix: &str,
        inputs: usize,
        width: usize,
    ) -> Result<Self> {
        let rows = 3 * width;
        Ok(Self {
            weight_ih: source.weight(&format!("{name}.weight_ih_{suffix}"), rows, inputs)?,
            weight_hh: source.weight(&format!("{name}.weight_hh_{suffix}"), rows, width)?,
            bias_ih: vector(source, &format!("{name}.bias_ih_{suffix}"), rows)?,
            bias_hh: vector(source, &format!("{name}.bias_hh_{suffix}"), rows)?,
        })
    }

    /// The names that [`Self::load`] asks for, with their shapes.
    pub fn shapes(
        name: &str,
        suffix: &str,
        inputs: usize,
        width: usize,
    ) -> Vec<(String, Vec<usize>)> {
        let named =
            |part: &str, shape: &[usize]| (format!("{name}.{part}_{suffix}"), shape.to_vec());
        vec![
            named("weight_ih", &[3 * width, inputs]),
            named("weight_hh", &[3 * width, width]),
            named("bias_ih", &[3 * width]),
            named("bias_hh", &[3 * width]),
        ]
    }

    /// C.
    pub fn width(&self) -> usize {
        self.weight_hh.dim().1
    }

    /// The states after each of the inputs, which are read from the first on, or from the last with `reverse`; row t always belongs
    /// to input t. The observer gets `steps.t.{reset, update, candidate, state}`.
    ///
    /// # Errors
    /// When the inputs or the first state have another width.
    pub fn forward(
        &self,
        x: ArrayView2<'_, f32>,
        start: ArrayView1<'_, f32>,
        reverse: bool,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // x [T, E], start [C] -> [T, C]
        let (tokens, width) = (x.nrows(), self.width());
        expect("gru", "state", &[width], start.shape())?;
        let from_input = self.weight_ih.linear(x, Some(self.bias_ih.view()))?;
        let mut state = start.to_owned();
        let mut states = Array2::zeros((tokens, width));
        for n in 0..tokens {
            let t = if reverse { tokens - 1 - n } else { n };
            state = within(
                trace,
                || format!("steps.{t}."),
                |trace| self.step(from_input.row(t), state.view(), trace),
            )?;
            states.row_mut(t).assign(&state);
        }
        Ok(states)
    }

    /// The next state. The observer gets `reset`, `update`, `candidate` and `state`.
    ///
    /// # Errors
    /// When the input or the state has another width.
    pub fn next(
        &self,
        x: ArrayView1<'_, f32>,
        state: ArrayView1<'_, f32>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array1<f32>> {
        // x [E], state [C] -> [C]
        expect("gru", "state", &[self.width()], state.shape())?;
        let x = x.insert_axis(Axis(0));
        let from_input = self.weight_ih.linear(x, Some(self.bias_ih.view()))?;
        self.step(from_input.row(0), state, trace)
    }

    /// The next state, from W_i x + b_i and the state before.
    fn step(
        &self,
        from_input: ArrayView1<'_, f32>,
        state: ArrayView1<'_, f32>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array1<f32>> {
        // from_input [3C], state [C] -> [C]
        let from_state = self.recur(state.insert_axis(Axis(0)))?;
        Ok(blend(from_input, from_state.row(0), state, trace))
    }

    /// W_h h + b_h.
    fn recur(&self, state: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        // state [B, C] -> [B, 3C]
        self.weight_hh.linear(state, Some(self.bias_hh.view()))
    }

    /// As [`Self::next`] for several sequences.
    ///
    /// # Errors
    /// When the inputs or the states have another width, or there are more of one than of the other.
    pub fn next_batch(
        &self,
        x: ArrayView2<'_, f32>,
        state: ArrayView2<'_, f32>,
    ) -> Result<Array2<f32>> {
        // x [B, E], state [B, C] -> [B, C]
        expect("gru", "state", &[x.nrows(), self.width()], state.shape())?;
        let from_input = self.weight_ih.linear(x, Some(self.bias_ih.view()))?;
        let from_state = self.recur(state)?;
        Ok(blend(
            from_input.view(),
            from_state.view(),
            state,
            &mut None,
        ))
    }

    /// As [`Self::forward`] for several sequences: `x` holds the `lengths[b]` inputs of sequence b, one sequence after the other, and
    /// the states come in the same order. At each step the sequences that are not at their end go through one product.
    ///
    /// # Errors
    /// When the inputs or the first states have another width, or there are not as many as the lengths say.
    pub fn forward_batch(
        &self,
        x: ArrayView2<'_, f32>,
        lengths: &[usize],
        start: ArrayView2<'_, f32>,
        reverse: bool,
    ) -> Result<Array2<f32>> {
        // x [N, E], lengths [B] with sum N, start [B, C] -> [N, C]
        expect("gru", "inputs", &[lengths.iter().sum()], &[x.nrows()])?;
        expect(
            "gru",
            "states",
            &[lengths.len(), self.width()],
            start.shape(),
        )?;
        let from_input = self.weight_ih.linear(x, Some(self.bias_ih.view()))?;
        let mut states = Array2::zeros((x.nrows(), self.width()));
        let mut now = start.to_owned();
        for n in 0..lengths.iter().copied().max().unwrap_or(0) {
            let reading = ranges(lengths)
                .enumerate()
                .filter(|(_, rows)| n < rows.len());
            let row = |rows: std::ops::Range<usize>| {
                if reverse {
                    rows.end - 1 - n
                } else {
                    rows.start + n
                }
            };
            let (sequences, rows): (Vec<_>, Vec<_>) =
                reading.map(|(b, rows)| (b, row(rows))).unzip();
            let state = now.select(Axis(0), &sequences);
            let from_state = self.recur(state.view())?;
            let input = from_input.select(Axis(0), &rows);
            let next = blend(input.view(), from_state.view(), state.view(), &mut None);
            for ((b, row), next) in sequences.into_iter().zip(rows).zip(next.outer_iter()) {
                now.row_mut(b).assign(&next);
                states.row_mut(row).assign(&next);
            }
        }
        Ok(states)
    }
}

/// The gates, and what they let through. The observer gets `reset`, `update`, `candidate` and `state`.
fn blend<D: Dimension>(
    from_input: ArrayView<'_, f32, D>,
    from_state: ArrayView<'_, f32, D>,
    state: ArrayView<'_, f32, D>,
    trace: &mut Option<&mut dyn Observer>,
) -> Array<f32, D> {
    // from_input, from_state [.., 3C], state [.., C] -> [.., C]
    let last = Axis(state.ndim() - 1);
    let width = state.len_of(last);
    let part = |n: usize| Slice::from(n * width..(n + 1) * width);
    let gate = |n: usize| {
        let sum = &from_input.slice_axis(last, part(n)) + &from_state.slice_axis(last, part(n));
        sum.mapv_into(sigmoid)
    };
    let mut reset = gate(0);
    tell(trace, "reset", &mut reset);
    let mut update = gate(1);
    tell(trace, "update", &mut update);
    let mut candidate = &reset * &from_state.slice_axis(last, part(2));
    candidate = &from_input.slice_axis(last, part(2)) + &candidate;
    candidate.mapv_inplace(math::tanh);
    tell(trace, "candidate", &mut candidate);
    let mut next = &candidate + &(&update * &(&state - &candidate));
    tell(trace, "state", &mut next);
    next
}

/// 1 / (1 + exp(−x)).
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + math::exp(-x))
}

/// Layers on each other: each reads the states of the one below.
#[derive(Debug, Clone, PartialEq)]
pub struct Gru {
    /// From the input upwards.
    pub layers: Vec<GruCell>,
}

impl Gru {
    /// `NAME.weight_ih_l0` … of `torch.nn.GRU(inputs, width, layers)`.
    ///
    /// # Errors
    /// When the source has no such parameters in these shapes.
    pub fn load(
        source: &mut dyn Parameters,
        name: &str,
        inputs: usize,
        width: usize,
        layers: usize,
    ) -> Result<Self> {
        let layers = (0..layers).map(|n| {
            let inputs = if n == 0 { inputs } else { width };
            GruCell::load(source, name, &format!("l{n}"), inputs, width)
        });
        Ok(Self {
            layers: layers.collect::<Result<_>>()?,
        })
    }

    /// The names that [`Self::load`] asks for, with their shapes.
    pub fn shapes(
        name: &str,
        inputs: usize,
        width: usize,
        layers: usize,
    ) -> Vec<(String, Vec<usize>)> {
        let layers = (0..layers).flat_map(|n| {
            let inputs = if n == 0 { inputs } else { width };
            GruCell::shapes(name, &format!("l{n}"), inputs, width)
        });
        layers.collect()
    }

    /// A state of zeros for each layer.
    pub fn start(&self) -> Vec<Array1<f32>> {
        self.layers
            .iter()
            .map(|cell| Array1::zeros(cell.width()))
            .collect()
    }

    /// The upper layer's states after each of the inputs; `states` holds each layer's state before and after. The observer gets
    /// `layers.n.steps.t.…`.
    ///
    /// # Errors
    /// When the inputs have another width, or there is not one state for each layer.
    pub fn forward(
        &self,
        x: ArrayView2<'_, f32>,
        states: &mut [Array1<f32>],
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // x [T, E], states [layers][C] -> [T, C]
        expect("gru", "states", &[self.layers.len()], &[states.len()])?;
        let mut x = x.to_owned();
        for (n, (cell, state)) in self.layers.iter().zip(states).enumerate() {
            x = within(
                trace,
                || format!("layers.{n}."),
                |trace| cell.forward(x.view(), state.view(), false, trace),
            )?;
            if let Some(last) = x.outer_iter().next_back() {
                state.assign(&last);
            }
        }
        Ok(x)
    }

    /// As [`Self::forward`] for several sequences, from states of zeros or others; see [`GruCell::forward_batch`]. Gives the upper
    /// layer's states after each of the inputs and replaces `states`, `[B, C]` for each layer.
    ///
    /// # Errors
    /// As [`GruCell::forward_batch`], and when there is not one state for each layer.
    pub fn forward_batch(
        &self,
        x: ArrayView2<'_, f32>,
        lengths: &[usize],
        states: &mut [Array2<f32>],
        reverse: bool,
    ) -> Result<Array2<f32>> {
        // x [N, E], states [layers][B, C] -> [N, C]
        expect("gru", "states", &[self.layers.len()], &[states.len()])?;
        let mut x = x.to_owned();
        for (cell, state) in self.layers.iter().zip(states) {
            x = cell.forward_batch(x.view(), lengths, state.view(), reverse)?;
            for (rows, mut state) in ranges(lengths).zip(state.outer_iter_mut()) {
                if !rows.is_empty() {
                    let last = if reverse { rows.start } else { rows.end - 1 };
                    state.assign(&x.row(last));
                }
            }
        }
        Ok(x)
    }
}
