//! The gated recurrent unit: a state that each token may overwrite in part.
//!
//! ```text
//! r = σ(W_ir x + b_ir + W_hr h + b_hr)                 reset: how much of the state the candidate sees
//! z = σ(W_iz x + b_iz + W_hz h + b_hz)                 update: how much of the state stays
//! n = tanh(W_in x + b_in + r ∘ (W_hn h + b_hn))        candidate
//! h' = (1 − z) ∘ n + z ∘ h                             x [E], h, r, z, n [C]; W_i [3C, E], W_h [3C, C], rows r, z, n
//! ```
//! Cho et al. apply r to h before the matrix and let 1 − z keep the state; PyTorch, whose
//! parameters these are, does as above.
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
//! Source: Cho et al. 2014, "Learning phrase representations using RNN encoder-decoder", section
//! 2.3; `torch.nn.GRU`.

use super::compute::Compute;
use super::packed::ranges;
use super::steps::Steps;
use crate::error::Result;
use crate::math;
use crate::parameters::{Parameters, Weight, vector};
use crate::shape::expect;
use crate::trace::{Observer, observe, scope};
use crate::trainable::{self, Kind, Visit};
use ndarray::{Array, Array1, Array2, ArrayView, ArrayView1, ArrayView2, Axis, Dimension, Slice};

/// One layer in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct GruCell {
    /// `[3C, E]`: from the input to reset, update and candidate.
    pub weight_ih: Weight,
    /// `[3C, C]`: from the state to reset, update and candidate.
    pub weight_hh: Weight,
    /// `[3C]`.
    pub bias_ih: Array1<f32>,
    /// `[3C]`.
    pub bias_hh: Array1<f32>,
}

impl GruCell {
    /// `NAME.weight_ih_SUFFIX` and its kind; PyTorch's suffixes are `l0`, `l1` … and `l0_reverse`
    /// for the way back.
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

    /// The states after each of the inputs, which are read from the first on, or from the last with
    /// `reverse`; row t always belongs to input t. The observer gets `steps.t.{reset, update,
    /// candidate, state}`.
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
            let prefix = || format!("steps.{t}.");
            state = scope(trace, prefix, |trace| {
                self.step(from_input.row(t), state.view(), trace)
            })?;
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
        let bias = Some(self.bias_hh.view());
        let from_state = self.weight_hh.linear(state.insert_axis(Axis(0)), bias)?;
        Ok(gates(from_input, from_state.row(0), state, trace))
    }

    /// As [`Self::next`] for several sequences, generic over the executor.
    ///
    /// # Errors
    /// When the inputs or the states have another width, or there are more of one than of the
    /// other.
    pub fn next_batch<C: Compute>(
        &self,
        compute: &mut C,
        x: &C::Matrix,
        state: &C::Matrix,
    ) -> Result<C::Matrix> {
        // x [B, E], state [B, C] -> [B, C]
        let from_input = compute.linear(x, &self.weight_ih, Some(&self.bias_ih))?;
        let from_state = compute.linear(state, &self.weight_hh, Some(&self.bias_hh))?;
        compute.gru_gates(&from_input, &from_state, state)
    }

    /// As [`Self::forward`] for several sequences, generic over the executor: `x` holds the
    /// `lengths[b]` inputs of sequence b, one sequence after the other, and the states come in the
    /// same order. At each step the sequences that are not at their end go through one product.
    ///
    /// # Errors
    /// When the inputs or the first states have another width, or there are not as many as the
    /// lengths say.
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        x: &C::Matrix,
        lengths: &[usize],
        start: &C::Matrix,
        reverse: bool,
    ) -> Result<C::Matrix> {
        // x [N, E], lengths [B] with sum N, start [B, C] -> [N, C]
        let (tokens, (batch, width)) = (compute.dim(x).0, compute.dim(start));
        expect("gru", "inputs", &[lengths.iter().sum()], &[tokens])?;
        let expected = [lengths.len(), self.width()];
        expect("gru", "states", &expected, &[batch, width])?;
        let from_input = compute.linear(x, &self.weight_ih, Some(&self.bias_ih))?;
        let mut now = start.clone();
        let mut states = Vec::new();
        for step in Steps::new(lengths, reverse) {
            if let Some(kept) = &step.kept {
                now = compute.gather(&now, kept)?;
            }
            let input = compute.gather(&from_input, &step.rows)?;
            let from_state = compute.linear(&now, &self.weight_hh, Some(&self.bias_hh))?;
            now = compute.gru_gates(&input, &from_state, &now)?;
            states.push((now.clone(), step.rows));
        }
        compute.scatter(tokens, width, &states)
    }

    /// Visits the parameters under the names that [`Self::load`] asks for.
    ///
    /// # Errors
    /// When `visit` fails.
    pub fn parameters(&mut self, name: &str, suffix: &str, visit: &mut Visit<'_>) -> Result<()> {
        let named = |part: &str| format!("{name}.{part}_{suffix}");
        let Self {
            weight_ih,
            weight_hh,
            bias_ih,
            bias_hh,
        } = self;
        trainable::weight(weight_ih, &named("weight_ih"), Kind::Matrix, visit)?;
        trainable::weight(weight_hh, &named("weight_hh"), Kind::Matrix, visit)?;
        trainable::array(bias_ih, &named("bias_ih"), Kind::Bias, visit)?;
        trainable::array(bias_hh, &named("bias_hh"), Kind::Bias, visit)
    }
}

/// Refuses gates that do not fit the states.
pub(crate) fn check_gates(
    from_input: (usize, usize),
    from_state: (usize, usize),
    (rows, width): (usize, usize),
) -> Result<()> {
    let found = [from_input.0, from_input.1, from_state.0, from_state.1];
    expect("gru", "gates", &[rows, 3 * width, rows, 3 * width], &found)
}

/// The gates and the next state. The observer gets `reset`, `update`, `candidate` and `state`.
pub(super) fn gates<D: Dimension>(
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
    observe(trace, "reset", &mut reset);
    let mut update = gate(1);
    observe(trace, "update", &mut update);
    let mut candidate = &reset * &from_state.slice_axis(last, part(2));
    candidate = &from_input.slice_axis(last, part(2)) + &candidate;
    candidate.mapv_inplace(math::tanh);
    observe(trace, "candidate", &mut candidate);
    let mut next = &candidate + &(&update * &(&state - &candidate));
    observe(trace, "state", &mut next);
    next
}

/// 1 / (1 + exp(−x)).
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + math::exp(-x))
}

/// A stack of layers: each reads the states of the layer below.
#[derive(Debug, Clone, PartialEq)]
pub struct Gru {
    /// The layers, from the input upwards.
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
        let zeros = |cell: &GruCell| Array1::zeros(cell.width());
        self.layers.iter().map(zeros).collect()
    }

    /// The upper layer's states after each of the inputs; `states` holds each layer's state before
    /// and after. The observer gets `layers.n.steps.t.…`.
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
            let prefix = || format!("layers.{n}.");
            x = scope(trace, prefix, |trace| {
                cell.forward(x.view(), state.view(), false, trace)
            })?;
            if let Some(last) = x.outer_iter().next_back() {
                state.assign(&last);
            }
        }
        Ok(x)
    }

    /// As [`Self::forward`] for several sequences, generic over the executor, from states of zeros
    /// or others; see [`GruCell::run`]. Gives the upper layer's states after each of the inputs and
    /// replaces `states`, `[B, C]` for each layer.
    ///
    /// # Errors
    /// As [`GruCell::run`], and when there is not one state for each layer.
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        mut x: C::Matrix,
        lengths: &[usize],
        states: &mut [C::Matrix],
        reverse: bool,
    ) -> Result<C::Matrix> {
        // x [N, E], states [layers][B, C] -> [N, C]
        expect("gru", "states", &[self.layers.len()], &[states.len()])?;
        for (cell, state) in self.layers.iter().zip(states) {
            x = cell.run(compute, &x, lengths, state, reverse)?;
            *state = ends(compute, &x, lengths, state, reverse)?;
        }
        Ok(x)
    }

    /// Visits the parameters under the names that [`Self::load`] asks for.
    ///
    /// # Errors
    /// When `visit` fails.
    pub fn parameters(&mut self, name: &str, visit: &mut Visit<'_>) -> Result<()> {
        for (n, cell) in self.layers.iter_mut().enumerate() {
            cell.parameters(name, &format!("l{n}"), visit)?;
        }
        Ok(())
    }
}

/// The last state of each sequence; of one without inputs, the state that it started from.
fn ends<C: Compute>(
    compute: &mut C,
    states: &C::Matrix,
    lengths: &[usize],
    start: &C::Matrix,
    reverse: bool,
) -> Result<C::Matrix> {
    // states [N, C], start [B, C] -> [B, C]
    let last = |rows: std::ops::Range<usize>| if reverse { rows.start } else { rows.end - 1 };
    let (empty, read): (Vec<usize>, Vec<usize>) =
        (0..lengths.len()).partition(|&b| lengths[b] == 0);
    let rows = ranges(lengths).filter(|rows| !rows.is_empty()).map(last);
    let last = compute.gather(states, &rows.collect::<Vec<_>>())?;
    if empty.is_empty() {
        return Ok(last);
    }
    let kept = compute.gather(start, &empty)?;
    let (batch, width) = compute.dim(start);
    compute.scatter(batch, width, &[(last, read), (kept, empty)])
}
