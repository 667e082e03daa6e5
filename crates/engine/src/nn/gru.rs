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

use super::shape::expect;
use crate::error::Result;
use crate::math;
use crate::parameters::{Parameters, Weight, vector};
use crate::trace::{Observer, tell, within};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};

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
        let width = state.len();
        let from_state = self
            .weight_hh
            .linear(state.insert_axis(Axis(0)), Some(self.bias_hh.view()))?;
        let from_state = from_state.row(0);
        let part = |n: usize| s![n * width..(n + 1) * width];
        let gate =
            |n: usize| (&from_input.slice(part(n)) + &from_state.slice(part(n))).mapv(sigmoid);
        let mut reset = gate(0);
        tell(trace, "reset", &mut reset);
        let mut update = gate(1);
        tell(trace, "update", &mut update);
        let mut candidate = &from_input.slice(part(2)) + &(&reset * &from_state.slice(part(2)));
        candidate.mapv_inplace(math::tanh);
        tell(trace, "candidate", &mut candidate);
        let mut next = &candidate + &(&update * &(&state - &candidate));
        tell(trace, "state", &mut next);
        Ok(next)
    }
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
}
