//! The executor of a layer: a layer states its computation once, in the operations below, and the
//! executor chooses the form of a matrix.
//!
//! [`Plain`](super::plain::Plain) computes arrays and notifies observers: this is inference.
//! [`crate::grad::Tape`] computes the same and records how, so the gradient of a loss can be
//! computed backwards. A model is written once, over this trait; all are but Swin (its window
//! blocks compute arrays alone, and it is not trained here).
//!
//! ```
//! use engine::nn::{compute::Compute, plain::Plain, projection::Projection};
//! use engine::{grad::Tape, parameters::Weight, rng::normal_matrix};
//! fn twice<C: Compute>(layer: &Projection, compute: &mut C, x: &C::Matrix) -> engine::Result<C::Matrix> {
//!     let y = layer.run(compute, x)?;
//!     layer.run(compute, &y)
//! }
//! let layer = Projection { weight: Weight::Dense(normal_matrix(7, "w", 4, 4, 0.5)), bias: None };
//! let x = normal_matrix(7, "x", 3, 4, 1.0);
//! let plain = twice(&layer, &mut Plain::silent(), &x)?;
//! let mut tape = Tape::new();
//! let on_tape = tape.constant(x.view());
//! let on_tape = twice(&layer, &mut tape, &on_tape)?;
//! assert!((&plain - &tape.value(&on_tape)?).iter().all(|d| d.abs() < 1e-5));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Matrices are `[rows, columns]`. Several sequences come one after the other in their rows,
//! `lengths[b]` rows for sequence b, as [`super::packed::Packed`] has them: no padding is ever
//! computed.

use super::feed_forward::Activation;
use super::grouped::GroupedAttention;
use super::kv_cache::KvCache;
use super::position::rope::RotaryTable;
use super::unfold::Windows;
use crate::error::Result;
use crate::parameters::Weight;
use ndarray::{Array1, Array2, ArrayView2};
use std::ops::Range;

/// The operations that layers and models are made of. Each one refuses shapes that do not fit, as
/// the layer of its name does.
///
/// An operation that takes a matrix by value may change it in place. Parameters are given as the
/// model holds them: a tape recognises them by their address in memory.
pub trait Compute {
    /// Rows of numbers.
    type Matrix: Clone;
    /// Keys and values of sources that were read, for cross-attention.
    type Memory;

    /// Rows and columns.
    fn dim(&self, x: &Self::Matrix) -> (usize, usize);

    /// A constant: no gradient.
    fn constant(&mut self, x: ArrayView2<'_, f32>) -> Self::Matrix;

    /// Lets an observer, where there is one, change and then see an intermediate.
    fn trace(&mut self, name: &str, x: &mut Self::Matrix);

    /// Runs a part of a model under a prefix of the names that observers get.
    fn scope<R>(&mut self, prefix: impl FnOnce() -> String, run: impl FnOnce(&mut Self) -> R) -> R;

    /// In training, some numbers become 0 and the others grow by as much; otherwise `x` (Srivastava
    /// et al. 2014, section 4).
    fn dropout(&mut self, x: Self::Matrix) -> Self::Matrix {
        x
    }

    /// x · weightᵀ + bias.
    ///
    /// # Errors
    /// When shapes do not fit.
    fn linear(
        &mut self,
        x: &Self::Matrix,
        weight: &Weight,
        bias: Option<&Array1<f32>>,
    ) -> Result<Self::Matrix>;

    /// The rows of a table of tokens.
    ///
    /// # Errors
    /// When an id is not a row.
    fn embed(&mut self, table: &Weight, ids: &[usize]) -> Result<Self::Matrix>;

    /// The rows of a table of plain numbers, such as learned positions.
    ///
    /// # Errors
    /// When an id is not a row.
    fn lookup(&mut self, table: &Array2<f32>, ids: &[usize]) -> Result<Self::Matrix>;

    /// A table for a square grid of patches, stretched to another grid; its `first` rows stay
    /// ([`super::position::interpolate::bicubic`]).
    ///
    /// # Errors
    /// When the rest of the table is not a square grid.
    fn interpolate_positions(
        &mut self,
        table: &Array2<f32>,
        first: usize,
        to: (usize, usize),
    ) -> Result<Self::Matrix>;

    /// a + b.
    ///
    /// # Errors
    /// When shapes differ.
    fn add(&mut self, a: Self::Matrix, b: &Self::Matrix) -> Result<Self::Matrix>;

    /// x + rows, the rows repeated until the end of `x`.
    ///
    /// # Errors
    /// When `x` is not a whole number of times `rows`.
    fn add_repeated(&mut self, x: Self::Matrix, rows: &Self::Matrix) -> Result<Self::Matrix>;

    /// factor · x.
    fn scale(&mut self, x: Self::Matrix, factor: f32) -> Self::Matrix;

    /// a ⊙ b.
    ///
    /// # Errors
    /// When shapes differ.
    fn multiply(&mut self, a: Self::Matrix, b: &Self::Matrix) -> Result<Self::Matrix>;

    /// Each row times its own factor, `[rows, 1]`.
    ///
    /// # Errors
    /// When there is not one factor for each row.
    fn scale_rows(&mut self, x: Self::Matrix, factors: &Self::Matrix) -> Result<Self::Matrix>;

    /// Softmax over the `k` largest numbers of each row (of equal ones the first), 0 elsewhere.
    ///
    /// # Errors
    /// When `k` is not from 1 to the number of columns.
    fn top_k_softmax(&mut self, x: &Self::Matrix, k: usize) -> Result<Self::Matrix>;

    /// The rows whose number in a column is not 0.
    ///
    /// # Errors
    /// When there is no such column.
    fn nonzero_rows(&self, x: &Self::Matrix, column: usize) -> Result<Vec<usize>>;

    /// Each column times its own factor.
    ///
    /// # Errors
    /// When there is not one factor for each column.
    fn scale_columns(&mut self, x: Self::Matrix, factors: &Array1<f32>) -> Result<Self::Matrix>;

    /// Layer norm of each row.
    ///
    /// # Errors
    /// When `gamma` or `beta` is not as long as a row.
    fn layer_norm(
        &mut self,
        x: &Self::Matrix,
        gamma: &Array1<f32>,
        beta: &Array1<f32>,
        eps: f32,
    ) -> Result<Self::Matrix>;

    /// RMS norm of each row.
    ///
    /// # Errors
    /// When `gamma` is not as long as a row.
    fn rms_norm(&mut self, x: &Self::Matrix, gamma: &Array1<f32>, eps: f32)
    -> Result<Self::Matrix>;

    /// A function of each element.
    fn activate(&mut self, x: Self::Matrix, activation: Activation) -> Self::Matrix;

    /// Hyperbolic tangent of each element.
    fn tanh(&mut self, x: Self::Matrix) -> Self::Matrix;

    /// The columns of a range.
    ///
    /// # Errors
    /// When there are not so many.
    fn columns(&mut self, x: &Self::Matrix, columns: Range<usize>) -> Result<Self::Matrix>;

    /// Matrices of as many rows, their columns one after the other.
    ///
    /// # Errors
    /// When they have not as many rows, or there are none.
    fn concat(&mut self, parts: &[&Self::Matrix]) -> Result<Self::Matrix>;

    /// The rows that `rows` names, in that order; one may come several times.
    ///
    /// # Errors
    /// When there is no such row.
    fn gather(&mut self, x: &Self::Matrix, rows: &[usize]) -> Result<Self::Matrix>;

    /// A matrix of `count` rows: row i of part n goes to row `parts[n].1[i]`; all other rows are 0.
    ///
    /// # Errors
    /// When a part has not one target for each row, or a target is not below `count` or named
    /// twice.
    fn scatter(
        &mut self,
        count: usize,
        columns: usize,
        parts: &[(Self::Matrix, Vec<usize>)],
    ) -> Result<Self::Matrix>;

    /// `first` as a new row before every `every` rows.
    ///
    /// # Errors
    /// When `x` has another width, or is not a whole number of times `every`.
    fn prepend(
        &mut self,
        x: Self::Matrix,
        first: &Array1<f32>,
        every: usize,
    ) -> Result<Self::Matrix>;

    /// The mean of each range of rows, a row each.
    ///
    /// # Errors
    /// When a range is empty or goes beyond the end.
    fn mean_rows(&mut self, x: &Self::Matrix, ranges: &[Range<usize>]) -> Result<Self::Matrix>;

    /// The windows of a convolution, one a row.
    ///
    /// # Errors
    /// When `x` is not such pictures.
    fn unfold(&mut self, x: &Self::Matrix, windows: &Windows) -> Result<Self::Matrix>;

    /// Queries or keys, heads side by side, rotated by their positions.
    ///
    /// # Errors
    /// When shapes do not fit.
    fn apply_rotary(
        &mut self,
        x: Self::Matrix,
        rotary: &RotaryTable,
        head_width: usize,
    ) -> Result<Self::Matrix>;

    /// softmax(q · kᵀ / √D) · v in each sequence and head, everything seen; heads side by side. The
    /// observer gets `attention.{q, k, v, scores, weights, heads}`.
    ///
    /// # Errors
    /// When shapes, heads or lengths do not fit.
    fn attend(
        &mut self,
        qkv: [Self::Matrix; 3],
        heads: usize,
        lengths: &[usize],
    ) -> Result<Self::Matrix>;

    /// The same with later tokens hidden, for the heads of `layer`; `caches[b]` holds the earlier
    /// tokens of sequence b and takes in the new keys and values. A tape reads whole texts: for it
    /// the caches are empty and stay so.
    ///
    /// # Errors
    /// When shapes, heads or caches do not fit.
    fn attend_causally(
        &mut self,
        layer: &GroupedAttention,
        qkv: [Self::Matrix; 3],
        lengths: &[usize],
        caches: &mut [KvCache],
    ) -> Result<Self::Matrix>;

    /// Keeps the keys and values of sources for cross-attention. The observer gets `attention.{k,
    /// v}`.
    ///
    /// # Errors
    /// When shapes, heads or lengths do not fit.
    fn cache_kv(
        &mut self,
        kv: [Self::Matrix; 2],
        heads: usize,
        lengths: &[usize],
    ) -> Result<Self::Memory>;

    /// Cross-attention: sequence b attends to source b. The observer gets `attention.{q, scores,
    /// weights, heads}`.
    ///
    /// # Errors
    /// When shapes, heads or lengths do not fit.
    fn cross_attention(
        &mut self,
        q: Self::Matrix,
        heads: usize,
        lengths: &[usize],
        memory: &Self::Memory,
    ) -> Result<Self::Matrix>;

    /// The gates of a GRU and the next state ([`super::gru`]).
    ///
    /// # Errors
    /// When shapes do not fit.
    fn gru_gates(
        &mut self,
        from_input: &Self::Matrix,
        from_state: &Self::Matrix,
        state: &Self::Matrix,
    ) -> Result<Self::Matrix>;

    /// Additive attention ([`super::bahdanau`]): query n attends to the rows `seen[n]` of keys
    /// and annotations. Returns the contexts.
    ///
    /// # Errors
    /// When shapes do not fit.
    fn additive_attention(
        &mut self,
        queries: &Self::Matrix,
        score: &Array1<f32>,
        keys: &Self::Matrix,
        annotations: &Self::Matrix,
        seen: &[Range<usize>],
    ) -> Result<Self::Matrix>;
}
